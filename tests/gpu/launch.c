// The emitted kernels on a CUDA device against the CPU target, bit for bit; and their time against a copy of as many
// bytes. Usage: gpu_launch CUBINS [CASE...], in the folder that holds specs/ and tests/models/; CUBINS has a folder per
// case.
#include "measure.h"

#include "tool/tensors.h"

#include "core/convert.h"
#include "file/sha256.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum values { SEEDED, DENORMALS, NONFINITE };
struct gpu_case {
  const char *name, *spec, *model;
  bool odd;
  enum values values;
  uint32_t steps;
  bool timed;
};
static const struct gpu_case cases[] = {
#define CASE(name, spec, model, odd, values, steps, timed)                               \
  {#name, spec, model, odd, values, steps, timed},
#include "cases.def"
#undef CASE
};

// ---- data

// Element `i` of a tensor that holds the values that trip kernels: denormals, zeros of both signs, the largest and
// the smallest; and without a bound NaN and Inf.
static float special(enum values values, uint64_t i) {
  static const float some[] = {0x1p-149f,  -0x1p-130f, 0.0f,   -0.0f, 0x1.fffffep-127f,
                               -0x1p-126f, 0x1p-133f,  1e-20f, -3.0f};
  static const float wild[] = {NAN, INFINITY, -INFINITY, 0x1.fffffep127f, -NAN};
  return values == NONFINITE ? wild[i % (sizeof wild / sizeof *wild)]
                             : some[i % (sizeof some / sizeof *some)];
}

static void put_specials(struct session *s, enum values values) {
  enum { EVERY = 5 };
  for (uint32_t p = 0; p < s->model->n_params; p++) {
    const struct model_param *param = &s->model->param[p];
    uint64_t n = s->grad[p] != NULL ? shape_numel(&param->shape) : 0;
    for (uint64_t i = p % EVERY; i < n; i += EVERY) {
      float x = special(values, i / EVERY);
      if (param->grad == ST_F32) {
        ((float *)s->grad[p])[i] = x;
      } else {
        ((uint16_t *)s->grad[p])[i] = rt_f32_to_bf16(x);
      }
    }
  }
}

// ---- one case

struct run {
  struct tool tool;
  struct driver driver;
  struct session session;
  struct cuda_text *text;
};

static bool compile(struct run *r, const struct gpu_case *c) {
  struct front *f = &r->tool.front;
  struct driver_input in = {.spec = str_of(c->spec), .model = str_of(c->model)};
  struct driver *d = &r->driver;
  bool ok = driver_parse(f, &in, d) && driver_model(f, &in, d) && driver_job(f, &in, d) &&
            driver_lower(f, &in, d) && driver_compile(f, &in, d);
  r->text = ok ? cuda_emit(f, d->ir, STR(""), &d->ice) : NULL;
  if (r->text == NULL) {
    (void)report(&r->tool);
    (void)fprintf(stderr, "gpu: %s does not compile. %.*s\n", c->name, STR_FMT(d->ice));
  }
  return r->text != NULL;
}

static bool run_steps(struct mirror *m, const struct gpu_case *c) {
  bool same = true;
  for (uint32_t i = 0; i < c->steps; i++) {
    if (session_load_grads(m->session) != EXIT_OK) {
      return false;
    }
    if (c->values == DENORMALS || (c->values == NONFINITE && i == 1)) {
      put_specials(m->session, c->values);
    }
    same &= mirror_step(m);
  }
  return same;
}

// SHA-256 of what `stepc run --digest` prints.
static void digest(struct session *s, char hex[65]) {
  struct str text = {0};
  (void)digest_text(s, &text); // on the host nothing fails
  struct sha256 sha;
  sha256_init(&sha);
  sha256_add(&sha, text.p, text.n);
  sha256_hex(&sha, hex);
}

static bool run_mirror(struct run *r, const struct gpu *g, const struct gpu_case *c,
                       const char *cubins) {
  struct arena *a = r->tool.arena;
  struct mirror m = {.gpu = g,
                     .arena = a,
                     .job = r->driver.ir,
                     .text = r->text,
                     .session = &r->session,
                     .program = r->session.program};
  char cpu[65], gpu[65];
  if (!mirror_open(&m, str_fmt(a, "%s/%s", cubins, c->name).p, c->odd)) {
    exit(3);
  }
  bool same = run_steps(&m, c);
  digest(m.session, cpu);
  same &= mirror_compare(&m);
  digest(m.session, gpu);
  same &= strcmp(cpu, gpu) == 0;
  (void)printf("%-16s %-9s %s\n", c->name, same ? "same bits" : "DIFFERS", gpu);
  if (c->timed) {
    measure_launches(&m);
  }
  mirror_close(&m);
  return same;
}

static bool run_case(const struct gpu *g, const struct gpu_case *c, const char *cubins) {
  struct run r = {.tool.arena = arena_new(0)};
  struct tool *t = &r.tool;
  struct session_source source = {.quiet = true};
  bool same = false;
  t->sources.arena = t->arena;
  diags_init(&t->diags, t->arena, &t->sources);
  t->front = (struct front){t->arena, &t->sources, &t->diags};
  if (!compile(&r, c)) {
    exit(3);
  }
  r.driver.step->plan = NULL; // the mirror follows the waves
  if (session_open(&r.session, t, r.driver.job, cpu_program_step(r.driver.cpu), &source,
                   0) != EXIT_OK) {
    exit(3);
  }
  same = run_mirror(&r, g, c, cubins);
  session_close(&r.session);
  driver_free(&r.driver);
  arena_free(t->arena);
  return same;
}

static bool is_wanted(const struct gpu_case *c, int argc, char **argv) {
  bool wanted = argc == 2;
  for (int i = 2; i < argc; i++) {
    wanted = wanted || strcmp(argv[i], c->name) == 0;
  }
  return wanted;
}

int main(int argc, char **argv) {
  struct gpu g;
  uint32_t n = 0, same = 0;
  if (argc < 2) {
    (void)fputs("usage: gpu_launch CUBINS [CASE...]\n", stderr);
    return 2;
  }
  if (!gpu_open(&g)) {
    return 3;
  }
  (void)printf("%s, sm_%d%d, %d multiprocessors, driver %d.%d\n", g.name, g.major,
               g.minor, g.multiprocessors, g.driver / 1000, g.driver % 1000 / 10);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    if (is_wanted(&cases[i], argc, argv)) {
      n++;
      same += run_case(&g, &cases[i], argv[1]);
      (void)fflush(stdout);
    }
  }
  (void)printf("%u of %u cases have the CPU's bits\n", same, n);
  gpu_close(&g);
  return n != 0 && same == n ? 0 : 1;
}
