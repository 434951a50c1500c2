// The values of one turn of a kernel's loop: scalars before it, then every operation on all lanes at once, so that
// several independent vectors are in flight.
//
// Everything is loaded before anything is stored. A uniform `where` becomes a branch around what its arms alone
// need; what two branches need is computed in each (pure, and rare).
#include "emit/cpu_llvm.h"

static const struct ir_ins *ins_of(const struct emit *e, struct ir_ref r) {
  return ir_at(e->phases->ir, r);
}

// "m.6.v0": label in the IR text (its name, a number where there are several) and lane; one element: "m.6.s". The
// text form finds the spec name by the first dot.
static void name_value(struct emit *e, LLVMValueRef v, struct ir_ref r, uint32_t lane) {
  size_t n = 0;
  if (LLVMIsAInstruction(v) == NULL || (LLVMGetValueName2(v, &n), n != 0)) {
    return;
  }
  struct buf b = buf_new(e->arena);
  struct str label = e->label[r.i];
  for (size_t i = 0; i < label.n; i++) {
    unsigned char c = (unsigned char)label.p[i];
    bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                 (c >= 'A' && c <= 'Z') || c == '_' || c == '.';
    buf_printf(&b, plain ? "%c" : "x%02x", c);
  }
  if (e->lanes == 1) {
    buf_puts(&b, ".s");
  } else {
    buf_printf(&b, ".v%u", lane);
  }
  LLVMSetValueName2(v, b.p, b.n);
}

// ---- which values are needed whichever arms are taken

// A `where` whose condition is one value for the whole launch.
static bool is_branch(const struct ir *ir, const struct ir_ins *ins) {
  return ins->op == IR_WHERE && ir_at(ir, ins->arg[0])->op == IR_TO_BOOL;
}

static bool is_guarded_load(const struct phase *ph, struct ir_ref r) {
  for (uint32_t i = 0; i < ph->n_guards; i++) {
    if (ph->guard[i].load.i == r.i) {
      return true;
    }
  }
  return false;
}

// Stores and temps, what they need but for arms of branches, and loads that have no guard; the rest is computed in
// the arms that ask for it.
bool *emit_find_always(struct arena *a, const struct cpu_kernel *k) {
  const struct phases *p = k->phases;
  const struct phase *ph = &p->phase[k->phase];
  bool *always = ARENA_ARRAY(a, bool, p->ir->ins.n);
  for (uint32_t i = 0; i < ph->n_temp_out; i++) {
    always[p->temp[ph->temp_out[i]].value.i] = true;
  }
  for (uint32_t i = ph->n_ins; i-- > 0;) {
    struct ir_ref r = ph->ins[i];
    const struct ir_ins *ins = ir_at(p->ir, r);
    const struct ir_op_info *info = ir_op_info(ins->op);
    always[r.i] |=
        info->kind == IRK_STORE || (info->kind == IRK_LEAF && !is_guarded_load(ph, r));
    uint32_t n = is_branch(p->ir, ins) ? 1 : info->n_args;
    for (uint32_t k_arg = 0; always[r.i] && k_arg < n; k_arg++) {
      always[ins->arg[k_arg].i] = true;
    }
  }
  return always;
}

static uint32_t find_slot(const struct emit *e, struct ir_ref r) {
  return cpu_slot_of(e->kernel->slot, e->kernel->n_slots, e->phases, e->ph, r);
}

bool emit_always_reads(const struct emit *e, uint32_t slot) {
  const struct cpu_slot *s = &e->kernel->slot[slot];
  for (uint32_t i = 0; i < e->ph->n_ins; i++) {
    struct ir_ref r = e->ph->ins[i];
    if (ir_op_info(ins_of(e, r)->op)->kind == IRK_LEAF && find_slot(e, r) == slot &&
        !e->always[r.i]) {
      return false;
    }
  }
  return s->read;
}

// ---- values that are one for the whole launch

static bool is_scalar(const struct ir_ins *ins) {
  return ins->cls <= CLS_PARAM && (ins->type == IRT_F32 || ins->type == IRT_DBOOL);
}

static LLVMValueRef load_argument(struct emit *e, LLVMValueRef scalars, uint32_t k,
                                  struct ir_ref r) {
  LLVMTypeRef f32 = LLVMFloatTypeInContext(e->llvm);
  LLVMValueRef at = LLVMConstInt(LLVMInt64TypeInContext(e->llvm), k, 0);
  LLVMValueRef addr = LLVMBuildGEP2(e->b, f32, scalars, &at, 1, "");
  LLVMValueRef v = LLVMBuildLoad2(e->b, f32, addr, "");
  if (ins_of(e, r)->type == IRT_DBOOL) {
    v = LLVMBuildFCmp(e->b, LLVMRealUNE, v, LLVMConstReal(f32, 0), "");
  }
  return v;
}

static void emit_scalar_op(struct emit *e, struct ir_ref r) {
  const struct ir_ins *ins = ins_of(e, r);
  LLVMValueRef arg[3] = {0};
  for (uint32_t i = 0; i < ir_op_info(ins->op)->n_args; i++) {
    arg[i] = e->scalar[ins->arg[i].i];
  }
  uint32_t width = e->width;
  e->width = 1;
  e->scalar[r.i] = emit_op(e, ins, arg);
  e->width = width;
}

static void splat_scalar(struct emit *e, struct ir_ref r) {
  LLVMValueRef v = e->scalar[r.i];
  name_value(e, v, r, 0);
  LLVMValueRef all = emit_splat(e, v);
  for (uint32_t lane = 0; lane < e->lanes; lane++) {
    e->value[r.i].v[lane] = all;
  }
}

void emit_scalars(struct emit *e, LLVMValueRef scalars) {
  for (uint32_t i = 0; i < e->ph->n_scalars; i++) {
    struct ir_ref r = e->ph->scalar[i];
    e->scalar[r.i] = load_argument(e, scalars, i, r);
    splat_scalar(e, r);
  }
  for (uint32_t i = 0; i < e->ph->n_ins; i++) {
    struct ir_ref r = e->ph->ins[i];
    if (is_scalar(ins_of(e, r)) && e->scalar[r.i] == NULL) {
      emit_scalar_op(e, r);
      splat_scalar(e, r);
    }
  }
}

// ---- values per element

static void emit_value(struct emit *e, struct ir_ref r);

static void set_value(struct emit *e, struct ir_ref r, const struct lanes *value) {
  e->value[r.i] = *value;
  for (uint32_t lane = 0; lane < e->lanes; lane++) {
    name_value(e, value->v[lane], r, lane);
  }
  VEC_PUSH(e->arena, e->trail, r.i);
}

static bool emit_load_of(struct emit *e, struct ir_ref r) {
  uint32_t slot = find_slot(e, r);
  if (slot == UINT32_MAX || !e->kernel->slot[slot].read) {
    return false;
  }
  struct lanes value = {0};
  for (uint32_t lane = 0; lane < e->lanes; lane++) {
    value.v[lane] = emit_load(e, e->kernel->slot[slot].storage, e->addr[slot].v[lane]);
  }
  set_value(e, r, &value);
  return true;
}

static void forget_since(struct emit *e, uint32_t mark) {
  while (e->trail.n > mark) {
    e->value[e->trail.v[--e->trail.n]].v[0] = NULL;
  }
}

// One arm in its own block; returns its last block and forgets what was computed in it.
static LLVMBasicBlockRef emit_arm(struct emit *e, LLVMBasicBlockRef block,
                                  struct ir_ref value, LLVMBasicBlockRef join,
                                  struct lanes *out) {
  LLVMPositionBuilderAtEnd(e->b, block);
  uint32_t mark = e->trail.n;
  emit_value(e, value);
  *out = e->value[value.i];
  forget_since(e, mark);
  LLVMBasicBlockRef last = LLVMGetInsertBlock(e->b);
  LLVMBuildBr(e->b, join);
  return last;
}

static void emit_branch(struct emit *e, struct ir_ref r) {
  const struct ir_ins *ins = ins_of(e, r);
  LLVMBasicBlockRef then_block = LLVMAppendBasicBlockInContext(e->llvm, e->fn, "then");
  LLVMBasicBlockRef else_block = LLVMAppendBasicBlockInContext(e->llvm, e->fn, "else");
  LLVMBasicBlockRef join = LLVMAppendBasicBlockInContext(e->llvm, e->fn, "join");
  LLVMBuildCondBr(e->b, e->scalar[ins->arg[0].i], then_block, else_block);
  struct lanes a = {0}, b = {0}, value = {0};
  LLVMBasicBlockRef from[2];
  from[0] = emit_arm(e, then_block, ins->arg[1], join, &a);
  from[1] = emit_arm(e, else_block, ins->arg[2], join, &b);
  LLVMMoveBasicBlockAfter(join, from[1]);
  LLVMPositionBuilderAtEnd(e->b, join);
  for (uint32_t lane = 0; lane < e->lanes; lane++) {
    value.v[lane] = LLVMBuildPhi(e->b, LLVMTypeOf(a.v[lane]), "");
    LLVMAddIncoming(value.v[lane], (LLVMValueRef[]){a.v[lane], b.v[lane]}, from, 2);
  }
  set_value(e, r, &value);
}

static void emit_operation(struct emit *e, struct ir_ref r) {
  const struct ir_ins *ins = ins_of(e, r);
  uint32_t n = ir_op_info(ins->op)->n_args;
  for (uint32_t i = 0; i < n; i++) {
    emit_value(e, ins->arg[i]);
  }
  struct lanes value = {0};
  for (uint32_t lane = 0; lane < e->lanes; lane++) {
    LLVMValueRef arg[3] = {0};
    for (uint32_t i = 0; i < n; i++) {
      arg[i] = e->value[ins->arg[i].i].v[lane];
    }
    value.v[lane] = emit_op(e, ins, arg);
  }
  set_value(e, r, &value);
}

static void emit_value(struct emit *e, struct ir_ref r) {
  if (e->value[r.i].v[0] != NULL || emit_load_of(e, r)) {
    return;
  }
  const struct ir_ins *ins = ins_of(e, r);
  bool arms_ready = is_branch(e->phases->ir, ins) &&
                    e->value[ins->arg[1].i].v[0] != NULL &&
                    e->value[ins->arg[2].i].v[0] != NULL;
  if (is_branch(e->phases->ir, ins) && !arms_ready) {
    emit_branch(e, r);
  } else {
    emit_operation(e, r);
  }
}

// Past the caches; the loop has aligned the addresses to a block.
static void set_streaming(struct emit *e, LLVMValueRef store, uint32_t bytes) {
  LLVMSetAlignment(store, bytes);
  LLVMValueRef one = LLVMConstInt(LLVMInt32TypeInContext(e->llvm), 1, 0);
  LLVMMetadataRef node =
      LLVMMDNodeInContext2(e->llvm, (LLVMMetadataRef[]){LLVMValueAsMetadata(one)}, 1);
  LLVMSetMetadata(store, LLVMGetMDKindIDInContext(e->llvm, "nontemporal", 11),
                  LLVMMetadataAsValue(e->llvm, node));
}

// Two lanes of 16-bit storage make one full vector: x86 would turn a lane alone into a narrowing store, which has no
// non-temporal form.
static void stream_lanes(struct emit *e, uint32_t slot, const struct lanes *value) {
  enum storage storage = e->kernel->slot[slot].storage;
  uint32_t joined = 4 / storage_bytes(storage);
  for (uint32_t lane = 0; lane < e->lanes; lane += joined) {
    LLVMValueRef v = emit_narrow(e, storage, value->v[lane]);
    if (joined == 2) {
      v = emit_concat(e, v, emit_narrow(e, storage, value->v[lane + 1]));
    }
    LLVMValueRef store = LLVMBuildStore(e->b, v, e->addr[slot].v[lane]);
    set_streaming(e, store, e->width * 4);
  }
}

static void emit_stores(struct emit *e, uint32_t slot, struct ir_ref r) {
  const struct cpu_slot *s = &e->kernel->slot[slot];
  emit_value(e, r);
  const struct lanes *value = &e->value[r.i];
  if (s->streams && e->width > 1) {
    stream_lanes(e, slot, value);
    return;
  }
  for (uint32_t lane = 0; lane < e->lanes; lane++) {
    LLVMValueRef v = emit_narrow(e, s->storage, value->v[lane]);
    LLVMValueRef store = LLVMBuildStore(e->b, v, e->addr[slot].v[lane]);
    LLVMSetAlignment(store, storage_bytes(s->storage));
  }
}

void emit_body(struct emit *e) {
  const struct phase *ph = e->ph;
  for (uint32_t i = 0; i < ph->n_temp_in; i++) {
    emit_value(e, e->phases->temp[ph->temp_in[i]].value);
  }
  for (uint32_t i = 0; i < ph->n_ins; i++) {
    struct ir_ref r = ph->ins[i];
    if (e->always[r.i] && ins_of(e, r)->type != IRT_NONE) {
      emit_value(e, r);
    }
  }
  for (uint32_t i = 0; i < e->kernel->n_slots; i++) {
    const struct cpu_slot *s = &e->kernel->slot[i];
    if (s->kind == SLOT_TEMP && s->written) {
      emit_stores(e, i, e->phases->temp[s->index].value);
    }
  }
  for (uint32_t i = 0; i < ph->n_ins; i++) {
    const struct ir_ins *ins = ins_of(e, ph->ins[i]);
    if (ir_op_info(ins->op)->kind == IRK_STORE) {
      emit_stores(e, find_slot(e, ph->ins[i]), ins->arg[0]);
    }
  }
}
