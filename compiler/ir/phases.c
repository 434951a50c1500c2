// Cutting a rule into phases.
//
// Requires verified IR. Every value has a level: how many whole-row, -column, -matrix, -tensor or group operations
// lie on its longest path from a load. Map phases are (level, class) pairs, small classes first; the iterations whose
// operands have that level follow. Stores and reductions run at the level of their operands. Phases are filled from
// the last to the first: each collects what its roots need, and asks earlier ones for temps.
#include "ir/phases_int.h"

// ---- the frame: one candidate phase for each level and class, and for each iteration

static enum cls reduced_class(const struct ir *ir, const struct ir_ins *ins) {
  enum cls c = ir_at(ir, ins->arg[0])->cls;
  return ins->op == IR_DOT ? cls_join(c, ir_at(ir, ins->arg[1])->cls) : c;
}

static uint32_t args_level(const struct cut *cut, const struct ir_ins *ins) {
  uint32_t level = 0;
  for (uint32_t k = 0; k < ir_op_info(ins->op)->n_args; k++) {
    uint32_t l = cut->level[ins->arg[k].i];
    level = l > level ? l : level;
  }
  return level;
}

static void find_levels(struct cut *cut) {
  for (uint32_t i = 0; i < cut->ir->ins.n; i++) {
    const struct ir_ins *ins = &cut->ir->ins.v[i];
    enum ir_kind kind = ir_op_info(ins->op)->kind;
    bool barrier = kind == IRK_REDUCE || kind == IRK_MATRIX;
    cut->level[i] = args_level(cut, ins) + (barrier ? 1 : 0);
    cut->n_levels = cut->level[i] + 1 > cut->n_levels ? cut->level[i] + 1 : cut->n_levels;
  }
}

enum { N_CLASSES = CLS_ELEM + 1 };

static void make_frame(struct cut *cut) {
  cut->map_at = ARENA_ARRAY(cut->arena, uint32_t, (size_t)N_CLASSES * cut->n_levels);
  VEC(struct cand) cand = {0};
  for (uint32_t l = 0; l < cut->n_levels; l++) {
    for (uint32_t c = 0; c < N_CLASSES; c++) {
      cut->map_at[l * N_CLASSES + c] = cand.n;
      VEC_PUSH(cut->arena, cand,
               ((struct cand){.kind = PHASE_MAP, .domain = (enum cls)c, .level = l}));
    }
    for (uint32_t i = 0; i < cut->ir->ins.n; i++) {
      const struct ir_ins *ins = &cut->ir->ins.v[i];
      if (ins->op == IR_ORTHO && cut->level[i] == l + 1) {
        cut->runs_in[i] = cand.n;
        VEC_PUSH(cut->arena, cand,
                 ((struct cand){.kind = PHASE_MATRIX, .level = l, .matrix = i}));
      }
    }
  }
  cut->cand = cand.v;
  cut->n_cands = cand.n;
}

static void add_root(struct cut *cut, uint32_t c, uint32_t i) {
  VEC_PUSH(cut->arena, cut->cand[c].root, i);
}

// Where each store and reduction runs, and where each value is computed when another phase asks for it.
static void place_roots(struct cut *cut) {
  for (uint32_t i = 0; i < cut->ir->ins.n; i++) {
    const struct ir_ins *ins = &cut->ir->ins.v[i];
    enum ir_kind kind = ir_op_info(ins->op)->kind;
    bool store = kind == IRK_STORE, reduce = kind == IRK_REDUCE;
    cut->stored_in[i] = NOWHERE;
    if (ins->op == IR_ORTHO) {
      continue;
    }
    enum cls cls = reduce ? reduced_class(cut->ir, ins) : ins->cls;
    uint32_t level = store || reduce ? args_level(cut, ins) : cut->level[i];
    cut->runs_in[i] = cut->map_at[level * N_CLASSES + (uint32_t)cls];
    if (ins->op == IR_SET_HOST) {
      continue;
    }
    if (store || reduce) {
      add_root(cut, cut->runs_in[i], i);
    }
    if (store) {
      const struct ir_ins *value = ir_at(cut->ir, ins->arg[0]);
      if (value->cls == ins->cls && cut->stored_in[ins->arg[0].i] == NOWHERE) {
        cut->stored_in[ins->arg[0].i] = cut->runs_in[i];
        cut->home[ins->arg[0].i] = (struct ir_ref){i};
      }
      if (ins->op == IR_SET_STATE) {
        cut->state_written[ins->index] = cut->runs_in[i];
      } else {
        cut->param_written = cut->runs_in[i];
      }
    }
  }
}

// ---- temps

static bool is_result(const struct ir_ins *ins) {
  enum ir_kind kind = ir_op_info(ins->op)->kind;
  return kind == IRK_REDUCE || kind == IRK_MATRIX;
}

// Does a tensor hold value `i` when phase `c` runs? An iteration reads f32, bf16 and its compute type.
static bool at_home(const struct cut *cut, uint32_t c, uint32_t i) {
  if (cut->stored_in[i] == NOWHERE || cut->stored_in[i] >= c) {
    return false;
  }
  const struct cand *cand = &cut->cand[c];
  enum storage rests = ir_at(cut->ir, cut->home[i])->storage;
  return cand->kind == PHASE_MAP || rests == ST_F32 || rests == ST_BF16 ||
         rests == cut->ir->ins.v[cand->matrix].storage;
}

static void use_temp(struct cut *cut, uint32_t c, uint32_t i) {
  bool home = at_home(cut, c, i);
  cut->cand[c].role[i] |= home ? ROLE_HOME : ROLE_TEMP;
  if (!home && !cut->asked[i]) {
    cut->asked[i] = true;
    if (!is_result(&cut->ir->ins.v[i])) {
      add_root(cut, cut->runs_in[i], i);
    }
  }
}

// ---- one map phase

static bool is_load(const struct ir_ins *ins) {
  return ins->op == IR_PARAM || ins->op == IR_GRAD || ins->op == IR_STATE ||
         ins->op == IR_INPUT;
}

static bool is_scalar(const struct ir_ins *ins) {
  return ins->op == IR_TO_F32 || ins->op == IR_TO_BOOL || ins->op == IR_CLIP;
}

static bool overwritten(const struct cut *cut, uint32_t c, const struct ir_ins *ins) {
  return (ins->op == IR_STATE && cut->state_written[ins->index] < c) ||
         (ins->op == IR_PARAM && cut->param_written < c);
}

enum storage temp_storage(const struct ir *ir, struct ir_ref value) {
  static const enum storage narrow[] = {ST_BF16, ST_F16, ST_F8E4M3, ST_F8E5M2};
  const struct ir_ins *ins = ir_at(ir, value);
  for (uint32_t k = 0; k < sizeof narrow / sizeof narrow[0]; k++) {
    if (ins->op != IR_CONST && ir_fits_storage(ir, value, narrow[k])) {
      return narrow[k];
    }
  }
  return ST_F32;
}

static uint32_t rest_bytes(const struct cut *cut, uint32_t i) {
  return storage_bytes(temp_storage(cut->ir, (struct ir_ref){i}));
}

enum sweep_mode {
  SWEEP_ROOTS, // takes what the phase computes itself; earlier values of its class go to the frontier
  SWEEP_COST, // counts bytes per element that computing a frontier value here would read
  SWEEP_TAKE, // does it
};

enum { CANNOT = 1 << 20 };

// How phase `c` comes by value `i`, which it does not have yet. Returns the bytes it reads for that; `*descend`: its
// operands are needed too. `chosen` is the frontier value in question: computed even when it rests somewhere.
static uint32_t take(struct cut *cut, uint32_t c, uint32_t i, uint32_t chosen,
                     enum sweep_mode mode, bool *descend) {
  struct cand *cand = &cut->cand[c];
  const struct ir_ins *ins = &cut->ir->ins.v[i];
  bool own_class = ins->cls == cand->domain, vector = ins->cls >= CLS_ROW && !own_class;
  bool pure = ir_op_info(ins->op)->kind == IRK_VALUE || ins->op == IR_ROUND;
  bool may_rest = pure && !ir_is_bool(ins->type); // as a temp or at home
  bool earlier = own_class && may_rest && cut->level[i] < cand->level;
  uint8_t none = 0, *role = mode == SWEEP_COST ? &none : &cand->role[i];
  if (mode == SWEEP_ROOTS && earlier) {
    VEC_PUSH(cut->arena, cut->frontier, i);
    return 0;
  }
  bool direct = is_load(ins) && !overwritten(cut, c, ins);
  bool resting = may_rest && (vector || (i != chosen && at_home(cut, c, i)));
  if (resting || is_result(ins) || (is_load(ins) && !direct)) {
    if (mode != SWEEP_COST) {
      use_temp(cut, c, i);
    }
    return is_load(ins) ? CANNOT : own_class ? rest_bytes(cut, i) : 0;
  }
  *role |= is_scalar(ins) ? ROLE_SCALAR : ROLE_INS;
  *descend = !is_scalar(ins);
  return direct && own_class ? storage_bytes(ins->storage) : 0;
}

// Walks from value `from` (SWEEP_ROOTS: from every root) down to the loads.
static uint64_t sweep(struct cut *cut, uint32_t c, uint32_t from, enum sweep_mode mode) {
  struct cand *cand = &cut->cand[c];
  uint64_t bytes = 0;
  cut->need[from] = true;
  for (uint32_t i = from + 1; i-- > 0;) {
    bool descend = false, is_root = cand->role[i] == ROLE_ROOT;
    if (!cut->need[i]) {
      continue;
    }
    cut->need[i] = false;
    if (is_root) {
      cand->role[i] |= ROLE_INS;
      descend = true;
    } else if (cand->role[i] == 0) {
      uint32_t chosen = mode == SWEEP_ROOTS ? NOWHERE : from;
      bytes += take(cut, c, i, chosen, mode, &descend);
    }
    const struct ir_ins *ins = &cut->ir->ins.v[i];
    for (uint32_t k = 0; descend && k < ir_op_info(ins->op)->n_args; k++) {
      cut->need[ins->arg[k].i] = true;
    }
  }
  return bytes;
}

// Bytes per element that having frontier value `i` as a temp costs: written and read, or only read where it rests.
static uint32_t temp_cost(const struct cut *cut, uint32_t c, uint32_t i) {
  return at_home(cut, c, i) ? storage_bytes(ir_at(cut->ir, cut->home[i])->storage)
                            : 2 * rest_bytes(cut, i);
}

// Cheapest first, because what one value loads is free for the next.
static void settle_frontier(struct cut *cut, uint32_t c) {
  while (cut->frontier.n > 0) {
    uint32_t best = 0;
    uint64_t least = UINT64_MAX;
    for (uint32_t k = 0; k < cut->frontier.n; k++) {
      uint64_t cost = sweep(cut, c, cut->frontier.v[k], SWEEP_COST);
      if (cost < least) {
        least = cost;
        best = k;
      }
    }
    uint32_t i = cut->frontier.v[best];
    cut->frontier.v[best] = cut->frontier.v[--cut->frontier.n];
    if (cut->cand[c].role[i] != 0) {
      continue;
    }
    if (least <= temp_cost(cut, c, i)) {
      (void)sweep(cut, c, i, SWEEP_TAKE);
    } else {
      use_temp(cut, c, i);
    }
  }
}

static void fill_map(struct cut *cut, uint32_t c) {
  struct cand *cand = &cut->cand[c];
  uint32_t last = 0;
  for (uint32_t k = 0; k < cand->root.n; k++) {
    uint32_t i = cand->root.v[k];
    cand->role[i] |= ROLE_ROOT;
    cut->need[i] = true;
    last = i > last ? i : last;
  }
  (void)sweep(cut, c, last, SWEEP_ROOTS);
  settle_frontier(cut, c);
}

static void fill(struct cut *cut) {
  for (uint32_t c = cut->n_cands; c-- > 0;) {
    struct cand *cand = &cut->cand[c];
    if (cand->kind == PHASE_MAP && cand->root.n == 0) {
      continue;
    }
    cand->role = ARENA_ARRAY(cut->arena, uint8_t, cut->ir->ins.n);
    if (cand->kind == PHASE_MAP) {
      fill_map(cut, c);
    } else {
      cand->role[cand->matrix] = ROLE_INS;
      use_temp(cut, c, cut->ir->ins.v[cand->matrix].arg[0].i);
    }
  }
}

struct phases *phases_cut(struct arena *a, const struct ir *ir) {
  size_t n = ir->ins.n;
  struct cut cut = {.arena = a, .ir = ir, .param_written = NOWHERE};
  cut.level = ARENA_ARRAY(a, uint32_t, n);
  cut.runs_in = ARENA_ARRAY(a, uint32_t, n);
  cut.stored_in = ARENA_ARRAY(a, uint32_t, n);
  cut.home = ARENA_ARRAY(a, struct ir_ref, n);
  cut.asked = ARENA_ARRAY(a, bool, n);
  cut.need = ARENA_ARRAY(a, bool, n);
  cut.state_written = ARENA_ARRAY(a, uint32_t, ir->n_states);
  for (uint32_t i = 0; i < ir->n_states; i++) {
    cut.state_written[i] = NOWHERE;
  }
  find_levels(&cut);
  make_frame(&cut);
  place_roots(&cut);
  fill(&cut);
  return phases_build(&cut);
}
