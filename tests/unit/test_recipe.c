// Jobs: which line takes a parameter, settings of the command line, ranges, bound hypers, and what is refused.
#include "front/sema.h"
#include "support/example.h"

#include <criterion/criterion.h>
#include <math.h>

#define SGD                                                                              \
  "optimizer sgd {\n"                                                                    \
  "  hyper lr : f32 = 0.1  in [0, 1]\n"                                                  \
  "  hyper wd : f32 = 0\n"                                                               \
  "  param := param * (1 - lr * wd) - lr * grad\n"                                       \
  "}\n"

static struct job *job_of(struct example *x, struct arena *a, const char *text) {
  example_run(x, a, STR("test.opt"), str_of(text), NULL);
  return x->job;
}

static const struct hyper *hyper_of(const struct job *job, const char *label,
                                    const char *name) {
  for (uint32_t i = 0; i < job->n_hypers; i++) {
    if (str_is(job->hyper[i].label, label) && str_is(job->hyper[i].name, name)) {
      return &job->hyper[i];
    }
  }
  cr_assert_fail("no hyper %s.%s", label, name);
  return NULL;
}

Test(recipe, ranges_are_open_or_closed) {
  struct hyper h = {.has_range = true, .lo = 0, .hi = 1, .hi_open = true};
  cr_expect(hyper_in_range(&h, 0));
  cr_expect_not(hyper_in_range(&h, 1));
  cr_expect_not(hyper_in_range(&h, -1e-300));
  cr_expect_not(hyper_in_range(&h, (double)NAN));
  h = (struct hyper){.has_range = true, .lo = 0, .hi = (double)INFINITY, .lo_open = true};
  cr_expect_not(hyper_in_range(&h, 0));
  cr_expect(hyper_in_range(&h, (double)INFINITY));
  h.has_range = false;
  cr_expect(hyper_in_range(&h, -5));
  cr_expect_not(hyper_in_range(&h, (double)NAN));
}

Test(recipe, bound_hypers_follow_the_recipe) {
  struct arena *a = arena_new(0);
  struct example x;
  struct job *job = job_of(&x, a,
                           "#: param w [2, 2]\n"
                           "spec 1\n" SGD "recipe r {\n"
                           "  hyper base : f32 = 0.5\n"
                           "  use sgd(lr = base * base, wd = pow(base, 3))\n"
                           "}\n");
  cr_assert_not_null(job);
  double set[] = {0.25, 7, 7}, out[3];
  hypers_resolve(job->hyper, job->n_hypers, set, out);
  cr_expect_eq(out[0], 0.25);
  cr_expect_eq(out[1], 0.0625);
  cr_expect_eq(out[2], 0.015625);
  arena_free(a);
}

// Values of settings are written as numbers of a spec are.
Test(recipe, settings_take_numbers_of_the_language) {
  static const struct {
    const char *value;
    bool taken;
    double is;
  } cases[] = {{"0.25", true, 0.25},
               {"1e-3", true, 1e-3},
               {"-2", true, -2},
               {"inf", true, (double)INFINITY},
               {"-inf", true, -(double)INFINITY},
               {"0x10", false, 0},
               {".5", false, 0},
               {" 1", false, 0},
               {"1 ", false, 0},
               {"nan", false, 0},
               {"1,5", false, 0},
               {"1e999", false, 0},
               {"--1", false, 0}};
  for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct arena *a = arena_new(0);
    struct example x;
    const char *text =
        str_fmt(a, "#: param w [2, 2]\n#: set wd=%s\nspec 1\n" SGD, cases[i].value).p;
    struct job *job = job_of(&x, a, text);
    cr_expect_eq(job != NULL, cases[i].taken, "%s", cases[i].value);
    if (job != NULL) {
      cr_expect_eq(hyper_of(job, "sgd", "wd")->value, cases[i].is, "%s", cases[i].value);
    }
    arena_free(a);
  }
}

// A static of each type takes its values as a spec writes them; quotes of a choice may be left out.
Test(recipe, defines_take_every_type) {
  static const char text[] =
      "#: param w [64, 64]\n"
      "#: define k=3\n"
      "#: define x=0.5\n"
      "#: define on=false\n"
      "#: define how=bf16\n"
      "#: define form=\"b\"\n"
      "#: define ns=pade\n"
      "spec 1\n"
      "iteration cubic {\n  normalize frobenius\n  compute f32\n  iter 1.5, -0.5\n}\n"
      "iteration pade {\n  normalize frobenius\n  compute f32\n  iter 1.875, -1.25, "
      "0.375\n}\n"
      "optimizer o {\n"
      "  hyper lr : f32 = 0.1\n"
      "  static k : int = 1\n"
      "  static x : f32 = 1\n"
      "  static on : bool = true\n"
      "  static how : storage = f32\n"
      "  static form : \"a\" | \"b\" = \"a\"\n"
      "  static ns : iteration = cubic\n"
      "  state m : how like param\n"
      "  require rank >= 2\n"
      "  m := ema(m, grad, 0.9)\n"
      "  let f = k * x * (if on then 8 else 16) * (if form == \"a\" then 32 else 64)\n"
      "  param := param - lr * f * orthogonalize(m, ns)\n"
      "}\n";
  struct arena *a = arena_new(0);
  struct example x;
  struct job *job = job_of(&x, a, text);
  cr_assert_not_null(job);
  const struct rule *r = job->rule[0];
  cr_expect_eq(r->state[0].storage, ST_BF16);
  // param - (lr * f) * orthogonalize(m, ns)
  const struct texpr *step = r->stmt[r->n_stmts - 1].value->arg[1];
  cr_expect_eq(step->arg[0]->arg[1]->num, 3 * 0.5 * 16 * 64);
  cr_expect(str_is(step->arg[1]->iteration->name, "pade"));
  arena_free(a);
}

// An unlabelled name is the recipe's hyper of that name, else every label's.
Test(recipe, settings_reach_labels) {
  static const char text[] = "#: param w [2, 2]\n"
                             "#: set wd=0.5\n"
                             "#: set lr=0.25\n"
                             "#: set b.lr=0.75\n"
                             "#: set lr=0.125\n"
                             "spec 1\n" SGD "recipe r {\n"
                             "  hyper wd : f32 = 0\n"
                             "  use sgd as a(wd = wd)  when rank == 1\n"
                             "  use sgd as b\n"
                             "}\n";
  struct arena *a = arena_new(0);
  struct example x;
  struct job *job = job_of(&x, a, text);
  cr_assert_not_null(job);
  cr_expect_eq(hyper_of(job, "", "wd")->value, 0.5);
  cr_expect_eq(hyper_of(job, "b", "wd")->value, 0);
  cr_expect_eq(hyper_of(job, "a", "lr")->value, 0.125);
  cr_expect_eq(hyper_of(job, "b", "lr")->value, 0.125, "the last setting wins");
  arena_free(a);
}

Test(recipe, labels_number_themselves_around_written_ones) {
  struct arena *a = arena_new(0);
  struct example x;
  struct job *job = job_of(&x, a,
                           "#: param w [2, 2]\n"
                           "spec 1\n" SGD "recipe r {\n"
                           "  use sgd  when rank == 1\n"
                           "  use sgd as sgd_2  when rank == 3\n"
                           "  use sgd  when rank == 4\n"
                           "  use sgd\n"
                           "}\n");
  cr_assert_not_null(job);
  static const char *const labels[] = {"sgd", "sgd_2", "sgd_3", "sgd_4"};
  for (uint32_t i = 0; i < 4; i++) {
    cr_expect(str_is(job->use[i].label, labels[i]), "%.*s", STR_FMT(job->use[i].label));
  }
  cr_expect(str_is(job->use[0].when_text, "rank == 1"));
  cr_expect_eq(job->use[3].when_text.n, 0);
  cr_expect_eq(job->param[0].use, 3);
  arena_free(a);
}

Test(recipe, frozen_and_tied_parameters_take_no_rule) {
  struct arena *a = arena_new(0);
  struct example x;
  cr_assert_not_null(job_of(&x, a, "#: param w [2, 2]\nspec 1\n" SGD));
  struct model_param p[] = {
      {.name = STR("a"), .shape = {1, {4}}, .tied_to = UINT32_MAX},
      {.name = STR("b"), .shape = {1, {4}}, .tied_to = 0},
      {.name = STR("c"), .shape = {1, {4}}, .tied_to = UINT32_MAX, .frozen = true},
      {.name = STR("d"), .shape = {1, {4}}, .tied_to = UINT32_MAX},
  };
  struct model m = {.world = 1, .param = p, .n_params = 4};
  struct job *job = sema_job(&x.front, x.program, &m, &(struct job_options){0});
  cr_assert_not_null(job);
  cr_expect_eq(job->param[0].rule, 0);
  cr_expect_eq(job->param[1].rule, UINT32_MAX);
  cr_expect_eq(job->param[2].use, UINT32_MAX);
  cr_expect_eq(job->param[3].rule, 0, "one rule for one shape");
  cr_expect_eq(job->n_rules, 1);
  arena_free(a);
}

// One message for a shape that does not fit, whatever the number of parameters that have it.
Test(recipe, misfits_are_told_once_per_shape) {
  struct arena *a = arena_new(0);
  struct example x;
  struct job *job = job_of(&x, a,
                           "#: param b0 [8]\n"
                           "#: param b1 [8]\n"
                           "#: param c [9]\n"
                           "spec 1\n"
                           "optimizer o {\n"
                           "  hyper lr : f32 = 0.1\n"
                           "  require rank >= 2\n"
                           "  param := param - lr * grad\n"
                           "}\n");
  cr_expect_null(job);
  cr_expect_eq(x.diags.n_errors, 2);
  cr_expect_eq(x.diags.list.v[0]->code, E0301);
  arena_free(a);
}

// A recipe's `when` is judged on each parameter: `rows` of a vector is an error that names it.
Test(recipe, rows_of_a_vector_in_when) {
  struct arena *a = arena_new(0);
  struct example x;
  struct job *job = job_of(&x, a,
                           "#: param bias [8]\n"
                           "spec 1\n" SGD "recipe r {\n"
                           "  use sgd as a  when rows > 4\n"
                           "  use sgd\n"
                           "}\n");
  cr_expect_null(job);
  cr_assert_eq(x.diags.n_errors, 1);
  struct diag *d = x.diags.list.v[0];
  cr_expect_eq(d->code, E0214);
  cr_assert_eq(d->extra.n, 1);
  cr_expect(str_is(d->extra.v[0].text, "for `bias` (shape [8])"));
  arena_free(a);
}

// What a check has told is not told again, and the job is refused all the same.
Test(recipe, a_job_after_a_check_that_failed_is_refused) {
  struct arena *a = arena_new(0);
  struct example x;
  (void)job_of(&x, a,
               "spec 1\n"
               "optimizer o {\n"
               "  hyper lr : f32 = 0.1\n"
               "  param := param - rl * grad\n"
               "}\n");
  cr_assert_eq(x.diags.n_errors, 1);
  struct model_param p = {.name = STR("w"), .shape = {1, {4}}, .tied_to = UINT32_MAX};
  struct model m = {.world = 1, .param = &p, .n_params = 1};
  cr_expect_null(sema_job(&x.front, x.program, &m, &(struct job_options){0}));
  cr_expect_eq(x.diags.n_errors, 1);
  arena_free(a);
}

// Mistakes that do not hang together are all told, and nothing else.
Test(recipe, independent_mistakes_give_independent_messages) {
  struct arena *a = arena_new(0);
  struct example x;
  (void)job_of(&x, a,
               "spec 1\n"
               "optimizer o {\n"
               "  hyper lr : f32 = 0.1\n"
               "  state m : f64 like param\n"
               "  state r : f32 per param\n"
               "  m := ema(m, gard, 0.9)\n"
               "  let d = m * exp(grad)\n"
               "  r := d\n"
               "  param := param - lr * d * if_only(m)\n"
               "}\n"
               "recipe r {\n"
               "  use p\n"
               "  use o(rl = 1)\n"
               "}\n");
  static const enum diag_code codes[] = {E0223, E0201, E0207, E0220, E0302, E0305};
  cr_expect_eq(x.diags.n_errors, 6);
  for (uint32_t i = 0; i < 6; i++) {
    bool found = false;
    for (uint32_t k = 0; k < x.diags.list.n; k++) {
      found |= x.diags.list.v[k]->code == codes[i];
    }
    cr_expect(found, "%s is missing", diag_info(codes[i])->code);
  }
  arena_free(a);
}

// Every allocation fails once: the guard is reached, nothing else happens.
Test(recipe, out_of_memory_leaves_through_the_guard) {
  static const char text[] =
      "#: param w [64, 64]\n"
      "spec 1\n" SGD "recipe r {\n  clip global_norm 1\n  use sgd\n}\n";
  struct example x;
  struct arena *whole = arena_new(0);
  cr_assert_not_null(job_of(&x, whole, text));
  size_t need = arena_bytes(whole);
  arena_free(whole);
  volatile uint32_t failures = 0;
  for (size_t limit = 64; limit < need; limit += 61) {
    struct arena *a = arena_new(limit);
    jmp_buf oom;
    if (setjmp(oom) == 0) {
      arena_guard(a, &oom);
      (void)job_of(&x, a, text);
    } else {
      failures = failures + 1;
    }
    arena_free(a);
  }
  cr_expect_gt(failures, 100);
}
