// The digest that ties a plan to its program: every part counts, but for what may change without another plan.
#include "support/hand_plan.h"

#include "plan/program_json.h"

#include <criterion/criterion.h>
#include <string.h>

static struct hand hand, spoilt;
static char wanted[65], got[65];

static void make(void) {
  hand_make(&hand);
  cr_assert(rt_program_digest(&hand.program, wanted));
}
TestSuite(program_digest, .init = make);

typedef void (*spoil_fn)(struct hand *h);
static void target(struct hand *h) {
  h->program.target = "cuda:sm_90a";
}
static void param_name(struct hand *h) {
  h->program_param[0].name = "x";
}
static void param_dim(struct hand *h) {
  h->program_param[1].dim[0]++;
}
static void param_grad(struct hand *h) {
  h->program_param[1].grad = RT_BF16;
}
static void param_frozen(struct hand *h) {
  h->program_param[0].active = false;
}
static void kernel_bytes(struct hand *h) {
  h->program_kernel[HAND_ADAM].bytes_read++;
}
static void kernel_access(struct hand *h) {
  h->access[HAND_ADAM][2].written ^= true;
}
static void phase_kernel(struct hand *h) {
  h->muon[2].kernel = HAND_MOMENTUM;
}
static void rule_rows(struct hand *h) {
  h->rule[0].rows++;
}
static void rule_code(struct hand *h) {
  h->rule[1].n_ins--;
}
static void rule_states(struct hand *h) {
  h->rule[1].n_states--;
}
static void iteration(struct hand *h) {
  h->iteration[0].eps *= 2;
}
static void skips(struct hand *h) {
  h->program.skips_nonfinite ^= true;
}
static void clip(struct hand *h) {
  h->program.n_clip = 0;
}
static void hypers(struct hand *h) {
  h->program.n_hypers--;
}

Test(program_digest, every_part_counts) {
  static const struct {
    const char *name;
    spoil_fn spoil;
  } parts[] = {{"target", target},
               {"param name", param_name},
               {"param dim", param_dim},
               {"param grad", param_grad},
               {"param frozen", param_frozen},
               {"kernel bytes", kernel_bytes},
               {"kernel access", kernel_access},
               {"phase kernel", phase_kernel},
               {"rule rows", rule_rows},
               {"rule code", rule_code},
               {"rule states", rule_states},
               {"iteration", iteration},
               {"skips", skips},
               {"clip", clip},
               {"hypers", hypers}};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    hand_make(&spoilt);
    parts[i].spoil(&spoilt);
    cr_assert(rt_program_digest(&spoilt.program, got));
    cr_expect_str_neq(got, wanted, "%s", parts[i].name);
  }
}

Test(program_digest, code_and_values_of_hypers_do_not) {
  hand_make(&spoilt);
  struct rt_hyper hyper[2];
  memcpy(hyper, spoilt.program.hyper, sizeof hyper);
  hyper[0].value = 1;
  spoilt.program.hyper = hyper;
  spoilt.program.plan = NULL;
  spoilt.program_kernel[0].fn = NULL;
  spoilt.program_kernel[0].registers = 99;
  cr_assert(rt_program_digest(&spoilt.program, got));
  cr_expect_str_eq(got, wanted);
}
