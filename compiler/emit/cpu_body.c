// The values of one turn of a kernel's loop: scalars before it, then every operation on all lanes at once, so that
// several independent vectors are in flight.
//
// Everything is loaded before anything is stored. Operations are in a straight line; a `where` is a select, also on a
// uniform condition. What only one arm of such a `where` reads is loaded, and prefetched, behind a branch: the tensor
// may be absent when the other arm is taken (DESIGN section 3).
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

static uint32_t find_slot(const struct emit *e, struct ir_ref r) {
  return kernel_slot_of(e->kernel->slot, e->kernel->n_slots, e->phases, e->ph, r);
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

// The conditions of a guarded load, joined; NULL: it is always needed.
static LLVMValueRef guard_of(const struct emit *e, struct ir_ref load) {
  LLVMValueRef all = NULL;
  for (uint32_t i = 0; i < e->ph->n_guards; i++) {
    const struct phase_guard *g = &e->ph->guard[i];
    if (g->load.i == load.i) {
      LLVMValueRef cond = e->scalar[g->cond.i];
      cond = g->taken ? cond : LLVMBuildNot(e->b, cond, "");
      all = all == NULL ? cond : LLVMBuildAnd(e->b, all, cond, "");
    }
  }
  return all;
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
    if (ir_op_info(ins_of(e, r)->op)->kind == IRK_LEAF) {
      e->guard[r.i] = guard_of(e, r);
    }
  }
}

// ---- values per element

static void set_value(struct emit *e, struct ir_ref r, const struct lanes *value) {
  e->value[r.i] = *value;
  for (uint32_t lane = 0; lane < e->lanes; lane++) {
    name_value(e, value->v[lane], r, lane);
  }
}

enum { CACHE_LINE = 64 };

// Every cache line of the block `ahead` elements further on. Past the end of a tensor this is an address like any
// other: prefetches do not fault.
static void emit_prefetch(struct emit *e, uint32_t slot) {
  LLVMTypeRef i8 = LLVMInt8TypeInContext(e->llvm), i32 = LLVMInt32TypeInContext(e->llvm);
  LLVMTypeRef i64 = LLVMInt64TypeInContext(e->llvm);
  uint32_t bytes = storage_bytes(e->kernel->slot[slot].storage);
  for (uint32_t line = 0; line < CPU_BLOCK * bytes; line += CACHE_LINE) {
    LLVMValueRef at = LLVMConstInt(i64, (uint64_t)e->ahead * bytes + line, 0);
    LLVMValueRef arg[4] = {LLVMBuildGEP2(e->b, i8, e->addr[slot].v[0], &at, 1, ""),
                           LLVMConstInt(i32, 0, 0), LLVMConstInt(i32, 3, 0),
                           LLVMConstInt(i32, 1, 0)}; // read, keep, data
    emit_intrinsic(e, "llvm.prefetch", LLVMPointerTypeInContext(e->llvm, 0), arg, 4);
  }
}

static struct lanes emit_lanes(struct emit *e, uint32_t slot) {
  struct lanes value = {0};
  if (e->ahead > 0) {
    emit_prefetch(e, slot);
  }
  for (uint32_t lane = 0; lane < e->lanes; lane++) {
    value.v[lane] = emit_load(e, e->kernel->slot[slot].storage, e->addr[slot].v[lane]);
  }
  return value;
}

// if (guard) load; else 0, which no `where` picks.
static struct lanes emit_guarded_lanes(struct emit *e, uint32_t slot,
                                       LLVMValueRef guard) {
  LLVMBasicBlockRef from[2] = {LLVMGetInsertBlock(e->b)};
  LLVMBasicBlockRef join = LLVMAppendBasicBlockInContext(e->llvm, e->fn, "join");
  LLVMBasicBlockRef needed = LLVMInsertBasicBlockInContext(e->llvm, join, "needed");
  LLVMBuildCondBr(e->b, guard, needed, join);
  LLVMPositionBuilderAtEnd(e->b, needed);
  struct lanes value = emit_lanes(e, slot);
  from[1] = LLVMGetInsertBlock(e->b);
  LLVMBuildBr(e->b, join);
  LLVMPositionBuilderAtEnd(e->b, join);
  for (uint32_t lane = 0; lane < e->lanes; lane++) {
    LLVMTypeRef type = LLVMTypeOf(value.v[lane]);
    LLVMValueRef incoming[2] = {LLVMConstNull(type), value.v[lane]};
    value.v[lane] = LLVMBuildPhi(e->b, type, "");
    LLVMAddIncoming(value.v[lane], incoming, from, 2);
  }
  return value;
}

static void emit_load_of(struct emit *e, struct ir_ref r) {
  uint32_t slot = find_slot(e, r);
  LLVMValueRef guard = e->guard[r.i];
  struct lanes value =
      guard != NULL ? emit_guarded_lanes(e, slot, guard) : emit_lanes(e, slot);
  set_value(e, r, &value);
}

static void emit_operation(struct emit *e, struct ir_ref r) {
  const struct ir_ins *ins = ins_of(e, r);
  struct lanes value = {0};
  for (uint32_t lane = 0; lane < e->lanes; lane++) {
    LLVMValueRef arg[3] = {0};
    for (uint32_t i = 0; i < ir_op_info(ins->op)->n_args; i++) {
      arg[i] = e->value[ins->arg[i].i].v[lane];
    }
    value.v[lane] = emit_op(e, ins, arg);
  }
  set_value(e, r, &value);
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
  const struct kernel_slot *s = &e->kernel->slot[slot];
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

static bool is_load(enum ir_op op) {
  return op == IR_PARAM || op == IR_GRAD || op == IR_STATE;
}

static void emit_values(struct emit *e) {
  const struct phase *ph = e->ph;
  for (uint32_t i = 0; i < ph->n_temp_in; i++) {
    emit_load_of(e, e->phases->temp[ph->temp_in[i]].value);
  }
  for (uint32_t i = 0; i < ph->n_ins; i++) {
    struct ir_ref r = ph->ins[i];
    const struct ir_ins *ins = ins_of(e, r);
    if (is_load(ins->op)) {
      emit_load_of(e, r);
    } else if (ins->type != IRT_NONE && !is_scalar(ins)) {
      emit_operation(e, r);
    }
  }
}

void emit_body(struct emit *e) {
  const struct phase *ph = e->ph;
  emit_values(e);
  for (uint32_t i = 0; i < e->kernel->n_slots; i++) {
    const struct kernel_slot *s = &e->kernel->slot[i];
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
