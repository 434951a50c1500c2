// What `--offload host` costs on the CPU: a step whose states stream through slots, beside the same step with resident
// states and a plain copy of the bytes that stream, all in turn in one process, so that what the machine does meanwhile
// meets them alike. The overhead may be the copies and 5%: the last column is at most 1.05.
//
//   bench_offload MODEL THREADS ROUNDS SPEC...      prints a table
#include "plan/plan.h"
#include "plan/program.h"
#include "stepc.h"
#include "steprt.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { ARMS = 3, MAX_ROUNDS = 101, WARM_UP = 2 };
enum { RESIDENT, HOST, COPY };

struct bench {
  const char *model;
  uint32_t threads, rounds;
  struct steprt_program *program[2];
  struct steprt *rt[2];
  void **param;
  const void **grad;
  char *slab, *slots; // of the copy
};

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *array(uint64_t bytes, float value) {
  uint64_t n = bytes / sizeof(float) + 1024;
  float *x = mmap(NULL, n * sizeof *x, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (x == MAP_FAILED) {
    return NULL;
  }
  (void)madvise(x, n * sizeof *x, MADV_HUGEPAGE);
  for (uint64_t i = 0; i < n; i++) {
    x[i] = value * (float)(i % 977 + 1);
  }
  return x;
}

static bool make_data(struct bench *b) {
  const struct steprt_program *p = b->program[HOST];
  b->param = calloc(p->n_params, sizeof *b->param);
  b->grad = calloc(p->n_params, sizeof *b->grad);
  for (uint32_t i = 0; b->param && b->grad && i < p->n_params; i++) {
    b->param[i] = array(p->param[i].numel * sizeof(float), 1e-5f);
    b->grad[i] = array(p->param[i].numel * sizeof(float), 1e-6f);
    if (!b->param[i] || !b->grad[i]) {
      return false;
    }
  }
  b->slab = array(p->plan->host_bytes, 0);
  b->slots = array(p->plan->n_slots * p->plan->slot_bytes, 0);
  return b->param && b->grad && b->slab && b->slots;
}

static bool open_one(struct bench *b, const char *spec, int arm) {
  const struct stepc_job job = {.size = sizeof job,
                                .spec = spec,
                                .model = b->model,
                                .offload = arm == HOST ? "host" : "none"};
  const struct steprt_options o = {.size = sizeof o, .threads = b->threads};
  if (stepc_compile(&job, &b->program[arm])) {
    (void)fputs(stepc_program_messages(b->program[arm]), stderr);
    return false;
  }
  if (steprt_open(b->program[arm], &o, &b->rt[arm])) {
    (void)fprintf(stderr, "%s\n", steprt_error(b->rt[arm]));
    return false;
  }
  return true;
}

static bool open_all(struct bench *b, const char *spec) {
  bool ok = open_one(b, spec, RESIDENT) && open_one(b, spec, HOST) && make_data(b);
  for (int arm = RESIDENT; ok && arm <= HOST; arm++) {
    ok = steprt_bind(b->rt[arm], b->param) == STEPRT_OK;
  }
  return ok;
}

// The chunks' bytes into their slots and back, by this thread alone.
static void copy_all(const struct bench *b) {
  const struct rt_plan *plan = b->program[HOST]->plan;
  uint64_t at = 0;
  for (uint32_t c = 0; c < plan->n_chunks; c++) {
    const struct rt_chunk *chunk = &plan->chunk[c];
    if (chunk->slot != RT_NO_ID) {
      char *slot = b->slots + chunk->slot * plan->slot_bytes;
      memcpy(slot, b->slab + at, chunk->bytes);
      memcpy(b->slab + at, slot, chunk->bytes);
      at += chunk->bytes;
    }
  }
}

static bool run_arm(const struct bench *b, int arm) {
  const struct steprt_step in = {.size = sizeof in, .grads = b->grad};
  if (arm == COPY) {
    copy_all(b);
    return true;
  }
  struct steprt *rt = b->rt[arm];
  bool ok = !steprt_begin(rt, &in) && !steprt_run(rt, NULL) && !steprt_end(rt) &&
            !steprt_wait_all(rt);
  if (!ok) {
    (void)fprintf(stderr, "%s\n", steprt_error(rt));
  }
  return ok;
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static bool measure(const struct bench *b, double median[ARMS]) {
  double seconds[ARMS][MAX_ROUNDS];
  for (uint32_t r = 0; r < b->rounds + WARM_UP; r++) {
    for (int arm = 0; arm < ARMS; arm++) {
      double begin = now();
      if (!run_arm(b, arm)) {
        return false;
      }
      if (r >= WARM_UP) {
        seconds[arm][r - WARM_UP] = now() - begin;
      }
    }
  }
  for (int arm = 0; arm < ARMS; arm++) {
    qsort(seconds[arm], b->rounds, sizeof *seconds[arm], by_value);
    median[arm] = seconds[arm][b->rounds / 2];
  }
  return true;
}

// Arrays go with the process.
static void close_all(struct bench *b) {
  for (int arm = RESIDENT; arm <= HOST; arm++) {
    steprt_destroy(b->rt[arm]);
    stepc_program_free(b->program[arm]);
    b->rt[arm] = NULL;
    b->program[arm] = NULL;
  }
}

static bool bench_spec(struct bench *b, const char *spec) {
  double s[ARMS];
  bool ok = open_all(b, spec) && measure(b, s);
  if (ok) {
    const struct rt_plan *plan = b->program[HOST]->plan;
    double bytes = 2 * (double)plan->host_bytes;
    printf("| %s | %u | %.2f | %u | %.1f | %.1f | %.1f (%.1f) | %.1f | %.2f |\n", spec,
           b->threads, bytes * 1e-9, plan->n_chunks, 1e3 * s[RESIDENT], 1e3 * s[HOST],
           1e3 * s[COPY], bytes / s[COPY] * 1e-9, 1e3 * (s[HOST] - s[RESIDENT]),
           s[HOST] / (s[RESIDENT] + s[COPY]));
  }
  close_all(b);
  return ok;
}

int main(int n, char **arg) {
  struct bench b = {0};
  if (n < 5) {
    (void)fputs("usage: bench_offload MODEL THREADS ROUNDS SPEC...\n", stderr);
    return 2;
  }
  b.model = arg[1];
  b.threads = (uint32_t)atoi(arg[2]);
  b.rounds = (uint32_t)atoi(arg[3]);
  if (b.rounds < 1 || b.rounds > MAX_ROUNDS) {
    (void)fprintf(stderr, "bench_offload: 1 to %d rounds\n", MAX_ROUNDS);
    return 2;
  }
  puts(
      "| spec | threads | GB that stream | chunks | resident, ms | host, ms | the copies "
      "alone, ms (GB/s) | overhead, ms | host / (resident + copies) |\n"
      "|---|---|---|---|---|---|---|---|---|");
  for (int i = 4; i < n; i++) {
    if (!bench_spec(&b, arg[i])) {
      return 1;
    }
  }
  return 0;
}
