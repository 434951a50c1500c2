// The kernels of a job: which phases share one, which tensors each takes, what it is called. No LLVM here.
#ifndef STEPC_EMIT_KERNEL_H
#define STEPC_EMIT_KERNEL_H

#include "ir/job_ir.h"

enum slot_kind { SLOT_PARAM, SLOT_GRAD, SLOT_STATE, SLOT_TEMP };
// One tensor of a kernel, in the order of `ptr`.
struct kernel_slot {
  enum slot_kind kind;
  uint32_t index; // of the state or temp
  enum storage storage;
  bool read, written;
  bool streams; // written past the caches
  struct str name;
};

// A PHASE_MAP as a function. Phases with equal keys share one.
struct kernel {
  struct str name; // a C identifier: "muon__p0__f32"
  struct str key;
  const struct phases *phases; // of the first that asked for it
  uint32_t phase;
  struct kernel_slot *slot;
  uint32_t n_slots, n_scalars;
  uint32_t bytes_read, bytes_written; // per element
};

struct kernels {
  struct arena *arena;
  // Outputs that a launch leaves behind and nothing reads before they would leave the caches go past them: temps of
  // at least so many elements; 0: never. Bits do not depend on it.
  uint64_t stream_numel;
  VEC(struct kernel *) list;
};

// The kernel of a map phase over `numel` elements, a new one or one that has the same key; its index in the list.
// The slots of this very phase are returned in `slot` (same order as the kernel's; other names and indices).
uint32_t kernel_find(struct kernels *k, const struct phases *p, uint32_t phase,
                     uint64_t numel, struct kernel_slot **slot);

// A map phase of a rule: alike for all its parameters, which have one shape.
struct kernel_map {
  const struct phases *phases; // NULL: none
  uint32_t phase, kernel;
  struct kernel_slot *slot;
};
struct rule_kernels {
  struct kernel_map *map; // by phase
  // by state: its initial elements as a phase of its own, run once at bind
  struct kernel_map *init;
};
// The kernels of one rule, in the order of its phases and then of its states. `*ice` when an initial state is no map.
struct rule_kernels kernels_of_rule(struct kernels *k, const struct phases *p,
                                    struct str *ice);

// The slot that a load or store of this phase goes to, or that it reads value `r` from as a temp; UINT32_MAX: none.
uint32_t kernel_slot_of(const struct kernel_slot *slot, uint32_t n_slots,
                        const struct phases *p, const struct phase *ph, struct ir_ref r);

// A spec name as part of an identifier: letters, digits and `_`; other bytes as `xNN`.
struct str kernel_safe_name(struct arena *a, struct str name);

#endif
