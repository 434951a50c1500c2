// Host scalars: the meaning of every operation, and the check of lists from outside.
#include "core/hostcode.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static bool same(double a, double b) {
  return isnan(a) ? isnan(b) : memcmp(&a, &b, sizeof a) == 0;
}

static double eval3(enum rt_host_op op, double a, double b, double c) {
  struct rt_host_ins ins[] = {
      {.op = RT_HOST_CONST, .out = 0, .num = a},
      {.op = RT_HOST_CONST, .out = 1, .num = b},
      {.op = RT_HOST_CONST, .out = 2, .num = c},
      {.op = (uint8_t)op, .out = 3, .arg = {0, 1, 2}},
  };
  double reg[4];
  return rt_host_eval(ins, 4, &(struct rt_host_env){0}, reg);
}

Test(hostcode, operations) {
  static const struct {
    enum rt_host_op op;
    double a, b, c, value;
  } rows[] = {
      {RT_HOST_ADD, 1, 2, 0, 3},
      {RT_HOST_SUB, 1, 2, 0, -1},
      {RT_HOST_MUL, 3, 2, 0, 6},
      {RT_HOST_DIV, 1, 4, 0, 0.25},
      {RT_HOST_NEG, 0.0, 0, 0, -0.0},
      {RT_HOST_ABS, -0.0, 0, 0, 0.0},
      {RT_HOST_SQRT, 9, 0, 0, 3},
      {RT_HOST_RSQRT, 4, 0, 0, 0.5},
      {RT_HOST_SIGN, -7, 0, 0, -1},
      {RT_HOST_SIGN, -0.0, 0, 0, 0.0},
      {RT_HOST_SIGN, (double)NAN, 0, 0, (double)NAN},
      {RT_HOST_MIN, -0.0, 0.0, 0, -0.0},
      {RT_HOST_MIN, 0.0, -0.0, 0, -0.0},
      {RT_HOST_MAX, -0.0, 0.0, 0, 0.0},
      {RT_HOST_MAX, 0.0, -0.0, 0, 0.0},
      {RT_HOST_MIN, 1, (double)NAN, 0, (double)NAN},
      {RT_HOST_MAX, (double)NAN, 1, 0, (double)NAN},
      {RT_HOST_FMA, 0x1.0000001p0, 0x1.0000001p0, -1, 0x1.00000008p-27},
      {RT_HOST_WHERE, 1, 5, 6, 5},
      {RT_HOST_WHERE, -0.0, 5, 6, 6},
      {RT_HOST_EQ, 2, 2, 0, 1},
      {RT_HOST_NE, (double)NAN, (double)NAN, 0, 1},
      {RT_HOST_LT, 1, 2, 0, 1},
      {RT_HOST_LE, 3, 2, 0, 0},
      {RT_HOST_GT, 3, 2, 0, 1},
      {RT_HOST_GE, (double)NAN, 2, 0, 0},
      {RT_HOST_AND, 1, 0, 0, 0},
      {RT_HOST_OR, 1, 0, 0, 1},
      {RT_HOST_NOT, 0, 0, 0, 1},
      {RT_HOST_POW, 0.9, 2, 0, 0.9 * 0.9},
      {RT_HOST_POW, 2, -3, 0, 0.125},
      {RT_HOST_POW, 0, 0, 0, 1},
      {RT_HOST_POW, -2, 3, 0, -8},
      {RT_HOST_POW, 4, 0.5, 0, 2},
      {RT_HOST_POW, 1, 0x1p60, 0, 1},
      {RT_HOST_POW, 0.5, (double)INFINITY, 0, 0},
      {RT_HOST_EXP, 0, 0, 0, 1},
      {RT_HOST_LOG, 1, 0, 0, 0},
      {RT_HOST_COS, 0, 0, 0, 1},
      {RT_HOST_FLOOR, -1.5, 0, 0, -2},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    cr_assert(same(eval3(rows[i].op, rows[i].a, rows[i].b, rows[i].c), rows[i].value),
              "row %zu", i);
  }
}

Test(hostcode, pow_is_repeated_squaring) {
  double x = 0.95, p2 = x * x, p4 = p2 * p2, p8 = p4 * p4;
  cr_assert(same(rt_pow(x, 13), x * p4 * p8)); // 13 = 1 + 4 + 8, low bits first
  cr_assert(same(rt_pow(x, -13), 1 / (x * p4 * p8)));
}

// A bias correction with a host state: next = state * beta; out = 1 - next.
static const struct rt_host_ins bias[] = {
    {.op = RT_HOST_HYPER, .out = 0, .index = 1},
    {.op = RT_HOST_STATE, .out = 1, .index = 0},
    {.op = RT_HOST_MUL, .out = 2, .arg = {0, 1}},
    {.op = RT_HOST_SET, .index = 0, .arg = {2}},
    {.op = RT_HOST_STATE, .out = 3, .index = 0}, // still the value before
    {.op = RT_HOST_OUT, .index = 1, .arg = {3}},
    {.op = RT_HOST_CONST, .out = 4, .num = 1},
    {.op = RT_HOST_SUB, .out = 4, .arg = {4, 2}},
    {.op = RT_HOST_OUT, .index = 0, .arg = {4}},
};
enum { N_BIAS = sizeof bias / sizeof *bias };

Test(hostcode, states_are_read_before_and_set_after) {
  double hyper[] = {7, 0.9}, state[] = {0.5}, next[] = {0.5}, reg[5];
  float out[2];
  struct rt_host_env env = {.hyper = hyper, .state = state, .next = next, .out = out};
  double last = rt_host_eval(bias, N_BIAS, &env, reg);
  cr_assert(same(next[0], 0.9 * 0.5));
  cr_assert(same(state[0], 0.5));
  cr_assert_float_eq(out[1], 0.5f, 0);
  cr_assert_float_eq(out[0], (float)(1 - 0.9 * 0.5), 0);
  cr_assert(same(last, 1 - 0.9 * 0.5));
}

static bool check(const struct rt_host_ins *ins, uint32_t n, char *why, size_t n_why) {
  static const struct rt_host_bounds bounds = {
      .n_regs = 5, .n_hypers = 2, .n_states = 1, .n_outs = 2};
  bool defined[5];
  return rt_host_check(ins, n, &bounds, defined, why, n_why);
}

Test(hostcode, check_accepts_what_can_run) {
  char why[100] = "";
  cr_assert(check(bias, N_BIAS, why, sizeof why), "%s", why);
  cr_assert(check(NULL, 0, why, sizeof why));
}

Test(hostcode, check_names_the_instruction_at_fault) {
  static const struct {
    struct rt_host_ins ins;
    const char *why;
  } rows[] = {
      {{.op = 200}, "instruction 1: unknown operation 200"},
      {{.op = RT_HOST_HYPER, .index = 2}, "instruction 1 (HYPER): index out of range"},
      {{.op = RT_HOST_STATE, .index = 1}, "instruction 1 (STATE): index out of range"},
      {{.op = RT_HOST_INPUT, .index = 0}, "instruction 1 (INPUT): index out of range"},
      {{.op = RT_HOST_SET, .index = 1}, "instruction 1 (SET): index out of range"},
      {{.op = RT_HOST_OUT, .index = 2}, "instruction 1 (OUT): index out of range"},
      {{.op = RT_HOST_STEP}, "instruction 1 (STEP): no step here"},
      {{.op = RT_HOST_ADD, .arg = {0, 5}},
       "instruction 1 (ADD): argument is no register written before"},
      {{.op = RT_HOST_NEG, .arg = {1}},
       "instruction 1 (NEG): argument is no register written before"},
      {{.op = RT_HOST_NEG, .arg = {0}, .out = 5},
       "instruction 1 (NEG): result register out of range"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct rt_host_ins ins[] = {{.op = RT_HOST_CONST}, rows[i].ins};
    char why[100] = "";
    cr_assert_not(check(ins, 2, why, sizeof why));
    cr_assert_str_eq(why, rows[i].why);
  }
}
