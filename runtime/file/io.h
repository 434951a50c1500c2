// Whole reads and writes: short and interrupted calls are retried.
#ifndef STEPRT_FILE_IO_H
#define STEPRT_FILE_IO_H

#include <stddef.h>
#include <stdint.h>

// Beside errno's values, which are positive:
enum {
  RT_IO_END = -1,         // the file ended before the last byte
  RT_IO_NOT_REGULAR = -2, // a device, a pipe, a socket
};
const char *rt_io_text(int error, char *buf,
                       size_t n); // the reason in words; perhaps in `buf`
// Reads bytes [at, at + n) of the file. 0, an errno, or RT_IO_END.
int rt_pread_all(int fd, void *into, size_t n, uint64_t at);
// Appends n bytes at the file's position. 0 or an errno.
int rt_write_all(int fd, const void *from, size_t n);

// A file that appears whole or not at all: written under another name in the same folder, then renamed.
struct rt_new_file {
  int dir, fd;    // -1: closed
  char base[256]; // the final name in `dir`
  char temp[40];  // the name while it is written
};
// All return 0 or a reason; after a failure nothing of the new file is left and what stood at the path before stays.
// A path that is a symbolic link to a file replaces that file; one that is no regular file is refused (EISDIR for
// a folder, else RT_IO_NOT_REGULAR). A file that is replaced keeps its access bits.
int rt_new_file_open(struct rt_new_file *f, const char *path);
// Claims the space, so that a full disk shows before the first byte; where the file system cannot, does nothing.
int rt_new_file_reserve(struct rt_new_file *f, uint64_t bytes);
int rt_new_file_write(struct rt_new_file *f, const void *from, size_t n);
int rt_new_file_commit(struct rt_new_file *f);   // syncs file, renames, syncs folder
void rt_new_file_discard(struct rt_new_file *f); // after commit or a failure: no effect

#endif
