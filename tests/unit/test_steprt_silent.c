// L2 and out of memory: a step allocates nothing and starts no thread; every allocation of open and bind may fail.
// The library's calls are counted and failed at link time (--wrap), so nothing in it can hide from this test.
#include "core/handle.h"
#include "support/fault_alloc.h"
#include "support/tiny_run.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <math.h>
#include <stdio.h>

#ifndef SANITIZED
#  define SANITIZED 0
#endif

Test(steprt_silent, a_step_allocates_nothing) {
  struct tiny_run r;
  tiny_run_new(&r, tiny_sizes, 3, 1);
  const struct steprt_step step = {.size = sizeof step,
                                   .grads = (const void *const *)r.grad};
  for (int i = 0; i < 3; i++) {
    fault_alloc_reset(0);
    steprt_status s[] = {steprt_begin(r.rt, &step), steprt_run(r.rt, NULL),
                         steprt_end(r.rt), steprt_wait_all(r.rt)};
    struct fault_alloc counts = fault_alloc_counts();
    cr_assert(s[0] == STEPRT_OK && s[1] == STEPRT_OK && s[2] == STEPRT_OK &&
              s[3] == STEPRT_OK);
    cr_assert_eq(counts.calls, 0);
    ((float *)r.grad[1])[3] = i == 0 ? NAN : 0; // the second step is skipped
  }
  cr_assert_eq(r.rt->memory.refused, 0);
  tiny_run_free(&r);
}

// What this process holds: lines of a file in /proc/self, or entries of a folder.
static uint64_t count_lines(const char *path) {
  FILE *f = fopen(path, "re");
  uint64_t n = 0;
  cr_assert_not_null(f);
  for (int c = getc(f); c != EOF; c = getc(f)) {
    n += c == '\n';
  }
  (void)fclose(f);
  return n;
}
static uint64_t count_entries(const char *path) {
  DIR *d = opendir(path);
  uint64_t n = 0;
  cr_assert_not_null(d);
  while (readdir(d)) {
    n++;
  }
  (void)closedir(d);
  return n;
}
// Bytes of all mappings, the first field of statm in pages.
static uint64_t mapped_pages(void) {
  FILE *f = fopen("/proc/self/statm", "re");
  unsigned long pages = 0;
  cr_assert(f && fscanf(f, "%lu", &pages) == 1);
  (void)fclose(f);
  return pages;
}

struct held {
  uint64_t mappings, pages, files, threads;
};
static struct held held_now(void) {
  struct held h = {.files = count_entries("/proc/self/fd"),
                   .threads = count_entries("/proc/self/task")};
  if (!SANITIZED) { // sanitizers map memory of their own
    h.mappings = count_lines("/proc/self/maps");
    h.pages = mapped_pages();
  }
  return h;
}

static void expect_silence(const struct tiny_plan_options *plan) {
  static const struct steprt_counters none = {.size = sizeof none};
  struct steprt_counters c = {.size = sizeof c};
  struct tiny_run r;
  tiny_run_planned(&r, tiny_sizes, 3, 1, plan);
  struct held before = held_now(), after;
  fault_alloc_reset(0);
  for (int i = 0; i < 100; i++) {
    tiny_run_step(&r);
  }
  cr_assert_eq(fault_alloc_counts().calls, 0);
  after = held_now();
  cr_assert_arr_eq(&before, &after, sizeof before);
  cr_assert_eq(steprt_counters(r.rt, &c), STEPRT_OK);
  cr_assert_arr_eq(&c, &none, sizeof c);
  tiny_run_free(&r);
}

Test(steprt_silent, a_hundred_steps_leave_everything_as_it_was) {
  (void)held_now(); // stdio's and opendir's own memory
  expect_silence(NULL);
  expect_silence(&(struct tiny_plan_options){.host = true, .piece = 65536});
  expect_silence(&(struct tiny_plan_options){.host = true, .overlap = true, .ahead = 1});
}

// Its states and temporaries are mapped, the small things come from the heap.
enum { BIG = 600000 };

static void open_failing_at(uint64_t call, const struct tiny_plan_options *plan,
                            bool *done) {
  static struct tiny tiny;
  static float param[TINY_PARAMS][BIG];
  void *params[] = {param[0], param[1], param[2], param[3]};
  struct steprt_options o = {.size = sizeof o, .threads = 3, .trace = 1};
  struct steprt *rt = NULL;
  tiny_make(&tiny, (uint64_t[]){BIG, 5, 5, 5});
  tiny_plan_make(&tiny.plan, &tiny.program, plan);
  fault_alloc_reset(call);
  steprt_status s = steprt_open(&tiny.program, &o, &rt);
  if (!s) {
    s = steprt_bind(rt, params);
  }
  *done = fault_alloc_counts().calls < call;
  cr_assert_eq(s, *done ? STEPRT_OK : STEPRT_NO_MEMORY, "call %d", (int)call);
  cr_assert(*done || !rt || *steprt_error(rt), "call %d", (int)call);
  steprt_destroy(rt);
  cr_assert_eq(fault_alloc_counts().live, 0, "call %d leaks", (int)call);
}

Test(steprt_silent, each_failing_allocation_is_reported_and_nothing_leaks) {
  static const struct tiny_plan_options plans[] = {{0}, {.host = true, .piece = 65536}};
  for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
    bool done = false;
    uint64_t call = 1;
    for (; !done; call++) {
      open_failing_at(call, &plans[i], &done);
    }
    cr_assert_gt(call, 20);
  }
}

static struct rt_memory *memory_of_the_handle;

static void allocate(void *const *ptr, const float *scalar, uint64_t begin,
                     uint64_t end) {
  (void)ptr;
  (void)scalar;
  (void)begin;
  (void)end;
  cr_assert_null(rt_memory_alloc(memory_of_the_handle, 1, 1));
}

Test(steprt_silent, an_allocation_inside_a_step_fails_the_handle_for_good) {
  struct tiny_run r;
  tiny_run_new(&r, tiny_sizes, 1, 2);
  memory_of_the_handle = &r.rt->memory;
  r.tiny.kernel[TINY_UPDATE].fn = allocate;
  const struct steprt_step step = {.size = sizeof step,
                                   .grads = (const void *const *)r.grad};
  cr_assert_eq(steprt_begin(r.rt, &step), STEPRT_OK);
  cr_assert_eq(steprt_run(r.rt, NULL), STEPRT_OK);
  cr_assert_eq(steprt_end(r.rt), STEPRT_OK);
  cr_assert_eq(steprt_wait_all(r.rt), STEPRT_FAILED);
  const char text[] = "internal error: 19 allocations inside a step";
  cr_assert_str_eq(steprt_error(r.rt), text);
  cr_assert_eq(steprt_begin(r.rt, &step), STEPRT_FAILED);
  cr_assert_eq(steprt_set_hyper(r.rt, 0, 1), STEPRT_FAILED);
  cr_assert_str_eq(steprt_error(r.rt), text);
  tiny_run_free(&r);
}
