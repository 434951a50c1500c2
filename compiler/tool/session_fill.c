// Filling and reading the parameters and gradients of a session.
//
// A GPU's tensors pass through one piece of host memory, as many of them at a time as it holds: large copies, and no
// second copy of a model on the host.
#include "tool/session_data.h"

#include "device/cuda/block.h"

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
  data_seed_all(s->team, &key, tensor_storage_of(p, role), shape_numel(&p->shape), into);
  return true;
}

static enum exit_code fill_host(struct session *s, enum data_role role,
                                const struct data_set *set) {
  void **at = session_tensors_at(s, role);
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
    if (session_tensors_at(s, role)[i] == NULL) {
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
