// Lowering and phases of whole specs, against golden texts; every case also runs phase by phase to the same bits.
//
// tests/data/lower/NAME.opt (directives: support/example.h) and the shipped specs, each with NAME.ir, the optimised IR
// of its rules, and NAME.phases.
#include "ir/job_ir.h"
#include "support/example.h"
#include "support/golden.h"
#include "support/ir_eval.h"
#include "support/ir_text.h"

#include <criterion/criterion.h>

#define FOLDER "tests/data/lower/"

static void check_golden(struct arena *a, struct str name, const char *suffix,
                         struct str text) {
  const char *path = str_fmt(a, FOLDER "%.*s%s", STR_FMT(name), suffix).p;
  struct str trouble = golden_compare(a, path, text);
  cr_expect(trouble.n == 0, "%.*s", STR_FMT(trouble));
}

// IR before passes and phases after them give the same bits.
static void check_bits(struct arena *a, const struct job *job, const struct job_ir *j,
                       uint32_t rule) {
  struct ir *before = ir_lower(a, job, job->rule[rule]);
  for (uint64_t seed = 0; seed < 20; seed++) {
    struct ir_tensors want = ir_tensors_random(a, before, seed);
    struct ir_tensors got = ir_tensors_copy(a, before, &want);
    ir_eval(a, before, &want);
    struct str wrong = ir_eval_phases(a, j->phases[rule], &got);
    cr_expect(wrong.n == 0, "%.*s", STR_FMT(wrong));
    cr_expect(ir_tensors_same(before, &want, &got), "%.*s: bits differ",
              STR_FMT(before->name));
  }
}

static void check_job(struct arena *a, const struct job *job, struct str name) {
  struct str ice;
  struct job_ir *j = job_lower(a, job, (struct pass_log){0}, &ice);
  cr_assert(j != NULL, "%.*s: %.*s", STR_FMT(name), STR_FMT(ice));
  struct buf ir = buf_new(a), phases = buf_new(a);
  struct ir_text t = ir_text_new();
  for (uint32_t i = 0; i < job->n_rules; i++) {
    struct str text = ir_print(a, j->ir[i]);
    buf_str(&ir, text);
    buf_str(&phases, phases_print(a, j->phases[i]));
    struct str again = ir_print(t.arena, ir_text_parse(&t, text));
    cr_expect(str_eq(text, again), "%.*s does not parse back", STR_FMT(name));
    check_bits(a, job, j, i);
  }
  ir_text_free(&t);
  check_golden(a, name, ".ir", buf_done(&ir));
  check_golden(a, name, ".phases", buf_done(&phases));
}

static struct str without_suffix(struct str name) {
  return (struct str){name.p, name.n - (sizeof ".opt" - 1)};
}

Test(lower, cases_are_as_committed) {
  struct arena *a = arena_new(0);
  struct str *name;
  uint32_t n = golden_list(a, FOLDER, ".opt", &name);
  cr_assert_gt(n, 0);
  for (uint32_t i = 0; i < n; i++) {
    struct example x;
    struct str text;
    cr_assert(golden_read(a, str_fmt(a, FOLDER "%.*s", STR_FMT(name[i])).p, &text));
    example_run(&x, a, name[i], text, NULL);
    struct str said = diag_render(&x.diags, DIAG_TEXT, false, a);
    cr_assert(x.job != NULL, "%.*s: %.*s", STR_FMT(name[i]), STR_FMT(said));
    check_job(a, x.job, without_suffix(name[i]));
  }
  arena_free(a);
}

// A shipped spec on one matrix and one vector, f32 and bf16.
static void check_shipped(const char *spec, const char *pick, const char *define,
                          struct shape shape, enum storage dtype, const char *golden) {
  struct ir_text t = ir_text_new();
  struct program *p =
      parse_program(&t.front, str_fmt(t.arena, "specs/%s.opt", spec), file_reader_disk());
  struct model_param param = {
      .name = STR("w"), .shape = shape, .dtype = dtype, .tied_to = UINT32_MAX};
  struct model m = {.world = 1, .param = &param, .n_params = 1};
  struct setting set = {str_of(define)};
  struct job_options o = {
      .pick = str_of(pick), .define = &set, .n_defines = set.text.n > 0};
  struct job *job = sema_job(&t.front, p, &m, &o);
  struct str said = diag_render(t.diags, DIAG_TEXT, false, t.arena);
  cr_assert(job != NULL, "%.*s", STR_FMT(said));
  check_job(t.arena, job, str_of(golden));
  ir_text_free(&t);
}

Test(lower, shipped_specs_are_as_committed) {
  static const struct shape matrix = {2, {4, 6}}, stack = {3, {2, 6, 4}},
                            vector = {1, {5}};
  check_shipped("sgd", "sgd", "", vector, ST_F32, "specs-sgd");
  check_shipped("adamw", "adamw", "", matrix, ST_F32, "specs-adamw");
  check_shipped("adamw", "adamw", "amsgrad=true", matrix, ST_BF16, "specs-adamw-amsgrad");
  check_shipped("lion", "lion", "", vector, ST_BF16, "specs-lion");
  check_shipped("muon", "muon", "", matrix, ST_F32, "specs-muon");
  check_shipped("muon", "muon", "nesterov=false", stack, ST_BF16, "specs-muon-plain");
}
