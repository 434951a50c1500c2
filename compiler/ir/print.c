// IR as text. The form:
//
//   ir muon
//   shape [768, 2304]
//   param bf16
//   grad f32
//   hypers lr beta wd
//   state m bf16 elem
//   iteration jordan frobenius safety 1 eps 1e-07 floor 0 bf16 standard
//     iter 3.4445 -4.775 2.0315 repeat 5
//   init m
//     %param = param.f32 elem
//     set_state elem m, %param
//   update
//     %beta = hyper.f64 group beta
//     %m = state.f32 elem m
//
// A value is labelled with the spec name it serves, and a number from the second of that name on.
#include "ir/ir.h"
#include "ir/names.h"
#include "ir/value.h"

static void print_num(struct buf *b, double x) {
  buf_char(b, ' ');
  buf_str(b, num_shortest(b->arena, x));
}

static bool same_step(const struct ir_step *x, const struct ir_step *y) {
  return same_bits(x->a, y->a) && same_bits(x->b, y->b) && same_bits(x->c, y->c);
}

static void print_iteration(struct buf *b, const struct ir_iteration *it) {
  static const char *const form[] = {"standard", "gram", "auto"};
  buf_printf(b, "iteration %.*s %s safety", STR_FMT(it->name),
             it->norm == NORM_AOL ? "aol" : "frobenius");
  print_num(b, it->safety);
  buf_puts(b, " eps");
  print_num(b, it->eps);
  buf_puts(b, " floor");
  print_num(b, it->floor);
  buf_printf(b, "%s %s %s", it->norm_in_f32 ? " in_f32" : "", storage_name(it->compute),
             form[it->form]);
  for (uint32_t i = 0; i < it->n_restarts; i++) {
    buf_printf(b, " %u", it->restart[i]);
  }
  buf_char(b, '\n');
  for (uint32_t i = 0, n; i < it->n_steps; i += n) {
    const struct ir_step *s = &it->step[i];
    n = 1;
    while (i + n < it->n_steps && same_step(&s[n], s)) {
      n++;
    }
    buf_puts(b, "  iter");
    print_num(b, s->a);
    print_num(b, s->b);
    print_num(b, s->c);
    if (n > 1) {
      buf_printf(b, " repeat %u", n);
    }
    buf_char(b, '\n');
  }
}

static void print_state(struct buf *b, const struct ir_state *s) {
  buf_printf(b, "state %.*s %s", STR_FMT(s->name),
             s->is_host ? "host" : storage_name(s->storage));
  if (s->block != 0) {
    buf_printf(b, " block %u", s->block);
  }
  buf_printf(b, " %s%s\n", ir_class_word(s->cls), s->stochastic ? " stochastic" : "");
}

static void print_header(struct buf *b, const struct ir *ir) {
  buf_printf(b, "ir %.*s\nshape ", STR_FMT(ir->name));
  buf_str(b, shape_text(b->arena, &ir->shape));
  buf_printf(b, "\nparam %s\ngrad %s\n", storage_name(ir->dtype), storage_name(ir->grad));
  if (ir->n_hypers > 0) {
    buf_puts(b, "hypers");
    for (uint32_t i = 0; i < ir->n_hypers; i++) {
      buf_printf(b, " %.*s", STR_FMT(ir->hyper[i]));
    }
    buf_char(b, '\n');
  }
  for (uint32_t i = 0; i < ir->n_states; i++) {
    print_state(b, &ir->state[i]);
  }
  for (uint32_t i = 0; i < ir->n_inputs; i++) {
    const struct rule_input *in = &ir->input[i];
    buf_printf(b, "input %.*s %s%s\n", STR_FMT(in->name),
               in->is_scalar ? "scalar" : ir_class_word(in->cls),
               in->used ? "" : " unused");
  }
  for (uint32_t i = 0; i < ir->iteration.n; i++) {
    print_iteration(b, &ir->iteration.v[i]);
  }
}

struct str *ir_labels(struct arena *a, const struct ir *ir) {
  struct str *label = ARENA_ARRAY(a, struct str, ir->ins.n);
  struct names seen = {.arena = a};
  for (uint32_t i = 0; i < ir->ins.n; i++) {
    const struct ir_ins *ins = &ir->ins.v[i];
    if (ir_op_info(ins->op)->kind == IRK_STORE) {
      continue;
    }
    bool is_new;
    uint32_t *n = names_at(&seen, ins->name, &is_new);
    label[i] = is_new && ins->name.n > 0 ? ins->name
                                         : str_fmt(a, "%.*s.%u", STR_FMT(ins->name), *n);
    ++*n;
  }
  return label;
}

// What stands before the operands: the thing that `index` counts, a storage, a number.
static void print_attribute(struct buf *b, const struct ir *ir,
                            const struct ir_ins *ins) {
  switch (ir_op_index(ins->op)) {
  case IRX_HYPER: buf_printf(b, " %.*s", STR_FMT(ir->hyper[ins->index])); break;
  case IRX_STATE: buf_printf(b, " %.*s", STR_FMT(ir->state[ins->index].name)); break;
  case IRX_INPUT: buf_printf(b, " %.*s", STR_FMT(ir->input[ins->index].name)); break;
  case IRX_ITERATION:
    buf_printf(b, " %.*s", STR_FMT(ir->iteration.v[ins->index].name));
    break;
  case IRX_NONE: break;
  }
  if (ins->op == IR_ROUND) {
    buf_printf(b, " %s%s", storage_name(ins->storage),
               ins->stochastic ? " stochastic" : "");
  } else if (ins->op == IR_CONST && ir_is_bool(ins->type)) {
    buf_puts(b, ins->num != 0 ? " true" : " false");
  } else if (ins->op == IR_CONST) {
    buf_char(b, ' ');
    buf_str(b, ins->type == IRT_F32 ? num_shortest_f32(b->arena, (float)ins->num)
                                    : num_shortest(b->arena, ins->num));
  }
}

void ir_print_ins(struct buf *b, const struct ir *ir, const struct str *label,
                  uint32_t i) {
  const struct ir_ins *ins = &ir->ins.v[i];
  const struct ir_op_info *info = ir_op_info(ins->op);
  if (info->kind == IRK_STORE) {
    buf_printf(b, "%s", info->text);
  } else {
    buf_printf(b, "%%%.*s = %s.%s", STR_FMT(label[i]), info->text,
               ir_type_name(ins->type));
  }
  buf_printf(b, " %s", ir_class_word(ins->cls));
  size_t before = b->n;
  print_attribute(b, ir, ins);
  for (uint32_t k = 0; k < info->n_args; k++) {
    buf_printf(b, "%s%%%.*s", k > 0 || b->n > before ? ", " : " ",
               STR_FMT(label[ins->arg[k].i]));
  }
  buf_char(b, '\n');
}

static void print_body(struct buf *b, const struct ir *ir) {
  struct str *label = ir_labels(b->arena, ir);
  for (uint32_t i = 0; i < ir->ins.n; i++) {
    buf_puts(b, "  ");
    ir_print_ins(b, ir, label, i);
  }
}

struct str ir_print(struct arena *a, const struct ir *ir) {
  struct buf b = buf_new(a);
  print_header(&b, ir);
  for (uint32_t i = 0; ir->init != NULL && i < ir->n_states; i++) {
    if (ir->init[i] != NULL) {
      buf_printf(&b, "init %.*s\n", STR_FMT(ir->state[i].name));
      print_body(&b, ir->init[i]);
    }
  }
  buf_puts(&b, "update\n");
  print_body(&b, ir);
  return buf_done(&b);
}
