// The host slab: budgets from files of /proc and of control groups (made here, so that every kind of machine is one
// row), the mapping, its pages, and every call that may fail.
#include "support/fault_alloc.h"
#include "tempdir.h"
#include "tier/host.h"
#include "tier/limits.h"
#include "tier/pages.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SANITIZED
#  define SANITIZED 0
#endif

#define V1_MOUNT "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
#define V2_MOUNT "31 23 0:28 / /sys/fs/cgroup rw shared:9 master:4 - cgroup2 none rw\n"
#define V1       "sys/fs/cgroup/memory/"
#define V2       "sys/fs/cgroup/"

struct file {
  const char *path, *text;
};
struct machine {
  const char *what;
  struct file file[12];
  uint64_t left;
  const char *path; // of the group's file that says so
};

static const struct machine groups[] = {
    {"no control groups", {{"proc/meminfo", "MemAvailable: 1 kB\n"}}, RT_UNLIMITED, ""},
    {"v2, at the top",
     {{"proc/self/cgroup", "0::/\n"},
      {"proc/self/mountinfo", V2_MOUNT},
      {V2 "memory.max", "1000000\n"},
      {V2 "memory.current", "300000\n"}},
     700000,
     "/sys/fs/cgroup/memory.max"},
    {"v2, idle file pages do not count",
     {{"proc/self/cgroup", "0::/job\n"},
      {"proc/self/mountinfo", V2_MOUNT},
      {V2 "job/memory.max", "1000000\n"},
      {V2 "job/memory.current", "900000\n"},
      {V2 "job/memory.stat", "anon 100000\ninactive_file 600000\nactive_file 1\n"}},
     700000,
     "/sys/fs/cgroup/job/memory.max"},
    {"v2, a group above is tighter",
     {{"proc/self/cgroup", "0::/a/b/c\n"},
      {"proc/self/mountinfo", V2_MOUNT},
      {V2 "a/b/c/memory.max", "max\n"},
      {V2 "a/b/c/memory.current", "10\n"},
      {V2 "a/b/memory.max", "5000\n"},
      {V2 "a/b/memory.current", "4000\n"},
      {V2 "a/memory.max", "500000\n"},
      {V2 "a/memory.current", "5000\n"}},
     1000,
     "/sys/fs/cgroup/a/b/memory.max"},
    {"v2, throttled before it is refused",
     {{"proc/self/cgroup", "0::/a\n"},
      {"proc/self/mountinfo", V2_MOUNT},
      {V2 "a/memory.max", "9000\n"},
      {V2 "a/memory.high", "8000\n"},
      {V2 "a/memory.current", "1000\n"}},
     7000,
     "/sys/fs/cgroup/a/memory.high"},
    {"v2, used beyond the limit",
     {{"proc/self/cgroup", "0::/a\n"},
      {"proc/self/mountinfo", V2_MOUNT},
      {V2 "a/memory.max", "9000\n"},
      {V2 "a/memory.current", "10000\n"}},
     0,
     "/sys/fs/cgroup/a/memory.max"},
    {"v2, unlimited",
     {{"proc/self/cgroup", "0::/a\n"},
      {"proc/self/mountinfo", V2_MOUNT},
      {V2 "a/memory.max", "max\n"},
      {V2 "a/memory.current", "10000\n"}},
     RT_UNLIMITED,
     ""},
    {"v1 beside v2 without memory",
     {{"proc/self/cgroup", "9:name=systemd:/\n4:cpu,memory:/x/y\n0::/\n"},
      {"proc/self/mountinfo",
       "1 0 8:1 / / rw - ext4 /dev/sda rw\n" V1_MOUNT
       "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"},
      {V1 "x/y/memory.limit_in_bytes", "4096000\n"},
      {V1 "x/y/memory.usage_in_bytes", "96000\n"},
      {V1 "x/y/memory.stat", "inactive_file 1\ntotal_inactive_file 6000\n"},
      {V1 "x/memory.limit_in_bytes", "9223372036854771712\n"},
      {V1 "x/memory.usage_in_bytes", "96000\n"},
      {V1 "memory.limit_in_bytes", "9223372036854771712\n"}},
     4006000,
     "/sys/fs/cgroup/memory/x/y/memory.limit_in_bytes"},
    {"v1, a container that has its own group mounted",
     {{"proc/self/cgroup", "4:memory:/docker/0123\n"},
      {"proc/self/mountinfo", "35 31 0:32 /docker/0123 /sys/fs/cgroup/memory rw - cgroup "
                              "cgroup rw,memory\n"},
      {V1 "memory.limit_in_bytes", "8000\n"},
      {V1 "memory.usage_in_bytes", "1000\n"}},
     7000,
     "/sys/fs/cgroup/memory/memory.limit_in_bytes"},
    {"v2, a group that is not in the mounted tree",
     {{"proc/self/cgroup", "0::/../../elsewhere\n"},
      {"proc/self/mountinfo", V2_MOUNT},
      {V2 "memory.max", "8000\n"},
      {V2 "memory.current", "1000\n"}},
     7000,
     "/sys/fs/cgroup/memory.max"},
    {"files that make no sense",
     {{"proc/self/cgroup", "\n0\n::\nx:y\n0::/a\n"},
      {"proc/self/mountinfo", "\n - \n1 2 3 - cgroup2\n1 2 3 4 5 6 - \n" V2_MOUNT},
      {V2 "a/memory.max", "lots\n"},
      {V2 "a/memory.current", ""}},
     RT_UNLIMITED,
     ""},
};

static void put(const struct tempdir *d, const struct file *f) {
  char path[400];
  tempdir_join(d, f->path, path);
  for (char *at = path + strlen(d->path) + 1; (at = strchr(at, '/')); at++) {
    *at = '\0';
    (void)mkdir(path, 0700); // may stand already
    *at = '/';
  }
  tempdir_write(d, f->path, f->text, strlen(f->text));
}

Test(tier, the_tightest_control_group_above_the_process_counts) {
  for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
    const struct machine *m = &groups[i];
    struct tempdir d = tempdir_new();
    for (const struct file *f = m->file; f->path; f++) {
      put(&d, f);
    }
    struct rt_limit l;
    char name[400];
    rt_limit_cgroup(d.path, &l);
    (void)snprintf(name, sizeof name,
                   *m->path ? "the cgroup limit (%s)" : "%sthe cgroup limit", m->path);
    cr_assert_eq(l.left, m->left, "%s: %llu", m->what, (unsigned long long)l.left);
    cr_assert_str_eq(l.name, name, "%s", m->what);
    tempdir_remove(&d);
  }
}

#define LIMITS(soft)                                                                     \
  "Limit                     Soft Limit           Hard Limit           Units     \n"     \
  "Max locked memory         " soft "               8388608              bytes     \n"
struct lock {
  const char *limits, *status;
  uint64_t left;
};
static const struct lock locks[] = {
    {LIMITS("8388608"), "VmLck:\t       4 kB\nVmPin:\t      12 kB\nCapEff:\t0\n",
     8372224},
    {LIMITS("65536"), "VmLck:\t     128 kB\nVmPin:\t       0 kB\nCapEff:\t0\n", 0},
    {LIMITS("unlimited"), "VmLck:\t       4 kB\nCapEff:\t0\n", RT_UNLIMITED},
    {LIMITS("65536"), "VmLck:\t       4 kB\nCapEff:\t000001ffffffffff\n", RT_UNLIMITED},
    {LIMITS("65536"), "VmLck:\t       0 kB\nCapEff:\t00000000a80425fb\n", 65536},
    {"", "", RT_UNLIMITED},
};

Test(tier, locked_memory_is_limited_but_for_those_who_may_lock_all) {
  for (size_t i = 0; i < sizeof locks / sizeof *locks; i++) {
    struct tempdir d = tempdir_new();
    struct rt_limit l;
    put(&d, &(struct file){"proc/self/limits", locks[i].limits});
    put(&d, &(struct file){"proc/self/status", locks[i].status});
    rt_limit_lock(d.path, &l);
    cr_assert_eq(l.left, locks[i].left, "row %zu: %llu", i, (unsigned long long)l.left);
    tempdir_remove(&d);
  }
}

struct budget {
  uint64_t bytes, limit;
  bool lock_counts;
  const char *why; // "": it fits
};
static const struct budget budgets[] = {
    {5 << 20, 0, false, ""},
    {5 << 20, 5 << 20, false, ""},
    {(5 << 20) + 1024, 5 << 20, false,
     "host memory for states: 5.00 MiB needed, 5.00 MiB left by the limit given "
     "(host_memory): 1.00 KiB too little"},
    {6 << 20, 0, true,
     "host memory for states: 6.00 MiB needed, 64.00 KiB left by the limit on locked "
     "memory (ulimit -l, RLIMIT_MEMLOCK): 5.94 MiB too little"},
    {7 << 20, 0, false,
     "host memory for states: 7.00 MiB needed, 6.00 MiB left by the cgroup limit "
     "(/sys/fs/cgroup/memory.max): 1.00 MiB too little"},
    {15ull << 30, 0, false,
     "host memory for states: 15.00 GiB needed, 6.00 MiB left by the cgroup limit "
     "(/sys/fs/cgroup/memory.max): 14.99 GiB too little"},
    {UINT64_MAX, 1000, false,
     "host memory for states: 16.00 EiB needed, 1000 bytes left by the limit given "
     "(host_memory): 16.00 EiB too little"},
};

static struct tempdir small_machine(void) {
  static const struct file files[] = {{"proc/self/cgroup", "0::/\n"},
                                      {"proc/self/mountinfo", V2_MOUNT},
                                      {V2 "memory.max", "7340032\n"},
                                      {V2 "memory.current", "1048576\n"},
                                      {"proc/meminfo", "MemAvailable:    8192 kB\n"},
                                      {"proc/self/limits", LIMITS("65536")},
                                      {"proc/self/status", "CapEff:\t0\n"}};
  struct tempdir d = tempdir_new();
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    put(&d, &files[i]);
  }
  return d;
}

Test(tier, a_refusal_names_the_limit_the_need_and_what_is_missing) {
  struct tempdir d = small_machine();
  for (size_t i = 0; i < sizeof budgets / sizeof *budgets; i++) {
    const struct budget *b = &budgets[i];
    struct rt_slab_request r = {.bytes = b->bytes,
                                .limit = b->limit,
                                .node = -1,
                                .lock_counts = b->lock_counts,
                                .root = d.path};
    struct rt_slab s;
    char why[512] = "";
    steprt_status status = rt_slab_open(&r, &s, why, sizeof why);
    cr_assert_eq(status, *b->why ? STEPRT_NO_MEMORY : STEPRT_OK, "%s", why);
    cr_assert_str_eq(why, b->why);
    cr_assert_eq(s.at == NULL, *b->why != '\0');
    rt_slab_close(&s);
  }
  put(&d, &(struct file){"proc/meminfo", "MemFree: 1 kB\nMemAvailable:  1024 kB\n"});
  char why[512];
  struct rt_slab_request r = {.bytes = 2 << 20, .node = -1, .root = d.path};
  cr_assert_eq(rt_slab_check(&r, why, sizeof why), STEPRT_NO_MEMORY);
  cr_assert_str_eq(why,
                   "host memory for states: 2.00 MiB needed, 1.00 MiB left by what the "
                   "machine has (MemAvailable in /proc/meminfo): 1.00 MiB too little");
  tempdir_remove(&d);
}

static void count_note(void *ctx, const char *text) {
  cr_assert_eq(strncmp(text, "host slab: ", 11), 0, "%s", text);
  ++*(int *)ctx;
}

static uint64_t resident(void) {
  uint64_t kib = rt_read_number("", "/proc/self/status", "VmRSS:");
  return kib * 1024;
}

Test(tier, the_mapping_is_exact_zero_and_touched) {
  static const uint64_t sizes[] = {1, 4096, 4097, (2 << 20) + 1, (64 << 20) + 1};
  struct rt_team *team;
  cr_assert_eq(rt_team_new(3, &team), STEPRT_OK);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    int notes = 0;
    char why[512];
    struct rt_slab s;
    struct rt_slab_request r = {.bytes = sizes[i],
                                .node = -1,
                                .team = i % 2 ? team : NULL,
                                .note = count_note,
                                .note_ctx = &notes};
    uint64_t before = resident();
    cr_assert_eq(rt_slab_open(&r, &s, why, sizeof why), STEPRT_OK, "%s", why);
    uint64_t grown = resident() - before;
    cr_assert_eq(s.bytes, sizes[i]);
    cr_assert_eq(s.mapped, (sizes[i] + 4095) / 4096 * 4096);
    cr_assert_leq(notes, 1); // perhaps no huge pages here
    const char *at = s.at;
    for (uint64_t k = 0; k < s.bytes; k++) {
      cr_assert_eq(at[k], 0);
    }
    // The kernel's numbers are coarse, sanitizers have pages of their own: within a percent and a little.
    uint64_t slack = SANITIZED ? UINT32_MAX : s.bytes / 100 + (1 << 20);
    cr_assert_geq(grown + slack, s.bytes);
    cr_assert_leq(grown, s.bytes + slack);
    rt_slab_close(&s);
    cr_assert_null(s.at);
  }
  rt_team_free(team);
}

Test(tier, nothing_is_a_legal_slab) {
  struct rt_slab s;
  char why[8];
  struct rt_slab_request r = {.node = 5, .limit = 1};
  cr_assert_eq(rt_slab_open(&r, &s, why, sizeof why), STEPRT_OK);
  cr_assert_null(s.at);
  rt_slab_close(&s);
}

Test(tier, a_node_that_cannot_be_had_is_a_note) {
  int notes[2] = {0, 0};
  for (int i = 0; i < 2; i++) {
    struct rt_slab s;
    char why[512];
    struct rt_slab_request r = {.bytes = 1 << 20,
                                .node = i == 0 ? -1 : 1022,
                                .note = count_note,
                                .note_ctx = &notes[i]};
    cr_assert_eq(rt_slab_open(&r, &s, why, sizeof why), STEPRT_OK, "%s", why);
    memset(s.at, 1, s.bytes);
    rt_slab_close(&s);
  }
  cr_assert_gt(notes[1], notes[0]);
  cr_assert_neq(rt_pages_bind(NULL, 0, 5000), 0);
  cr_assert_neq(rt_pages_bind(NULL, 0, -2), 0);
}

Test(tier, a_child_of_fork_does_not_get_what_is_pinned) {
  struct rt_slab s;
  char why[512];
  struct rt_slab_request r = {.bytes = 1 << 20, .node = -1, .not_for_children = true};
  cr_assert_eq(rt_slab_open(&r, &s, why, sizeof why), STEPRT_OK, "%s", why);
  pid_t child = fork();
  cr_assert_geq(child, 0);
  if (child == 0) {
    unsigned char seen;
    _exit(mincore(s.at, 4096, &seen) == -1 ? 0 : 1);
  }
  int status = -1;
  cr_assert_eq(waitpid(child, &status, 0), child);
  cr_assert_eq(status, 0);
  rt_slab_close(&s);
}

Test(tier, huge_pages_are_read_from_the_entry_that_holds_the_address) {
  struct tempdir d = tempdir_new();
  char path[400];
  const char text[] =
      "1000-2000 rw-p 00000000 00:00 0 \nSize: 4 kB\nAnonHugePages: 8 kB\n"
      "200000-a00000 rw-p 00000000 00:00 0 [anon: x]\n"
      "Rss: 8192 kB\nAnonHugePages:      6144 kB\nVmFlags: rd wr\n"
      "b00000-c00000 rw-p 00000000 00:00 0\n";
  uint64_t huge = 1;
  tempdir_write(&d, "smaps", text, strlen(text));
  tempdir_join(&d, "smaps", path);
  cr_assert(rt_pages_huge_in(path, (void *)0x200000, 8 << 20, &huge));
  cr_assert_eq(huge, 6 << 20);
  cr_assert(rt_pages_huge_in(path, (void *)0x600000, 4 << 20, &huge));
  cr_assert_eq(huge, 4 << 20);
  cr_assert_not(rt_pages_huge_in(path, (void *)0xb00000, 4096, &huge));
  cr_assert_not(rt_pages_huge_in(path, (void *)0xd00000, 4096, &huge));
  cr_assert_not(rt_pages_huge_in("/nowhere", (void *)0x200000, 4096, &huge));
  tempdir_remove(&d);
}

Test(tier, sizes_in_words) {
  static const struct {
    uint64_t bytes;
    const char *text;
  } rows[] = {
      {0, "0 bytes"},        {1023, "1023 bytes"},       {1024, "1.00 KiB"},
      {1048575, "1.00 MiB"}, {15569256448, "14.50 GiB"}, {UINT64_MAX, "16.00 EiB"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    cr_assert_str_eq(rt_size_text(rows[i].bytes).text, rows[i].text);
  }
}

Test(tier, each_call_that_fails_is_reported_and_nothing_leaks) {
  bool done = false;
  uint64_t call = 1;
  for (; !done; call++) {
    struct rt_slab s;
    char why[512] = "";
    struct rt_slab_request r = {.bytes = 3 << 20, .node = -1};
    fault_alloc_reset(call);
    steprt_status status = rt_slab_open(&r, &s, why, sizeof why);
    done = fault_alloc_counts().calls < call;
    cr_assert_eq(status, done ? STEPRT_OK : STEPRT_NO_MEMORY, "call %d", (int)call);
    cr_assert_eq(*why == '\0', done, "call %d", (int)call);
    rt_slab_close(&s);
    cr_assert_eq(fault_alloc_counts().live, 0, "call %d leaks", (int)call);
  }
  cr_assert_gt(call, 3);
}
