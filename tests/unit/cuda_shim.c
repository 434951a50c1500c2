// Building and launching.
#include "cuda_shim.h"

#include "tempdir.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

// Runs a compiler on `text` in a folder of its own; "OUT" in the command is that folder.
static struct tempdir compile(struct arena *a, struct str text, const char *file,
                              const char *command) {
  struct tempdir dir = tempdir_new();
  tempdir_write(&dir, file, text.p, text.n);
  struct str line = str_fmt(a, "cd %s && %s >said 2>&1", dir.path, command);
  if (system(line.p) != 0) {
    (void)system(str_fmt(a, "head -c 3000 %s/said >&2", dir.path).p);
    tempdir_remove(&dir);
    cr_assert_fail("%.*s", STR_FMT(line));
  }
  return dir;
}

static void *symbol(const struct cuda_shim *s, const char *name) {
  void *address = dlsym(s->library, name);
  cr_assert(address != NULL, "%s", name);
  return address;
}

struct cuda_shim cuda_shim_build(struct arena *a, const struct cuda_kernel *k,
                                 uint32_t n) {
  struct buf b = buf_new(a);
  buf_puts(&b, "#include \"" STEPC_SOURCE_DIR "/tests/cuda/shim.cuh\"\n");
  for (uint32_t i = 0; i < n; i++) {
    buf_printf(&b, "namespace file%u {\n%.*s}\n", i, STR_FMT(k[i].source));
  }
  struct tempdir dir =
      compile(a, buf_done(&b), "kernels.cpp",
              TEST_CXX " -std=c++17 -O1 -fPIC -shared -ffp-contract=off -fno-math-errno "
                       "-fsanitize=alignment -fsanitize-undefined-trap-on-error "
                       "-Wall -Wno-unknown-pragmas -Werror -o kernels.so kernels.cpp");
  char path[400];
  struct cuda_shim s = {.library =
                            dlopen(tempdir_join(&dir, "kernels.so", path), RTLD_NOW)};
  cr_assert(s.library != NULL, "%s", dlerror());
  tempdir_remove(&dir);
  void *launch = symbol(&s, "shim_launch");
  memcpy(&s.launch, &launch, sizeof launch);
  return s;
}

void cuda_shim_free(struct cuda_shim *s) {
  dlclose(s->library);
}

struct cuda_writer cuda_shim_writer(struct arena *a, struct str *ice) {
  static const struct model no_model;
  struct job *job = ARENA_NEW(a, struct job);
  struct job_ir *j = ARENA_NEW(a, struct job_ir);
  struct front *f = ARENA_NEW(a, struct front);
  *f = (struct front){.arena = a, .sources = ARENA_NEW(a, struct sources)};
  job->model = &no_model;
  job->skip_nonfinite = true;
  j->job = job;
  return (struct cuda_writer){.arena = a, .front = f, .j = j, .ice = ice};
}

// ---- tables

static size_t row_bytes(const struct cuda_kernel *k) {
  return k->n_ptrs * sizeof(void *) + 2 * sizeof(uint64_t) + 4 * sizeof(uint32_t);
}

struct cuda_table cuda_table_new(struct arena *a, const struct cuda_kernel *k,
                                 uint32_t max) {
  return (struct cuda_table){.kernel = k,
                             .bytes = arena_alloc(a, max * row_bytes(k), sizeof(void *))};
}

void cuda_table_add(struct cuda_table *t, const struct cuda_row *row) {
  unsigned char *to = t->bytes + t->n++ * row_bytes(t->kernel);
  size_t pointers = t->kernel->n_ptrs * sizeof *row->ptr;
  uint64_t range[2] = {row->first, row->numel};
  uint32_t rest[4] = {t->n_tiles, row->param, row->scalars, 0};
  if (pointers != 0) {
    memcpy(to, row->ptr, pointers);
  }
  memcpy(to + pointers, range, sizeof range);
  memcpy(to + pointers + sizeof range, rest, sizeof rest);
  t->n_tiles += (uint32_t)((row->numel + t->kernel->tile - 1) / t->kernel->tile);
}

static uint32_t first_tile_of(const struct cuda_table *t, uint32_t row) {
  uint32_t tile = t->n_tiles;
  if (row < t->n) {
    memcpy(&tile, t->bytes + (row + 1) * row_bytes(t->kernel) - 4 * sizeof tile,
           sizeof tile);
  }
  return tile;
}

// ---- launches

struct call {
  const struct cuda_launch *launch;
  void *function;
  const unsigned char *rows;
  uint32_t n_rows, n_tiles;
};

static void call_kernel(void *ctx) {
  const struct call *c = ctx;
  const struct cuda_launch *l = c->launch;
  switch (l->kernel->kind) {
  case CUDA_MAP: {
    void (*fn)(const void *, unsigned, unsigned, const float *, const unsigned *,
               const void *const *, const void *);
    memcpy(&fn, &c->function, sizeof fn);
    fn(c->rows, c->n_rows, c->n_tiles, l->scalars, l->scalar_at, l->grads, l->verdict);
    return;
  }
  case CUDA_SQUARES: {
    void (*fn)(const void *, unsigned, unsigned, const void *const *, void *);
    memcpy(&fn, &c->function, sizeof fn);
    fn(c->rows, c->n_rows, c->n_tiles, l->grads, l->parts);
    return;
  }
  case CUDA_MERGE: {
    void (*fn)(const void *, unsigned, void *);
    memcpy(&fn, &c->function, sizeof fn);
    fn(l->parts, l->n_parts, l->sum);
    return;
  }
  case CUDA_VERDICT: {
    void (*fn)(const void *, unsigned, double, void *);
    memcpy(&fn, &c->function, sizeof fn);
    fn(l->parts, l->n_parts, l->bound, l->verdict);
    return;
  }
  case CUDA_ORTHO: return; // of other tables
  }
}

void cuda_shim_launch(const struct cuda_shim *s, const struct cuda_launch *l) {
  char name[256];
  (void)snprintf(name, sizeof name, "%.*s", STR_FMT(l->kernel->name));
  struct call c = {.launch = l, .function = symbol(s, name)};
  if (l->table != NULL) {
    c.n_rows = l->n_rows != 0 ? l->n_rows : l->table->n;
    c.rows = l->table->bytes + l->first_row * row_bytes(l->kernel);
    c.n_tiles = first_tile_of(l->table, l->first_row + c.n_rows) -
                first_tile_of(l->table, l->first_row);
  }
  cr_assert(s->launch(l->blocks, l->kernel->block, l->kernel->kind != CUDA_MAP,
                      call_kernel, &c),
            "no thread");
}

void cuda_front_check(struct arena *a, struct str text) {
  struct tempdir dir =
      compile(a, text, "kernel.cu",
              "clang-19 -x cuda --cuda-device-only --cuda-gpu-arch=sm_80 -nocudainc "
              "-nocudalib -fsyntax-only -Wall -Wextra -Wno-unused-function "
              "-Wno-unknown-cuda-version -Werror "
              "-include " STEPC_SOURCE_DIR "/tests/cuda/front.cuh kernel.cu");
  tempdir_remove(&dir);
}
