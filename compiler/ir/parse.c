// The instructions of IR text. Every line is typed anew by the builder's rules and compared with what it says.
#include "ir/text.h"

#include <string.h>

// Label of a line that was refused: its uses stay silent.
#define POISON (UINT32_MAX - 1)

struct body {
  struct ir_reader *r;
  struct ir *ir;
  struct names label;
};

static bool find_index(const struct ir *ir, enum ir_op op, struct str name,
                       uint32_t *out) {
  enum ir_index kind = ir_op_index(op);
  uint32_t n = kind == IRX_HYPER       ? ir->n_hypers
               : kind == IRX_STATE     ? ir->n_states
               : kind == IRX_INPUT     ? ir->n_inputs
               : kind == IRX_ITERATION ? ir->iteration.n
                                       : 0;
  for (*out = 0; *out < n; ++*out) {
    struct str candidate = kind == IRX_HYPER   ? ir->hyper[*out]
                           : kind == IRX_STATE ? ir->state[*out].name
                           : kind == IRX_INPUT ? ir->input[*out].name
                                               : ir->iteration.v[*out].name;
    if (str_eq(candidate, name)) {
      return true;
    }
  }
  return false;
}

static bool parse_const(struct ir_reader *r, struct ir_ins *ins) {
  if (!ir_is_bool(ins->type)) {
    return ir_read_num(r, ins->type == IRT_F32, &ins->num);
  }
  ins->num = ir_peek(r, "true");
  if (!ir_accept(r, "true") && !ir_accept(r, "false")) {
    ir_expected(r, "`true` or `false`");
    return false;
  }
  return true;
}

// What stands before the operands.
static bool parse_attribute(struct body *b, struct ir_ins *ins, bool *any) {
  static const char *const what[] = {"", "hyper", "state", "input", "iteration"};
  enum ir_index kind = ir_op_index(ins->op);
  *any = kind != IRX_NONE || ins->op == IR_ROUND || ins->op == IR_CONST;
  if (kind != IRX_NONE) {
    struct span at = b->r->tok.span;
    struct str name;
    if (!ir_read_word(b->r, what[kind], &name)) {
      return false;
    }
    if (!find_index(b->ir, ins->op, name, &ins->index)) {
      ir_unknown(b->r, at, what[kind], name);
      return false;
    }
  }
  if (ins->op == IR_ROUND) {
    bool ok = ir_read_storage(b->r, &ins->storage);
    ins->stochastic = ok && ir_accept(b->r, "stochastic");
    return ok;
  }
  return ins->op != IR_CONST || parse_const(b->r, ins);
}

static bool parse_operand(struct body *b, struct ir_ref *out) {
  struct span at = b->r->tok.span;
  struct str word;
  if (!ir_read_word(b->r, "a value", &word)) {
    return false;
  }
  const uint32_t *i = names_find(&b->label, word);
  if (i == NULL) {
    ir_unknown(b->r, at, "value", word);
  }
  *out = (struct ir_ref){i == NULL ? POISON : *i};
  return i != NULL && *i != POISON;
}

static bool parse_operands(struct body *b, struct ir_ins *ins) {
  bool any, ok = parse_attribute(b, ins, &any);
  for (uint32_t k = 0; ok && k < 3; k++) {
    ins->arg[k] = IR_NONE;
    if (k < ir_op_info(ins->op)->n_args) {
      ok = (k == 0 && !any) || ir_expect(b->r, ",");
      ok = ok && parse_operand(b, &ins->arg[k]);
    }
  }
  return ok;
}

// "add.f32": the operation and the type that the line claims.
static bool parse_op(struct ir_reader *r, struct ir_ins *ins) {
  struct span at = r->tok.span;
  struct str word, op;
  if (!ir_read_word(r, "an operation", &word)) {
    return false;
  }
  size_t dot = word.n;
  while (dot > 0 && word.p[dot - 1] != '.') {
    dot--;
  }
  op = dot == 0 ? word : (struct str){word.p, dot - 1};
  struct str type = dot == 0 ? STR("none") : (struct str){word.p + dot, word.n - dot};
  if (!ir_op_find(op, &ins->op)) {
    ir_unknown(r, at, "operation", op);
    return false;
  }
  for (uint32_t t = IRT_NONE; t <= IRT_DBOOL; t++) {
    if (str_is(type, ir_type_name((enum ir_type)t))) {
      ins->type = (enum ir_type)t;
      return true;
    }
  }
  ir_unknown(r, at, "type", type);
  return false;
}

static struct str type_text(struct arena *a, const struct ir_ins *ins) {
  return str_fmt(a, "%s %s", ir_type_name(ins->type), ir_class_word(ins->cls));
}

static bool check_types(struct body *b, struct ir_ins *ins, struct span at) {
  struct diags *d = b->r->front->diags;
  struct ir_ins said = *ins;
  const char *wrong = ir_derive(b->ir, ins);
  if (wrong != NULL) {
    DIAG(d, at, E0605, str_of(wrong));
    return false;
  }
  if (said.type != ins->type || said.cls != ins->cls) {
    DIAG(d, at, E0604, type_text(d->arena, &said), type_text(d->arena, ins));
    return false;
  }
  return true;
}

// "m" of "%m.1".
static struct str label_name(struct str label) {
  size_t n = 0;
  while (n < label.n && label.p[n] != '.') {
    n++;
  }
  return (struct str){label.p + 1, n - 1};
}

// [ "%" label "=" ] op "." type class [ attribute ] { "," value }
static bool parse_ins(struct body *b, struct ir_ins *ins, bool has_result) {
  struct span at = b->r->tok.span;
  if (!parse_op(b->r, ins)) {
    return false;
  }
  if ((ir_op_info(ins->op)->kind == IRK_STORE) == has_result) {
    DIAG(b->r->front->diags, at, E0605,
         has_result ? STR("a store has no result") : STR("the result needs a label"));
    return false;
  }
  if (!ir_read_class(b->r, &ins->cls)) {
    return false;
  }
  ins->to = ir_op_info(ins->op)->kind == IRK_REDUCE ? ins->cls : CLS_GROUP;
  if (!parse_operands(b, ins)) {
    return false;
  }
  ins->span = span_join(at, b->r->tok.span);
  return check_types(b, ins, at);
}

static void parse_line(struct body *b) {
  struct ir_reader *r = b->r;
  struct span at = r->tok.span;
  struct str label = r->tok.text;
  bool has_result = label.p[0] == '%', ok = true, is_new = true;
  uint32_t *slot = NULL;
  struct ir_ins ins = {.span = at};
  if (has_result && !ir_is_label((struct str){label.p + 1, label.n - 1})) {
    ir_expected(r, "a label of letters, digits, `_` and `.`");
    ok = false;
  } else if (has_result) {
    ins.name = label_name(label);
    ir_advance(r);
    ok = ir_expect(r, "=");
  }
  ok = ok && parse_ins(b, &ins, has_result) && ir_expect_line(r);
  if (has_result) {
    slot = names_at(&b->label, label, &is_new);
    *slot = ok ? b->ir->ins.n : POISON;
  }
  if (!is_new) {
    ir_twice(r, at, label);
  }
  if (ok) {
    VEC_PUSH(b->ir->arena, b->ir->ins, ins);
  } else {
    r->failed = true;
    ir_skip_line(r);
  }
}

void ir_parse_body(struct ir_reader *r, struct ir *ir) {
  struct body b = {.r = r, .ir = ir, .label = {.arena = ir->arena}};
  while (r->tok.kind == ITK_WORD && !ir_peek(r, "init") && !ir_peek(r, "update")) {
    parse_line(&b);
  }
}

// "init" ID nl { instruction }
static void parse_init(struct ir_reader *r, struct ir *ir) {
  struct span at = r->tok.span;
  struct str name;
  uint32_t s;
  if (!ir_read_word(r, "a state", &name) || !ir_expect_line(r)) {
    ir_skip_line(r);
    return;
  }
  struct ir *init = ARENA_NEW(ir->arena, struct ir);
  *init = *ir;
  init->init = NULL;
  ir_parse_body(r, init);
  if (!find_index(ir, IR_STATE, name, &s)) {
    ir_unknown(r, at, "state", name);
  } else if (ir->init[s] != NULL) {
    ir_twice(r, at, name);
  } else {
    ir->init[s] = init;
  }
}

struct ir *ir_parse(struct front *f, uint32_t file) {
  struct ir_reader r;
  ir_reader_start(&r, f, file);
  struct ir *ir = ARENA_NEW(f->arena, struct ir);
  ir->arena = f->arena;
  if (!ir_parse_header(&r, ir)) {
    return NULL;
  }
  ir->init = ARENA_ARRAY(f->arena, struct ir *, ir->n_states);
  while (ir_accept(&r, "init")) {
    parse_init(&r, ir);
  }
  if (!ir_expect(&r, "update") || !ir_expect_line(&r)) {
    return NULL;
  }
  ir_parse_body(&r, ir);
  if (r.tok.kind != ITK_END) {
    ir_expected(&r, "an instruction");
  }
  if (r.failed) {
    return NULL;
  }
  struct ir_fault fault = ir_check(f->arena, ir);
  if (fault.text.n > 0) {
    bool placed = fault.span.file != NO_FILE;
    DIAG(f->diags, placed ? fault.span : r.tok.span, E0606, fault.text);
    return NULL;
  }
  return ir;
}
