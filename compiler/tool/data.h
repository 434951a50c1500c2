// Parameters and gradients for `stepc run`, `verify` and benches: read from safetensors files, or seeded.
#ifndef STEPC_TOOL_DATA_H
#define STEPC_TOOL_DATA_H

#include "core/team.h"
#include "front/model.h"

enum data_role { DATA_PARAMS, DATA_GRADS };

// ---- from files
// Opened safetensors files with one tensor per parameter: every one that is neither tied nor (gradients) frozen.
struct data_set;

// Opens PATH (a .safetensors file, a folder or an index, as model_read takes them) and matches its tensors to the
// model's parameters by name. Missing, extra, misshapen tensors and other dtypes than the model's are reported in
// f->diags, each naming tensor and file; NULL then. DATA_GRADS: a parameter without `grad` in the model (has_grad
// false) takes the dtype of its gradient here: m->param[i].grad and has_grad are set. So open the first gradient
// file before compiling. The set holds open files; the caller closes it.
struct data_set *data_open(struct front *f, struct model *m, struct str path,
                           enum data_role role);
void data_close(struct data_set *s); // accepts NULL
// Reads the tensor of m->param[param], row-major in its storage, into `into`. False: reported in f->diags.
bool data_read(struct front *f, const struct data_set *s, uint32_t param, void *into);

// ---- seeded
// A value is a function of (seed, role, name, step, element) alone: the same whatever the number of threads, the
// cut into pieces and the host. About normal (the sum of four uniforms) with mean 0 and standard deviation 0.02
// for parameters, 1e-3 for gradients; finite. Parameters use step 0, the gradients of the first step step 1.
struct data_key {
  uint64_t seed;
  enum data_role role;
  struct str name; // of the parameter
  uint64_t step;
};
// Elements [begin, end) into out[0, end - begin). `dtype` is ST_F32, ST_BF16 or ST_F16 (rounded to nearest even).
void data_seed(const struct data_key *key, enum storage dtype, uint64_t begin,
               uint64_t end, void *out);
// All `numel` elements, over the threads of `team`.
void data_seed_all(struct rt_team *team, const struct data_key *key, enum storage dtype,
                   uint64_t numel, void *out);

#endif
