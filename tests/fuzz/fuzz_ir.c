// Any bytes as IR text: refused with a message, or accepted and then a fixed point of print and parse. What is accepted
// keeps its bits, and stays within the interpreter's arithmetic, through every pass and the cut into phases.
#include "fuzz/fuzz.h"
#include "ir/interp.h"
#include "ir/phases.h"
#include "support/ir_eval.h"

#include <stdlib.h>

enum { MAX_INS = 200, MAX_VALUES = 512 }; // of what is run

static void check(bool ok) {
  if (!ok) {
    abort();
  }
}

static struct ir *parse(struct front *f, struct str text) {
  return ir_parse(f, source_add(f->sources, STR("fuzz.ir"), text));
}

static bool is_small(const struct ir *ir) {
  uint64_t values = 1;
  for (uint32_t i = 0; i < ir->shape.rank; i++) {
    uint64_t dim = ir->shape.dim[i];
    values *= dim == 0 ? 1 : dim < MAX_VALUES ? dim : MAX_VALUES;
    values = values < MAX_VALUES ? values : MAX_VALUES;
  }
  return ir->ins.n <= MAX_INS && values < MAX_VALUES;
}

static struct interp_tensor *tensors(struct arena *a, double *const *value, uint32_t n) {
  struct interp_tensor *t = ARENA_ARRAY(a, struct interp_tensor, n);
  for (uint32_t i = 0; i < n; i++) {
    t[i].value = value[i];
  }
  return t;
}

static void interpret(struct arena *a, const struct ir *ir, struct ir_tensors t) {
  struct interp_tensor param = {t.param, NULL}, grad = {t.grad, NULL};
  struct interp_io io = {.hyper = t.hyper,
                         .step = t.step,
                         .clip = t.clip,
                         .grad = &grad,
                         .param = &param,
                         .state = tensors(a, t.state, ir->n_states),
                         .input = tensors(a, t.input, ir->n_inputs)};
  interp_run(a, ir, &io);
}

static void run_small(struct arena *a, struct ir *ir) {
  struct ir_tensors want = ir_tensors_random(a, ir, ir->ins.n);
  struct ir_tensors got = ir_tensors_copy(a, ir, &want);
  interpret(a, ir, ir_tensors_copy(a, ir, &want));
  ir_eval(a, ir, &want);
  check(ir_optimize(ir, (struct pass_log){0}).n == 0);
  const struct phases *p = phases_cut(a, ir);
  check(ir_eval_phases(a, p, &got).n == 0);
  check(ir_tensors_same(ir, &want, &got));
  check(phases_print(a, p).n > 0);
}

static void run(struct arena *a, struct str text) {
  struct sources sources = {.arena = a};
  struct diags diags;
  diags_init(&diags, a, &sources);
  struct front f = {a, &sources, &diags};
  struct ir *ir = parse(&f, text);
  check((ir == NULL) == (diags.n_errors > 0));
  check(diag_render(&diags, DIAG_TEXT, false, a).n > 0 || ir != NULL);
  if (ir == NULL) {
    return;
  }
  struct str printed = ir_print(a, ir);
  struct ir *again = parse(&f, printed);
  check(again != NULL && str_eq(ir_print(a, again), printed));
  if (is_small(ir)) {
    run_small(a, ir);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct arena *a = arena_new(0);
  run(a, (struct str){(const char *)data, size});
  arena_free(a);
  return 0;
}
