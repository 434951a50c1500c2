// Phases: run one after the other they give the bits of the IR; what they move is what they should.
#include "ir/phases.h"
#include "support/ir_eval.h"
#include "support/ir_random.h"
#include "support/ir_text.h"

#include <criterion/criterion.h>

static void check_phases(uint64_t seed, bool optimised) {
  struct arena *a = arena_new(0);
  struct ir *ir = ir_random(a, seed, 10 + (uint32_t)(seed % 60));
  struct ir_tensors t = ir_tensors_random(a, ir, seed);
  struct ir_tensors got = ir_tensors_copy(a, ir, &t);
  if (optimised) {
    cr_assert_eq(ir_optimize(ir, (struct pass_log){0}).n, 0);
  }
  const struct phases *p = phases_cut(a, ir);
  struct str wrong = ir_eval_phases(a, p, &got);
  ir_eval(a, ir, &t);
  struct str text = phases_print(a, p);
  cr_assert(wrong.n == 0 && ir_tensors_same(ir, &t, &got), "seed %llu: %.*s\n%.*s",
            (unsigned long long)seed, STR_FMT(wrong), STR_FMT(text));
  arena_free(a);
}

Test(phases, random_ir_keeps_its_bits) {
  for (uint64_t seed = 0; seed < 3000; seed++) {
    check_phases(seed, false);
    check_phases(seed, true);
  }
}

static struct phases *cut_file(struct ir_text *t, const char *name) {
  struct str text;
  cr_assert(
      golden_read(t->arena, str_fmt(t->arena, "tests/data/ir/%s.ir", name).p, &text));
  return phases_cut(t->arena, ir_text_parse(t, text));
}

static void check_traffic(const struct phases *p, uint32_t phase, uint64_t read,
                          uint64_t written) {
  uint64_t r, w;
  phase_traffic(p, phase, &r, &w);
  cr_expect(r == read && w == written, "phase %u: %llu + %llu", phase,
            (unsigned long long)r, (unsigned long long)w);
}

// All of AdamW is one loop: four arrays are read and three written.
Test(phases, adamw_is_one_loop) {
  struct ir_text t = ir_text_new();
  const struct phases *p = cut_file(&t, "adamw");
  cr_assert_eq(p->n_phases, 2);
  cr_assert_eq(p->phase[0].kind, PHASE_HOST);
  cr_assert_eq(p->phase[1].kind, PHASE_MAP);
  cr_assert_eq(p->n_temps, 0);
  cr_assert_eq(p->phase[1].n_scalars, 8);
  check_traffic(p, 1, 16, 12);
  ir_text_free(&t);
}

// Muon: m and the operand in one loop, the product, and the parameter in another; the decayed parameter never rests.
Test(phases, muon_is_two_loops_around_the_product) {
  struct ir_text t = ir_text_new();
  const struct phases *p = cut_file(&t, "muon");
  cr_assert_eq(p->n_phases, 4);
  cr_assert_eq(p->phase[2].kind, PHASE_MATRIX);
  cr_assert_eq(p->n_temps, 2);
  for (uint32_t i = 0; i < 2; i++) {
    cr_expect_eq(p->temp[i].storage, ST_BF16);
    cr_expect_eq(p->temp[i].producer, i + 1);
    cr_expect_eq(p->temp[i].last_consumer, i + 2);
    cr_expect(ir_is_none(p->temp[i].home));
  }
  check_traffic(p, 1, 2 + 2, 2 + 2); // m bf16, gradient bf16; m, operand
  check_traffic(p, 3, 4 + 2, 4);     // parameter, result; parameter
  ir_text_free(&t);
}
