// What cpu.py measures of ours, and the plain C loops, on one set of arrays: a worker that runs what it is told.
//
//   bench_cpu_arms SPEC MODEL THREADS
//
// Prints one line for each arm, its bytes a run and its name, then an empty line. Each line of standard input that
// follows is the number of an arm; the answer is the seconds that one run of it took.
#include "cpu_arms.h"
#include "cpu_loops.h"

#include "device/cpu/exec.h" // where states and temporaries lie

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { AHEAD = 512 }; // elements: the prefetch distance of the C loops

enum {
  P,
  G,
  M,
  V,
  U,
  N_ARRAYS
}; // of a parameter: itself, gradient, first two states, the first map's temporary

// Elements [begin, end) of one parameter; the C loops prefetch `ahead` elements.
typedef void (*part_fn)(const struct bench *b, uint32_t param, void *const *x,
                        uint64_t begin, uint64_t end, size_t ahead);

static float *at(void *array, uint64_t begin) {
  return (float *)array + begin;
}

static void run_memcpy(const struct bench *b, uint32_t param, void *const *x,
                       uint64_t begin, uint64_t end, size_t ahead) {
  (void)b, (void)param, (void)ahead;
  memcpy(at(x[M], begin), at(x[G], begin), (end - begin) * sizeof(float));
}

static void run_read4_write3(const struct bench *b, uint32_t param, void *const *x,
                             uint64_t begin, uint64_t end, size_t ahead) {
  (void)b, (void)param;
  loop_read4_write3(at(x[M], begin), at(x[G], begin), at(x[V], begin), at(x[P], begin),
                    end - begin, ahead);
}

static void run_adamw(const struct bench *b, uint32_t param, void *const *x,
                      uint64_t begin, uint64_t end, size_t ahead) {
  (void)b, (void)param;
  loop_adamw(at(x[M], begin), at(x[G], begin), at(x[V], begin), at(x[P], begin),
             end - begin, ahead);
}

static void run_momentum(const struct bench *b, uint32_t param, void *const *x,
                         uint64_t begin, uint64_t end, size_t ahead) {
  (void)b, (void)param;
  loop_momentum(at(x[M], begin), at(x[G], begin), at(x[U], begin), end - begin, ahead);
}

static void run_momentum_bf16(const struct bench *b, uint32_t param, void *const *x,
                              uint64_t begin, uint64_t end, size_t ahead) {
  (void)b, (void)param;
  loop_momentum_bf16(at(x[M], begin), at(x[G], begin), (uint16_t *)x[U] + begin,
                     end - begin, ahead);
}

static const struct rt_phase *first_phase(const struct bench *b, uint32_t param) {
  return b->program->rule[b->program->param[param].rule].phase;
}

static const struct rt_kernel *first_kernel(const struct bench *b, uint32_t param) {
  return &b->program->kernel[first_phase(b, param)->kernel];
}

// The generated code of a parameter's first map alone, on the arrays that the step gave it.
static void run_first_map(const struct bench *b, uint32_t param, void *const *x,
                          uint64_t begin, uint64_t end, size_t ahead) {
  (void)ahead;
  static const float scalar[16] = {0.95f, 0.05f, 0.95f, 0.05f};
  const struct rt_kernel *k = first_kernel(b, param);
  void *ptr[16];
  for (uint32_t i = 0; i < k->n_ptrs; i++) {
    struct rt_at a = b->program->plan->at[b->row[param]->at + i];
    ptr[i] = a.space == RT_AT_GRAD ? x[G] : cpu_at(b->rt->device, a);
  }
  k->fn(ptr, scalar, begin, end);
}

static const struct arm {
  const char *name;
  part_fn fn;        // NULL: the whole step through the runtime
  size_t ahead;      // prefetch distance in elements
  uint32_t n_states; // for rules with so many states
  uint32_t temp,
      bytes; // and a temporary of so many bytes (0: none); read and written per element
} arms[] = {
    {"stepc AdamW, whole step", NULL, 0, 2, 0, 28},
    {"C read 4 write 3", run_read4_write3, 0, 2, 0, 28},
    {"C read 4 write 3, prefetch", run_read4_write3, AHEAD, 2, 0, 28},
    {"C AdamW", run_adamw, 0, 2, 0, 28},
    {"C AdamW, prefetch", run_adamw, AHEAD, 2, 0, 28},
    {"memcpy", run_memcpy, 0, 2, 0, 8},
    {"stepc momentum phase", run_first_map, 0, 1, 4, 16},
    {"C momentum, non-temporal", run_momentum, 0, 1, 4, 16},
    {"C momentum, non-temporal, prefetch", run_momentum, AHEAD, 1, 4, 16},
    {"stepc momentum phase, bf16 result", run_first_map, 0, 1, 2, 14},
    {"C momentum, non-temporal bf16", run_momentum_bf16, 0, 1, 2, 14},
    {"C momentum, non-temporal bf16, prefetch", run_momentum_bf16, AHEAD, 1, 2, 14},
    {"stepc Muon, whole step", NULL, 0, 1, 2, 0},
};
enum { N_ARMS = sizeof arms / sizeof arms[0] };

struct work {
  const struct bench *b;
  const struct arm *arm;
};

static void *first_temp(const struct bench *b, uint32_t param) {
  const struct rt_phase *ph = first_phase(b, param);
  for (uint32_t i = 0; i < ph->n_tensors; i++) {
    if (ph->tensor[i].kind == RT_TENSOR_TEMP) {
      return cpu_at(b->rt->device, b->program->plan->at[b->row[param]->at + i]);
    }
  }
  return NULL;
}

static void run_item(void *ctx, uint64_t index, uint32_t thread) {
  (void)thread;
  const struct work *w = ctx;
  const struct rt_item *item = &w->b->item[index];
  for (uint32_t i = item->first; i < item->first + item->n; i++) {
    const struct rt_param *p = &w->b->program->param[i];
    void *x[N_ARRAYS] = {w->b->param[i], NULL, NULL, NULL, first_temp(w->b, i)};
    memcpy(&x[G], &w->b->grad[i], sizeof x[G]); // the loops read it only
    const struct rt_plan_param *v = &w->b->program->plan->param[i];
    for (uint32_t s = 0; s < v->n_states && s < 2; s++) {
      struct rt_at home = w->b->program->plan->state[v->first_state + s].at;
      x[M + s] = cpu_at(w->b->rt->device, home);
    }
    w->arm->fn(w->b, i, x, item->n == 1 ? item->begin : 0,
               item->n == 1 ? item->end : p->numel, w->arm->ahead);
  }
}

static double seconds(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool run(struct bench *b, const struct arm *arm, double *took) {
  struct work w = {b, arm};
  double start = seconds();
  if (arm->fn != NULL) {
    rt_team_run(b->team, b->n_items, run_item, &w);
  } else if (!bench_step(b)) {
    return false;
  }
  *took = seconds() - start;
  return true;
}

// The arms that fit what was compiled.
static uint32_t choose(const struct bench *b, const struct arm **chosen) {
  const struct steprt_program *p = b->program;
  const struct rt_phase *ph = first_phase(b, 0);
  uint32_t n = 0, temp = 0;
  uint64_t numel = 0;
  for (uint32_t i = 0; i < ph->n_tensors; i++) {
    const struct rt_tensor *t = &ph->tensor[i];
    temp = t->kind == RT_TENSOR_TEMP ? rt_storage_bytes(t->storage) : temp;
  }
  for (uint32_t i = 0; i < p->n_params; i++) {
    numel += p->param[i].numel;
  }
  for (uint32_t i = 0; i < N_ARMS; i++) {
    if (arms[i].n_states == p->plan->param[0].n_states && arms[i].temp == temp) {
      chosen[n++] = &arms[i];
      (void)printf("%" PRIu64 " %s\n", arms[i].bytes * numel, arms[i].name);
    }
  }
  (void)puts("");
  return n;
}

int main(int argc, char **argv) {
  struct bench b;
  const struct arm *chosen[N_ARMS];
  if (argc != 4) {
    (void)fprintf(stderr, "usage: bench_cpu_arms SPEC MODEL THREADS\n");
    return 2;
  }
  if (!bench_open(&b, argv[1], argv[2], (uint32_t)strtoul(argv[3], NULL, 10))) {
    return 1;
  }
  uint32_t n = choose(&b, chosen), arm;
  (void)fflush(stdout);
  char line[32];
  while (fgets(line, sizeof line, stdin) != NULL &&
         (arm = (uint32_t)strtoul(line, NULL, 10)) < n) {
    double took;
    if (!run(&b, chosen[arm], &took)) {
      return 1;
    }
    (void)printf("%.9f\n", took);
    (void)fflush(stdout);
  }
  bench_close(&b);
  return 0;
}
