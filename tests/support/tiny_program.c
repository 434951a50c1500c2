#include "support/tiny_program.h"

#include "core/convert.h"

#include <string.h>

static void copy(void *const *ptr, const float *scalar, uint64_t begin, uint64_t end) {
  (void)scalar;
  memcpy((float *)ptr[1] + begin, (const float *)ptr[0] + begin,
         (end - begin) * sizeof(float));
}

// Scalars: beta, clip.
static void momentum(void *const *ptr, const float *scalar, uint64_t begin,
                     uint64_t end) {
  const float *grad = ptr[0];
  float *m = ptr[1], *u = ptr[2];
  for (uint64_t i = begin; i < end; i++) {
    u[i] = m[i] = scalar[0] * m[i] + scalar[1] * grad[i];
  }
}

static void momentum_bf16(void *const *ptr, const float *scalar, uint64_t begin,
                          uint64_t end) {
  const uint16_t *grad = ptr[0];
  float *m = ptr[1], *u = ptr[2];
  for (uint64_t i = begin; i < end; i++) {
    u[i] = m[i] = scalar[0] * m[i] + scalar[1] * rt_bf16_to_f32(grad[i]);
  }
}

static void update(void *const *ptr, const float *scalar, uint64_t begin, uint64_t end) {
  float *param = ptr[0];
  const float *u = ptr[1];
  for (uint64_t i = begin; i < end; i++) {
    param[i] = param[i] - scalar[0] * u[i];
  }
}

static const struct rt_kernel kernels[] = {
    {.name = "copy",
     .fn = copy,
     .n_ptrs = 2,
     .n_scalars = 0,
     .bytes_read = 4,
     .bytes_written = 4},
    {.name = "momentum",
     .fn = momentum,
     .n_ptrs = 3,
     .n_scalars = 2,
     .bytes_read = 8,
     .bytes_written = 8},
    {.name = "momentum_bf16",
     .fn = momentum_bf16,
     .n_ptrs = 3,
     .n_scalars = 2,
     .bytes_read = 6,
     .bytes_written = 8},
    {.name = "update",
     .fn = update,
     .n_ptrs = 2,
     .n_scalars = 1,
     .bytes_read = 8,
     .bytes_written = 4},
};

// Scalars: beta, rate. Host states: decay (own), half (group).
static const struct rt_host_ins code[TINY_INS] = {
    {.op = RT_HOST_HYPER, .out = 0, .index = TINY_BETA},
    {.op = RT_HOST_STATE, .out = 1, .index = 0},
    {.op = RT_HOST_MUL, .out = 2, .arg = {0, 1}},
    {.op = RT_HOST_SET, .index = 0, .arg = {2}},
    {.op = RT_HOST_CONST, .out = 3, .num = 1},
    {.op = RT_HOST_SUB, .out = 3, .arg = {3, 2}},
    {.op = RT_HOST_STATE, .out = 4, .index = 1},
    {.op = RT_HOST_CONST, .out = 5, .num = 0.5},
    {.op = RT_HOST_MUL, .out = 4, .arg = {4, 5}},
    {.op = RT_HOST_SET, .index = 1, .arg = {4}},
    {.op = RT_HOST_HYPER, .out = 6, .index = TINY_LR},
    {.op = RT_HOST_MUL, .out = 6, .arg = {6, 4}},
    {.op = RT_HOST_DIV, .out = 6, .arg = {6, 3}},
    {.op = RT_HOST_STEP, .out = 7},
    {.op = RT_HOST_DIV, .out = 6, .arg = {6, 7}},
    {.op = RT_HOST_OUT, .index = 0, .arg = {0}},
    {.op = RT_HOST_OUT, .index = 1, .arg = {6}},
};
static const double host_init[] = {1, 1};
static const uint8_t host_is_group[] = {0, 1};

static const struct rt_host_ins twice[] = {
    {.op = RT_HOST_HYPER, .out = 0, .index = TINY_LR},
    {.op = RT_HOST_ADD, .out = 1, .arg = {0, 0}},
};
static const struct rt_host_ins clip[] = {
    {.op = RT_HOST_HYPER, .out = 0, .index = TINY_CLIP}};

static const struct rt_hyper hypers[] = {
    [TINY_LR] = {.label = "tiny",
                 .name = "lr",
                 .value = 0.1,
                 .has_range = true,
                 .lo = 0,
                 .hi = 1},
    [TINY_TWICE] = {.label = "tiny",
                    .name = "twice",
                    .bound = twice,
                    .n_bound = 2,
                    .n_bound_regs = 2,
                    .has_range = true,
                    .lo = 0,
                    .hi = 1.5},
    [TINY_BETA] = {.label = "tiny",
                   .name = "beta",
                   .value = 0.9,
                   .has_range = true,
                   .lo = 0,
                   .hi = 1,
                   .hi_open = true},
    [TINY_CLIP] = {.label = "", .name = "max_norm", .value = 1e30},
};

static void make_param(struct tiny *t, uint32_t i, uint64_t numel) {
  static const char *const names[] = {"w", "v", "frozen", "h"};
  uint32_t first = i * 5;
  t->param[i] = (struct rt_param){.name = names[i],
                                  .rank = 1,
                                  .dim = {numel},
                                  .numel = numel,
                                  .storage = RT_F32,
                                  .active = i != TINY_FROZEN,
                                  .rule = i == 0,
                                  .param_buffer = first,
                                  .grad_buffer = first + 1,
                                  .first_state = first + 2,
                                  .n_states = 2};
  struct rt_buffer *b = &t->buffer[first];
  b[0] = (struct rt_buffer){RT_BUF_PARAM, RT_F32, i, numel, names[i]};
  b[1] = (struct rt_buffer){RT_BUF_GRAD, i == TINY_BF16_GRAD ? RT_BF16 : RT_F32, i, numel,
                            names[i]};
  b[2] = (struct rt_buffer){RT_BUF_STATE, RT_F32, i, numel, "m"};
  b[3] = (struct rt_buffer){RT_BUF_STATE, RT_F32, i, numel, "seed"};
  b[4] = (struct rt_buffer){RT_BUF_TEMP, RT_F32, UINT32_MAX, numel, "u"};
}

static void make_ops(struct tiny *t, uint32_t i, uint32_t at, uint32_t n) {
  uint32_t first = i * 5;
  memcpy(t->init_buffer[i], (uint32_t[]){first, first + 3}, sizeof t->init_buffer[i]);
  memcpy(t->momentum_buffer[i], (uint32_t[]){first + 1, first + 2, first + 4},
         sizeof t->momentum_buffer[i]);
  memcpy(t->update_buffer[i], (uint32_t[]){first, first + 4}, sizeof t->update_buffer[i]);
  struct rt_wave_op op = {.kind = RT_WAVE_MAP, .param = i, .numel = t->param[i].numel};
  op.kernel = 0;
  op.buffer = t->init_buffer[i];
  t->init[at] = op;
  op.kernel = i == TINY_BF16_GRAD ? 2 : 1;
  op.buffer = t->momentum_buffer[i];
  op.scalar = t->momentum_scalar;
  t->op[at] = op;
  op.kernel = 3;
  op.wave = 1;
  op.buffer = t->update_buffer[i];
  op.scalar = t->update_scalar;
  t->op[n + at] = op;
}

void tiny_make(struct tiny *t, const uint64_t numel[TINY_PARAMS]) {
  memset(t, 0, sizeof *t);
  memcpy(t->kernel, kernels, sizeof kernels);
  memcpy(t->hyper, hypers, sizeof hypers);
  memcpy(t->ins, code, sizeof code);
  t->momentum_scalar[1] = RT_SCALAR_CLIP;
  t->update_scalar[0] = 1;
  for (int r = 0; r < 2; r++) {
    t->rule[r] = (struct rt_rule){.name = r ? "tiny_a" : "tiny_b",
                                  .ins = code,
                                  .n_ins = sizeof code / sizeof *code,
                                  .n_regs = 8,
                                  .n_scalars = 2,
                                  .n_host_states = 2,
                                  .host_init = host_init,
                                  .host_is_group = host_is_group,
                                  .use = 7};
  }
  for (uint32_t i = 0, at = 0; i < TINY_PARAMS; i++) {
    make_param(t, i, numel[i]);
    if (t->param[i].active) {
      make_ops(t, i, at++, TINY_PARAMS - 1);
    }
  }
  t->program = (struct steprt_program){.version = RT_PROGRAM_VERSION,
                                       .param = t->param,
                                       .n_params = TINY_PARAMS,
                                       .buffer = t->buffer,
                                       .n_buffers = TINY_PARAMS * 5,
                                       .kernel = t->kernel,
                                       .n_kernels = 4,
                                       .rule = t->rule,
                                       .n_rules = 2,
                                       .hyper = t->hyper,
                                       .n_hypers = TINY_HYPERS,
                                       .init = t->init,
                                       .n_init = TINY_PARAMS - 1,
                                       .op = t->op,
                                       .n_ops = 2 * (TINY_PARAMS - 1),
                                       .clips = true,
                                       .skips_nonfinite = true,
                                       .clip = clip,
                                       .n_clip = 1,
                                       .n_clip_regs = 1};
}
