// How much host memory this process may still take, and what says so. Everything is read from files of /proc and of
// the control groups, below a root of the caller's, so that tests bring their own.
#ifndef STEPRT_TIER_LIMITS_H
#define STEPRT_TIER_LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define RT_UNLIMITED UINT64_MAX

struct rt_limit {
  uint64_t left;  // bytes; RT_UNLIMITED: none
  char name[288]; // what it is: "the cgroup limit (/sys/fs/cgroup/a/memory.max)"
};

// Each sets *out; a limit whose files are missing or say nothing is none. `root`: "" or a folder that holds proc/ and
// sys/.

// Of the control groups above this process, v1 and v2, the one with least left. Cached file pages that nobody used
// lately do not count as used: the kernel drops them before it refuses memory.
void rt_limit_cgroup(const char *root, struct rt_limit *out);
// What the kernel estimates it can give without swapping (MemAvailable).
void rt_limit_available(const char *root, struct rt_limit *out);
// RLIMIT_MEMLOCK, less what is locked; none with CAP_IPC_LOCK (mlock(2)).
void rt_limit_lock(const char *root, struct rt_limit *out);

// "14.50 GiB", "4096 bytes".
struct rt_size_text {
  char text[32];
};
struct rt_size_text rt_size_text(uint64_t bytes);

// ---- reading, for the files of this folder

// The number behind `key` at the start of a line ("MemAvailable:", "inactive_file"); with key "" the first number of
// the file. RT_UNLIMITED where there is none, or a word.
uint64_t rt_read_number(const char *root, const char *path, const char *key);
// The next line, its end cut off where it is longer. False at the end of the file.
enum { RT_LINE = 4096 };
bool rt_read_line(FILE *f, char line[RT_LINE]);

#endif
