// The IR: one flat SSA array per rule.
//
// Instructions are in execution order; an operand is an earlier instruction. Values have a type and a class; a
// device operation works per element of the joined class of its arguments. Reads of a state always give the value
// from before the step: lowering hands the new value on directly, so that no load follows a store.
#ifndef STEPC_IR_IR_H
#define STEPC_IR_IR_H

#include "front/sema.h"

enum ir_op {
#define OP(id, text, args, where, kind) IR_##id,
#include "ir/ops.def"
#undef OP
  N_IR_OPS
};

enum ir_where { IR_H = 1, IR_D = 2, IR_B = 3 };
enum ir_kind { IRK_LEAF, IRK_CAST, IRK_VALUE, IRK_REDUCE, IRK_MATRIX, IRK_STORE };
struct ir_op_info {
  const char *text;
  uint8_t n_args;
  enum ir_where where;
  enum ir_kind kind;
};
const struct ir_op_info *ir_op_info(enum ir_op op);
bool ir_op_find(struct str text, enum ir_op *out);
enum ir_index { IRX_NONE, IRX_HYPER, IRX_STATE, IRX_INPUT, IRX_ITERATION };
enum ir_index ir_op_index(enum ir_op op); // what ir_ins.index of this operation counts

// Host values are double; device values f32. Bools on either side.
enum ir_type { IRT_NONE, IRT_F64, IRT_HBOOL, IRT_F32, IRT_DBOOL };

struct ir_ref {
  uint32_t i; // index into ir->ins; IR_NONE: no value
};
#define IR_NONE_INDEX UINT32_MAX
#define IR_NONE       ((struct ir_ref){IR_NONE_INDEX})

struct ir_ins {
  enum ir_op op;
  enum ir_type type;
  enum cls cls;         // of the result; stores: of what is stored
  enum storage storage; // ROUND; loads and stores: how the tensor rests
  enum cls to;          // reductions: equals cls
  uint32_t index;       // hyper, state, input, iteration
  bool stochastic;      // ROUND: counter-based instead of to nearest even
  struct ir_ref arg[3];
  double num;      // CONST: host double, or the f32 value as a double
  struct str name; // spec name that it serves ("u", "m", "param"): tags and text
  struct span span;
};

struct ir_state {
  struct str name;
  enum storage storage;
  uint32_t block;
  enum cls cls;
  bool is_host, stochastic;
};

// An iteration as the runtime runs it: one line per step, tail and repeats expanded.
struct ir_step {
  double a, b, c;
};
struct ir_iteration {
  struct str name;
  enum iteration_norm norm;
  bool norm_in_f32;
  double safety, eps, floor;
  enum storage compute;
  enum iteration_form form;
  uint32_t *restart;
  uint32_t n_restarts;
  struct ir_step *step;
  uint32_t n_steps;
};

struct ir {
  struct arena *arena;
  struct str name; // "muon"; text only
  struct shape shape;
  enum storage dtype, grad;
  VEC(struct ir_ins) ins;
  struct str *hyper; // names by index, "label.name"
  uint32_t n_hypers;
  struct ir_state *state;
  uint32_t n_states;
  struct rule_input *input;
  uint32_t n_inputs;
  VEC(struct ir_iteration) iteration;
  // Initial states, by state: IR over PARAM and constants that ends in one SET_STATE or SET_HOST of that state. A
  // NULL entry, or NULL for all: zeros. Inside such IR `init` is NULL.
  struct ir **init;
};

// Completes an instruction: type, class and storage from op and operands, and the natural name of a load or store.
// NULL, or what is wrong with the combination (then nothing was changed).
const char *ir_derive(const struct ir *ir, struct ir_ins *ins);
// Appends one instruction, completed by `ir_derive` (a wrong combination is an internal error), and returns it.
struct ir_ref ir_add(struct ir *ir, struct ir_ins proto);
static inline const struct ir_ins *ir_at(const struct ir *ir, struct ir_ref r) {
  return &ir->ins.v[r.i];
}
static inline bool ir_is_none(struct ir_ref r) {
  return r.i == IR_NONE_INDEX;
}
bool ir_op_commutes(enum ir_op op); // its first two operands may change places
bool ir_is_host(enum ir_type t);
bool ir_is_bool(enum ir_type t);
const char *ir_type_name(enum ir_type t); // "f64", "hbool", "f32", "bool"
const char *ir_class_word(enum cls c);    // "row", "elem": as IR text spells it
// Is every value of this instruction exactly representable in `storage`?
bool ir_fits_storage(const struct ir *ir, struct ir_ref value, enum storage storage);
// By instruction: device values that are known before any tensor is read (constants, scalars from the host, clip, and
// operations on those only).
bool *ir_uniform_values(struct arena *a, const struct ir *ir);

// Typed rule to IR. With job->clip gradients are multiplied by the clip factor, once. Device ema, lerp and clamp are expanded:
// ema(a, b, k) = k * a + (1 - k) * b with 1 - k formed on k's own side; min(max(x, lo), hi).
struct ir *ir_lower(struct arena *a, const struct job *job, const struct rule *rule);
// An iteration with its repeats and tail written out.
struct ir_iteration ir_expand_iteration(struct arena *a, const struct iteration *src);

// Text, one instruction a line; `ir_parse(ir_print(x))` is `x` (spans aside). Parse errors are E06xx in f->diags.
struct str ir_print(struct arena *a, const struct ir *ir);
struct ir *ir_parse(struct front *f, uint32_t file);
// The label of each value in that text, without its `%` ("m", "m.1"); empty for stores.
struct str *ir_labels(struct arena *a, const struct ir *ir);
// The line of one instruction.
void ir_print_ins(struct buf *b, const struct ir *ir, const struct str *label,
                  uint32_t i);

// Invariants: SSA order, types, classes, operand kinds, one store of each state and exactly one of the parameter,
// stored values that fit their storage, operands of a bf16 iteration rounded to it.
// Returns the first violation as text, or an empty string.
struct str ir_verify(struct arena *a, const struct ir *ir);
struct ir_fault {
  struct str text; // empty: none
  struct span span;
};
struct ir_fault ir_check(struct arena *a, const struct ir *ir); // the same with its place

// Passes, in the order of `ir_optimize`; each puts a new array into the same struct and leaves verified IR.
void pass_fold(struct ir *ir); // constants and identities; never changes bits
void pass_cse(struct ir *ir);  // equal pure instructions become one
void pass_hoist(
    struct ir *ir); // host instructions, then uniform device values, move to the front
void pass_dce(struct ir *ir); // what no store needs goes

// Called after each pass with its name, time and whether anything changed; may be NULL.
struct pass_log {
  void (*after)(void *ctx, const char *pass, const struct ir *ir, bool changed,
                double seconds);
  void *ctx;
};
// The straight list of passes. Returns an empty string, or the verifier's words with the pass's name (an internal
// error: exit 70).
struct str ir_optimize(struct ir *ir, struct pass_log log);

#endif
