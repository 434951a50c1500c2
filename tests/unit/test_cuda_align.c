// Emitted map kernels over the host's shim: each pointer at every element of 16 bytes while the others are aligned, and
// lengths around every boundary of groups, turns and tiles. Bits equal the CPU target's and nothing outside is touched.
#include "cpu_fixture.h"
#include "cuda_shim.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static const char *const files[] = {
    "tests/data/ir/adamw.ir", "tests/data/cpu/momentum.ir", "tests/data/cpu/lion_f16.ir"};
enum { N_FILES = sizeof files / sizeof files[0], ROOM = 64, MAX_SLOTS = 8 };

struct fixture {
  struct arena *arena;
  struct cpu_case cpu[N_FILES];
  struct cuda_kernel cuda[N_FILES];
  struct cuda_shim shim;
};

static struct fixture fixture_new(void) {
  struct fixture f = {.arena = arena_new(0)};
  struct str ice = {0};
  struct cuda_writer w = cuda_shim_writer(f.arena, &ice);
  for (uint32_t i = 0; i < N_FILES; i++) {
    f.cpu[i] = cpu_case_open(files[i], 0, "native", 1);
    struct kernel *k = ARENA_NEW(f.arena, struct kernel);
    *k = *f.cpu[i].kernel;
    k->name = str_fmt(f.arena, "case%u", i);
    f.cuda[i] = cuda_map_kernel(&w, k);
    cr_assert(ice.n == 0, "%.*s", STR_FMT(ice));
  }
  f.shim = cuda_shim_build(f.arena, f.cuda, N_FILES);
  return f;
}

static void fixture_free(struct fixture *f) {
  for (uint32_t i = 0; i < N_FILES; i++) {
    cpu_case_close(&f->cpu[i]);
  }
  cuda_shim_free(&f->shim);
  arena_free(f->arena);
}

// A tensor of a kernel on memory of its own, `shift` elements past an aligned address, with room around it.
struct placed {
  unsigned char *block, *tensor;
  size_t before, bytes;
};

static struct placed place(const void *data, uint64_t n, uint32_t size, uint32_t shift) {
  struct placed p = {.before = ROOM + (size_t)shift * size, .bytes = n * size};
  size_t all = (p.before + p.bytes + ROOM + 63) / 64 * 64;
  p.block = aligned_alloc(64, all);
  memset(p.block, 0xa5, all);
  p.tensor = p.block + p.before;
  memcpy(p.tensor, data, p.bytes);
  return p;
}

static void take_back(struct placed *p, void *data) {
  for (size_t i = 0; i < ROOM; i++) {
    cr_assert(p->tensor[p->bytes + i % (ROOM - 1)] == 0xa5 &&
                  p->tensor[-1 - (long)i] == 0xa5,
              "bytes around a tensor are overwritten");
  }
  memcpy(data, p->tensor, p->bytes);
  free(p->block);
}

// One row whose `moved` tensor lies `shift` elements past an aligned address.
static void check_row(struct fixture *f, uint32_t c, uint64_t n, uint32_t moved,
                      uint32_t shift) {
  const struct cpu_case *cpu = &f->cpu[c];
  const struct cuda_kernel *k = &f->cuda[c];
  struct cpu_data got = cpu_data_new(cpu, n, 0, n + shift);
  struct cpu_data want = cpu_data_new(cpu, n, 0, n + shift);
  struct placed placed[MAX_SLOTS];
  static const char no_grad;
  const void *grad = &no_grad;
  void *ptr[MAX_SLOTS];
  uint32_t n_ptrs = 0, scalar_at = 0;
  for (uint32_t s = 0; s < got.n_slots; s++) {
    const struct kernel_slot *slot = &cpu->kernel->slot[s];
    placed[s] =
        place(got.tensor[s], n, storage_bytes(slot->storage), s == moved ? shift : 0);
    if (slot->kind == SLOT_GRAD) {
      grad = placed[s].tensor;
    } else {
      ptr[n_ptrs++] = placed[s].tensor;
    }
  }
  struct cuda_table t = cuda_table_new(f->arena, k, 1);
  cuda_table_add(&t, &(struct cuda_row){.ptr = ptr, .numel = n});
  struct cuda_verdict verdict = {.clip = 1};
  cuda_shim_launch(&f->shim, &(struct cuda_launch){.kernel = k,
                                                   .blocks = 2,
                                                   .table = &t,
                                                   .scalars = got.scalar,
                                                   .scalar_at = &scalar_at,
                                                   .grads = &grad,
                                                   .verdict = &verdict});
  cpu_case_run(cpu, &want, 0, n);
  for (uint32_t s = 0; s < got.n_slots; s++) {
    take_back(&placed[s], got.tensor[s]);
  }
  cpu_data_expect_equal(cpu, &got, &want);
  cpu_data_free(&got);
  cpu_data_free(&want);
}

// 4 elements a group, 64 or 128 threads, 2 groups a turn: every boundary is a multiple of 4 or of 256.
static void check_lengths(struct fixture *f, uint32_t c, uint32_t moved, uint32_t shift) {
  const uint32_t tile = f->cuda[c].tile;
  const uint32_t around[] = {0, 4, 256, 512, 1024, tile, tile + 256, 2 * tile};
  for (uint32_t i = 0; i < sizeof around / sizeof *around; i++) {
    for (int32_t d = around[i] == 0 ? 1 : -1; d <= 1; d++) {
      check_row(f, c, (uint64_t)around[i] + (uint64_t)d, moved, shift);
    }
  }
}

Test(cuda_align, every_pointer_at_every_element_and_lengths_around_every_boundary) {
  struct fixture f = fixture_new();
  for (uint32_t c = 0; c < N_FILES; c++) {
    const struct kernel *k = f.cpu[c].kernel;
    check_lengths(&f, c, 0, 0);
    for (uint32_t s = 0; s < k->n_slots; s++) {
      for (uint32_t shift = 1; shift < 16 / storage_bytes(k->slot[s].storage); shift++) {
        check_lengths(&f, c, s, shift);
      }
    }
  }
  fixture_free(&f);
}
