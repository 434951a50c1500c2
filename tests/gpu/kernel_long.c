// A tensor past 2^31 elements: a random pattern repeated, so that the result is that of one pattern, repeated.
#include "kernel.h"

#include "tool/tensors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATTERN = 999983 }; // elements; a prime, so that it meets tiles everywhere
static const uint64_t numel = (1ull << 31) + 5 * PATTERN + 17;

struct tensors_long {
  uint64_t device[KERNEL_MAX_SLOTS];
  void *pattern[KERNEL_MAX_SLOTS];
};

static void *allocate(size_t bytes) {
  void *p = malloc(bytes);
  if (p == NULL) {
    (void)fputs("gpu_kernel: out of memory\n", stderr);
    exit(3);
  }
  return p;
}

static void make(const struct kernel_pair *p, uint32_t slot, struct tensors_long *t) {
  const struct gpu *g = p->gpu;
  enum storage s = p->kernel->slot[slot].storage;
  uint64_t size = storage_bytes(s), all = numel * size, done = PATTERN * size;
  t->pattern[slot] = allocate(done);
  kernel_fill(s, PATTERN, slot, false, t->pattern[slot]);
  t->device[slot] = gpu_new(g, all);
  GPU(g, to_device(t->device[slot], t->pattern[slot], done));
  while (done < all) {
    uint64_t n = all - done < done ? all - done : done;
    GPU(g, copy(t->device[slot] + done, t->device[slot], n, NULL));
    done += n;
  }
}

static uint64_t upload(const struct gpu *g, const void *bytes, size_t n) {
  uint64_t at = gpu_new(g, n);
  GPU(g, to_device(at, bytes, n));
  return at;
}

static void launch(const struct kernel_pair *p, const struct tensors_long *t,
                   const float *scalar) {
  static const uint32_t verdict_bits[4] = {KERNEL_CLIP_BITS};
  const struct gpu *g = p->gpu;
  struct buf row = buf_new(p->arena);
  uint64_t grad = 1, range[2] = {0, numel};
  uint32_t rest[4] = {0}, n = 1;
  uint32_t tiles = (uint32_t)((numel + p->cuda->tile - 1) / p->cuda->tile);
  for (uint32_t s = 0; s < p->kernel->n_slots; s++) {
    if (p->kernel->slot[s].kind == SLOT_GRAD) {
      grad = t->device[s];
    } else {
      buf_put(&row, (const char *)&t->device[s], sizeof t->device[s]);
    }
  }
  buf_put(&row, (const char *)range, sizeof range);
  buf_put(&row, (const char *)rest, sizeof rest);
  uint64_t table = upload(g, row.p, row.n), grads = upload(g, &grad, sizeof grad);
  uint64_t scalars = upload(g, scalar, KERNEL_MAX_SCALARS * sizeof *scalar);
  uint64_t scalar_at = upload(g, rest, sizeof *rest);
  uint64_t verdict = upload(g, verdict_bits, sizeof verdict_bits);
  void *arg[] = {&table, &n, &tiles, &scalars, &scalar_at, &grads, &verdict};
  gpu_launch(g, p->function, tiles, p->cuda->block, arg);
  GPU(g, synchronize());
  const uint64_t own[] = {table, grads, scalars, scalar_at, verdict};
  for (uint32_t i = 0; i < sizeof own / sizeof *own; i++) {
    GPU(g, mem_free(own[i]));
  }
}

// Patterns at the begin, around 2^30 and 2^31 elements, and at the end.
static bool compare(const struct kernel_pair *p, uint32_t slot,
                    const struct tensors_long *t) {
  const uint64_t from[] = {0, (1ull << 30) - PATTERN / 2, (1ull << 31) - PATTERN / 2,
                           numel - PATTERN};
  enum storage s = p->kernel->slot[slot].storage;
  uint64_t size = storage_bytes(s);
  unsigned char *got = allocate(PATTERN * size), *want = allocate(PATTERN * size);
  bool same = true;
  for (uint32_t i = 0; i < sizeof from / sizeof *from; i++) {
    uint64_t phase = from[i] % PATTERN;
    memcpy(want, (char *)t->pattern[slot] + phase * size, (PATTERN - phase) * size);
    memcpy(want + (PATTERN - phase) * size, t->pattern[slot], phase * size);
    GPU(p->gpu, to_host(got, t->device[slot] + from[i] * size, PATTERN * size));
    struct tensor cpu = {.data = want, .storage = s, .numel = PATTERN}, gpu = cpu;
    gpu.data = got;
    uint64_t at = tensor_differs(&cpu, &gpu);
    if (at != PATTERN) {
      (void)printf("  DIFFERS: %.*s, element %llu of %llu\n",
                   STR_FMT(p->kernel->slot[slot].name),
                   (unsigned long long)(from[i] + at), (unsigned long long)numel);
      same = false;
    }
  }
  free(got);
  free(want);
  return same;
}

bool kernel_check_long(const struct kernel_pair *p) {
  struct tensors_long t;
  uint64_t need = 0;
  size_t unused = 0, total = 0;
  for (uint32_t s = 0; s < p->kernel->n_slots; s++) {
    need += numel * storage_bytes(p->kernel->slot[s].storage);
  }
  GPU(p->gpu, mem_info(&unused, &total));
  if (unused < need + (1u << 30)) {
    (void)printf("  left out: %llu elements need %llu bytes, %zu are free\n",
                 (unsigned long long)numel, (unsigned long long)need, unused);
    return true;
  }
  float scalar[KERNEL_MAX_SCALARS] = {0};
  kernel_scalars(p, 1, scalar);
  for (uint32_t s = 0; s < p->kernel->n_slots; s++) {
    make(p, s, &t);
  }
  launch(p, &t, scalar);
  p->cpu(t.pattern, scalar, 0, PATTERN);
  bool same = true;
  for (uint32_t s = 0; s < p->kernel->n_slots; s++) {
    same &= compare(p, s, &t);
    GPU(p->gpu, mem_free(t.device[s]));
    free(t.pattern[s]);
  }
  return same;
}
