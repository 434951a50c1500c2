// Values of a map phase as C expressions.
//
// A value is `NAME_NUMBER` after its label in the IR text, so that another `let` renumbers nothing but its own. What
// one operation of the same spec name alone uses is written inside that operation.
#include "emit/cuda_int.h"

#include <math.h>
#include <string.h>

enum { INLINE_LIMIT = 60 }; // characters of an expression inside another

static const struct op_row {
  const char *format, *section;
} op_table[N_IR_OPS] = {
#define CUDA(op, format, section) [IR_##op] = {format, section},
#include "emit/cuda_ops.def"
#undef CUDA
};

bool cuda_is_scalar(const struct ir_ins *ins) {
  return ins->cls <= CLS_PARAM && (ins->type == IRT_F32 || ins->type == IRT_DBOOL);
}

uint32_t cuda_slot_of(const struct cuda_values *v, struct ir_ref r) {
  return kernel_slot_of(v->kernel->slot, v->kernel->n_slots, v->kernel->phases, v->ph, r);
}

// `name`, or with as many `_` behind it as make it new.
static struct str unique(struct cuda_values *v, struct str name) {
  bool is_new = false;
  for (;;) {
    (void)names_at(&v->taken, name, &is_new);
    if (is_new) {
      return name;
    }
    name = str_fmt(v->w->arena, "%.*s_", STR_FMT(name));
  }
}

// A slot `m` has a pointer `p_m` and, in registers, `x_m`.
static void name_slots(struct cuda_values *v) {
  struct arena *a = v->w->arena;
  for (uint32_t i = 0; i < v->kernel->n_slots; i++) {
    struct str name = kernel_safe_name(a, v->kernel->slot[i].name);
    struct str x = unique(v, str_fmt(a, "x_%.*s", STR_FMT(name)));
    v->slot[i] = (struct str){x.p + 2, x.n - 2};
    (void)unique(v, str_fmt(a, "p_%.*s", STR_FMT(v->slot[i])));
  }
}

static void count_use(struct cuda_values *v, struct ir_ref r, uint32_t user) {
  v->uses[r.i]++;
  v->user[r.i] = user;
}

static void count_uses(struct cuda_values *v) {
  const struct phases *p = v->kernel->phases;
  for (uint32_t i = 0; i < v->ph->n_ins; i++) {
    const struct ir_ins *ins = ir_at(v->ir, v->ph->ins[i]);
    for (uint32_t k = 0; k < ir_op_info(ins->op)->n_args; k++) {
      count_use(v, ins->arg[k], v->ph->ins[i].i);
    }
  }
  for (uint32_t i = 0; i < v->ph->n_temp_out; i++) {
    count_use(v, p->temp[v->ph->temp_out[i]].value, IR_NONE_INDEX);
  }
}

struct cuda_values cuda_values_new(struct cuda_writer *w, const struct kernel *k) {
  const struct ir *ir = k->phases->ir;
  struct cuda_values v = {.w = w,
                          .kernel = k,
                          .ir = ir,
                          .ph = &k->phases->phase[k->phase],
                          .label = ir_labels(w->arena, ir),
                          .text = ARENA_ARRAY(w->arena, struct str, ir->ins.n),
                          .uses = ARENA_ARRAY(w->arena, uint32_t, ir->ins.n),
                          .user = ARENA_ARRAY(w->arena, uint32_t, ir->ins.n),
                          .slot = ARENA_ARRAY(w->arena, struct str, k->n_slots),
                          .taken = {.arena = w->arena}};
  uint32_t file = cuda_file_of(w, k);
  v.file = file != NO_FILE ? cuda_file_name(w, file) : str_escape(w->arena, ir->name);
  name_slots(&v);
  count_uses(&v);
  return v;
}

struct str cuda_value_name(struct cuda_values *v, struct ir_ref r) {
  struct str label = v->label[r.i], number = STR("0");
  for (size_t i = label.n; i-- > 0;) {
    if (label.p[i] == '.') {
      number = (struct str){label.p + i + 1, label.n - i - 1};
      label.n = i;
      break;
    }
  }
  struct str stem = kernel_safe_name(v->w->arena, label);
  return unique(v, str_fmt(v->w->arena, "%.*s_%.*s", STR_FMT(stem), STR_FMT(number)));
}

// A float that reads back as the same bits.
static struct str literal(struct arena *a, double x) {
  if (isnan(x)) {
    return STR("__int_as_float(0x7fc00000)");
  }
  if (isinf(x)) {
    return x > 0 ? STR("__int_as_float(0x7f800000)") : STR("__int_as_float(0xff800000)");
  }
  struct str digits = num_shortest_f32(a, (float)x);
  bool whole =
      memchr(digits.p, '.', digits.n) == NULL && memchr(digits.p, 'e', digits.n) == NULL;
  struct str text = str_fmt(a, "%.*s%s", STR_FMT(digits), whole ? ".0f" : "f");
  return signbit(x) ? str_fmt(a, "(%.*s)", STR_FMT(text)) : text;
}

static struct str fill(struct cuda_values *v, const char *format,
                       const struct ir_ins *ins) {
  struct buf b = buf_new(v->w->arena);
  for (const char *p = format; *p != '\0'; p++) {
    if (*p == '$') {
      buf_str(&b, v->text[ins->arg[*++p - '0'].i]);
    } else {
      buf_char(&b, *p);
    }
  }
  return buf_done(&b);
}

const char *cuda_value_section(const struct ir_ins *ins) {
  if (ins->op == IR_ROUND) {
    return ins->storage == ST_F32 ? "" : "round_bf16";
  }
  const char *section = op_table[ins->op].section;
  return section != NULL ? section : "";
}

struct str cuda_value_expr(struct cuda_values *v, struct ir_ref r) {
  const struct ir_ins *ins = ir_at(v->ir, r);
  if (ins->op == IR_CONST) {
    return ins->type == IRT_DBOOL ? ins->num != 0 ? STR("true") : STR("false")
                                  : literal(v->w->arena, ins->num);
  }
  if (ins->op == IR_ROUND) {
    return fill(v, ins->storage == ST_F32 ? "$0" : "round_bf16($0)", ins);
  }
  if (op_table[ins->op].format == NULL) {
    *v->w->ice = str_fmt(v->w->arena, "no CUDA for `%s` in a map phase",
                         ir_op_info(ins->op)->text);
    return STR("0.0f");
  }
  return fill(v, op_table[ins->op].format, ins);
}

bool cuda_value_is_inline(const struct cuda_values *v, struct ir_ref r, struct str expr) {
  const struct ir_ins *ins = ir_at(v->ir, r);
  if (ins->op == IR_CONST) {
    return true;
  }
  if (v->uses[r.i] != 1 || v->user[r.i] == IR_NONE_INDEX || expr.n > INLINE_LIMIT) {
    return false;
  }
  const struct ir_ins *user = &v->ir->ins.v[v->user[r.i]];
  return ir_op_info(user->op)->kind != IRK_STORE && str_eq(ins->name, user->name) &&
         cuda_is_scalar(user) == cuda_is_scalar(ins);
}
