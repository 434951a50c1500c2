// Passes change no bits: random IR, run with f32 arithmetic before and after; and what each makes of a case.
#include "support/ir_eval.h"
#include "support/ir_random.h"
#include "support/ir_text.h"

#include <criterion/criterion.h>

#define FOLDER "tests/data/passes/"
enum { N_SEEDS = 2000 };

struct pass {
  const char *name;
  void (*run)(struct ir *ir);
};
static const struct pass passes[] = {
    {"fold", pass_fold}, {"cse", pass_cse}, {"hoist", pass_hoist}, {"dce", pass_dce}};

static struct ir *random_ir(struct arena *a, uint64_t seed) {
  struct ir *ir = ir_random(a, seed, 10 + (uint32_t)(seed % 60));
  struct str wrong = ir_verify(a, ir);
  cr_assert_eq(wrong.n, 0, "seed %llu: %.*s", (unsigned long long)seed, STR_FMT(wrong));
  return ir;
}

// Runs passes first..last on random IR of this seed; "" or what went wrong.
static struct str check_passes(struct arena *a, uint64_t seed, uint32_t first,
                               uint32_t last) {
  struct ir *ir = random_ir(a, seed);
  struct ir_tensors t = ir_tensors_random(a, ir, seed);
  struct ir_tensors want = ir_tensors_copy(a, ir, &t), got = ir_tensors_copy(a, ir, &t);
  ir_eval(a, ir, &want);
  struct str before = ir_print(a, ir);
  for (uint32_t p = first; p <= last; p++) {
    passes[p].run(ir);
    struct str wrong = ir_verify(a, ir);
    if (wrong.n > 0) {
      return str_fmt(a, "after %s: %.*s\n%.*s", passes[p].name, STR_FMT(wrong),
                     STR_FMT(before));
    }
  }
  ir_eval(a, ir, &got);
  struct str after = ir_print(a, ir);
  return ir_tensors_same(ir, &want, &got)
             ? (struct str){0}
             : str_fmt(a, "bits change\n%.*s\n%.*s", STR_FMT(before), STR_FMT(after));
}

static void check_seeds(uint32_t first, uint32_t last) {
  for (uint64_t seed = 0; seed < N_SEEDS; seed++) {
    struct arena *a = arena_new(0);
    struct str wrong = check_passes(a, seed, first, last);
    cr_assert_eq(wrong.n, 0, "seed %llu: %.*s", (unsigned long long)seed, STR_FMT(wrong));
    arena_free(a);
  }
}

Test(passes, fold_keeps_bits) {
  check_seeds(0, 0);
}
Test(passes, cse_keeps_bits) {
  check_seeds(1, 1);
}
Test(passes, hoist_keeps_bits) {
  check_seeds(2, 2);
}
Test(passes, dce_keeps_bits) {
  check_seeds(3, 3);
}
Test(passes, all_keep_bits) {
  check_seeds(0, 3);
}

Test(passes, print_and_parse_are_a_fixed_point) {
  for (uint64_t seed = 0; seed < N_SEEDS; seed++) {
    struct ir_text t = ir_text_new();
    struct str text = ir_print(t.arena, random_ir(t.arena, seed));
    struct str again = ir_print(t.arena, ir_text_parse(&t, text));
    cr_assert(str_eq(text, again), "seed %llu:\n%.*s", (unsigned long long)seed,
              STR_FMT(text));
    ir_text_free(&t);
  }
}

// tests/data/passes/NAME.PASS.ir: what goes in; NAME.PASS.out: what that pass makes of it.
Test(passes, cases_are_as_committed) {
  struct ir_text t = ir_text_new();
  for (uint32_t p = 0; p < sizeof passes / sizeof passes[0]; p++) {
    struct str *name;
    const char *suffix = str_fmt(t.arena, ".%s.ir", passes[p].name).p;
    uint32_t n = golden_list(t.arena, FOLDER, suffix, &name);
    cr_expect_gt(n, 0, "no case for %s", passes[p].name);
    for (uint32_t i = 0; i < n; i++) {
      struct str text, stem = {name[i].p, name[i].n - (sizeof ".ir" - 1)};
      cr_assert(golden_read(t.arena, str_fmt(t.arena, FOLDER "%.*s", STR_FMT(name[i])).p,
                            &text));
      struct ir *ir = ir_text_parse(&t, text);
      passes[p].run(ir);
      const char *out = str_fmt(t.arena, FOLDER "%.*s.out", STR_FMT(stem)).p;
      struct str trouble = golden_compare(t.arena, out, ir_print(t.arena, ir));
      cr_expect(trouble.n == 0, "%.*s", STR_FMT(trouble));
    }
  }
  ir_text_free(&t);
}

static void count_pass(void *ctx, const char *pass, const struct ir *ir, bool changed,
                       double seconds) {
  uint32_t *n = ctx;
  cr_expect_str_eq(pass, passes[*n % 4].name);
  cr_expect(ir->ins.n > 0 && seconds >= 0);
  cr_expect(*n < 4 || !changed, "%s changes what was optimised", pass);
  ++*n;
}

Test(passes, optimising_twice_changes_nothing) {
  struct ir_text t = ir_text_new();
  struct str text;
  cr_assert(golden_read(t.arena, "tests/data/ir/muon.ir", &text));
  struct ir *ir = ir_text_parse(&t, text);
  uint32_t n = 0;
  cr_assert_eq(ir_optimize(ir, (struct pass_log){count_pass, &n}).n, 0);
  cr_assert_eq(ir_optimize(ir, (struct pass_log){count_pass, &n}).n, 0);
  cr_assert_eq(n, 8);
  ir_text_free(&t);
}

Test(passes, broken_input_is_named) {
  struct ir_text t = ir_text_new();
  struct str text;
  cr_assert(golden_read(t.arena, "tests/data/ir/muon.ir", &text));
  struct ir *ir = ir_text_parse(&t, text);
  ir->ins.v[ir->ins.n - 2].cls = CLS_ROW;
  struct str wrong = ir_optimize(ir, (struct pass_log){0});
  cr_assert(str_starts(wrong, "lowering: "), "%.*s", STR_FMT(wrong));
  ir_text_free(&t);
}
