// A session's tensors on a GPU: one block of its memory, laid out like the model.
#include "tool/session_gpu.h"

#include "device/cuda/block.h"
#include "plan/work.h"

#include <string.h>

enum { ALIGN = 256 };

bool session_is_gpu(const struct steprt_program *program) {
  return strncmp(program->target, "cuda", 4) == 0;
}

static enum exit_code failed(struct session *s, steprt_status status, const char *why) {
  if (status != STEPRT_OK) {
    say(s->tool, "%s", str_escape(s->tool->arena, str_of(why)).p);
  }
  return status == STEPRT_OK ? EXIT_OK : EXIT_ENVIRONMENT;
}

// Every tensor of the host has its place in the block; the first pass, without a block, only measures.
static uint64_t lay_out(struct session *s, char *base) {
  uint64_t at = 0;
  for (uint32_t i = 0; i < s->model->n_params; i++) {
    const struct model_param *p = &s->model->param[i];
    s->at_param[i] = s->param[i] != NULL && base != NULL ? base + at : NULL;
    at += rt_round_up(s->param[i] != NULL ? param_bytes(p) : 0, ALIGN);
    s->at_grad[i] = s->grad[i] != NULL && base != NULL ? base + at : NULL;
    at += rt_round_up(s->grad[i] != NULL ? grad_bytes(p) : 0, ALIGN);
  }
  return at;
}

static uint64_t offset_of(const struct session *s, const void *at) {
  return (uint64_t)((const char *)at - (char *)rt_gpu_block_address(s->gpu));
}

enum exit_code session_gpu_open(struct session *s) {
  char why[1024] = "";
  s->at_param = ARENA_ARRAY(s->tool->arena, void *, s->model->n_params);
  s->at_grad = ARENA_ARRAY(s->tool->arena, void *, s->model->n_params);
  uint64_t bytes = lay_out(s, NULL);
  steprt_status status = rt_gpu_block_open(0, bytes, &s->gpu, why, sizeof why);
  if (status != STEPRT_OK) {
    return failed(s, status, why);
  }
  (void)lay_out(s, rt_gpu_block_address(s->gpu));
  for (uint32_t i = 0; i < s->model->n_params && status == STEPRT_OK; i++) {
    if (s->param[i] != NULL) {
      status = rt_gpu_block_put(s->gpu, offset_of(s, s->at_param[i]), s->param[i],
                                param_bytes(&s->model->param[i]), why, sizeof why);
    }
  }
  return failed(s, status, why);
}

void session_gpu_close(struct session *s) {
  rt_gpu_block_close(s->gpu);
  s->gpu = NULL;
}

enum exit_code session_gpu_put_grads(struct session *s) {
  char why[1024] = "";
  steprt_status status = STEPRT_OK;
  for (uint32_t i = 0; i < s->model->n_params && status == STEPRT_OK; i++) {
    if (s->grad[i] != NULL) {
      status = rt_gpu_block_put(s->gpu, offset_of(s, s->at_grad[i]), s->grad[i],
                                grad_bytes(&s->model->param[i]), why, sizeof why);
    }
  }
  return failed(s, status, why);
}

enum exit_code session_gpu_get_params(struct session *s) {
  char why[1024] = "";
  steprt_status status = STEPRT_OK;
  for (uint32_t i = 0; i < s->model->n_params && status == STEPRT_OK; i++) {
    if (s->param[i] != NULL) {
      status = rt_gpu_block_get(s->gpu, offset_of(s, s->at_param[i]), s->param[i],
                                param_bytes(&s->model->param[i]), why, sizeof why);
    }
  }
  return failed(s, status, why);
}
