// What `stepc verify` samples, and that its proof of cuts fails on kernels that are not pure per element.
#include "tool/verify.h"

#include <criterion/criterion.h>
#include <string.h>

static struct arena *arena;
static void make(void) {
  arena = arena_new(0);
}
static void drop(void) {
  arena_free(arena);
}
TestSuite(verify, .init = make, .fini = drop);

// ---- the sample

enum { N_PARAMS = 5 };

// a, b: use 0 (rules 0, 1); c, d: use 1 (rules 2, 2); e: frozen.
static const uint64_t sizes[N_PARAMS] = {1000, 10, 50, 60, 7};
static const uint32_t uses[N_PARAMS] = {0, 0, 1, 1, UINT32_MAX};
static const uint32_t rules[N_PARAMS] = {0, 1, 2, 2, UINT32_MAX};

static struct job *job_new(void) {
  struct model *m = ARENA_NEW(arena, struct model);
  struct job *job = ARENA_NEW(arena, struct job);
  m->param = ARENA_ARRAY(arena, struct model_param, N_PARAMS);
  m->n_params = N_PARAMS;
  *job = (struct job){.model = m, .n_uses = 2, .n_rules = 3};
  job->param = ARENA_ARRAY(arena, struct job_param, N_PARAMS);
  for (uint32_t i = 0; i < N_PARAMS; i++) {
    m->param[i] = (struct model_param){.name = str_fmt(arena, "%c", 'a' + (int)i),
                                       .shape = {1, {sizes[i]}},
                                       .tied_to = UINT32_MAX};
    job->param[i] = (struct job_param){.use = uses[i], .rule = rules[i]};
  }
  return job;
}

static void check_sample(uint64_t elements, const char *want) {
  struct str left_out;
  const struct model *m = verify_sample(arena, job_new(), elements, &left_out);
  struct buf got = buf_new(arena);
  for (uint32_t i = 0; i < m->n_params; i++) {
    buf_str(&got, m->param[i].name);
  }
  cr_assert(str_is(buf_done(&got), want), "%llu: got %s, want %s",
            (unsigned long long)elements, buf_done(&got).p, want);
  cr_assert_eq(left_out.n == 0, strlen(want) == 4); // e has no rule: never left out
}

Test(verify, sample_takes_each_use_line_then_each_rule_then_more) {
  check_sample(1, "bc"); // the smallest of each use line, over the limit
  check_sample(120, "bcd");
  check_sample(1060, "abc"); // a is a rule of its own: before d
  check_sample(1120, "abcd");
}

Test(verify, sample_names_what_is_left_out) {
  struct str left_out;
  (void)verify_sample(arena, job_new(), 1, &left_out);
  const char *text = str_cstr(arena, left_out);
  cr_assert(strstr(text, "2 tensors of 1.06 k elements") != NULL, "%s", text);
  cr_assert(strstr(text, "`a` [1000]") != NULL, "%s", text);
  cr_assert(strstr(text, "1 of 3 rules") != NULL, "%s", text);
}

// ---- cuts

static void pure(void *const *ptr, const float *scalar, uint64_t begin, uint64_t end) {
  float *x = ptr[0];
  for (uint64_t i = begin; i < end; i++) {
    x[i] = x[i] * scalar[0];
  }
}

// As if vector code ended its tail otherwise than its body.
static void tail_differs(void *const *ptr, const float *scalar, uint64_t begin,
                         uint64_t end) {
  float *x = ptr[0];
  for (uint64_t i = begin; i < end; i++) {
    x[i] = i + 1 == end ? x[i] * scalar[0] + 1 : x[i] * scalar[0];
  }
}

// As if aligned stores were assumed: depends on the address.
static void address_counts(void *const *ptr, const float *scalar, uint64_t begin,
                           uint64_t end) {
  float *x = ptr[0];
  for (uint64_t i = begin; i < end; i++) {
    x[i] = (uintptr_t)x % 16 == 0 ? x[i] : x[i] * scalar[0];
  }
}

static bool cuts_hold(rt_map_fn fn) {
  const struct rt_kernel kernel = {.name = "k",
                                   .fn = fn,
                                   .n_ptrs = 1,
                                   .n_scalars = 1,
                                   .bytes_read = 4,
                                   .bytes_written = 4};
  const struct rt_tensor tensor = {RT_TENSOR_PARAM, 0, RT_F32, true, true};
  const struct rt_phase phase = {.kind = RT_PHASE_MAP, .tensor = &tensor, .n_tensors = 1};
  const struct rt_rule rule = {.phase = &phase, .n_phases = 1};
  const struct steprt_program program = {
      .kernel = &kernel, .n_kernels = 1, .rule = &rule, .n_rules = 1};
  struct verdict v;
  cr_assert(cuts_prove(arena, &program, &v));
  return v.held;
}

Test(verify, cuts_hold_for_a_pure_kernel_alone) {
  cr_assert(cuts_hold(pure));
  cr_assert(!cuts_hold(tail_differs));
  cr_assert(!cuts_hold(address_counts));
}
