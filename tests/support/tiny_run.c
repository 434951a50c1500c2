#include "support/tiny_run.h"

#include "random.h"

#include <criterion/criterion.h>
#include <stdlib.h>

const uint64_t tiny_sizes[TINY_PARAMS] = {200000, 777, 64, 70000};

static void fill(struct tiny_run *r, uint64_t seed) {
  for (int i = 0; i < TINY_PARAMS; i++) {
    r->param[i] = calloc(r->numel[i] + 1, sizeof(float));
    r->grad[i] = calloc(r->numel[i] + 1, sizeof(float));
    for (uint64_t k = 0; k < r->numel[i]; k++) {
      ((float *)r->param[i])[k] = (float)random_normal(&seed);
      if (i == TINY_BF16_GRAD) {
        ((uint16_t *)r->grad[i])[k] = (uint16_t)(random_u64(&seed) & 0xbfff); // below 2
      } else {
        ((float *)r->grad[i])[k] = (float)random_normal(&seed) * 1e-3f;
      }
    }
  }
}

void tiny_run_planned(struct tiny_run *r, const uint64_t numel[TINY_PARAMS],
                      uint32_t threads, uint64_t seed,
                      const struct tiny_plan_options *plan) {
  struct steprt_options o = {.size = sizeof o, .threads = threads};
  memcpy(r->numel, numel, sizeof r->numel);
  fill(r, seed);
  tiny_make(&r->tiny, numel);
  if (plan) {
    tiny_plan_make(&r->tiny.plan, &r->tiny.program, plan);
  }
  cr_assert_eq(steprt_open(&r->tiny.program, &o, &r->rt), STEPRT_OK, "%s",
               steprt_error(r->rt));
  cr_assert_eq(steprt_bind(r->rt, r->param), STEPRT_OK, "%s", steprt_error(r->rt));
}

void tiny_run_new(struct tiny_run *r, const uint64_t numel[TINY_PARAMS], uint32_t threads,
                  uint64_t seed) {
  tiny_run_planned(r, numel, threads, seed, NULL);
}

void *tiny_run_state(const struct tiny_run *r, uint32_t param, uint32_t s) {
  return steprt_state(r->rt, param, s == 0 ? "m" : "seed", NULL);
}

void tiny_run_free(struct tiny_run *r) {
  steprt_destroy(r->rt);
  for (int i = 0; i < TINY_PARAMS; i++) {
    free(r->param[i]);
    free(r->grad[i]);
  }
}

void tiny_run_step(struct tiny_run *r) {
  const struct steprt_step step = {.size = sizeof step,
                                   .grads = (const void *const *)r->grad};
  cr_assert_eq(steprt_begin(r->rt, &step), STEPRT_OK, "%s", steprt_error(r->rt));
  cr_assert_eq(steprt_run(r->rt, NULL), STEPRT_OK, "%s", steprt_error(r->rt));
  cr_assert_eq(steprt_end(r->rt), STEPRT_OK, "%s", steprt_error(r->rt));
  cr_assert_eq(steprt_wait_all(r->rt), STEPRT_OK, "%s", steprt_error(r->rt));
}

static void add(uint64_t *hash, const void *data, uint64_t n) {
  for (uint64_t i = 0; i < n; i++) {
    *hash = (*hash ^ ((const uint8_t *)data)[i]) * 0x100000001b3u;
  }
}

uint64_t tiny_run_hash(const struct tiny_run *r) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (uint32_t i = 0; i < TINY_PARAMS; i++) {
    uint64_t count = steprt_count(r->rt, i), bytes = r->numel[i] * sizeof(float);
    add(&hash, r->param[i], bytes);
    add(&hash, &count, sizeof count);
    if (i == TINY_FROZEN) {
      continue;
    }
    for (uint32_t s = 0; s < 2; s++) {
      double host = steprt_host_state(r->rt, i, s);
      add(&hash, &host, sizeof host);
      add(&hash, tiny_run_state(r, i, s), bytes);
    }
  }
  return hash;
}

void tiny_run_compare(const struct tiny_run *a, const struct tiny_run *b) {
  for (uint32_t i = 0; i < TINY_PARAMS; i++) {
    uint64_t bytes = a->numel[i] * sizeof(float);
    cr_assert_arr_eq(a->param[i], b->param[i], bytes, "parameter %u", i);
    for (uint32_t s = 0; s < 2 && i != TINY_FROZEN; s++) {
      cr_assert_arr_eq(tiny_run_state(a, i, s), tiny_run_state(b, i, s), bytes,
                       "state %u of %u", s, i);
    }
  }
  cr_assert_eq(tiny_run_hash(a), tiny_run_hash(b));
}
