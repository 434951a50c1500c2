// L3, the list and its events are all that orders a step: every order that they allow gives the bits of a plain run.
// And the adversary can fail: without one kind of wait it finds an order that gives others.
#include "plan/program.h"
#include "support/adversary.h"
#include "support/law.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef SEEDS // of each program; the long test has 10,000 in all
#  define SEEDS 50
#endif

// Small, so that a plan of it is a few dozen operations; three layers, so that slots are used again.
#define LAYERS                                                                           \
  "{\"name\":\"h.{0..2}.up.weight\",\"shape\":[24,40],\"order\":\"i\"},"                 \
  "{\"name\":\"h.{0..2}.down.weight\",\"shape\":[40,24],\"order\":\"i\"},"               \
  "{\"name\":\"h.{0..2}.attn.weight\",\"shape\":[32,32],\"order\":\"i\"},"               \
  "{\"name\":\"h.{0..2}.gate.weight\",\"shape\":[2,16,20],\"order\":\"i\"},"             \
  "{\"name\":\"wte.weight\",\"shape\":[301,16],\"order\":0}"
static const char vectors[] =
    "{\"format\":\"stepc-model/1\",\"name\":\"small\",\"params\":"
    "[" LAYERS ",{\"name\":\"bias.{0..4}\",\"shape\":[131],"
    "\"order\":3}]}";
static const char matrices[] =
    "{\"format\":\"stepc-model/1\",\"name\":\"small\",\"params\":[" LAYERS "]}";

static const struct law_plan plans[] = {
    {"adamw", vectors, "host", 4096, 3, false},
    {"gpt", vectors, "host", 4096, 3, false},
    {"gpt", vectors, "host:0.5", 4096, 4, true},
    {"lion", vectors, "host", 4096, 3, true},
    {"muon", matrices, "host", 4096, 3, false},
    {"sgd", vectors, "host", 8192, 4, false},
    {LAW_OTHER_SPEC, matrices, "host", 4096, 3, true}};

static struct law_digest plain(const struct law_plan *plan) {
  struct steprt_program *p =
      law_compile(&(struct law_plan){.spec = plan->spec, .model = plan->model});
  struct law_digest d = law_run(p, &(struct law_run){.threads = 1});
  stepc_program_free(p);
  return d;
}

static struct law_digest run(const struct steprt_program *p, uint64_t seed) {
  adversary_seed(seed);
  return law_run(p, &(struct law_run){.threads = 1,
                                      .subsets = seed % 3 ? seed : 0,
                                      .class = &adversary_class});
}

Test(adversary, every_order_that_a_plan_allows_gives_the_same_bits) {
  for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
    struct law_digest expected = plain(&plans[i]);
    struct steprt_program *p = law_compile(&plans[i]);
    cr_assert_gt(p->plan->n_chunks, plans[i].slots, "plan %zu: %u chunks", i,
                 p->plan->n_chunks); // slots are used again
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
      struct law_digest d = run(p, seed);
      cr_assert_str_eq(d.hex, expected.hex, "%s, plan %zu, seed %llu", plans[i].spec, i,
                       (unsigned long long)seed);
    }
    stepc_program_free(p);
  }
}

// ---- broken plans

struct wait_kind {
  uint32_t op, event;
  const char *what;
};
static const struct wait_kind waits[] = {
    {RT_OP_LOAD, RT_EVENT_FREE, "a load into a slot that is not stored yet"},
    {RT_OP_MAP, RT_EVENT_LOADED, "a kernel on states that are not loaded yet"},
    {RT_OP_STORE, RT_EVENT_COMPUTED, "a store of what is not computed yet"},
};

// A copy of the plan that lacks one wait: that of the middle one of the operations of a kind that wait for such an
// event.
static struct rt_plan without(const struct rt_plan *plan, const struct wait_kind *k) {
  struct rt_plan broken = *plan;
  struct rt_op *op = malloc(plan->n_ops * sizeof *op);
  uint32_t found[1000], n = 0;
  memcpy(op, plan->op, plan->n_ops * sizeof *op);
  for (uint32_t i = 0; i < plan->n_ops; i++) {
    bool one = op[i].kind == k->op && op[i].n_waits == 1 && n < 1000;
    if (one && plan->event[plan->wait[op[i].first_wait]].kind == k->event) {
      found[n++] = i;
    }
  }
  cr_assert_gt(n, 2, "%s", k->what);
  op[found[n / 2]].n_waits = 0;
  broken.op = op;
  return broken;
}

Test(adversary, a_plan_that_lacks_a_wait_is_found_out) {
  struct law_digest expected = plain(&plans[0]);
  struct steprt_program *p = law_compile(&plans[0]);
  for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
    struct rt_plan broken = without(p->plan, &waits[i]);
    struct steprt_program other = *p;
    other.plan = &broken;
    uint32_t seed = 1, limit = 50;
    while (seed <= limit && strcmp(run(&other, seed).hex, expected.hex) == 0) {
      seed++;
    }
    cr_assert_leq(seed, limit, "%s was not seen", waits[i].what);
    free((void *)(uintptr_t)broken.op);
  }
  stepc_program_free(p);
}
