// The parameters and gradients of a session.
//
// A GPU's tensors are filled through one piece of host memory, as many of them at a time as it holds: large copies, and
// no second copy of a model on the host.
#include "tool/session_data.h"

#include "tool/table.h"

#include "device/cuda/block.h"
#include "plan/work.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { ALIGN = 256 };                              // of a tensor in a block
static const uint64_t STAGE = (uint64_t)256 << 20; // or the largest tensor

// ---- sizes

static bool has_tensor(const struct model_param *p, enum data_role role) {
  return p->tied_to == UINT32_MAX && !(role == DATA_GRADS && p->frozen);
}

static enum storage storage_of(const struct model_param *p, enum data_role role) {
  return role == DATA_PARAMS ? p->dtype : p->grad;
}

static uint64_t tensor_bytes(const struct model_param *p, enum data_role role) {
  return has_tensor(p, role) ? shape_numel(&p->shape) * storage_bytes(storage_of(p, role))
                             : 0;
}

uint64_t tensors_bytes(const struct model *m, enum data_role role) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < m->n_params; i++) {
    bytes += tensor_bytes(&m->param[i], role);
  }
  return bytes;
}

static uint64_t largest(const struct model *m) {
  uint64_t most = 0;
  for (uint32_t i = 0; i < m->n_params; i++) {
    uint64_t p = tensor_bytes(&m->param[i], DATA_PARAMS);
    uint64_t g = tensor_bytes(&m->param[i], DATA_GRADS);
    most = p > most ? p : most;
    most = g > most ? g : most;
  }
  return most;
}

static void **tensors_of(const struct session *s, enum data_role role) {
  return role == DATA_PARAMS ? s->param : s->grad;
}

// Of the whole block.
static uint64_t block_bytes(const struct session *s, enum data_role role) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < s->model->n_params; i++) {
    bytes += rt_round_up(tensor_bytes(&s->model->param[i], role), ALIGN);
  }
  return bytes;
}

void session_data_layout(struct session *s) {
  const struct model *m = s->model;
  s->param = ARENA_ARRAY(s->tool->arena, void *, m->n_params);
  s->grad = ARENA_ARRAY(s->tool->arena, void *, m->n_params);
  for (int role = DATA_PARAMS; role <= DATA_GRADS && s->on_gpu; role++) {
    uint64_t at = 0;
    s->offset[role] = ARENA_ARRAY(s->tool->arena, uint64_t, m->n_params);
    for (uint32_t i = 0; i < m->n_params; i++) {
      s->offset[role][i] = at;
      at += rt_round_up(tensor_bytes(&m->param[i], (enum data_role)role), ALIGN);
    }
  }
  if (s->on_gpu) {
    uint64_t all = block_bytes(s, DATA_PARAMS), most = largest(m);
    uint64_t stage = all < STAGE ? all : STAGE;
    s->stage_bytes = rt_round_up(stage > most ? stage : most, ALIGN);
  }
}

uint64_t session_data_bytes(const struct session *s) {
  return s->on_gpu
             ? s->stage_bytes
             : tensors_bytes(s->model, DATA_PARAMS) + tensors_bytes(s->model, DATA_GRADS);
}

// ---- memory

// Large tensors start at a huge page: the kernels then meet few TLB misses.
static void *tensor_new(uint64_t bytes) {
  enum { HUGE_PAGE = 2 << 20 };
  size_t align = bytes >= HUGE_PAGE ? HUGE_PAGE : 64;
  void *p = NULL;
  if (bytes > SIZE_MAX - align ||
      posix_memalign(&p, align, bytes != 0 ? bytes : 1) != 0) {
    return NULL;
  }
  if (align == HUGE_PAGE) {
    (void)madvise(p, bytes / HUGE_PAGE * HUGE_PAGE, MADV_HUGEPAGE); // advice only
  }
  return p;
}

static bool open_host(struct session *s, enum data_role role) {
  void **at = tensors_of(s, role);
  bool ok = true;
  for (uint32_t i = 0; i < s->model->n_params && ok; i++) {
    if (has_tensor(&s->model->param[i], role)) {
      at[i] = tensor_new(tensor_bytes(&s->model->param[i], role));
      ok = at[i] != NULL;
    }
  }
  return ok;
}

static const char *role_name(enum data_role role) {
  return role == DATA_PARAMS ? "parameters" : "gradients";
}

static enum exit_code open_gpu(struct session *s, enum data_role role) {
  char why[512];
  void **at = tensors_of(s, role);
  uint64_t bytes = block_bytes(s, role);
  steprt_status status = rt_gpu_block_open(0, bytes, &s->block[role], why, sizeof why);
  if (status != STEPRT_OK) {
    say(s->tool, "the %s (%s) have no place on a GPU: %s", role_name(role),
        text_binary(s->tool->arena, (double)bytes).p,
        str_escape(s->tool->arena, str_of(why)).p);
    return EXIT_ENVIRONMENT;
  }
  char *base = rt_gpu_block_address(s->block[role]);
  for (uint32_t i = 0; i < s->model->n_params; i++) {
    if (has_tensor(&s->model->param[i], role)) {
      at[i] = base + s->offset[role][i];
    }
  }
  return EXIT_OK;
}

enum exit_code session_data_open(struct session *s) {
  bool ok = true;
  if (s->on_gpu) {
    enum exit_code code = open_gpu(s, DATA_PARAMS);
    if (code == EXIT_OK) {
      code = open_gpu(s, DATA_GRADS);
    }
    if (code != EXIT_OK) {
      return code;
    }
    s->stage = tensor_new(s->stage_bytes);
    ok = s->stage != NULL;
  } else {
    ok = open_host(s, DATA_PARAMS) && open_host(s, DATA_GRADS);
  }
  if (!ok) {
    say(s->tool, "out of memory");
  }
  return ok ? EXIT_OK : EXIT_ENVIRONMENT;
}

void session_data_close(struct session *s) {
  for (uint32_t i = 0; s->param != NULL && !s->on_gpu && i < s->model->n_params; i++) {
    free(s->param[i]);
    free(s->grad[i]);
  }
  rt_gpu_block_close(s->block[DATA_PARAMS]);
  rt_gpu_block_close(s->block[DATA_GRADS]);
  free(s->stage);
}

// ---- filling

static enum exit_code copy_failed(struct session *s, const char *what, const char *why) {
  say(s->tool, "cannot copy %s: %s", what, str_escape(s->tool->arena, str_of(why)).p);
  return EXIT_ENVIRONMENT;
}

// Reads a tensor from `set`, or seeds it where that is NULL.
static bool fill_tensor(struct session *s, enum data_role role,
                        const struct data_set *set, uint32_t i, void *into) {
  const struct model_param *p = &s->model->param[i];
  if (set != NULL) {
    return data_read(&s->tool->front, set, i, into);
  }
  struct data_key key = {.seed = s->source.seed,
                         .role = role,
                         .name = p->name,
                         .step = role == DATA_PARAMS ? 0 : s->step + 1};
  data_seed_all(s->team, &key, storage_of(p, role), shape_numel(&p->shape), into);
  return true;
}

static enum exit_code fill_host(struct session *s, enum data_role role,
                                const struct data_set *set) {
  void **at = tensors_of(s, role);
  for (uint32_t i = 0; i < s->model->n_params; i++) {
    if (at[i] != NULL && !fill_tensor(s, role, set, i, at[i])) {
      return report(s->tool);
    }
  }
  return EXIT_OK;
}

static enum exit_code put_stage(struct session *s, enum data_role role, uint64_t from,
                                uint64_t to) {
  char why[512];
  return to == from || rt_gpu_block_put(s->block[role], from, s->stage, to - from, why,
                                        sizeof why) == STEPRT_OK
             ? EXIT_OK
             : copy_failed(s, role_name(role), why);
}

static enum exit_code fill_gpu(struct session *s, enum data_role role,
                               const struct data_set *set) {
  uint64_t from = 0, to = 0; // of the block: what the piece holds
  enum exit_code code = EXIT_OK;
  for (uint32_t i = 0; i < s->model->n_params && code == EXIT_OK; i++) {
    const struct model_param *p = &s->model->param[i];
    uint64_t at = s->offset[role][i], end = at + tensor_bytes(p, role);
    if (!has_tensor(p, role)) {
      continue;
    }
    if (end - from > s->stage_bytes) {
      code = put_stage(s, role, from, to);
      from = at;
    }
    to = end;
    if (code == EXIT_OK &&
        !fill_tensor(s, role, set, i, (char *)s->stage + (at - from))) {
      return report(s->tool);
    }
  }
  return code == EXIT_OK ? put_stage(s, role, from, to) : code;
}

static enum exit_code fill(struct session *s, enum data_role role,
                           const struct data_set *set) {
  return s->on_gpu ? fill_gpu(s, role, set) : fill_host(s, role, set);
}

enum exit_code session_load_params(struct session *s) {
  return fill(s, DATA_PARAMS, s->source.params);
}

enum exit_code session_load_grads(struct session *s) {
  uint32_t n = s->source.n_grads, from = s->step + 1 < n ? (uint32_t)s->step + 1 : n;
  if (n != 0 && from == s->grads_read) {
    return EXIT_OK; // the last file repeats
  }
  enum exit_code code = fill(s, DATA_GRADS, n != 0 ? s->source.grads[from - 1] : NULL);
  s->grads_read = code == EXIT_OK ? from : s->grads_read;
  return code;
}

// ---- reading

static enum exit_code get(struct session *s, uint64_t from, void *to, uint64_t bytes) {
  char why[512];
  return rt_gpu_block_get(s->block[DATA_PARAMS], from, to, bytes, why, sizeof why) ==
                 STEPRT_OK
             ? EXIT_OK
             : copy_failed(s, role_name(DATA_PARAMS), why);
}

// Tensors from `i` on that the piece of host memory holds, brought there; returns the one behind them.
static uint32_t get_run(struct session *s, uint32_t i, enum exit_code *code) {
  const uint64_t *offset = s->offset[DATA_PARAMS];
  uint64_t from = offset[i], to = from;
  uint32_t n = i;
  for (; n < s->model->n_params; n++) {
    uint64_t end = offset[n] + tensor_bytes(&s->model->param[n], DATA_PARAMS);
    if (end - from > s->stage_bytes) {
      break;
    }
    to = end;
  }
  *code = get(s, from, s->stage, to - from);
  return n;
}

static enum exit_code read_gpu(struct session *s, bytes_fn fn, void *ctx) {
  const uint64_t *offset = s->offset[DATA_PARAMS];
  enum exit_code code = EXIT_OK;
  for (uint32_t i = 0; i < s->model->n_params && code == EXIT_OK;) {
    uint32_t first = i, end = get_run(s, i, &code);
    for (; i < end && code == EXIT_OK; i++) {
      fn(ctx, (char *)s->stage + (offset[i] - offset[first]),
         tensor_bytes(&s->model->param[i], DATA_PARAMS));
    }
  }
  return code;
}

enum exit_code session_read_params(struct session *s, bytes_fn fn, void *ctx) {
  if (s->on_gpu) {
    return read_gpu(s, fn, ctx);
  }
  for (uint32_t i = 0; i < s->model->n_params; i++) {
    if (s->param[i] != NULL) {
      fn(ctx, s->param[i], tensor_bytes(&s->model->param[i], DATA_PARAMS));
    }
  }
  return EXIT_OK;
}

const void *session_param(struct session *s, uint32_t param) {
  if (!s->on_gpu || s->param[param] == NULL) {
    return s->param[param];
  }
  uint64_t bytes = tensor_bytes(&s->model->param[param], DATA_PARAMS);
  void *copy = arena_alloc(s->tool->arena, bytes, 64);
  return get(s, s->offset[DATA_PARAMS][param], copy, bytes) == EXIT_OK ? copy : NULL;
}
