// The shipped specs: clean, canonical, and typed as committed for each of their forms; the iterations do to singular
// values what their sources' schedules do.
#include "front/sema.h"
#include "support/golden.h"
#include "support/job_text.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

struct session {
  struct arena *arena;
  struct sources sources;
  struct diags diags;
  struct front front;
  struct program *program;
};

static void session_open(struct session *s, const char *path) {
  s->arena = arena_new(0);
  s->sources = (struct sources){.arena = s->arena};
  diags_init(&s->diags, s->arena, &s->sources);
  s->front = (struct front){s->arena, &s->sources, &s->diags};
  s->program = parse_program(&s->front, str_of(path), file_reader_disk());
  cr_assert_not_null(s->program, "%s", path);
}

static void expect_silence(struct session *s, const char *path) {
  struct str said = diag_render(&s->diags, DIAG_TEXT, false, s->arena);
  cr_expect(said.n == 0, "%s: %.*s", path, STR_FMT(said));
}

Test(specs, are_clean_and_canonical) {
  struct arena *a = arena_new(0);
  struct str *names;
  uint32_t n = golden_list(a, "specs", ".opt", &names);
  cr_assert_geq(n, 6);
  for (uint32_t i = 0; i < n; i++) {
    struct session s;
    const char *path = str_fmt(a, "specs/%.*s", STR_FMT(names[i])).p;
    session_open(&s, path);
    sema_check(&s.front, s.program);
    expect_silence(&s, path);
    const struct module *root = s.program->module.v[0];
    struct str text = fmt_module(s.arena, &s.sources, root);
    cr_expect(str_eq(text, s.sources.file.v[root->file].text), "%s: run `stepc fmt`",
              path);
    arena_free(s.arena);
  }
  arena_free(a);
}

// ---- typed forms

static const struct form {
  const char *golden, *spec, *pick, *define[3];
} forms[] = {
    {"sgd", "sgd", "", {0}},
    {"sgd_plain", "sgd", "", {"buffer=false", "maximize=true"}},
    {"sgd_nesterov", "sgd", "sgd", {"nesterov=true"}},
    {"adamw", "adamw", "", {0}},
    {"adamw_amsgrad", "adamw", "", {"amsgrad=true"}},
    {"lion", "lion", "", {0}},
    {"gpt", "gpt", "", {0}},
    {"gpt_torch", "gpt", "gpt", {"form=torch", "muon.nesterov=false"}},
    {"gpt_moonlight", "gpt", "gpt", {"form=moonlight", "ns=jordan"}},
};

// An embedding, a wide and a tall matrix, a bias.
static const struct model_param params[] = {
    {.name = {"transformer.wte.weight", 22}, .shape = {2, {5025, 768}}},
    {.name = {"transformer.h.0.attn.c_attn.weight", 34}, .shape = {2, {768, 2304}}},
    {.name = {"transformer.h.0.mlp.c_proj.weight", 33}, .shape = {2, {3072, 768}}},
    {.name = {"transformer.h.0.attn.c_attn.bias", 32}, .shape = {1, {2304}}},
};
enum { N_PARAMS = sizeof params / sizeof *params };

static void check_form(const struct form *f) {
  struct session s;
  const char *path;
  struct model_param p[N_PARAMS];
  struct model m = {.world = 1, .param = p, .n_params = N_PARAMS};
  for (uint32_t i = 0; i < N_PARAMS; i++) {
    p[i] = params[i];
    p[i].tied_to = UINT32_MAX;
  }
  struct setting define[3];
  struct job_options o = {.pick = str_of(f->pick), .define = define};
  while (o.n_defines < 3 && f->define[o.n_defines] != NULL) {
    define[o.n_defines] = (struct setting){str_of(f->define[o.n_defines])};
    o.n_defines++;
  }
  struct arena *a = arena_new(0);
  path = str_fmt(a, "specs/%s.opt", f->spec).p;
  session_open(&s, path);
  struct job *job = sema_job(&s.front, s.program, &m, &o);
  expect_silence(&s, f->golden);
  cr_assert_not_null(job, "%s", f->golden);
  struct str trouble = golden_compare(
      a, str_fmt(a, "tests/data/specs/%s.job", f->golden).p, job_text(s.arena, job));
  cr_expect(trouble.n == 0, "%.*s", STR_FMT(trouble));
  arena_free(s.arena);
  arena_free(a);
}

Test(specs, forms_are_typed_as_committed) {
  for (uint32_t i = 0; i < sizeof forms / sizeof *forms; i++) {
    check_form(&forms[i]);
  }
}

// ---- the manual

// The example of the manual is the root; what it imports lies beside it on disk.
static bool read_example(void *ctx, struct arena *a, struct str path, struct str *text,
                         struct str *why) {
  if (str_is(path, "specs/example.opt")) {
    *text = *(const struct str *)ctx;
    return true;
  }
  struct file_reader disk = file_reader_disk();
  return disk.read(disk.ctx, a, path, text, why);
}

static void check_example(struct str text, uint32_t number) {
  struct arena *a = arena_new(0);
  struct sources sources = {.arena = a};
  struct diags diags;
  diags_init(&diags, a, &sources);
  struct front f = {a, &sources, &diags};
  struct program *p = parse_program(&f, STR("specs/example.opt"),
                                    (struct file_reader){read_example, &text});
  if (diags.n_errors == 0) {
    sema_check(&f, p);
    cr_expect(str_eq(fmt_module(a, &sources, p->module.v[0]), text),
              "example %u of specs/README.md: run `stepc fmt` on it", number);
  }
  struct str said = diag_render(&diags, DIAG_TEXT, false, a);
  cr_expect(said.n == 0, "example %u of specs/README.md: %.*s", number, STR_FMT(said));
  arena_free(a);
}

Test(specs, examples_of_the_manual_are_clean_and_canonical) {
  struct arena *a = arena_new(0);
  struct str text;
  cr_assert(golden_read(a, "specs/README.md", &text));
  static const char open[] = "```spec\n", close[] = "\n```\n";
  uint32_t n = 0;
  for (const char *at = text.p; (at = strstr(at, open)) != NULL;) {
    const char *begin = at + sizeof open - 1, *end = strstr(begin, close);
    cr_assert_not_null(end, "an example is not closed");
    check_example((struct str){begin, (size_t)(end - begin) + 1}, ++n);
    at = end + sizeof close - 1;
  }
  cr_expect_geq(n, 5);
  arena_free(a);
}

// ---- iterations as maps of singular values

// Of each schedule, without a norm: the product of its a's, the value at 1.01, and the image of [0.01, 1], to the
// digits of the published analysis of the sources (computed in float64).
static const struct map {
  const char *name;
  uint32_t steps;
  double slope, at_101, lo, hi;
} maps[] = {
    {"jordan", 5, 484.9, 0.688, 0.6818, 1.1344},
    {"jordan_torch", 5, 484.9, 0.688, 0.6818, 1.1344},
    {"jordan_gram", 5, 484.9, 0.688, 0.6818, 1.1344},
    {"quintic", 5, 492.8, 1.012, 0.9778, 1.0318},
    {"polar_express", 5, 989.5, 0.926, 0.8589, 1.1411},
    {"polar_express_paper", 8, 6363, 1.000, 1.0000, 1.0000},
    {"polar_express_slow", 4, 17.09, 1.000, 0.1696, 1.0000},
    {"polar_express_gram", 5, 804.0, 0.893, 0.8461, 1.1236},
    {"cans", 5, 1049, INFINITY, 0.8844, 1.1198},
    {"aol", 4, 147.2, 0.996, 0.9409, 1.0500},
    {"aol_emerging", 4, 104.1, -1.004, -1.0844, 1.0844},
    {"cubic", 5, 7.59, 1.000, 0.0758, 1.0000},
    {"cubic5", 5, 119.3, -1.197, 0.7741, 1.3000},
    {"pade", 5, 23.17, 1.000, 0.2285, 1.0000},
    {"deepseek", 10, 79263, 1.000, 1.0000, 1.0005},
    {"youjc6", 6, 1137, 0.997, 0.9956, 0.9993},
    {"sujl6", 6, 1476, 1.009, 0.9905, 1.0104},
};

static double apply(const struct iteration *it, double s) {
  for (uint32_t i = 0; i < it->n_iters; i++) {
    const struct iter_line *l = &it->iter[i];
    for (uint64_t k = 0; k < l->repeat; k++) {
      s = l->a * s + l->b * s * s * s + l->c * s * s * s * s * s;
    }
  }
  return s;
}

static double slope(const struct iteration *it, uint32_t *steps) {
  double product = 1;
  *steps = 0;
  for (uint32_t i = 0; i < it->n_iters; i++) {
    for (uint64_t k = 0; k < it->iter[i].repeat; k++) {
      product *= it->iter[i].a;
      ++*steps;
    }
  }
  return product;
}

static void check_map(const struct iteration *it, const struct map *m) {
  uint32_t steps;
  double gain = slope(it, &steps), lo = INFINITY, hi = -INFINITY;
  cr_expect_eq(steps, m->steps, "%s", m->name);
  cr_expect(fabs(gain - m->slope) <= 6e-4 * m->slope, "%s: slope %g", m->name, gain);
  double past = apply(it, 1.01);
  cr_expect(isinf(m->at_101) ? fabs(past) > 1e3 : fabs(past - m->at_101) <= 6e-4,
            "%s: %g at 1.01", m->name, past);
  for (uint32_t i = 0; i <= 20000; i++) {
    double y = apply(it, 0.01 + 0.99 * i / 20000);
    lo = fmin(lo, y);
    hi = fmax(hi, y);
  }
  cr_expect(fabs(lo - m->lo) <= 2e-4, "%s: least %g", m->name, lo);
  cr_expect(fabs(hi - m->hi) <= 2e-4, "%s: largest %g", m->name, hi);
}

Test(specs, iterations_map_singular_values_as_published) {
  struct session s;
  session_open(&s, "specs/iterations.opt");
  for (uint32_t i = 0; i < sizeof maps / sizeof *maps; i++) {
    const struct iteration *it = program_iteration(s.program, str_of(maps[i].name));
    cr_assert_not_null(it, "%s", maps[i].name);
    check_map(it, &maps[i]);
  }
  arena_free(s.arena);
}
