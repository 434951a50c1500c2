// The kernels of a job: which phases share one, which tensors each takes, what it is called. No LLVM here.
#ifndef STEPC_EMIT_CPU_KERNEL_H
#define STEPC_EMIT_CPU_KERNEL_H

#include "ir/job_ir.h"

enum slot_kind { SLOT_PARAM, SLOT_GRAD, SLOT_STATE, SLOT_TEMP };
// One tensor of a kernel, in the order of `ptr`.
struct cpu_slot {
  enum slot_kind kind;
  uint32_t index; // of the state or temp
  enum storage storage;
  bool read, written;
  bool streams; // written past the caches
  struct str name;
};

// A PHASE_MAP as a function. Phases with equal keys share one.
struct cpu_kernel {
  struct str name; // a C identifier: "muon__p0__f32"
  struct str key;
  const struct phases *phases; // of the first that asked for it
  uint32_t phase;
  struct cpu_slot *slot;
  uint32_t n_slots, n_scalars;
  uint32_t bytes_read, bytes_written; // per element
};

struct cpu_kernels {
  struct arena *arena;
  VEC(struct cpu_kernel *) list;
};

// Outputs that this launch leaves behind and nothing reads before they would leave the caches go past them: temps
// of at least this many bytes (a quarter of a common 32 MiB last level). Bits do not depend on it.
enum { CPU_STREAM_BYTES = 8 << 20 };

// The kernel of a map phase over `numel` elements, a new one or one that has the same key; its index in the list.
// The slots of this very phase are returned in `slot` (same order as the kernel's; other names and indices).
uint32_t cpu_kernel_find(struct cpu_kernels *k, const struct phases *p, uint32_t phase,
                         uint64_t numel, struct cpu_slot **slot);

// The slot that a load or store of this phase goes to, or that it reads value `r` from as a temp; UINT32_MAX: none.
uint32_t cpu_slot_of(const struct cpu_slot *slot, uint32_t n_slots,
                     const struct phases *p, const struct phase *ph, struct ir_ref r);

// A spec name as part of an identifier: letters, digits and `_`; other bytes as `xNN`.
struct str cpu_safe_name(struct arena *a, struct str name);

#endif
