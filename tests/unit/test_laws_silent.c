// L2, the step is silent: over 100 steps, the first included, all counters stay 0, and the process holds what it held
// after bind: heap, mappings, pages, threads, file descriptors.
#include "support/law.h"
#include "tier/limits.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <malloc.h>
#include <string.h>
#include <unistd.h>

#ifndef SANITIZED
#  define SANITIZED 0
#endif

enum { STEPS = 100, MAPS = 1 << 20 };

static int entries(const char *folder) {
  DIR *dir = opendir(folder);
  int n = 0;
  cr_assert_not_null(dir, "%s", folder);
  while (readdir(dir)) {
    n++;
  }
  closedir(dir);
  return n;
}

struct held {
  char maps[MAPS];
  size_t heap;
  uint64_t kib; // anonymous pages
  int threads, files;
};

// Without the line of the main thread's stack, which grows by itself.
static void read_maps(char maps[MAPS]) {
  int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  size_t n = 0;
  for (ssize_t got; (got = read(fd, maps + n, MAPS - 1 - n)) > 0; n += (size_t)got) {
  }
  close(fd);
  cr_assert_lt(n, MAPS - 1);
  maps[n] = '\0';
  char *stack = strstr(maps, "[stack]");
  for (char *at = stack; at && at > maps && at[-1] != '\n'; at--) {
    at[-1] = '\0';
  }
}

static void look(struct held *h) {
  h->threads = entries("/proc/self/task");
  h->files = entries("/proc/self/fd");
  h->kib = rt_read_number("", "/proc/self/status", "RssAnon:");
  h->heap = mallinfo2().uordblks;
  read_maps(h->maps);
}

// Where the second list differs from the first, that line.
static void check_maps(const char *a, const char *b) {
  size_t line = 0, at = 0;
  while (a[at] && a[at] == b[at]) {
    line = a[at++] == '\n' ? at : line;
  }
  cr_assert(a[at] == b[at], "%.*s", (int)strcspn(b + line, "\n"), b + line);
}

static void check_same(const struct held *a, const struct held *b) {
  cr_assert_eq(a->threads, b->threads);
  cr_assert_eq(a->files, b->files);
  if (SANITIZED) { // sanitizers map and touch memory of their own
    return;
  }
  cr_assert_eq(a->heap, b->heap, "%zu, then %zu", a->heap, b->heap);
  check_maps(a->maps, b->maps);
  cr_assert_leq(b->kib, a->kib + 512, // for stacks; the states alone take more
                "%llu kB, then %llu kB", (unsigned long long)a->kib,
                (unsigned long long)b->kib);
}

static void check_counters(const struct steprt *rt, bool orders, bool skips) {
  struct steprt_counters c = {.size = sizeof c};
  cr_assert_eq(steprt_counters(rt, &c), STEPRT_OK);
  const uint64_t zero[] = {c.allocations, c.pins,           c.opens, c.compiles,
                           c.connects,    c.states_created, c.waits};
  for (size_t i = 0; i < sizeof zero / sizeof *zero; i++) {
    cr_assert_eq(zero[i], 0, "counter %zu: %llu", i, (unsigned long long)zero[i]);
  }
  // The two exceptions: as often as asked for, and only where the recipe skips.
  cr_assert_eq(c.order_waits, orders ? STEPS : 0);
  cr_assert_leq(c.verdict_waits, skips ? STEPS - 1 : 0);
}

static void steps(struct steprt *rt, const struct law_data *d, bool orders) {
  for (uint32_t i = 0; i < STEPS; i++) {
    const struct steprt_step in = {.size = sizeof in,
                                   .grads = (const void *const *)d->grad[i % LAW_STEPS]};
    cr_assert_eq(steprt_begin(rt, &in), STEPRT_OK, "%s", steprt_error(rt));
    cr_assert_eq(steprt_run(rt, NULL), STEPRT_OK, "%s", steprt_error(rt));
    cr_assert_eq(steprt_end(rt), STEPRT_OK, "%s", steprt_error(rt));
    cr_assert(!orders || steprt_wait_order(rt, 1, NULL) == STEPRT_OK);
    if (i % 3 == 0 || i == STEPS - 1) {
      cr_assert_eq(steprt_wait_all(rt), STEPRT_OK, "%s", steprt_error(rt));
    }
  }
}

struct row {
  const char *spec, *offload;
  uint64_t chunk_bytes;
  uint32_t threads;
  bool overlap, skips;
};
static const struct row rows[] = {
    {"adamw", "host", 4096, 2, false, false},
    {"adamw", "none", 0, 3, false, false},
    {"gpt", "host", 65536, 5, true, true}, // with products
    {"gpt", "none", 0, 2, false, true},
};

Test(laws_silent, a_hundred_steps_take_nothing) {
  static struct held before, after;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct steprt_program *program =
        law_compile(&(struct law_plan){.spec = rows[i].spec,
                                       .model = law_model,
                                       .offload = rows[i].offload,
                                       .chunk_bytes = rows[i].chunk_bytes,
                                       .overlap = rows[i].overlap});
    const struct steprt_options o = {.size = sizeof o, .threads = rows[i].threads};
    struct law_data d = law_data_new(program);
    struct steprt *rt;
    cr_assert_eq(steprt_open(program, &o, &rt), STEPRT_OK, "%s", steprt_error(rt));
    cr_assert_eq(steprt_bind(rt, d.param), STEPRT_OK, "%s", steprt_error(rt));
    look(&after); // its own pages are touched
    look(&before);
    steps(rt, &d, rows[i].overlap);
    look(&after);
    check_same(&before, &after);
    check_counters(rt, rows[i].overlap, rows[i].skips);
    steprt_destroy(rt);
    law_data_free(&d);
    stepc_program_free(program);
  }
}
