// What threads share in libsteprt, for ThreadSanitizer (cmake --preset tsan; ctest --preset tsan -R race). A plain
// program: Criterion forks its tests into memory mapped where ThreadSanitizer keeps its shadow. Exit 0: the results
// are right; races make ThreadSanitizer exit otherwise.
#include "core/team.h"
#include "steprt.h"
#include "support/tiny_program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void add_item(void *ctx, uint64_t item, uint32_t thread) {
  (void)thread;
  ((uint64_t *)ctx)[item] += item + 1;
}

// Jobs back to back, and after pauses in which the workers fall asleep.
static int check_team(void) {
  struct rt_team *t;
  uint64_t sums[40] = {0};
  enum { ROUNDS = 400 };
  if (rt_team_new(4, &t)) {
    return 1;
  }
  for (int round = 0; round < ROUNDS; round++) {
    rt_team_run(t, 40, add_item, sums);
    if (round % 40 == 0) {
      usleep(2000);
    }
  }
  rt_team_free(t);
  int wrong = 0;
  for (uint64_t i = 0; i < 40; i++) {
    wrong += sums[i] != (i + 1) * ROUNDS;
  }
  return wrong;
}

// Three steps; the parameters' bytes after them are in `param`.
static int run_steps(uint32_t threads, char *param[TINY_PARAMS],
                     char *const grad[TINY_PARAMS], const uint64_t numel[TINY_PARAMS]) {
  struct tiny t;
  struct steprt *rt;
  struct steprt_options o = {.size = sizeof o, .threads = threads};
  struct steprt_step step = {.size = sizeof step, .grads = (const void *const *)grad};
  tiny_make(&t, numel);
  int wrong = steprt_open(&t.program, &o, &rt) || steprt_bind(rt, (void **)param) ||
              steprt_set_hyper(rt, TINY_CLIP, 0.5);
  for (int i = 0; i < 3 && !wrong; i++) {
    wrong = steprt_begin(rt, &step) || steprt_run(rt, NULL) || steprt_end(rt);
  }
  wrong = wrong || steprt_wait_all(rt);
  if (wrong) {
    fprintf(stderr, "%u threads: %s\n", threads, steprt_error(rt));
  }
  steprt_destroy(rt);
  return wrong;
}

static int check_steps(void) {
  static const uint64_t numel[TINY_PARAMS] = {300000, 500, 8, 70000};
  char *one[TINY_PARAMS], *four[TINY_PARAMS], *grad[TINY_PARAMS];
  int wrong = 0;
  for (int i = 0; i < TINY_PARAMS; i++) {
    one[i] = calloc(numel[i], sizeof(float));
    four[i] = calloc(numel[i], sizeof(float));
    grad[i] = calloc(numel[i], sizeof(float));
    if (!one[i] || !four[i] || !grad[i]) {
      abort();
    }
    for (uint64_t k = 0; k < numel[i]; k++) {
      ((float *)grad[i])[k] = (float)(k % 1000) * 1e-3f;
    }
  }
  wrong += run_steps(1, one, grad, numel);
  wrong += run_steps(4, four, grad, numel);
  for (int i = 0; i < TINY_PARAMS; i++) {
    wrong += memcmp(one[i], four[i], numel[i] * sizeof(float)) != 0;
    free(one[i]);
    free(four[i]);
    free(grad[i]);
  }
  return wrong;
}

int main(void) {
  int wrong = check_team() + check_steps();
  if (wrong) {
    fprintf(stderr, "%d wrong results\n", wrong);
  }
  return wrong != 0;
}
