#include "support/law.h"

#include "core/convert.h"
#include "core/handle.h"
#include "file/sha256.h"
#include "plan/program.h"
#include "random.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TENSORS(dtype)                                                                   \
  "{\"name\":\"wte.weight\",\"shape\":[1100,96],\"order\":0},"                           \
  "{\"name\":\"h.{0..3}.ln.weight\",\"shape\":[96]," dtype "\"order\":\"1+i\"},"         \
  "{\"name\":\"h.{0..3}.attn.weight\",\"shape\":[96,96]," dtype "\"order\":\"1+i\"},"    \
  "{\"name\":\"h.{0..3}.up.weight\",\"shape\":[96,64]," dtype "\"order\":\"1+i\"},"      \
  "{\"name\":\"h.{0..3}.down.weight\",\"shape\":[64,96]," dtype "\"order\":\"1+i\"},"    \
  "{\"name\":\"h.{0..1}.experts.weight\",\"shape\":[3,32,48]," dtype                     \
  "\"order\":\"1+i\"},"                                                                  \
  "{\"name\":\"odd.weight\",\"shape\":[17,5]," dtype "\"order\":5},"                     \
  "{\"name\":\"odd.bias\",\"shape\":[17]," dtype "\"order\":5},"                         \
  "{\"name\":\"long.bias\",\"shape\":[20003]," dtype "\"order\":5},"                     \
  "{\"name\":\"scale\",\"shape\":[]," dtype "\"order\":5},"                              \
  "{\"name\":\"empty.weight\",\"shape\":[0,16]," dtype "\"order\":5},"                   \
  "{\"name\":\"frozen.weight\",\"shape\":[16,16],\"order\":5,\"frozen\":true},"          \
  "{\"name\":\"lm_head.weight\",\"shape\":[1100,96],\"tied\":\"wte.weight\"}"

const char *const law_model =
    "{\"format\":\"stepc-model/1\",\"name\":\"law\",\"params\":[" TENSORS("") "]}";
const char *const law_model_bf16 =
    "{\"format\":\"stepc-model/1\",\"name\":\"law\",\"params\":[" TENSORS(
        "\"dtype\":\"bf16\",") "]}";
const char *const law_matrices =
    "{\"format\":\"stepc-model/1\",\"name\":\"law\",\"params\":["
    "{\"name\":\"h.{0..3}.attn.weight\",\"shape\":[96,96],\"order\":\"i\"},"
    "{\"name\":\"h.{0..3}.up.weight\",\"shape\":[96,160],\"order\":\"i\"},"
    "{\"name\":\"h.{0..3}.down.weight\",\"shape\":[160,96],\"order\":\"i\"},"
    "{\"name\":\"h.{0..1}.experts.weight\",\"shape\":[3,32,48],\"order\":\"i\"},"
    "{\"name\":\"odd.weight\",\"shape\":[17,5],\"order\":4}]}";

const char *const law_specs[][2] = {
    {"adamw", law_model},           {"gpt", law_model},  {"gpt", law_model_bf16},
    {LAW_OTHER_SPEC, law_matrices}, {"lion", law_model}, {"muon", law_matrices},
    {"sgd", law_model_bf16},        {NULL, NULL}};

// Ends the process with the text: a test's assertion, in programs without Criterion too.
__attribute__((format(printf, 2, 3))) static void require(bool holds, const char *format,
                                                          ...) {
  va_list args;
  if (holds) {
    return;
  }
  va_start(args, format);
  (void)vfprintf(stderr, format, args);
  va_end(args);
  (void)fputs("\n", stderr);
  abort();
}

struct steprt_program *law_compile(const struct law_plan *p) {
  char path[256];
  struct steprt_program *program;
  bool is_text = strchr(p->spec, '\n') != NULL;
  (void)snprintf(path, sizeof path, STEPC_SOURCE_DIR "/specs/%s.opt",
                 is_text ? "text" : p->spec);
  struct stepc_job job = {.size = sizeof job,
                          .spec = path,
                          .spec_text = is_text ? p->spec : NULL,
                          .model = p->model,
                          .offload = p->offload,
                          .chunk_bytes = p->chunk_bytes,
                          .slots = p->slots,
                          .overlap = p->overlap};
  stepc_status s = stepc_compile(&job, &program);
  require(s == STEPC_OK, "%s: %s\n%s", stepc_status_text(s), stepc_program_error(program),
          stepc_program_messages(program));
  return program;
}

// ---- data

static void fill(void *out, uint32_t storage, uint64_t numel, uint64_t seed,
                 double scale) {
  for (uint64_t i = 0; i < numel; i++) {
    float x = (float)(scale * (2 * random_unit(&seed) - 1));
    if (storage == RT_F32) {
      ((float *)out)[i] = x;
    } else {
      require(storage == RT_BF16, "storage %u", storage);
      ((uint16_t *)out)[i] = rt_f32_to_bf16(x);
    }
  }
}

static void *tensor_new(uint32_t storage, uint64_t numel, uint64_t seed, double scale) {
  void *t = malloc(numel * rt_storage_bytes(storage) + 1);
  require(t != NULL, "out of memory");
  fill(t, storage, numel, seed, scale);
  return t;
}

// Each parameter is left out on some steps.
static bool has_grad(uint32_t step, uint32_t param) {
  return (7 * param + 3 * step) % 5 != 0;
}

static void spoil(const struct rt_param *v, void *grad) {
  uint64_t at = v->numel / 2;
  if (v->grad == RT_F32) {
    ((uint32_t *)grad)[at] = 0x7f800000u;
  } else {
    ((uint16_t *)grad)[at] = 0x7f80u;
  }
}

struct law_data law_data_new(const struct steprt_program *program) {
  struct law_data d = {.program = program,
                       .param = calloc(program->n_params, sizeof *d.param)};
  bool spoilt = !program->skips_nonfinite;
  for (uint32_t s = 0; s < LAW_STEPS; s++) {
    d.grad[s] = calloc(program->n_params, sizeof *d.grad[s]);
  }
  for (uint32_t i = 0; i < program->n_params; i++) {
    const struct rt_param *v = &program->param[i];
    if (!v->active) {
      continue;
    }
    d.param[i] = tensor_new(v->storage, v->numel, i, 0.05);
    for (uint32_t s = 0; s < LAW_STEPS; s++) {
      if (has_grad(s, i)) {
        d.grad[s][i] = tensor_new(v->grad, v->numel, 1000 * (s + 1) + i, 0.01);
      }
    }
    if (!spoilt && v->numel > 0 && d.grad[LAW_NONFINITE_STEP][i]) {
      spoil(v, d.grad[LAW_NONFINITE_STEP][i]);
      spoilt = true;
    }
  }
  return d;
}

void law_data_free(struct law_data *d) {
  for (uint32_t i = 0; i < d->program->n_params; i++) {
    free(d->param[i]);
    for (uint32_t s = 0; s < LAW_STEPS; s++) {
      free(d->grad[s][i]);
    }
  }
  for (uint32_t s = 0; s < LAW_STEPS; s++) {
    free(d->grad[s]);
  }
  free(d->param);
}

// ---- digest

static void digest_states(struct sha256 *sha, struct steprt *rt,
                          const struct steprt_program *p, uint32_t param) {
  const struct rt_param *v = &p->param[param];
  const struct rt_rule *rule = &p->rule[v->rule];
  for (uint32_t k = 0; k < rule->n_states; k++) {
    uint64_t bytes = v->numel * rt_storage_bytes(rule->state[k].storage);
    void *copy = malloc(bytes + 1);
    require(steprt_state_get(rt, param, rule->state[k].name, copy, bytes) == STEPRT_OK,
            "%s/%s: %s", v->name, rule->state[k].name, steprt_error(rt));
    sha256_add(sha, copy, bytes);
    free(copy);
  }
  for (uint32_t k = 0; k < rule->n_host_states; k++) {
    double x = steprt_host_state(rt, param, k);
    sha256_add(sha, &x, sizeof x);
  }
}

struct law_digest law_digest(struct steprt *rt, const struct law_data *d) {
  const struct steprt_program *p = d->program;
  struct law_digest out;
  struct sha256 sha;
  sha256_init(&sha);
  for (uint32_t i = 0; i < p->n_params; i++) {
    const struct rt_param *v = &p->param[i];
    if (v->active) {
      uint64_t count = steprt_count(rt, i);
      sha256_add(&sha, d->param[i], v->numel * rt_storage_bytes(v->storage));
      sha256_add(&sha, &count, sizeof count);
      digest_states(&sha, rt, p, i);
    }
  }
  sha256_hex(&sha, out.hex);
  return out;
}

// ---- steps

// lr and wd, wherever they can be set, have another value at each step.
static void set_hypers(struct steprt *rt, const struct steprt_program *p, uint32_t step) {
  for (uint32_t i = 0; i < p->n_hypers; i++) {
    const struct rt_hyper *h = &p->hyper[i];
    bool lr = strcmp(h->name, "lr") == 0, wd = strcmp(h->name, "wd") == 0;
    if (!h->bound && (lr || wd)) {
      double value = lr ? h->value * (1 + 0.25 * step) : 0.01 * step;
      require(steprt_set_hyper(rt, (int32_t)i, value) == STEPRT_OK, "%s",
              steprt_error(rt));
    }
  }
}

// The parameters of some units: run takes either.
static uint32_t params_of(const uint32_t *unit_of, uint32_t n_params,
                          const uint32_t *unit, uint32_t n, uint32_t *param) {
  uint32_t k = 0;
  for (uint32_t i = 0; i < n_params; i++) {
    for (uint32_t u = 0; u < n; u++) {
      if (unit_of[i] == unit[u]) {
        param[k++] = i;
      }
    }
  }
  return k;
}

void law_run_units(struct steprt *rt, const struct steprt_program *program,
                   uint64_t seed) {
  if (seed == 0) {
    require(steprt_run(rt, NULL) == STEPRT_OK, "%s", steprt_error(rt));
    return;
  }
  uint32_t n_params = program->n_params, n = steprt_units(rt, NULL);
  uint32_t *unit_of = malloc(n_params * sizeof *unit_of);
  uint32_t *order = malloc((n + 1) * sizeof *order);
  uint32_t *param = malloc(n_params * sizeof *param);
  steprt_units(rt, unit_of);
  for (uint32_t i = 0; i < n; i++) { // a random permutation
    uint32_t k = (uint32_t)random_below(&seed, i + 1);
    order[i] = order[k];
    order[k] = i;
  }
  for (uint32_t at = 0, take; at < n; at += take) {
    take = 1 + (uint32_t)random_below(&seed, n - at);
    struct steprt_set set = {.size = sizeof set, .units = order + at, .n = take};
    if (random_below(&seed, 2)) {
      set.n = params_of(unit_of, n_params, order + at, take, param);
      set.units = NULL;
      set.params = param;
    }
    bool rest = at + take == n && random_below(&seed, 2);
    require(steprt_run(rt, rest ? NULL : &set) == STEPRT_OK, "%s", steprt_error(rt));
  }
  free(unit_of);
  free(order);
  free(param);
}

// What a trainer does between end and the next begin: nothing, or forward passes that wait layer by layer.
static void wait_somehow(struct steprt *rt, uint64_t *seed) {
  uint64_t orders = random_below(seed, 8);
  for (uint64_t k = 0; k < orders; k++) {
    require(steprt_wait_order(rt, k, NULL) == STEPRT_OK, "%s", steprt_error(rt));
  }
  if (random_below(seed, 3) == 0) {
    require(steprt_wait_all(rt) == STEPRT_OK, "%s", steprt_error(rt));
  }
}

static void step(struct steprt *rt, const struct law_data *d, uint32_t s, uint64_t seed) {
  const struct steprt_step in = {.size = sizeof in,
                                 .grads = (const void *const *)d->grad[s]};
  set_hypers(rt, d->program, s);
  require(steprt_begin(rt, &in) == STEPRT_OK, "%s", steprt_error(rt));
  law_run_units(rt, d->program, seed);
  require(steprt_end(rt) == STEPRT_OK, "%s", steprt_error(rt));
}

struct law_digest law_run(const struct steprt_program *program, const struct law_run *r) {
  const struct steprt_options o = {.size = sizeof o, .threads = r->threads};
  struct law_data d = law_data_new(program);
  struct steprt *rt;
  uint64_t seed = r->subsets;
  require(rt_open_with_class(program, &o, r->class, &rt) == STEPRT_OK, "%s",
          steprt_error(rt));
  require(steprt_bind(rt, d.param) == STEPRT_OK, "%s", steprt_error(rt));
  for (uint32_t s = 0; s < LAW_STEPS; s++) {
    step(rt, &d, s, r->subsets ? random_u64(&seed) | 1 : 0);
    if (r->subsets) {
      wait_somehow(rt, &seed);
    }
  }
  require(steprt_wait_all(rt) == STEPRT_OK, "%s", steprt_error(rt));
  struct law_digest out = law_digest(rt, &d);
  steprt_destroy(rt);
  law_data_free(&d);
  return out;
}
