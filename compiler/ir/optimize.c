// The straight list of passes, with verification between them.
#include "ir/ir.h"
#include "ir/value.h"

#include <string.h>
#include <time.h>

static const struct {
  const char *name;
  void (*run)(struct ir *ir);
} passes[] = {
    {"fold", pass_fold},   // makes conditions constant, and equal constants comparable
    {"cse", pass_cse},     // one crossing per host value: what hoist moves is distinct
    {"hoist", pass_hoist}, // phases expect host code in one piece
    {"dce", pass_dce},     // last: each of the others leaves values that nobody reads
};

static double now(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static bool same_ins(const struct ir_ins *a, const struct ir_ins *b) {
  return a->op == b->op && a->type == b->type && a->cls == b->cls &&
         a->storage == b->storage && a->to == b->to && a->index == b->index &&
         a->stochastic == b->stochastic && memcmp(a->arg, b->arg, sizeof a->arg) == 0 &&
         same_bits(a->num, b->num) && str_eq(a->name, b->name);
}

static bool changed(const struct ir *ir, const struct ir_ins *old, uint32_t n) {
  bool differs = n != ir->ins.n;
  for (uint32_t i = 0; !differs && i < n; i++) {
    differs = !same_ins(&old[i], &ir->ins.v[i]);
  }
  return differs;
}

static struct str run_passes(struct ir *ir, const struct ir *whole, struct pass_log log) {
  struct str wrong = ir_verify(ir->arena, whole);
  if (wrong.n > 0) {
    return str_fmt(ir->arena, "lowering: %.*s", STR_FMT(wrong));
  }
  for (uint32_t p = 0; p < sizeof passes / sizeof passes[0]; p++) {
    const struct ir_ins *old = ir->ins.v;
    uint32_t n = ir->ins.n;
    double start = now();
    passes[p].run(ir);
    if (log.after != NULL) {
      log.after(log.ctx, passes[p].name, ir, changed(ir, old, n), now() - start);
    }
    wrong = ir_verify(ir->arena, whole);
    if (wrong.n > 0) {
      return str_fmt(ir->arena, "%s: %.*s", passes[p].name, STR_FMT(wrong));
    }
  }
  return (struct str){0};
}

struct str ir_optimize(struct ir *ir, struct pass_log log) {
  struct str wrong = {0};
  for (uint32_t i = 0; wrong.n == 0 && ir->init != NULL && i < ir->n_states; i++) {
    if (ir->init[i] != NULL) {
      wrong = run_passes(ir->init[i], ir, (struct pass_log){0});
    }
  }
  return wrong.n > 0 ? wrong : run_passes(ir, ir, log);
}
