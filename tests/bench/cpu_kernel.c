// Tuning of the CPU target's loops: one kernel over large arrays beside the best plain C loop, in turns.
//
//   bench_cpu_kernel IR ELEMENTS THREADS [ROUNDS]      e.g. tests/data/ir/adamw.ir 33554432 2
//
// Prints the GB/s of each, median and best. The bytes are those that the kernel reads and writes.
#include "cpu_loops.h"

#include "core/team.h"
#include "emit/cpu_code.h"
#include "emit/cpu_plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { PIECE = 1 << 14, MAX_TENSORS = 8, MAX_ARMS = 8, MAX_ROUNDS = 101 };

struct work {
  rt_map_fn fn; // NULL: a C loop
  size_t prefetch;
  void *tensor[MAX_TENSORS];
  float scalar[16];
  uint32_t n_tensors;
  uint64_t n;
};

static double seconds(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void run_piece(void *ctx, uint64_t item, uint32_t thread) {
  (void)thread;
  const struct work *j = ctx;
  uint64_t begin = item * PIECE, end = begin + PIECE < j->n ? begin + PIECE : j->n;
  if (j->fn != NULL) {
    j->fn(j->tensor, j->scalar, begin, end);
    return;
  }
  float *t[4];
  for (uint32_t i = 0; i < 4; i++) {
    t[i] = (float *)j->tensor[i] + begin;
  }
  if (j->n_tensors == 3) {
    loop_momentum(t[0], t[1], t[2], end - begin, j->prefetch);
  } else {
    loop_read4_write3(t[0], t[1], t[2], t[3], end - begin, j->prefetch);
  }
}

static const struct phases *read_phases(struct arena *a, const char *path) {
  struct sources sources = {.arena = a};
  struct diags diags;
  diags_init(&diags, a, &sources);
  struct front f = {.arena = a, .sources = &sources, .diags = &diags};
  struct str text, why;
  struct file_reader disk = file_reader_disk();
  if (!disk.read(disk.ctx, a, str_of(path), &text, &why)) {
    return NULL;
  }
  struct ir *ir = ir_parse(&f, source_add(&sources, str_of(path), text));
  return ir != NULL ? phases_cut(a, ir) : NULL;
}

static void *new_tensor(uint64_t bytes) {
  void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) {
    return NULL;
  }
  (void)madvise(p, bytes, MADV_HUGEPAGE);
  for (uint64_t i = 0; i < bytes / sizeof(float); i++) {
    ((float *)p)[i] = 1e-3f * (float)(i % 977 + 1);
  }
  return p;
}

static int compare(const void *x, const void *y) {
  double a = *(const double *)x, b = *(const double *)y;
  return a < b ? -1 : a > b;
}

static void measure(struct work *arm, const char *const *name, uint32_t n_arms,
                    struct rt_team *team, uint32_t rounds, double bytes) {
  static double rate[MAX_ARMS][MAX_ROUNDS];
  for (uint32_t r = 0; r < rounds; r++) {
    for (uint32_t k = 0; k < n_arms; k++) {
      double start = seconds();
      rt_team_run(team, (arm[k].n + PIECE - 1) / PIECE, run_piece, &arm[k]);
      rate[k][r] = bytes / (seconds() - start) * 1e-9;
    }
  }
  for (uint32_t k = 0; k < n_arms; k++) {
    qsort(rate[k], rounds, sizeof rate[k][0], compare);
    (void)printf("%-28s %6.1f GB/s median, %6.1f best\n", name[k], rate[k][rounds / 2],
                 rate[k][rounds - 1]);
  }
}

static struct work new_work(const struct kernel *k, uint64_t n, rt_map_fn fn) {
  struct work j = {.fn = fn, .n_tensors = k->n_slots, .n = n};
  for (uint32_t i = 0; i < k->n_slots; i++) {
    j.tensor[i] = new_tensor(n * storage_bytes(k->slot[i].storage) + 4096);
  }
  for (uint32_t i = 0; i < k->n_scalars; i++) {
    j.scalar[i] = 0.5f;
  }
  return j;
}

// The kernel and the C loop with three prefetch distances, where its bytes are those of one of the loops.
static void compare_arms(const struct kernel *k, rt_map_fn fn, uint64_t n,
                         uint32_t threads, uint32_t rounds) {
  struct rt_team *team = NULL;
  if (rt_team_new(threads, &team) != STEPRT_OK) {
    (void)fprintf(stderr, "no threads\n");
    return;
  }
  struct work kernel = new_work(k, n, fn);
  struct work arm[4] = {kernel, kernel, kernel, kernel};
  for (uint32_t i = 1; i < 4; i++) {
    arm[i].fn = NULL;
    arm[i].prefetch = (size_t)256 * (i - 1);
  }
  const char *const name[4] = {k->name.p, "C loop", "C loop, prefetch 256",
                               "C loop, prefetch 512"};
  uint32_t bytes = k->bytes_read + k->bytes_written;
  measure(arm, name, bytes == 28 || bytes == 16 ? 4 : 1, team, rounds, (double)n * bytes);
  rt_team_free(team);
}

static int bench(const char *path, uint64_t n, uint32_t threads, uint32_t rounds) {
  struct arena *a = arena_new(0);
  const struct phases *p = read_phases(a, path);
  struct cpu_target target;
  if (p == NULL || !cpu_target_find(a, STR("native"), &target)) {
    (void)fprintf(stderr, "cannot use %s\n", path);
    return 1;
  }
  struct kernels kernels = {.arena = a, .stream_numel = CPU_STREAM_NUMEL};
  struct kernel_slot *slot;
  (void)kernel_find(&kernels, p, p->phase[0].kind == PHASE_HOST, n, &slot);
  struct str ice = {0};
  struct cpu_code *code = cpu_code_new(a, &target, &kernels, &ice);
  if (code == NULL) {
    (void)fprintf(stderr, "%.*s\n", STR_FMT(ice));
    return 70;
  }
  compare_arms(kernels.list.v[0], cpu_code_function(code, 0), n, threads, rounds);
  cpu_code_free(code);
  arena_free(a);
  return 0;
}

int main(int argc, char **argv) {
  uint64_t n = argc > 2 ? strtoull(argv[2], NULL, 10) / PIECE * PIECE : 0;
  uint32_t threads = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 0;
  uint32_t rounds = argc > 4 ? (uint32_t)strtoul(argv[4], NULL, 10) : 11;
  if (n == 0 || threads == 0 || rounds == 0 || rounds > MAX_ROUNDS) {
    (void)fprintf(stderr, "usage: bench_cpu_kernel IR ELEMENTS THREADS [ROUNDS]\n");
    return 2;
  }
  return bench(argv[1], n, threads, rounds);
}
