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

static const struct rt_access copy_access[] = {{4, true, false}, {4, false, true}};
static const struct rt_access momentum_access[] = {
    {4, true, false}, {4, true, true}, {4, false, true}};
static const struct rt_access momentum_bf16_access[] = {
    {2, true, false}, {4, true, true}, {4, false, true}};
static const struct rt_access update_access[] = {{4, true, true}, {4, true, false}};

static const struct rt_kernel kernels[] = {
    {.name = "copy",
     .fn = copy,
     .access = copy_access,
     .n_ptrs = 2,
     .n_scalars = 0,
     .bytes_read = 4,
     .bytes_written = 4},
    {.name = "momentum",
     .fn = momentum,
     .access = momentum_access,
     .n_ptrs = 3,
     .n_scalars = 2,
     .bytes_read = 8,
     .bytes_written = 8},
    {.name = "momentum_bf16",
     .fn = momentum_bf16,
     .access = momentum_bf16_access,
     .n_ptrs = 3,
     .n_scalars = 2,
     .bytes_read = 6,
     .bytes_written = 8},
    {.name = "update",
     .fn = update,
     .access = update_access,
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

static const struct rt_state states[] = {{"m", RT_F32}, {"seed", RT_F32}};
static const uint32_t temps[] = {RT_F32};

static void make_rule(struct tiny *t, uint32_t r) {
  static const char *const names[TINY_RULES] = {"tiny_b", "tiny_a", "tiny_h"};
  uint32_t grad = r == TINY_BF16_RULE ? RT_BF16 : RT_F32;
  struct rt_tensor *tensor = t->tensor[r];
  struct rt_phase *phase = t->phase[r];
  tensor[0] = (struct rt_tensor){RT_TENSOR_PARAM, 0, RT_F32, true, false};
  tensor[1] = (struct rt_tensor){RT_TENSOR_STATE, 1, RT_F32, false, true};
  tensor[2] = (struct rt_tensor){RT_TENSOR_GRAD, 0, grad, true, false};
  tensor[3] = (struct rt_tensor){RT_TENSOR_STATE, 0, RT_F32, true, true};
  tensor[4] = (struct rt_tensor){RT_TENSOR_TEMP, 0, RT_F32, false, true};
  tensor[5] = (struct rt_tensor){RT_TENSOR_PARAM, 0, RT_F32, true, true};
  tensor[6] = (struct rt_tensor){RT_TENSOR_TEMP, 0, RT_F32, true, false};
  phase[0] = (struct rt_phase){RT_PHASE_MAP, TINY_COPY, tensor, 2, NULL};
  phase[1] = (struct rt_phase){RT_PHASE_MAP,
                               grad == RT_BF16 ? TINY_MOMENTUM_BF16 : TINY_MOMENTUM,
                               tensor + 2, 3, t->momentum_scalar};
  phase[2] =
      (struct rt_phase){RT_PHASE_MAP, TINY_UPDATE, tensor + 5, 2, t->update_scalar};
  t->rule[r] = (struct rt_rule){.name = names[r],
                                .phase = phase + 1,
                                .n_phases = 2,
                                .init = phase,
                                .n_init = 1,
                                .state = states,
                                .n_states = 2,
                                .temp = temps,
                                .n_temps = 1,
                                .ins = t->ins,
                                .n_ins = TINY_INS,
                                .n_regs = 8,
                                .n_scalars = 2,
                                .n_host_states = 2,
                                .host_init = host_init,
                                .host_is_group = host_is_group,
                                .use = 7};
}

static void make_param(struct tiny *t, uint32_t i, uint64_t numel) {
  static const char *const names[] = {"w", "v", "frozen", "h"};
  t->param[i] = (struct rt_param){.name = names[i],
                                  .rank = 1,
                                  .dim = {numel},
                                  .numel = numel,
                                  .storage = RT_F32,
                                  .grad = i == TINY_BF16_GRAD ? RT_BF16 : RT_F32,
                                  .active = i != TINY_FROZEN,
                                  .rule = i == 0                ? 1
                                          : i == TINY_BF16_GRAD ? TINY_BF16_RULE
                                                                : 0};
}

void tiny_make(struct tiny *t, const uint64_t numel[TINY_PARAMS]) {
  memset(t, 0, sizeof *t);
  memcpy(t->kernel, kernels, sizeof kernels);
  memcpy(t->hyper, hypers, sizeof hypers);
  memcpy(t->ins, code, sizeof code);
  t->momentum_scalar[1] = RT_SCALAR_CLIP;
  t->update_scalar[0] = 1;
  for (uint32_t r = 0; r < TINY_RULES; r++) {
    make_rule(t, r);
  }
  for (uint32_t i = 0; i < TINY_PARAMS; i++) {
    make_param(t, i, numel[i]);
  }
  t->program = (struct steprt_program){.version = RT_PROGRAM_VERSION,
                                       .target = "cpu",
                                       .digest = "tiny",
                                       .plan = &t->plan.plan,
                                       .squares = {RT_NO_ID, RT_NO_ID, RT_NO_ID},
                                       .merge = RT_NO_ID,
                                       .judge = RT_NO_ID,
                                       .param = t->param,
                                       .n_params = TINY_PARAMS,
                                       .kernel = t->kernel,
                                       .n_kernels = TINY_KERNELS,
                                       .rule = t->rule,
                                       .n_rules = TINY_RULES,
                                       .hyper = t->hyper,
                                       .n_hypers = TINY_HYPERS,
                                       .clips = true,
                                       .skips_nonfinite = true,
                                       .clip = clip,
                                       .n_clip = 1,
                                       .n_clip_regs = 1};
  tiny_plan_make(&t->plan, &t->program, &(struct tiny_plan_options){0});
}
