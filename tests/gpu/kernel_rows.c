// Tables of rows and what lies behind them.
#include "kernel.h"

#include "tool/tensors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 64, ALIGN = 64, LEFT_OUT = 11 };

// ---- values

static uint64_t next(uint64_t *seed) { // SplitMix64
  uint64_t z = *seed += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

// Bits of an f32: mostly ordinary numbers, else any pattern, with denormals, NaN and Inf among them.
static uint32_t value(uint64_t *seed, bool finite) {
  uint64_t x = next(seed);
  uint32_t bits = (uint32_t)x;
  bool any = x >> 61 == 0;
  if (!any) {
    bits = (bits & 0x80ffffffu) | (uint32_t)(0x35 + (x >> 40) % 12) << 24;
  }
  return finite && (bits & 0x7f800000u) == 0x7f800000u ? bits & 0xbfffffffu : bits;
}

void kernel_fill(enum storage s, uint64_t n, uint64_t seed, bool finite, void *out) {
  for (uint64_t i = 0; i < n; i++) {
    uint32_t bits = value(&seed, finite);
    if (s == ST_F32) {
      ((uint32_t *)out)[i] = bits;
    } else {
      uint16_t half = (uint16_t)(s == ST_F16 ? bits >> 3 : bits >> 16);
      bool special = (half & 0x7c00u) == 0x7c00u && s == ST_F16;
      ((uint16_t *)out)[i] = finite && special ? half & 0xbfffu : half;
    }
  }
}

void kernel_scalars(const struct kernel_pair *p, uint64_t seed, float *out) {
  const struct phase *ph = &p->kernel->phases->phase[p->kernel->phase];
  static const uint32_t clip = KERNEL_CLIP_BITS;
  for (uint32_t i = 0; i < ph->n_scalars; i++) {
    const struct ir_ins *ins = ir_at(p->kernel->phases->ir, ph->scalar[i]);
    out[i] = ins->type == IRT_DBOOL ? (float)(next(&seed) % 2)
                                    : (float)(int64_t)(next(&seed) >> 40) * 0x1p-24f;
    if (ins->op == IR_CLIP) {
      memcpy(&out[i], &clip, sizeof clip);
    }
  }
}

// ---- layout

static void add_row(struct kernel_rows *r, uint64_t numel, uint32_t moved,
                    uint32_t shift) {
  const struct kernel *k = r->pair->kernel;
  struct kernel_row *row = &r->row[r->n];
  *row = (struct kernel_row){
      .numel = numel, .first = r->n % 7, .left_out = r->n % LEFT_OUT == LEFT_OUT - 1};
  for (uint32_t s = 0; s < k->n_slots; s++) {
    size_t size = storage_bytes(k->slot[s].storage);
    size_t begin = (r->bytes[s] + ROOM + ALIGN - 1) / ALIGN * ALIGN;
    row->at[s] = begin + (s == moved ? shift * size : 0);
    r->bytes[s] = row->at[s] + numel * size + ROOM;
    r->bytes[s] = (r->bytes[s] + ALIGN - 1) / ALIGN * ALIGN;
  }
  r->first_tile[r->n++] = r->n_tiles;
  r->n_tiles += (uint32_t)((numel + r->pair->cuda->tile - 1) / r->pair->cuda->tile);
  r->first_tile[r->n] = r->n_tiles;
}

static void add_lengths(struct kernel_rows *r, uint32_t moved, uint32_t shift) {
  const uint32_t tile = r->pair->cuda->tile;
  const uint32_t around[] = {0, 4, 256, 512, 1024, tile, tile + 256, 2 * tile};
  for (uint32_t i = 0; i < sizeof around / sizeof *around; i++) {
    for (uint32_t d = around[i] == 0 ? 1 : 0; d <= 2; d++) {
      add_row(r, (uint64_t)around[i] + d - 1, moved, shift);
    }
  }
}

static void lay_out(struct kernel_rows *r) {
  enum { LENGTHS = 24, SHIFTS = 8 };
  const struct kernel *k = r->pair->kernel;
  uint32_t max = LENGTHS * (1 + k->n_slots * SHIFTS);
  r->row = ARENA_ARRAY(r->pair->arena, struct kernel_row, max);
  r->first_tile = ARENA_ARRAY(r->pair->arena, uint32_t, max + 1);
  r->scalar = ARENA_ARRAY(r->pair->arena, float, (size_t)max *KERNEL_MAX_SCALARS);
  add_lengths(r, 0, 0);
  for (uint32_t s = 0; s < k->n_slots; s++) {
    for (uint32_t shift = 1; shift < 16 / storage_bytes(k->slot[s].storage); shift++) {
      add_lengths(r, s, shift);
    }
  }
}

// ---- both sides

static uint64_t upload(const struct gpu *g, const void *bytes, size_t n) {
  uint64_t at = gpu_new(g, n);
  GPU(g, to_device(at, bytes, n));
  return at;
}

static void fill_blocks(struct kernel_rows *r, bool finite) {
  const struct kernel *k = r->pair->kernel;
  for (uint32_t s = 0; s < k->n_slots; s++) {
    r->host[s] = malloc(r->bytes[s]);
    if (r->host[s] == NULL) {
      (void)fputs("gpu_kernel: out of memory\n", stderr);
      exit(3);
    }
    memset(r->host[s], 0xa5, r->bytes[s]);
    for (uint32_t i = 0; i < r->n; i++) {
      kernel_fill(k->slot[s].storage, r->row[i].numel, i * KERNEL_MAX_SLOTS + s, finite,
                  r->host[s] + r->row[i].at[s]);
    }
    r->device[s] = upload(r->pair->gpu, r->host[s], r->bytes[s]);
  }
}

// `struct row` of emit/cuda.h. Scalars of a parameter begin behind one of another phase.
static void make_table(struct kernel_rows *r) {
  const struct kernel *k = r->pair->kernel;
  struct arena *a = r->pair->arena;
  struct buf table = buf_new(a);
  uint64_t *grad = ARENA_ARRAY(a, uint64_t, r->n);
  uint32_t *scalar_at = ARENA_ARRAY(a, uint32_t, r->n);
  for (uint32_t i = 0; i < r->n; i++) {
    const struct kernel_row *row = &r->row[i];
    uint64_t range[2] = {row->first, row->numel};
    uint32_t rest[4] = {r->first_tile[i], i, 1, 0};
    grad[i] = 1; // kernels without a gradient look only whether there is one
    for (uint32_t s = 0; s < k->n_slots; s++) {
      uint64_t at = r->device[s] + row->at[s];
      if (k->slot[s].kind == SLOT_GRAD) {
        grad[i] = at - row->first * storage_bytes(k->slot[s].storage);
      } else {
        buf_put(&table, (const char *)&at, sizeof at);
      }
    }
    grad[i] = row->left_out ? 0 : grad[i];
    buf_put(&table, (const char *)range, sizeof range);
    buf_put(&table, (const char *)rest, sizeof rest);
    scalar_at[i] = i * KERNEL_MAX_SCALARS;
    if (r->pair->cpu != NULL) {
      kernel_scalars(r->pair, i, r->scalar + scalar_at[i] + 1);
    }
  }
  r->row_bytes = (uint32_t)(table.n / r->n);
  r->table = upload(r->pair->gpu, table.p, table.n);
  r->grads = upload(r->pair->gpu, grad, r->n * sizeof *grad);
  r->scalar_at = upload(r->pair->gpu, scalar_at, r->n * sizeof *scalar_at);
  r->scalars =
      upload(r->pair->gpu, r->scalar, (size_t)r->n * KERNEL_MAX_SCALARS * sizeof(float));
}

struct kernel_rows kernel_rows_new(const struct kernel_pair *p, bool finite) {
  static const uint32_t verdict[4] = {KERNEL_CLIP_BITS};
  struct kernel_rows r = {.pair = p};
  lay_out(&r);
  fill_blocks(&r, finite);
  make_table(&r);
  r.verdict = upload(p->gpu, verdict, sizeof verdict);
  return r;
}

void kernel_rows_free(struct kernel_rows *r) {
  const struct gpu *g = r->pair->gpu;
  for (uint32_t s = 0; s < r->pair->kernel->n_slots; s++) {
    free(r->host[s]);
    GPU(g, mem_free(r->device[s]));
  }
  GPU(g, mem_free(r->table));
  GPU(g, mem_free(r->grads));
  GPU(g, mem_free(r->scalar_at));
  GPU(g, mem_free(r->scalars));
  GPU(g, mem_free(r->verdict));
}

void kernel_rows_launch(struct kernel_rows *r, uint32_t first, uint32_t n,
                        uint32_t blocks, uint64_t parts) {
  uint64_t rows = r->table + (uint64_t)first * r->row_bytes;
  uint32_t tiles = r->first_tile[first + n] - r->first_tile[first];
  void *map[] = {&rows, &n, &tiles, &r->scalars, &r->scalar_at, &r->grads, &r->verdict};
  void *squares[] = {&rows, &n, &tiles, &r->grads, &parts};
  gpu_launch(r->pair->gpu, r->pair->function, blocks != 0 ? blocks : tiles,
             r->pair->cuda->block, r->pair->cpu != NULL ? map : squares);
}

// ---- comparison

static void run_cpu(struct kernel_rows *r) {
  for (uint32_t i = 0; i < r->n; i++) {
    void *ptr[KERNEL_MAX_SLOTS];
    for (uint32_t s = 0; s < r->pair->kernel->n_slots; s++) {
      ptr[s] = r->host[s] + r->row[i].at[s];
    }
    if (!r->row[i].left_out) {
      r->pair->cpu(ptr, r->scalar + (size_t)i * KERNEL_MAX_SCALARS + 1, 0,
                   r->row[i].numel);
    }
  }
}

static bool same_block(const struct kernel_rows *r, uint32_t slot) {
  const struct kernel_slot *k = &r->pair->kernel->slot[slot];
  uint64_t size = storage_bytes(k->storage), n = r->bytes[slot] / size;
  unsigned char *got = malloc(r->bytes[slot]);
  if (got == NULL) {
    return false;
  }
  GPU(r->pair->gpu, to_host(got, r->device[slot], r->bytes[slot]));
  struct tensor cpu = {.data = r->host[slot], .storage = k->storage, .numel = n};
  struct tensor gpu = cpu;
  gpu.data = got;
  uint64_t at = tensor_differs(&cpu, &gpu) * size;
  for (uint32_t i = 0; at < n * size && i < r->n; i++) {
    if (i + 1 == r->n || at < r->row[i + 1].at[slot]) {
      (void)printf("  DIFFERS: %.*s, row %u of %llu elements at %zu: byte %lld\n",
                   STR_FMT(k->name), i, (unsigned long long)r->row[i].numel,
                   r->row[i].at[slot] % ALIGN, (long long)(at - r->row[i].at[slot]));
      break;
    }
  }
  free(got);
  return at == n * size;
}

bool kernel_rows_compare(struct kernel_rows *r) {
  bool same = true;
  run_cpu(r);
  GPU(r->pair->gpu, synchronize());
  for (uint32_t s = 0; s < r->pair->kernel->n_slots; s++) {
    same &= same_block(r, s);
  }
  return same;
}
