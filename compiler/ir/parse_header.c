// The header of IR text: shape, dtypes, hypers, states, inputs, iterations. The form stands in print.c.
#include "ir/text.h"

#include <string.h>

// "ir" ID
// "shape" "[" [ INT { "," INT } ] "]"
static bool parse_shape(struct ir_reader *r, struct shape *s) {
  uint64_t numel = 1; // without zeros: no product of some dimensions overflows either
  if (!ir_expect(r, "shape") || !ir_expect(r, "[")) {
    return false;
  }
  while (!ir_peek(r, "]")) {
    if (s->rank == MAX_RANK) {
      ir_expected(r, "at most 8 dimensions");
      return false;
    }
    uint64_t *dim = &s->dim[s->rank++];
    if (!ir_read_u64(r, (uint64_t)INT64_MAX / numel, dim)) {
      return false;
    }
    numel *= *dim == 0 ? 1 : *dim;
    if (!ir_accept(r, ",")) {
      break;
    }
  }
  return ir_expect(r, "]") && ir_expect_line(r);
}

// "hypers" { ID [ "." ID ] }
static bool parse_hypers(struct ir_reader *r, struct ir *ir) {
  VEC(struct str) hyper = {0};
  struct names seen = {.arena = r->front->arena};
  while (r->tok.kind == ITK_WORD && ir_is_label(r->tok.text)) {
    bool is_new;
    (void)names_at(&seen, r->tok.text, &is_new);
    if (!is_new) {
      ir_twice(r, r->tok.span, r->tok.text);
    }
    VEC_PUSH(ir->arena, hyper, r->tok.text);
    ir_advance(r);
  }
  ir->hyper = hyper.v;
  ir->n_hypers = hyper.n;
  return ir_expect_line(r);
}

// "state" ID ( "host" | storage ) [ "block" INT ] class [ "stochastic" ]
static bool parse_state(struct ir_reader *r, struct ir_state *s) {
  uint64_t block = 0;
  if (!ir_read_ident(r, "a name", &s->name)) {
    return false;
  }
  s->is_host = ir_accept(r, "host");
  if (!s->is_host && !ir_read_storage(r, &s->storage)) {
    return false;
  }
  if (ir_accept(r, "block") && !ir_read_u64(r, UINT32_MAX, &block)) {
    return false;
  }
  s->block = (uint32_t)block;
  if (!ir_read_class(r, &s->cls)) {
    return false;
  }
  s->stochastic = ir_accept(r, "stochastic");
  return ir_expect_line(r);
}

// "input" ID ( "scalar" | class ) [ "unused" ]
static bool parse_input(struct ir_reader *r, struct rule_input *in) {
  if (!ir_read_ident(r, "a name", &in->name)) {
    return false;
  }
  in->is_scalar = ir_accept(r, "scalar");
  in->cls = CLS_GROUP;
  if (!in->is_scalar && !ir_read_class(r, &in->cls)) {
    return false;
  }
  in->used = !ir_accept(r, "unused");
  return ir_expect_line(r);
}

enum { MAX_STEPS = 1000 }; // DESIGN section 16

// "iter" num num num [ "repeat" INT ]
static bool parse_steps(struct ir_reader *r, struct ir *ir, struct ir_iteration *it) {
  VEC(struct ir_step) step = {0};
  while (ir_accept(r, "iter")) {
    struct ir_step s;
    uint64_t repeat = 1;
    if (!ir_read_num(r, false, &s.a) || !ir_read_num(r, false, &s.b) ||
        !ir_read_num(r, false, &s.c) ||
        (ir_accept(r, "repeat") && !ir_read_u64(r, MAX_STEPS - step.n, &repeat)) ||
        !ir_expect_line(r)) {
      return false;
    }
    for (uint64_t i = 0; i < repeat; i++) {
      VEC_PUSH(ir->arena, step, s);
    }
    if (step.n > MAX_STEPS) {
      ir_expected(r, "at most 1000 iteration steps");
      return false;
    }
  }
  it->step = step.v;
  it->n_steps = step.n;
  return true;
}

// "iteration" ID ( "frobenius" | "aol" ) "safety" num "eps" num "floor" num [ "in_f32" ] storage
//   ( "standard" | "gram" { INT } | "auto" )
static bool parse_iteration(struct ir_reader *r, struct ir *ir, struct ir_iteration *it) {
  if (!ir_read_ident(r, "a name", &it->name)) {
    return false;
  }
  it->norm = ir_accept(r, "aol") ? NORM_AOL : NORM_FROBENIUS;
  if ((it->norm == NORM_FROBENIUS && !ir_expect(r, "frobenius")) ||
      !ir_expect(r, "safety") || !ir_read_num(r, false, &it->safety) ||
      !ir_expect(r, "eps") || !ir_read_num(r, false, &it->eps) ||
      !ir_expect(r, "floor") || !ir_read_num(r, false, &it->floor)) {
    return false;
  }
  it->norm_in_f32 = ir_accept(r, "in_f32");
  if (!ir_read_storage(r, &it->compute)) {
    return false;
  }
  it->form = ir_accept(r, "auto")   ? FORM_AUTO
             : ir_accept(r, "gram") ? FORM_GRAM
                                    : FORM_STANDARD;
  if (it->form == FORM_STANDARD && !ir_expect(r, "standard")) {
    return false;
  }
  VEC(uint32_t) restart = {0};
  while (it->form == FORM_GRAM && r->tok.kind == ITK_WORD) {
    uint64_t at;
    if (!ir_read_u64(r, MAX_STEPS, &at)) {
      return false;
    }
    VEC_PUSH(ir->arena, restart, (uint32_t)at);
  }
  it->restart = restart.v;
  it->n_restarts = restart.n;
  return ir_expect_line(r) && parse_steps(r, ir, it);
}

struct lists {
  VEC(struct ir_state) state;
  VEC(struct rule_input) input;
  struct names seen; // states, inputs and iterations share one name space
};

static void note_name(struct ir_reader *r, struct lists *l, struct str name,
                      struct span at) {
  bool is_new;
  (void)names_at(&l->seen, name, &is_new);
  if (!is_new) {
    ir_twice(r, at, name);
  }
}

// One line after the fixed ones. False: it is none of the header's.
static bool parse_line(struct ir_reader *r, struct ir *ir, struct lists *l) {
  struct arena *a = ir->arena;
  bool ok = true;
  if (ir_accept(r, "hypers")) {
    ok = parse_hypers(r, ir);
  } else if (ir_accept(r, "state")) {
    struct span at = r->tok.span;
    struct ir_state s = {0};
    ok = parse_state(r, &s);
    note_name(r, l, s.name, at);
    VEC_PUSH(a, l->state, s);
  } else if (ir_accept(r, "input")) {
    struct span at = r->tok.span;
    struct rule_input in = {0};
    ok = parse_input(r, &in);
    note_name(r, l, in.name, at);
    VEC_PUSH(a, l->input, in);
  } else if (ir_accept(r, "iteration")) {
    struct span at = r->tok.span;
    struct ir_iteration it = {0};
    ok = parse_iteration(r, ir, &it);
    note_name(r, l, it.name, at);
    VEC_PUSH(a, ir->iteration, it);
  } else {
    return false;
  }
  if (!ok) {
    ir_skip_line(r);
  }
  return true;
}

bool ir_parse_header(struct ir_reader *r, struct ir *ir) {
  while (r->tok.kind == ITK_LINE) {
    ir_advance(r);
  }
  if (!ir_expect(r, "ir") || !ir_read_ident(r, "a name", &ir->name) ||
      !ir_expect_line(r) || !parse_shape(r, &ir->shape) || !ir_expect(r, "param") ||
      !ir_read_storage(r, &ir->dtype) || !ir_expect_line(r) || !ir_expect(r, "grad") ||
      !ir_read_storage(r, &ir->grad) || !ir_expect_line(r)) {
    return false;
  }
  struct lists l = {.seen = {.arena = ir->arena}};
  while (parse_line(r, ir, &l)) {
  }
  ir->state = l.state.v;
  ir->n_states = l.state.n;
  ir->input = l.input.v;
  ir->n_inputs = l.input.n;
  return true;
}
