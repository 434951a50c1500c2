// Where the parameters and gradients of a session lie.
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

enum storage tensor_storage_of(const struct model_param *p, enum data_role role) {
  return role == DATA_PARAMS ? p->dtype : p->grad;
}

uint64_t tensor_bytes(const struct model_param *p, enum data_role role) {
  return has_tensor(p, role)
             ? shape_numel(&p->shape) * storage_bytes(tensor_storage_of(p, role))
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

void **session_tensors_at(const struct session *s, enum data_role role) {
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
  void **at = session_tensors_at(s, role);
  bool ok = true;
  for (uint32_t i = 0; i < s->model->n_params && ok; i++) {
    if (has_tensor(&s->model->param[i], role)) {
      at[i] = tensor_new(tensor_bytes(&s->model->param[i], role));
      ok = at[i] != NULL;
    }
  }
  return ok;
}

const char *role_name(enum data_role role) {
  return role == DATA_PARAMS ? "parameters" : "gradients";
}

static enum exit_code open_gpu(struct session *s, enum data_role role) {
  char why[512];
  void **at = session_tensors_at(s, role);
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
