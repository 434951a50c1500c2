// Exhaustive: the CPU target's operations of one argument over all 2^32 values of f32, on every vector width.
#include "cpu_fixture.h"

#include "core/convert.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

enum { CHUNK = 1 << 22 };

// s := what bf16 keeps of the gradient; param := one function of it.
#define SWEEP_TEXT(function)                                                             \
  "ir sweep\n"                                                                           \
  "shape [4194304]\n"                                                                    \
  "param f32\n"                                                                          \
  "grad f32\n"                                                                           \
  "state s bf16 elem\n"                                                                  \
  "update\n"                                                                             \
  "  %grad = grad.f32 elem\n"                                                            \
  "  %s = round.f32 elem bf16, %grad\n"                                                  \
  "  set_state elem s, %s\n"                                                             \
  "  %param = " function ".f32 elem %grad\n"                                             \
  "  set_param elem %param\n"

static float plain_sign(float x) {
  return isnan(x) ? x : (float)((x > 0) - (x < 0));
}
static float plain_rsqrt(float x) {
  return 1.0f / sqrtf(x);
}
static float plain_neg(float x) {
  return -x;
}

static const struct function {
  const char *name, *text;
  float (*plain)(float);
} functions[] = {{"sqrt", SWEEP_TEXT("sqrt"), sqrtf},
                 {"rsqrt", SWEEP_TEXT("rsqrt"), plain_rsqrt},
                 {"sign", SWEEP_TEXT("sign"), plain_sign},
                 {"abs", SWEEP_TEXT("abs"), fabsf},
                 {"neg", SWEEP_TEXT("neg"), plain_neg}};
enum { N_FUNCTIONS = sizeof functions / sizeof functions[0] };

struct sweep {
  float *grad, *param;
  uint16_t *s;
};

static uint32_t slot_of(const struct cpu_case *c, const char *name) {
  uint32_t i = 0;
  while (i < c->kernel->n_slots && !str_is(c->kernel->slot[i].name, name)) {
    i++;
  }
  cr_assert_lt(i, c->kernel->n_slots, "no tensor %s", name);
  return i;
}

static bool same_f32(float a, float b) {
  return (isnan(a) && isnan(b)) || memcmp(&a, &b, sizeof a) == 0;
}

static uint64_t count_wrong(const struct sweep *w, const struct function *f) {
  uint64_t wrong = 0;
  for (uint32_t i = 0; i < CHUNK; i++) {
    wrong += !same_f32(w->param[i], f->plain(w->grad[i]));
    wrong += w->s[i] != rt_f32_to_bf16(w->grad[i]);
  }
  return wrong;
}

static void sweep(const char *cpu, const struct function *f) {
  struct arena *a = arena_new(0);
  struct cpu_case c = cpu_case_open_on(a, "sweep.ir", str_of(f->text), 0, cpu, 1);
  struct sweep w = {malloc(CHUNK * sizeof(float)), malloc(CHUNK * sizeof(float)),
                    malloc(CHUNK * sizeof(uint16_t))};
  void *tensor[8] = {0};
  cr_assert_leq(c.kernel->n_slots, 8);
  tensor[slot_of(&c, "grad")] = w.grad;
  tensor[slot_of(&c, "param")] = w.param;
  tensor[slot_of(&c, "s")] = w.s;
  struct cpu_data d = {.tensor = tensor, .n_slots = c.kernel->n_slots, .n = CHUNK};
  for (uint64_t first = 0; first < 1ull << 32; first += CHUNK) {
    for (uint32_t i = 0; i < CHUNK; i++) {
      uint32_t bits = (uint32_t)first + i;
      memcpy(&w.grad[i], &bits, sizeof bits);
    }
    cpu_case_run(&c, &d, 0, CHUNK);
    cr_assert_eq(count_wrong(&w, f), 0, "%s on %s at 0x%08llx", f->name, cpu,
                 (unsigned long long)first);
  }
  free(w.grad);
  free(w.param);
  free(w.s);
  cpu_case_close(&c);
}

Test(sweep, native) {
  for (uint32_t i = 0; i < N_FUNCTIONS; i++) {
    sweep("native", &functions[i]);
  }
}

Test(sweep, avx2) {
  for (uint32_t i = 0; i < N_FUNCTIONS; i++) {
    sweep("x86-64-v3", &functions[i]);
  }
}
