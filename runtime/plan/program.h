// A compiled step as data: what the runtime runs. The compiler fills these structs; libsteprt checks every id and
// range against its bounds at open and then never decides anything.
//
// Ownership: whoever made the program owns all of it; the runtime only reads.
#ifndef STEPRT_PLAN_PROGRAM_H
#define STEPRT_PLAN_PROGRAM_H

#include "plan/plan.h"

// How a tensor rests; the order equals the compiler's `enum storage`.
enum rt_storage { RT_F32, RT_BF16, RT_F16, RT_F8E4M3, RT_F8E5M2, RT_Q8, RT_Q8U };
static inline uint32_t rt_storage_bytes(uint32_t s) {
  return s == RT_F32 ? 4 : s <= RT_F16 ? 2 : 1;
}

// A fused loop. `ptr[i]` is the base address of the i-th tensor of the launch; elements [begin, end) are updated.
// Scalars are f32, one array per launch. Pure per element: any cut of the range gives the same bits (L1).
typedef void (*rt_map_fn)(void *const *ptr, const float *scalar, uint64_t begin,
                          uint64_t end);
enum { RT_MAX_PTRS = 64, RT_MAX_SCALARS = 256 }; // of one kernel
struct rt_kernel {
  const char *name;
  rt_map_fn fn; // CPU
  uint32_t n_ptrs, n_scalars;
  uint32_t bytes_read, bytes_written; // per element
  const struct rt_access *access;     // n_ptrs
  // sha256 in hex of what it computes, as text; NULL: the name tells
  const char *source_digest;
  // CUDA: a cubin (or PTX, where the device is newer than the compiler) with the function `name`.
  const void *image; // a cubin, or PTX with a NUL behind its image_bytes
  uint64_t image_bytes;
  uint32_t block, tile; // threads of a block; elements of a tile
  uint32_t registers, shared, spilled;
};

enum rt_host_op {
#define HOST_OP(id, n) RT_HOST_##id,
#include "core/host.def"
#undef HOST_OP
  RT_N_HOST_OPS
};
struct rt_host_ins {
  uint8_t op;
  uint32_t out, arg[3]; // registers
  uint32_t index;
  double num;
};

// One tensor of a phase, in the order of its kernel's pointers.
enum rt_tensor_kind { RT_TENSOR_PARAM, RT_TENSOR_GRAD, RT_TENSOR_STATE, RT_TENSOR_TEMP };
struct rt_tensor {
  uint32_t kind;  // enum rt_tensor_kind
  uint32_t index; // STATE: of the rule's device states; TEMP: of its temporaries; else 0
  uint32_t storage; // enum rt_storage
  bool read, written;
};

// A phase of a rule on the device: a kernel over every element of the parameter, or one orthogonalize of its
// matrices. The same for all parameters of the rule.
enum rt_phase_kind { RT_PHASE_MAP, RT_PHASE_ORTHO };
struct rt_phase {
  uint32_t kind;   // enum rt_phase_kind
  uint32_t kernel; // MAP; ORTHO: iteration
  // MAP: one per pointer; ORTHO: operand (f32 or bf16), result (the compute type)
  const struct rt_tensor *tensor;
  uint32_t n_tensors;
  // MAP: one per scalar of the kernel: scalar of the rule, or RT_SCALAR_CLIP
  const uint32_t *scalar;
};

// A device state: like the parameter in shape.
struct rt_state {
  const char *name;
  uint32_t storage;
};

// What a rule computes: on the host once per parameter and step, then on the device.
struct rt_rule {
  const struct rt_phase *phase; // of a step, in order
  uint32_t n_phases;
  // MAP phases without scalars that bind runs once: initial states other than zeros
  const struct rt_phase *init;
  uint32_t n_init;
  const struct rt_state *state; // device states
  uint32_t n_states;
  const uint32_t *temp; // storage of each temporary: as many elements as the parameter
  uint32_t n_temps;
  uint64_t rows, cols; // of one matrix; 0 where the rule has no ORTHO
  const char *name;
  const struct rt_host_ins *ins;
  uint32_t n_ins, n_regs;
  uint32_t n_scalars; // f32 results
  uint32_t n_host_states;
  const double *host_init; // n_host_states initial values
  // one per host state: shared by the parameters of the use line
  const uint8_t *host_is_group;
  uint32_t use; // which use line (groups share host states)
};

struct rt_hyper {
  const char *label, *name;
  double value;
  bool has_range, lo_open, hi_open;
  double lo, hi;
  // Bound hypers: host code over the hypers that come before; NULL where it is set by itself.
  const struct rt_host_ins *bound;
  uint32_t n_bound, n_bound_regs; // the value is the last instruction's register
};

struct rt_param {
  const char *name;
  uint32_t rank;
  uint64_t dim[8];
  uint64_t numel;
  uint32_t storage, grad; // grad: of its gradient
  bool active;            // has a rule; else frozen or tied
  uint32_t rule;
};

enum { RT_NORM_FROBENIUS, RT_NORM_AOL };
struct rt_iteration {
  const char *name;
  uint32_t norm;
  bool norm_in_f32;
  double safety, eps, floor;
  uint32_t compute; // rt_storage
  uint32_t n_steps;
  const double (*abc)[3];
};

#define RT_SCALAR_CLIP UINT32_MAX

// Kernels around the products of an orthogonalize on a GPU (compiler/emit/ortho.cuh), for one operand and compute type.
enum rt_ortho_kernel {
  RT_ORTHO_NORM,
  RT_ORTHO_SCALE,
  RT_ORTHO_FACTOR,  // AOL only, else RT_NO_ID
  RT_ORTHO_RESCALE, // the same
  RT_ORTHO_FINISH,
  RT_N_ORTHO_KERNELS
};
struct rt_ortho_set {
  uint32_t operand, compute; // enum rt_storage
  bool cast_first;           // the norm is that of the operand as rounded
  uint32_t kernel[RT_N_ORTHO_KERNELS];
};

// The two libraries may be of different versions: libstepc writes the version of these structs, libsteprt runs no other.
// It changes with every change of this file and of host.def.
enum { RT_PROGRAM_VERSION = 3 };
struct steprt_program {
  uint32_t version;   // RT_PROGRAM_VERSION
  const char *target; // "cpu", "cuda:sm_90a"
  char digest[65];    // sha256 in hex of what a plan is made from (program_json.h)
  const struct rt_plan *plan;
  // CUDA, where the recipe looks at gradients: kernels that square them, by storage (RT_F32, RT_BF16, RT_F16; RT_NO_ID:
  // not needed), merge partial sums and judge. On the CPU the runtime has its own.
  uint32_t squares[3], merge, judge;
  const struct rt_ortho_set *ortho; // CUDA: one for each kind of orthogonalize
  uint32_t n_ortho;
  uint32_t n_params;
  const struct rt_param *param;
  const struct rt_kernel *kernel;
  uint32_t n_kernels;
  const struct rt_rule *rule;
  uint32_t n_rules;
  const struct rt_hyper *hyper;
  uint32_t n_hypers;
  const struct rt_iteration *iteration;
  uint32_t n_iterations;
  bool clips, skips_nonfinite;
  // over hypers; the bound is the last instruction's register
  const struct rt_host_ins *clip;
  uint32_t n_clip, n_clip_regs;
};

#endif
