// One IR operation as LLVM instructions, on a scalar or a vector: plain IEEE operations without fast-math flags,
// so that nothing is contracted, reordered or approximated (DESIGN section 4).
#include "emit/cpu_llvm.h"

#include <string.h>

LLVMTypeRef emit_type(const struct emit *e, LLVMTypeRef element) {
  return e->width == 1 ? element : LLVMVectorType(element, e->width);
}

static LLVMTypeRef type_f32(const struct emit *e) {
  return emit_type(e, LLVMFloatTypeInContext(e->llvm));
}

static LLVMTypeRef type_i32(const struct emit *e) {
  return emit_type(e, LLVMInt32TypeInContext(e->llvm));
}

LLVMTypeRef emit_storage_type(const struct emit *e, enum storage s) {
  return s == ST_F32 ? LLVMFloatTypeInContext(e->llvm) : LLVMInt16TypeInContext(e->llvm);
}

LLVMValueRef emit_intrinsic(const struct emit *e, const char *intrinsic,
                            LLVMTypeRef overload, LLVMValueRef *arg, unsigned n) {
  unsigned id = LLVMLookupIntrinsicID(intrinsic, strlen(intrinsic));
  size_t n_types = overload != NULL;
  LLVMValueRef fn = LLVMGetIntrinsicDeclaration(e->module, id, &overload, n_types);
  LLVMTypeRef type = LLVMIntrinsicGetType(e->llvm, id, &overload, n_types);
  return LLVMBuildCall2(e->b, type, fn, arg, n, "");
}

static LLVMValueRef constant(const struct emit *e, LLVMTypeRef type, LLVMValueRef one) {
  if (e->width == 1 || LLVMGetTypeKind(type) != LLVMVectorTypeKind) {
    return one;
  }
  LLVMValueRef all[64 / sizeof(float)];
  for (uint32_t i = 0; i < e->width; i++) {
    all[i] = one;
  }
  return LLVMConstVector(all, e->width);
}

static LLVMValueRef const_f32(const struct emit *e, double x) {
  return constant(e, type_f32(e), LLVMConstReal(LLVMFloatTypeInContext(e->llvm), x));
}

static LLVMValueRef const_i32(const struct emit *e, uint32_t x) {
  return constant(e, type_i32(e), LLVMConstInt(LLVMInt32TypeInContext(e->llvm), x, 0));
}

LLVMValueRef emit_splat(struct emit *e, LLVMValueRef scalar) {
  if (e->width == 1) {
    return scalar;
  }
  if (LLVMIsConstant(scalar)) {
    return constant(e, emit_type(e, LLVMTypeOf(scalar)), scalar);
  }
  LLVMTypeRef i32 = LLVMInt32TypeInContext(e->llvm);
  LLVMTypeRef type = LLVMVectorType(LLVMTypeOf(scalar), e->width);
  LLVMValueRef none = LLVMGetPoison(type);
  LLVMValueRef one =
      LLVMBuildInsertElement(e->b, none, scalar, LLVMConstInt(i32, 0, 0), "");
  LLVMValueRef zeros = LLVMConstNull(LLVMVectorType(i32, e->width));
  return LLVMBuildShuffleVector(e->b, one, none, zeros, "");
}

// ---- 16 bits as integer code: the CPU's own instructions flush denormals (runtime/core/convert.h)

// The upper halves as i32, rounded to nearest even; every NaN becomes 0x7fc0.
static LLVMValueRef bf16_round(struct emit *e, LLVMValueRef value) {
  LLVMValueRef sixteen = const_i32(e, 16);
  LLVMValueRef bits = LLVMBuildBitCast(e->b, value, type_i32(e), "");
  LLVMValueRef lsb =
      LLVMBuildAnd(e->b, LLVMBuildLShr(e->b, bits, sixteen, ""), const_i32(e, 1), "");
  LLVMValueRef half = LLVMBuildAdd(e->b, lsb, const_i32(e, 0x7fff), "");
  LLVMValueRef sum = LLVMBuildAdd(e->b, bits, half, "");
  LLVMValueRef upper = LLVMBuildLShr(e->b, sum, sixteen, "");
  LLVMValueRef is_nan = LLVMBuildFCmp(e->b, LLVMRealUNO, value, value, "");
  return LLVMBuildSelect(e->b, is_nan, const_i32(e, 0x7fc0), upper, "");
}

static LLVMValueRef bf16_widen(struct emit *e, LLVMValueRef upper) {
  LLVMValueRef bits = LLVMBuildShl(e->b, upper, const_i32(e, 16), "");
  return LLVMBuildBitCast(e->b, bits, type_f32(e), "");
}

// As rt_f16_to_f32: with the exponent in its place what is missing is a factor of 2^112.
static LLVMValueRef f16_widen(struct emit *e, LLVMValueRef bits) {
  LLVMBuilderRef b = e->b;
  LLVMTypeRef i32 = type_i32(e);
  LLVMValueRef low = LLVMBuildAnd(b, bits, const_i32(e, 0x7fff), "");
  LLVMValueRef placed = LLVMBuildShl(b, low, const_i32(e, 13), "");
  LLVMValueRef small = LLVMBuildBitCast(b, placed, type_f32(e), "");
  LLVMValueRef value = LLVMBuildFMul(b, small, const_f32(e, 0x1p112), "");
  LLVMValueRef field = LLVMBuildAnd(b, bits, const_i32(e, 0x7c00), "");
  LLVMValueRef special = LLVMBuildICmp(b, LLVMIntEQ, field, const_i32(e, 0x7c00), "");
  LLVMValueRef inf =
      LLVMBuildSelect(b, special, const_i32(e, 0x7f800000), const_i32(e, 0), "");
  LLVMValueRef sign = LLVMBuildAnd(b, bits, const_i32(e, 0x8000), "");
  sign = LLVMBuildShl(b, sign, const_i32(e, 16), "");
  LLVMValueRef all = LLVMBuildOr(b, LLVMBuildBitCast(b, value, i32, ""), inf, "");
  return LLVMBuildBitCast(b, LLVMBuildOr(b, all, sign, ""), type_f32(e), "");
}

LLVMValueRef emit_load(struct emit *e, enum storage s, LLVMValueRef addr) {
  LLVMTypeRef type = emit_type(e, emit_storage_type(e, s));
  LLVMValueRef raw = LLVMBuildLoad2(e->b, type, addr, "");
  LLVMSetAlignment(raw, storage_bytes(s));
  if (s == ST_F32) {
    return raw;
  }
  LLVMValueRef bits = LLVMBuildZExt(e->b, raw, type_i32(e), "");
  return s == ST_F16 ? f16_widen(e, bits) : bf16_widen(e, bits);
}

LLVMValueRef emit_narrow(struct emit *e, enum storage s, LLVMValueRef value) {
  if (s == ST_F32) {
    return value;
  }
  LLVMValueRef bits = LLVMBuildBitCast(e->b, value, type_i32(e), "");
  LLVMValueRef upper = LLVMBuildLShr(e->b, bits, const_i32(e, 16), "");
  return LLVMBuildTrunc(e->b, upper, emit_type(e, emit_storage_type(e, s)), "");
}

LLVMValueRef emit_concat(struct emit *e, LLVMValueRef a, LLVMValueRef b) {
  LLVMValueRef index[2 * 64 / sizeof(float)];
  for (uint32_t i = 0; i < 2 * e->width; i++) {
    index[i] = LLVMConstInt(LLVMInt32TypeInContext(e->llvm), i, 0);
  }
  return LLVMBuildShuffleVector(e->b, a, b, LLVMConstVector(index, 2 * e->width), "");
}

// ---- operations

static LLVMValueRef emit_sqrt(struct emit *e, LLVMValueRef x) {
  return emit_intrinsic(e, "llvm.sqrt", LLVMTypeOf(x), &x, 1);
}

// 0 for both zeros; NaN passes.
static LLVMValueRef emit_sign(struct emit *e, LLVMValueRef x) {
  LLVMValueRef zero = const_f32(e, 0);
  LLVMValueRef above = LLVMBuildFCmp(e->b, LLVMRealOGT, x, zero, "");
  LLVMValueRef below = LLVMBuildFCmp(e->b, LLVMRealOLT, x, zero, "");
  LLVMValueRef is_nan = LLVMBuildFCmp(e->b, LLVMRealUNO, x, x, "");
  LLVMValueRef rest = LLVMBuildSelect(e->b, is_nan, x, zero, "");
  rest = LLVMBuildSelect(e->b, below, const_f32(e, -1), rest, "");
  return LLVMBuildSelect(e->b, above, const_f32(e, 1), rest, "");
}

static LLVMValueRef emit_round(struct emit *e, const struct ir_ins *ins, LLVMValueRef x) {
  return ins->storage == ST_F32 ? x : bf16_widen(e, bf16_round(e, x));
}

// Comparisons are ordered (false with a NaN) except `!=`.
static LLVMRealPredicate predicate(enum ir_op op) {
  return op == IR_EQ   ? LLVMRealOEQ
         : op == IR_NE ? LLVMRealUNE
         : op == IR_LT ? LLVMRealOLT
         : op == IR_LE ? LLVMRealOLE
         : op == IR_GT ? LLVMRealOGT
                       : LLVMRealOGE;
}

static LLVMValueRef emit_const(struct emit *e, const struct ir_ins *ins) {
  if (ins->type == IRT_DBOOL) {
    LLVMTypeRef i1 = LLVMInt1TypeInContext(e->llvm);
    return constant(e, emit_type(e, i1), LLVMConstInt(i1, ins->num != 0, 0));
  }
  return const_f32(e, ins->num);
}

static LLVMValueRef call(struct emit *e, const char *intrinsic, const LLVMValueRef arg[3],
                         unsigned n) {
  LLVMValueRef copy[3] = {arg[0], arg[1], arg[2]};
  return emit_intrinsic(e, intrinsic, type_f32(e), copy, n);
}

LLVMValueRef emit_op(struct emit *e, const struct ir_ins *ins,
                     const LLVMValueRef arg[3]) {
  LLVMBuilderRef b = e->b;
  switch (ins->op) {
  case IR_CONST: return emit_const(e, ins);
  case IR_ROUND: return emit_round(e, ins, arg[0]);
  case IR_ADD: return LLVMBuildFAdd(b, arg[0], arg[1], "");
  case IR_SUB: return LLVMBuildFSub(b, arg[0], arg[1], "");
  case IR_MUL: return LLVMBuildFMul(b, arg[0], arg[1], "");
  case IR_DIV: return LLVMBuildFDiv(b, arg[0], arg[1], "");
  case IR_NEG: return LLVMBuildFNeg(b, arg[0], "");
  case IR_ABS: return call(e, "llvm.fabs", arg, 1);
  case IR_SQRT: return emit_sqrt(e, arg[0]);
  case IR_RSQRT: return LLVMBuildFDiv(b, const_f32(e, 1), emit_sqrt(e, arg[0]), "");
  case IR_SIGN: return emit_sign(e, arg[0]);
  case IR_MIN: return call(e, "llvm.minimum", arg, 2);
  case IR_MAX: return call(e, "llvm.maximum", arg, 2);
  case IR_FMA: return call(e, "llvm.fma", arg, 3);
  case IR_WHERE: return LLVMBuildSelect(b, arg[0], arg[1], arg[2], "");
  case IR_EQ:
  case IR_NE:
  case IR_LT:
  case IR_LE:
  case IR_GT:
  case IR_GE: return LLVMBuildFCmp(b, predicate(ins->op), arg[0], arg[1], "");
  case IR_AND: return LLVMBuildAnd(b, arg[0], arg[1], "");
  case IR_OR: return LLVMBuildOr(b, arg[0], arg[1], "");
  case IR_NOT: return LLVMBuildNot(b, arg[0], "");
  case IR_HYPER:
  case IR_STEP:
  case IR_HOST_STATE:
  case IR_HOST_INPUT:
  case IR_PARAM:
  case IR_GRAD:
  case IR_STATE:
  case IR_INPUT:
  case IR_CLIP:
  case IR_TO_F32:
  case IR_TO_BOOL:
  case IR_POW:
  case IR_EXP:
  case IR_LOG:
  case IR_COS:
  case IR_FLOOR:
  case IR_SUM:
  case IR_MEAN:
  case IR_MAXOF:
  case IR_NORM:
  case IR_RMS:
  case IR_DOT:
  case IR_ORTHO:
  case IR_SET_STATE:
  case IR_SET_HOST:
  case IR_SET_PARAM:
  case N_IR_OPS: break;
  }
  if (e->ice->n == 0) {
    *e->ice = str_fmt(e->arena, "no CPU code for `%s` in a map phase",
                      ir_op_info(ins->op)->text);
  }
  return LLVMGetPoison(type_f32(e));
}
