// What threads share in libsteprt, for ThreadSanitizer (cmake --preset tsan; ctest --preset tsan -R race). A plain
// program: Criterion forks its tests into memory mapped where ThreadSanitizer keeps its shadow. Exit 0: the results
// are right; races make ThreadSanitizer exit otherwise.
#include "core/team.h"
#include "steprt.h"
#include "support/tiny_program.h"

#include <pthread.h>
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

// A handle with arrays of its own.
struct job {
  const struct tiny_plan_options *plan;
  uint32_t threads;
  bool sets; // units run in sets, the last first
  struct tiny tiny;
  char *param[TINY_PARAMS], *seen[TINY_PARAMS]; // seen: before the last step
  pthread_t thread;
  int wrong;
};

static const uint64_t numel[TINY_PARAMS] = {300000, 500, 8, 70000};
static const struct tiny_plan_options plain = {0},
                                      streams = {.host = true, .piece = 32768},
                                      together = {.host = true,
                                                  .together = 2,
                                                  .slots = 4},
                                      overlaps = {.host = true,
                                                  .piece = 16384,
                                                  .overlap = true,
                                                  .first_ahead = 2,
                                                  .ahead = 1};

static char *new_array(uint64_t n) {
  char *x = calloc(n, sizeof(float));
  if (!x) {
    abort();
  }
  return x;
}

static int run_units(struct steprt *rt, bool sets) {
  int wrong = 0;
  for (uint32_t u = steprt_units(rt, NULL); sets && u-- > 0 && !wrong;) {
    struct steprt_set set = {.size = sizeof set, .units = &u, .n = 1};
    wrong = steprt_run(rt, &set);
  }
  return wrong || (!sets && steprt_run(rt, NULL));
}

// A begin that comes early: what wait_order waits for, before units run, is the step before.
static int step_early(struct job *j, struct steprt *rt, const struct steprt_step *step) {
  int wrong = steprt_begin(rt, step) || steprt_wait_order(rt, UINT64_MAX, NULL);
  for (int i = TINY_PARAMS - 1; i >= 0 && !wrong; i--) { // the last one updated first
    memcpy(j->seen[i], j->param[i], numel[i] * sizeof(float));
  }
  return wrong || run_units(rt, j->sets) || steprt_end(rt);
}

// Six steps, waited for in each of the ways that there are; a trace is kept, a state read between steps.
static void *run_job(void *arg) {
  struct job *j = arg;
  struct steprt *rt;
  struct steprt_options o = {.size = sizeof o, .threads = j->threads, .trace = 1};
  struct steprt_trace_record record[8];
  char *grad[TINY_PARAMS];
  tiny_make(&j->tiny, numel);
  tiny_plan_make(&j->tiny.plan, &j->tiny.program, j->plan);
  for (int i = 0; i < TINY_PARAMS; i++) {
    j->param[i] = new_array(numel[i]);
    j->seen[i] = new_array(numel[i]);
    grad[i] = new_array(numel[i]);
    for (uint64_t k = 0; k < numel[i]; k++) {
      ((float *)grad[i])[k] = (float)(k % 1000) * 1e-3f;
    }
  }
  const struct steprt_step step = {.size = sizeof step,
                                   .grads = (const void *const *)grad};
  int wrong = steprt_open(&j->tiny.program, &o, &rt) ||
              steprt_bind(rt, (void **)j->param) || steprt_set_hyper(rt, TINY_CLIP, 0.5);
  for (int i = 0; i < 5 && !wrong; i++) {
    wrong =
        steprt_begin(rt, &step) || run_units(rt, j->sets) || steprt_end(rt) ||
        (i == 1 && steprt_wait_all(rt)) || (i < 4 && steprt_wait_order(rt, 0, NULL)) ||
        (i == 2 && (steprt_grads_done(rt, NULL) || !steprt_state(rt, 0, "m", NULL))) ||
        (i == 3 && steprt_count(rt, 0) != 4);
  }
  wrong = wrong || step_early(j, rt, &step) || steprt_wait_all(rt) ||
          steprt_trace(rt, record, 8) == 0;
  if (wrong) {
    fprintf(stderr, "%u threads: %s\n", j->threads, steprt_error(rt));
  }
  steprt_destroy(rt);
  for (int i = 0; i < TINY_PARAMS; i++) {
    free(grad[i]);
  }
  j->wrong = wrong;
  return NULL;
}

// Handles side by side, each with lanes and workers of its own, give one result.
static int check_steps(void) {
  static const struct {
    const struct tiny_plan_options *plan;
    uint32_t threads;
    bool sets;
  } rows[] = {{&plain, 1, false},  {&plain, 4, true},    {&streams, 2, false},
              {&streams, 3, true}, {&together, 2, true}, {&overlaps, 2, false},
              {&overlaps, 2, true}};
  enum { N_JOBS = sizeof rows / sizeof *rows };
  static struct job jobs[N_JOBS];
  int wrong = 0;
  for (int i = 0; i < N_JOBS; i++) {
    jobs[i].plan = rows[i].plan;
    jobs[i].threads = rows[i].threads;
    jobs[i].sets = rows[i].sets;
    if (pthread_create(&jobs[i].thread, NULL, run_job, &jobs[i])) {
      abort();
    }
  }
  for (int i = 0; i < N_JOBS; i++) {
    pthread_join(jobs[i].thread, NULL);
    wrong += jobs[i].wrong;
  }
  for (int i = 0; i < N_JOBS; i++) {
    for (int p = 0; p < TINY_PARAMS; p++) {
      size_t bytes = numel[p] * sizeof(float);
      wrong += memcmp(jobs[0].param[p], jobs[i].param[p], bytes) != 0;
      wrong += memcmp(jobs[0].seen[p], jobs[i].seen[p], bytes) != 0;
    }
  }
  for (int i = 0; i < N_JOBS; i++) {
    for (int p = 0; p < TINY_PARAMS; p++) {
      free(jobs[i].param[p]);
      free(jobs[i].seen[p]);
    }
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
