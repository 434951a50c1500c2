// What the CUDA device refuses, and how it fails.
#include "cuda_run.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void expect_error(struct run *r, steprt_status got, steprt_status want,
                         const char *part) {
  cr_expect_eq(got, want, "status %d: %s", got, r->rt.error);
  cr_expect(strstr(r->rt.error, part) != NULL, "'%s' is not in '%s'", part, r->rt.error);
}

Test(cuda_device, no_memory) {
  struct run run, *r = &run;
  run_start(r, 0, 3, 20000);
  expect_error(r, run_open(r, (struct steprt_options){.gpu_memory = 100000}),
               STEPRT_NO_MEMORY, "the limit given");
  cr_expect_eq(fake_cuda_calls("cuMemAlloc"), 0);
  run_stop(r);
  run_start(r, 0, 3, 20000);
  fake_cuda_set_free(4096);
  expect_error(r, run_open(r, (struct steprt_options){0}), STEPRT_NO_MEMORY,
               "what is free is 4.00 KiB");
  cr_expect_eq(fake_cuda_calls("cuMemAlloc"), 0);
  run_stop(r);
  run_start(r, 0, 3, 20000);
  expect_error(r, run_open(r, (struct steprt_options){.host_memory = 4096}),
               STEPRT_NO_MEMORY, "");
  run_stop(r);
}

// Any call of open may fail: the text names it, and nothing is left.
Test(cuda_device, open_fails_anywhere) {
  static const char *const calls[] = {"cuInit",
                                      "cuDeviceGetCount",
                                      "cuDevicePrimaryCtxRetain",
                                      "cuCtxPushCurrent",
                                      "cuStreamCreateWithPriority",
                                      "cuEventCreate",
                                      "cuMemAlloc",
                                      "cuMemHostAlloc",
                                      "cuMemHostRegister",
                                      "cuLibraryLoadData",
                                      "cuLibraryGetKernel",
                                      "cuKernelGetFunction",
                                      "cuMemGetInfo"};
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
    for (uint64_t n = 1; n <= 3; n++) {
      struct run r;
      run_start(&r, 0, 3, 20000);
      fake_cuda_fail(calls[i], n, n == 3 ? 719 : 2);
      if (run_open(&r, (struct steprt_options){.trace = 1}) != STEPRT_OK) {
        cr_expect_null(r.d);
        cr_expect(strstr(r.rt.error, "CUDA_ERROR_") != NULL, "%s: %s", calls[i],
                  r.rt.error);
      }
      run_stop(&r);
    }
  }
}

Test(cuda_device, driver) {
  struct run run, *r = &run;
  run_start(r, 0, 0, 200000);
  fake_cuda_set_version(11080);
  expect_error(r, run_open(r, (struct steprt_options){0}), STEPRT_NO_LIBRARY,
               "it is for CUDA 11.8, at least 12.0 is needed");
  fake_cuda_set_version(12000);
  fake_cuda_hide("cuLaunchKernel");
  expect_error(r, run_open(r, (struct steprt_options){0}), STEPRT_NO_LIBRARY,
               "(CUDA 12.0) has no cuLaunchKernel of CUDA 4.0");
  fake_cuda_hide(NULL);
  expect_error(r, run_open(r, (struct steprt_options){.device = 2}), STEPRT_BAD_ARGUMENT,
               "no CUDA device 2: the driver shows 2");
  run_stop(r);
}

Test(cuda_device, kernels) {
  struct run run, *r = &run;
  run_start(r, 0, 0, 200000);
  r->c.kernel[CASE_UPDATE].image = "something else";
  expect_error(r, run_open(r, (struct steprt_options){0}), STEPRT_BAD_PROGRAM,
               "kernel 'update', made for cuda:sm_90, does not load on CUDA device 0 "
               "(Fake 0, sm_90");
  r->c.kernel[CASE_UPDATE].image = NULL;
  expect_error(r, run_open(r, (struct steprt_options){0}), STEPRT_BAD_PROGRAM,
               "'update' has no CUDA image");
  run_stop(r);
  run_start(r, 0, 0, 200000);
  fake_cuda_fail("cuLibraryLoadData", 1, 209);
  expect_error(r, run_open(r, (struct steprt_options){0}), STEPRT_NO_LIBRARY,
               "kernel 'step', made for cuda:sm_90, does not load");
  r->c.kernel[CASE_INIT].block = 2048;
  expect_error(r, run_open(r, (struct steprt_options){0}), STEPRT_BAD_PROGRAM,
               "a block of 2048 threads does not fit");
  r->c.kernel[CASE_INIT].name = "other";
  expect_error(r, run_open(r, (struct steprt_options){0}), STEPRT_BAD_PROGRAM,
               "cuLibraryGetKernel");
  run_stop(r);
}

// What lies first in the search is a library of that name without its functions.
Test(cuda_device, products) {
  struct run run, *r = &run;
  const double abc[1][3] = {{1, 0, 0}};
  const struct rt_iteration iteration = {
      .name = "one", .compute = RT_BF16, .n_steps = 1, .abc = abc};
  run_start(r, 0, 0, 200000);
  r->c.program.iteration = &iteration;
  r->c.program.n_iterations = 1;
  r->c.op[3].kind = RT_OP_ORTHO;
  r->c.op[3].kernel = 0;
  r->c.op[3].rows = r->c.op[3].cols = 8;
  expect_error(r, run_open(r, (struct steprt_options){0}), STEPRT_NO_LIBRARY,
               "libcublasLt.so.13 has no cublasLtCreate");
  r->c.op[3].kind = RT_OP_EXCHANGE;
  expect_error(r, run_open(r, (struct steprt_options){0}), STEPRT_BAD_PROGRAM,
               "exchanges between GPUs do not run in this version");
  run_stop(r);
}

Test(cuda_device, other_memory) {
  struct run run, *r = &run;
  float on_stack[4] = {0};
  run_start(r, 0, 0, 200000);
  float *there = fake_cuda_alloc(1, 1 << 20);
  OK(run_open(r, (struct steprt_options){0}));
  void *params[CASE_PARAMS];
  memcpy(params, r->param, sizeof params);
  params[3] = on_stack;
  expect_error(r, cuda->bind(r->d, params), STEPRT_BAD_ARGUMENT, "the address of 'c.w'");
  params[3] = there;
  expect_error(r, cuda->bind(r->d, params), STEPRT_BAD_ARGUMENT, "lies on CUDA device 1");
  params[3] = r->param[3];
  params[CASE_FROZEN] = NULL;
  OK(cuda->bind(r->d, params));
  run_fill_grads(0, r->grad, r->grads);
  OK(cuda->check(r->d, r->grads, r->stream));
  uint64_t asked = fake_cuda_calls("cuPointerGetAttributes");
  OK(cuda->check(r->d, r->grads, r->stream));
  cr_expect_eq(fake_cuda_calls("cuPointerGetAttributes"), asked,
               "the same pointers are not asked about");
  r->grads[5] = there + 7;
  expect_error(r, cuda->check(r->d, r->grads, r->stream), STEPRT_BAD_ARGUMENT,
               "the gradient of 'e.w'");
  r->grads[5] = on_stack;
  expect_error(r, cuda->check(r->d, r->grads, r->stream), STEPRT_BAD_ARGUMENT,
               "the driver does not know it");
  r->grads[5] = r->grad[5];
  OK(cuda->check(r->d, NULL, r->stream));
  OK(cuda->check(r->d, r->grads, NULL)); // a default stream is that of our context
  void *other = fake_cuda_stream(1);
  expect_error(r, cuda->check(r->d, r->grads, other), STEPRT_BAD_ARGUMENT, "the stream");
  expect_error(r, cuda->check(r->d, NULL, other), STEPRT_BAD_ARGUMENT, "the stream");
  expect_error(r, cuda->fork(r->d, other), STEPRT_BAD_ARGUMENT, "the stream");
  cuda->close(r->d);
  r->d = NULL;
  cr_expect_eq(fake_cuda_live().streams, 2);
  run_free(r);
  free(there);
}

// A failure in a step names device, operation, chunk, kernel and the driver's text; then everything says the same, and
// the handle closes.
Test(cuda_device, failure_in_a_step) {
  struct run run, *r = &run;
  struct rt_stage *s;
  run_start(r, 2, 3, 20000);
  OK(run_open(r, (struct steprt_options){0}));
  OK(cuda->bind(r->d, (void *const *)r->param));
  run_step(r, 0, false);
  OK(cuda->stage(r->d, &s));
  const struct rt_chunk *chunk = &r->c.plan.chunk[0];
  fake_cuda_fail("cuLaunchKernel", 1, 700);
  const struct rt_entry e = {chunk->first_op + 1, r->c.plan.op[chunk->first_op + 1].first,
                             r->c.plan.op[chunk->first_op + 1].n, false};
  expect_error(r, cuda->issue(r->d, &e, s), STEPRT_FAILED,
               "CUDA device 0 (FFFF:FF:10.0), map step of chunk 0 (units ");
  cr_expect(r->rt.failed &&
                strstr(r->rt.error,
                       "cuLaunchKernel: CUDA_ERROR_FAKE (700: as the test asked)") !=
                    NULL,
            "%s", r->rt.error);
  expect_error(r, cuda->wait(r->d, false), STEPRT_FAILED, "");
  run_stop(r);
}

Test(cuda_device, fork_is_refused) {
  struct run run, *r = &run;
  run_start(r, 2, 3, 20000);
  OK(run_open(r, (struct steprt_options){0}));
  OK(cuda->bind(r->d, (void *const *)r->param));
  pid_t child = fork();
  if (child == 0) {
    struct rt_stage *s;
    bool ok =
        cuda->stage(r->d, &s) == STEPRT_BAD_STATE && strstr(r->rt.error, "fork") != NULL;
    uint64_t before = fake_cuda_calls("cuMemFree");
    cuda->close(r->d);
    _exit(ok && fake_cuda_calls("cuMemFree") == before ? 0 : 1);
  }
  int status = -1;
  cr_assert_eq(waitpid(child, &status, 0), child);
  cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  run_step(r, 0, false);
  OK(cuda->wait(r->d, false));
  run_stop(r);
}

// Any call that captures graphs may be short of memory: nothing is left, and the next bind works.
Test(cuda_device, bind_may_be_repeated) {
  struct run run, *r = &run;
  for (uint64_t call = 1; call <= 3; call++) {
    run_start(r, 2, 3, 4096);
    OK(run_open(r, (struct steprt_options){0}));
    fake_cuda_fail("cuGraphInstantiateWithFlags", call, 2);
    expect_error(r, cuda->bind(r->d, (void *const *)r->param), STEPRT_NO_MEMORY,
                 "cuGraphInstantiateWithFlags");
    OK(cuda->bind(r->d, (void *const *)r->param));
    cr_expect_eq(fake_cuda_live().graphs, r->c.plan.n_chunks);
    run_step(r, 0, false);
    OK(cuda->wait(r->d, false));
    run_stop(r);
  }
}

// Outside of an operation: short of memory is a refusal, anything else ends the handle.
Test(cuda_device, failure_between_steps) {
  struct run run, *r = &run;
  float out[4];
  run_start(r, 2, 0, 200000);
  OK(run_open(r, (struct steprt_options){0}));
  OK(cuda->bind(r->d, (void *const *)r->param));
  struct rt_at at = r->c.state[0].at;
  fake_cuda_fail("cuMemcpyDtoH", 1, 2);
  expect_error(r, cuda->read(r->d, at, out, sizeof out), STEPRT_NO_MEMORY,
               "cuMemcpyDtoH");
  cr_expect_not(r->rt.failed);
  OK(cuda->read(r->d, at, out, sizeof out));
  fake_cuda_fail("cuMemcpyDtoH", 1, 700);
  expect_error(r, cuda->read(r->d, at, out, sizeof out), STEPRT_FAILED, "cuMemcpyDtoH");
  cr_expect(r->rt.failed);
  run_stop(r);
}
