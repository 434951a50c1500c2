// The CUDA device out of host memory: every allocation of open and bind may fail, which is reported and leaves nothing;
// a bind that failed may be repeated.
#include "cuda_run.h"

#include "support/fault_alloc.h"

#include <criterion/criterion.h>

static void open_failing_at(uint64_t call, uint32_t slots, int32_t trace, bool *done) {
  struct run run, *r = &run;
  run_start(r, call, slots, 20000);
  fault_alloc_reset(call);
  steprt_status s = run_open(r, (struct steprt_options){.trace = trace});
  bool opened = s == STEPRT_OK;
  s = opened ? cuda->bind(r->d, (void *const *)r->param) : s;
  *done = fault_alloc_counts().calls < call;
  cr_assert_eq(s, *done ? STEPRT_OK : STEPRT_NO_MEMORY, "call %d: %s", (int)call,
               r->rt.error);
  cr_assert(*done || *r->rt.error, "call %d has no text", (int)call);
  if (opened) {
    OK(s == STEPRT_OK ? s : cuda->bind(r->d, (void *const *)r->param));
    cuda->close(r->d);
    r->d = NULL;
  }
  rt_memory_free(&r->rt.memory);
  cr_assert_eq(fault_alloc_counts().live, 0, "call %d leaks", (int)call);
  run_stop(r);
}

Test(cuda_memory, each_failing_allocation_is_reported_and_nothing_leaks) {
  static const struct {
    uint32_t slots;
    int32_t trace;
  } rows[] = {{0, 1}, {3, 0}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    bool done = false;
    uint64_t call = 1;
    for (; !done; call++) {
      open_failing_at(call, rows[i].slots, rows[i].trace, &done);
    }
    cr_assert_gt(call, 15);
  }
}
