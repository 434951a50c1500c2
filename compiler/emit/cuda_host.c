// Host values of the IR back in infix form.
#include "emit/cuda_host.h"

enum { TEXT_LIMIT = 160 }; // a value that is used often would be written out as often

struct printer {
  struct arena *arena;
  const struct ir *ir;
  struct buf out;
};

enum binding { BIND_COMPARE = 1, BIND_SUM, BIND_PRODUCT, BIND_UNARY };

static enum binding binding_of(enum ir_op op) {
  return op == IR_ADD || op == IR_SUB   ? BIND_SUM
         : op == IR_MUL || op == IR_DIV ? BIND_PRODUCT
         : op == IR_NEG                 ? BIND_UNARY
         : op >= IR_EQ && op <= IR_GE   ? BIND_COMPARE
                                        : 0;
}

static const char *sign_of(enum ir_op op) {
  static const char *const table[N_IR_OPS] = {
      [IR_ADD] = "+", [IR_SUB] = "-", [IR_MUL] = "*", [IR_DIV] = "/", [IR_EQ] = "==",
      [IR_NE] = "!=", [IR_LT] = "<",  [IR_LE] = "<=", [IR_GT] = ">",  [IR_GE] = ">="};
  return table[op];
}

static struct str after_dot(struct str name) {
  for (size_t i = name.n; i-- > 0;) {
    if (name.p[i] == '.') {
      return (struct str){name.p + i + 1, name.n - i - 1};
    }
  }
  return name;
}

static void put_leaf(struct printer *p, const struct ir_ins *ins) {
  struct str name = ins->op == IR_HYPER        ? after_dot(p->ir->hyper[ins->index])
                    : ins->op == IR_HOST_STATE ? p->ir->state[ins->index].name
                    : ins->op == IR_HOST_INPUT ? p->ir->input[ins->index].name
                    : ins->op == IR_CONST      ? num_shortest(p->arena, ins->num)
                                               : STR("step");
  buf_str(&p->out, str_escape(p->arena, name));
}

static void put_value(struct printer *p, struct ir_ref r, int least) {
  const struct ir_ins *ins = ir_at(p->ir, r);
  const struct ir_op_info *info = ir_op_info(ins->op);
  int binding = (int)binding_of(ins->op);
  if (p->out.n > TEXT_LIMIT) {
    buf_puts(&p->out, "...");
    return;
  }
  if (info->n_args == 0) {
    put_leaf(p, ins);
    return;
  }
  if (binding == 0) {
    buf_printf(&p->out, "%s(", info->text);
    for (uint32_t i = 0; i < info->n_args; i++) {
      buf_puts(&p->out, i != 0 ? ", " : "");
      put_value(p, ins->arg[i], 0);
    }
    buf_char(&p->out, ')');
    return;
  }
  buf_puts(&p->out, binding < least ? "(" : "");
  if (ins->op == IR_NEG) {
    buf_char(&p->out, '-');
    put_value(p, ins->arg[0], binding);
  } else {
    put_value(p, ins->arg[0], binding);
    buf_printf(&p->out, " %s ", sign_of(ins->op));
    put_value(p, ins->arg[1], binding + 1);
  }
  buf_puts(&p->out, binding < least ? ")" : "");
}

struct str cuda_host_text(struct arena *a, const struct ir *ir, struct ir_ref scalar) {
  struct printer p = {.arena = a, .ir = ir, .out = buf_new(a)};
  put_value(&p, ir_at(ir, scalar)->arg[0], 0);
  return buf_done(&p.out);
}
