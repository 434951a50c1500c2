// A kernel as two functions.
//
//   define void @k(ptr, scalar, begin, end)        whole blocks of CPU_BLOCK elements, as vectors
//   define internal void @k.ends(...)              one element at a time: what is left of a block
//
// Both run the same operations, so that any cut of the range gives the same bits (L1). Where an output goes past the
// caches, the loop starts at a multiple of the block: temps are 64-byte aligned, so a block is whole cache lines.
// On any other base the ends' function runs everything.
#include "emit/cpu_llvm.h"

enum { CACHE_LINE = 64 };
static const LLVMAttributeIndex FUNCTION_INDEX =
    (LLVMAttributeIndex)LLVMAttributeFunctionIndex;

enum { ARG_PTR, ARG_SCALAR, ARG_BEGIN, ARG_END, N_ARGS };

static LLVMTypeRef function_type(LLVMContextRef c) {
  LLVMTypeRef ptr = LLVMPointerTypeInContext(c, 0), i64 = LLVMInt64TypeInContext(c);
  LLVMTypeRef arg[N_ARGS] = {ptr, ptr, i64, i64};
  return LLVMFunctionType(LLVMVoidTypeInContext(c), arg, N_ARGS, 0);
}

static LLVMValueRef const_i64(const struct emit *e, uint64_t x) {
  return LLVMConstInt(LLVMInt64TypeInContext(e->llvm), x, 0);
}

static void add_attribute(const struct emit *e, const char *name, size_t n,
                          LLVMAttributeIndex at) {
  unsigned kind = LLVMGetEnumAttributeKindForName(name, n);
  LLVMAddAttributeAtIndex(e->fn, at, LLVMCreateEnumAttribute(e->llvm, kind, 0));
}

static LLVMBasicBlockRef add_block(const struct emit *e, const char *name) {
  return LLVMAppendBasicBlockInContext(e->llvm, e->fn, name);
}

static void begin_function(struct emit *e) {
  static const char *const arg_name[N_ARGS] = {"ptrs", "scalars", "begin", "end"};
  add_attribute(e, "nounwind", 8, FUNCTION_INDEX);
  for (unsigned i = 0; i < N_ARGS; i++) {
    LLVMValueRef arg = LLVMGetParam(e->fn, i);
    LLVMSetValueName2(arg, arg_name[i], str_of(arg_name[i]).n);
    if (i <= ARG_SCALAR) {
      add_attribute(e, "noalias", 7, i + 1);
      add_attribute(e, "readonly", 8, i + 1);
    }
  }
  LLVMPositionBuilderAtEnd(e->b, add_block(e, "entry"));
}

static void load_bases(struct emit *e) {
  LLVMTypeRef ptr = LLVMPointerTypeInContext(e->llvm, 0);
  for (uint32_t i = 0; i < e->kernel->n_slots; i++) {
    LLVMValueRef at = const_i64(e, i);
    LLVMValueRef addr =
        LLVMBuildGEP2(e->b, ptr, LLVMGetParam(e->fn, ARG_PTR), &at, 1, "");
    struct str name =
        str_fmt(e->arena, "%.*s_base",
                STR_FMT(kernel_safe_name(e->arena, e->kernel->slot[i].name)));
    e->base[i] = LLVMBuildLoad2(e->b, ptr, addr, str_cstr(e->arena, name));
  }
}

// Addresses of element `i` and of the first of each further lane.
static void compute_addresses(struct emit *e, LLVMValueRef i) {
  for (uint32_t s = 0; s < e->kernel->n_slots; s++) {
    LLVMTypeRef element = emit_storage_type(e, e->kernel->slot[s].storage);
    e->addr[s].v[0] = LLVMBuildGEP2(e->b, element, e->base[s], &i, 1, "");
    for (uint32_t lane = 1; lane < e->lanes; lane++) {
      LLVMValueRef at = const_i64(e, (uint64_t)lane * e->width);
      e->addr[s].v[lane] = LLVMBuildGEP2(e->b, element, e->addr[s].v[0], &at, 1, "");
    }
  }
}

// for (i = first; i != stop; i += step) body; ends in a fresh block.
static void emit_loop(struct emit *e, LLVMValueRef first, LLVMValueRef stop) {
  LLVMTypeRef i64 = LLVMInt64TypeInContext(e->llvm);
  LLVMBasicBlockRef before = LLVMGetInsertBlock(e->b), loop = add_block(e, "loop"),
                    done = add_block(e, "done");
  LLVMValueRef empty = LLVMBuildICmp(e->b, LLVMIntEQ, first, stop, "");
  LLVMBuildCondBr(e->b, empty, done, loop);
  LLVMPositionBuilderAtEnd(e->b, loop);
  LLVMValueRef i = LLVMBuildPhi(e->b, i64, "i");
  compute_addresses(e, i);
  emit_body(e);
  uint64_t step = (uint64_t)e->width * e->lanes;
  LLVMValueRef next = LLVMBuildAdd(e->b, i, const_i64(e, step), "next");
  LLVMValueRef finished = LLVMBuildICmp(e->b, LLVMIntEQ, next, stop, "");
  LLVMBasicBlockRef latch = LLVMGetInsertBlock(e->b);
  LLVMBuildCondBr(e->b, finished, done, loop);
  LLVMAddIncoming(i, (LLVMValueRef[]){first, next}, (LLVMBasicBlockRef[]){before, latch},
                  2);
  LLVMMoveBasicBlockAfter(done, latch);
  LLVMPositionBuilderAtEnd(e->b, done);
}

// ---- where the loop starts and stops

static bool has_streams(const struct kernel *k) {
  for (uint32_t i = 0; i < k->n_slots; i++) {
    if (k->slot[i].streams) {
      return true;
    }
  }
  return false;
}

static LLVMValueRef round_down(const struct emit *e, LLVMValueRef x, const char *name) {
  return LLVMBuildAnd(e->b, x, const_i64(e, ~(uint64_t)(CPU_BLOCK - 1)), name);
}

// The first multiple of the block; `end` where it lies beyond, or where a streamed base is not aligned.
static LLVMValueRef aligned_first(struct emit *e, LLVMValueRef begin, LLVMValueRef end) {
  LLVMTypeRef i64 = LLVMInt64TypeInContext(e->llvm);
  LLVMValueRef up = LLVMBuildAdd(e->b, begin, const_i64(e, CPU_BLOCK - 1), "");
  LLVMValueRef first = round_down(e, up, "");
  LLVMValueRef usable = LLVMBuildICmp(e->b, LLVMIntULE, first, end, "");
  for (uint32_t i = 0; i < e->kernel->n_slots; i++) {
    if (!e->kernel->slot[i].streams) {
      continue;
    }
    LLVMValueRef address = LLVMBuildPtrToInt(e->b, e->base[i], i64, "");
    LLVMValueRef rest = LLVMBuildAnd(e->b, address, const_i64(e, CACHE_LINE - 1), "");
    LLVMValueRef aligned = LLVMBuildICmp(e->b, LLVMIntEQ, rest, const_i64(e, 0), "");
    usable = LLVMBuildAnd(e->b, usable, aligned, "");
  }
  return LLVMBuildSelect(e->b, usable, first, end, "first");
}

static void call_ends(struct emit *e, LLVMValueRef ends, LLVMValueRef from,
                      LLVMValueRef to) {
  LLVMValueRef arg[N_ARGS] = {LLVMGetParam(e->fn, ARG_PTR),
                              LLVMGetParam(e->fn, ARG_SCALAR), from, to};
  LLVMBuildCall2(e->b, function_type(e->llvm), ends, arg, N_ARGS, "");
}

static void emit_ends_function(struct emit *e) {
  begin_function(e);
  LLVMSetLinkage(e->fn, LLVMInternalLinkage);
  add_attribute(e, "noinline", 8, FUNCTION_INDEX);
  load_bases(e);
  emit_scalars(e, LLVMGetParam(e->fn, ARG_SCALAR));
  emit_loop(e, LLVMGetParam(e->fn, ARG_BEGIN), LLVMGetParam(e->fn, ARG_END));
  LLVMBuildRetVoid(e->b);
}

static void emit_vector_function(struct emit *e, LLVMValueRef ends) {
  begin_function(e);
  load_bases(e);
  emit_scalars(e, LLVMGetParam(e->fn, ARG_SCALAR));
  LLVMValueRef begin = LLVMGetParam(e->fn, ARG_BEGIN), end = LLVMGetParam(e->fn, ARG_END);
  bool streams = has_streams(e->kernel);
  LLVMValueRef first = streams ? aligned_first(e, begin, end) : begin;
  LLVMValueRef blocks = round_down(e, LLVMBuildSub(e->b, end, first, ""), "");
  LLVMValueRef stop = LLVMBuildAdd(e->b, first, blocks, "stop");
  if (streams) {
    call_ends(e, ends, begin, first);
  }
  emit_loop(e, first, stop);
  if (streams) {
    // Non-temporal stores are not ordered with what follows: whoever waits for this kernel must see them.
    emit_intrinsic(e, "llvm.x86.sse.sfence", NULL, NULL, 0);
  }
  call_ends(e, ends, stop, end);
  LLVMBuildRetVoid(e->b);
}

static struct emit emit_new(struct arena *a, const struct cpu_module *m,
                            const struct kernel *k, struct str name, uint32_t width,
                            struct str *ice) {
  uint32_t n = k->phases->ir->ins.n;
  return (struct emit){
      .arena = a,
      .llvm = m->llvm,
      .module = m->module,
      .b = m->builder,
      .kernel = k,
      .phases = k->phases,
      .ph = &k->phases->phase[k->phase],
      .width = width,
      .lanes = width == 1 ? 1 : CPU_BLOCK / width,
      .fn = LLVMAddFunction(m->module, str_cstr(a, name), function_type(m->llvm)),
      .base = ARENA_ARRAY(a, LLVMValueRef, k->n_slots),
      .addr = ARENA_ARRAY(a, struct lanes, k->n_slots),
      .scalar = ARENA_ARRAY(a, LLVMValueRef, n),
      .value = ARENA_ARRAY(a, struct lanes, n),
      .label = ir_labels(a, k->phases->ir),
      .guard = ARENA_ARRAY(a, LLVMValueRef, n),
      .ice = ice};
}

void emit_kernel(struct arena *a, const struct cpu_module *m, const struct kernel *k,
                 const struct cpu_target *t, struct str *ice) {
  struct emit many = emit_new(a, m, k, k->name, t->bits / 32, ice);
  many.ahead = t->ahead;
  struct str ends = str_fmt(a, "%.*s.ends", STR_FMT(k->name));
  struct emit one = emit_new(a, m, k, ends, 1, ice);
  emit_vector_function(&many, one.fn);
  emit_ends_function(&one);
}
