// Every emitted kernel of some jobs, alone on a CUDA device, against the CPU target bit for bit: pointers at every
// element of 16 bytes, lengths around every boundary, rows inside their parameters, parameters without a gradient, runs
// of a table, any number of blocks, and one tensor of more than 2^31 elements.
// Usage: gpu_kernel CUBINS [-short] [CASE...], in the folder that holds specs/ and tests/models/.
#include "kernel.h"

#include "api/driver.h"
#include "core/binned.h"
#include "emit/cpu_code.h"
#include "front/load.h"
#include "tool/tool.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct kernel_case {
  const char *name, *spec, *model;
};
static const struct kernel_case cases[] = {
#define KERNEL_CASE(name, spec, model) {#name, spec, model},
#include "kernel_cases.def"
#undef KERNEL_CASE
};

struct run {
  struct tool tool;
  struct driver driver;
  const struct gpu *gpu;
  const char *folder; // of cubins
  const struct cuda_text *text;
  struct kernels kernels; // the text's maps, in its order
  struct cpu_code *cpu;
  uint32_t n, same;
};

static void give_up(const char *what, struct str why) {
  (void)fprintf(stderr, "gpu_kernel: %s: %.*s\n", what, STR_FMT(why));
  exit(3);
}

static void compile(struct run *r, const struct kernel_case *c) {
  struct front *f = &r->tool.front;
  struct driver *d = &r->driver;
  struct driver_input in = {.spec = str_of(c->spec), .model = str_of(c->model)};
  bool ok = driver_parse(f, &in, d) && driver_model(f, &in, d) && driver_job(f, &in, d) &&
            driver_lower(f, &in, d);
  r->text = ok ? cuda_emit(f, d->ir, STR(""), &d->ice) : NULL;
  if (r->text == NULL) {
    (void)report(&r->tool);
    give_up(c->name, d->ice);
  }
  r->kernels.arena = r->tool.arena;
  for (uint32_t i = 0; i < d->ir->job->n_rules; i++) {
    (void)kernels_of_rule(&r->kernels, d->ir->phases[i], &d->ice);
  }
  struct cpu_target target;
  (void)cpu_target_find(r->tool.arena, STR("native"), &target);
  r->cpu = cpu_code_new(r->tool.arena, &target, &r->kernels, &d->ice);
  if (r->cpu == NULL) {
    give_up(c->name, d->ice);
  }
}

static void *load(struct run *r, const struct cuda_kernel *k) {
  struct arena *a = r->tool.arena;
  struct str path = str_fmt(a, "%s/%.*s.cubin", r->folder, STR_FMT(k->name));
  struct file_reader disk = file_reader_disk();
  struct str cubin, why;
  void *module, *function;
  if (!disk.read(disk.ctx, a, path, &cubin, &why)) {
    give_up(path.p, why);
  }
  GPU(r->gpu, module_load(&module, cubin.p));
  GPU(r->gpu, module_function(&function, module, str_cstr(a, k->name)));
  return function;
}

static void count(struct run *r, struct str name, const char *what, bool same) {
  (void)printf("  %-28.*s %-24s %s\n", STR_FMT(name), what,
               same ? "same bits" : "DIFFERS");
  (void)fflush(stdout);
  r->n++;
  r->same += same;
}

// ---- maps

static bool check_rows(const struct kernel_pair *p, bool in_runs) {
  struct kernel_rows r = kernel_rows_new(p, false);
  if (in_runs) {
    uint32_t third = r.n / 3;
    kernel_rows_launch(&r, 0, third, 3, 0);
    kernel_rows_launch(&r, third, third, 64, 0);
    kernel_rows_launch(&r, 2 * third, r.n - 2 * third, 1, 0);
  } else {
    kernel_rows_launch(&r, 0, r.n, 0, 0);
  }
  bool same = kernel_rows_compare(&r);
  kernel_rows_free(&r);
  return same;
}

static void check_map(struct run *r, uint32_t i, bool is_long) {
  const struct cuda_kernel *k = &r->text->kernel[i];
  struct kernel_pair p = {.gpu = r->gpu,
                          .arena = r->tool.arena,
                          .kernel = r->kernels.list.v[i],
                          .cuda = k,
                          .function = load(r, k),
                          .cpu = cpu_code_function(r->cpu, i)};
  count(r, k->name, "all rows", check_rows(&p, false));
  count(r, k->name, "runs of rows, few blocks", check_rows(&p, true));
  if (is_long) {
    count(r, k->name, "more than 2^31 elements", kernel_check_long(&p));
  }
}

// ---- squares

static double cpu_norm(const struct kernel_rows *r, enum storage s) {
  struct binned sum;
  binned_init(&sum);
  for (uint32_t i = 0; i < r->n; i++) {
    const void *x = r->host[0] + r->row[i].at[0];
    uint64_t n = r->row[i].left_out ? 0 : r->row[i].numel;
    if (s == ST_F32) {
      binned_add_squares_f32(&sum, x, n);
    } else if (s == ST_BF16) {
      binned_add_squares_bf16(&sum, x, n);
    } else {
      binned_add_squares_f16(&sum, x, n);
    }
  }
  return sqrt(binned_value(&sum));
}

static void check_squares(struct run *r, const struct cuda_kernel *k, void *judge,
                          uint32_t judge_block) {
  enum { PARTS = 96 };
  enum storage s = (enum storage)k->storage;
  struct kernel_slot slot = {.kind = SLOT_GRAD, .storage = s, .name = STR("grad")};
  struct kernel gradient = {.slot = &slot, .n_slots = 1};
  struct kernel_pair p = {.gpu = r->gpu,
                          .arena = r->tool.arena,
                          .kernel = &gradient,
                          .cuda = k,
                          .function = load(r, k)};
  struct kernel_rows rows = kernel_rows_new(&p, true);
  uint64_t parts = gpu_new(r->gpu, PARTS * CUDA_BINNED_BYTES);
  uint32_t n = PARTS;
  double bound = 1, norm = 0;
  kernel_rows_launch(&rows, 0, rows.n, PARTS, parts);
  void *arg[] = {&parts, &n, &bound, &rows.verdict};
  gpu_launch(r->gpu, judge, 1, judge_block, arg);
  GPU(r->gpu, to_host(&norm, rows.verdict + 8, sizeof norm));
  double want = cpu_norm(&rows, s);
  count(r, k->name, "all rows", memcmp(&norm, &want, sizeof norm) == 0);
  GPU(r->gpu, mem_free(parts));
  kernel_rows_free(&rows);
}

// ---- cases

static void run_case(struct run *r, const struct kernel_case *c, bool longs) {
  void *judge = NULL;
  uint32_t judge_block = 0;
  (void)printf("%s\n", c->name);
  for (uint32_t i = 0; i < r->text->n_kernels; i++) {
    if (r->text->kernel[i].kind == CUDA_VERDICT) {
      judge = load(r, &r->text->kernel[i]);
      judge_block = r->text->kernel[i].block;
    }
  }
  for (uint32_t i = 0; i < r->text->n_kernels; i++) {
    const struct cuda_kernel *k = &r->text->kernel[i];
    if (k->kind == CUDA_MAP) {
      check_map(r, i, longs && str_is(k->name, "sgd__p0__bf16"));
    } else if (k->kind == CUDA_SQUARES) {
      check_squares(r, k, judge, judge_block);
    }
  }
}

static void check(const struct gpu *g, const struct kernel_case *c, const char *cubins,
                  bool longs, uint32_t *n, uint32_t *same) {
  struct run r = {.tool.arena = arena_new(0), .gpu = g};
  struct tool *t = &r.tool;
  t->sources.arena = t->arena;
  diags_init(&t->diags, t->arena, &t->sources);
  t->front = (struct front){t->arena, &t->sources, &t->diags};
  r.folder = str_fmt(t->arena, "%s/%s", cubins, c->name).p;
  compile(&r, c);
  run_case(&r, c, longs);
  *n += r.n;
  *same += r.same;
  cpu_code_free(r.cpu);
  arena_free(t->arena);
}

int main(int argc, char **argv) {
  struct gpu g;
  uint32_t n = 0, same = 0;
  bool brief = argc > 2 && strcmp(argv[2], "-short") == 0;
  int first = brief ? 3 : 2;
  if (argc < 2) {
    (void)fputs("usage: gpu_kernel CUBINS [-short] [CASE...]\n", stderr);
    return 2;
  }
  if (!gpu_open(&g)) {
    return 3;
  }
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    bool wanted = argc <= first;
    for (int a = first; a < argc; a++) {
      wanted |= strcmp(argv[a], cases[i].name) == 0;
    }
    if (wanted) {
      check(&g, &cases[i], argv[1], !brief, &n, &same);
    }
  }
  (void)printf("%u of %u checks of kernels have the CPU's bits\n", same, n);
  gpu_close(&g);
  return n != 0 && same == n ? 0 : 1;
}
