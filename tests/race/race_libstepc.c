// What threads share in libstepc, for ThreadSanitizer (cmake --preset tsan; ctest --preset tsan -R race): threads
// compile different specs at once, step what they made and read one program together. A plain program, as
// race_steprt.c is. Exit 0: the results are right.
#include "stepc.h"
#include "steprt.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 100, THREADS = 4, ROUNDS = 3 };

// param - scale * grad; each thread has another scale.
static int compile(int scale, struct steprt_program **program) {
  static const uint64_t dim = N;
  struct stepc_param param = {.size = sizeof param, .name = "w", .dim = &dim, .rank = 1};
  char text[200];
  snprintf(text, sizeof text,
           "spec 1\noptimizer scaled_%d {\n  state m : f32 like param\n  m := m + grad\n"
           "  param := param - %d.0 * m\n}\n",
           scale, scale);
  struct stepc_job job = {
      .size = sizeof job, .spec_text = text, .params = &param, .n_params = 1};
  return stepc_compile(&job, program) != STEPC_OK;
}

static int step(const struct steprt_program *program, int scale) {
  float w[N] = {0}, g[N];
  void *params[] = {w};
  const void *grads[] = {g};
  struct steprt *rt;
  struct steprt_options options = {.size = sizeof options, .threads = 2};
  struct steprt_step s = {.size = sizeof s, .grads = grads};
  for (int i = 0; i < N; i++) {
    g[i] = 1;
  }
  int wrong = steprt_open(program, &options, &rt) || steprt_bind(rt, params) ||
              steprt_begin(rt, &s) || steprt_run(rt, NULL) || steprt_end(rt) ||
              steprt_wait_all(rt);
  steprt_destroy(rt);
  for (int i = 0; i < N; i++) {
    wrong += w[i] != (float)-scale;
  }
  return wrong;
}

struct worker {
  pthread_t thread;
  const struct steprt_program *shared;
  int scale, wrong;
};

static void *work(void *arg) {
  struct worker *w = arg;
  for (int i = 0; i < ROUNDS; i++) {
    struct steprt_program *own = NULL;
    struct stepc_summary s = {.size = sizeof s};
    const char *text;
    w->wrong += compile(w->scale, &own) || step(own, w->scale) ||
                stepc_program_emit(own, "asm", &text);
    w->wrong += stepc_program_summary(w->shared, &s) || strcmp(s.name, "scaled_9") ||
                step(w->shared, 9);
    stepc_program_free(own);
  }
  return NULL;
}

int main(void) {
  struct steprt_program *shared = NULL;
  struct worker w[THREADS] = {0};
  int wrong = compile(9, &shared);
  for (int i = 0; i < THREADS && !wrong; i++) {
    w[i] = (struct worker){.shared = shared, .scale = i + 1};
    if (pthread_create(&w[i].thread, NULL, work, &w[i])) {
      abort();
    }
  }
  for (int i = 0; i < THREADS && w[i].shared; i++) {
    pthread_join(w[i].thread, NULL);
    wrong += w[i].wrong;
  }
  stepc_program_free(shared);
  if (wrong) {
    fprintf(stderr, "%d wrong results\n", wrong);
  }
  return wrong != 0;
}
