// Programs that are wrong in one place: open refuses each and names the place.
#include "random.h"
#include "steprt.h"
#include "support/tiny_program.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static const uint64_t numel[TINY_PARAMS] = {8, 8, 8, 8};
static const uint8_t all_groups[] = {1, 1};
static const double other_init[] = {1, 2};

static const char *const texts[] = {
#define SPOIL(statement, text) text,
#include "bad_programs.def"
#undef SPOIL
};
enum { N_SPOILS = sizeof texts / sizeof *texts };

static void spoil(struct tiny *t, int which) {
  int row = 0;
#define SPOIL(statement, text)                                                           \
  if (row++ == which) {                                                                  \
    statement;                                                                           \
  }
#include "bad_programs.def"
#undef SPOIL
}

static void open_and_expect(const struct tiny *t, const char *text) {
  struct steprt *rt;
  cr_assert_eq(steprt_open(&t->program, NULL, &rt), STEPRT_BAD_PROGRAM, "%s", text);
  cr_assert_str_eq(steprt_error(rt), text);
  cr_assert_eq(steprt_bind(rt, NULL), STEPRT_BAD_STATE);
  cr_assert_str_eq(steprt_error(rt), text); // it stays
  steprt_destroy(rt);
}

Test(steprt_program, each_mistake_is_named) {
  for (int i = 0; i < N_SPOILS; i++) {
    static struct tiny t;
    tiny_make(&t, numel);
    spoil(&t, i);
    open_and_expect(&t, texts[i]);
  }
}

static const double abc[1][3] = {{1.5, -0.5, 0}};

// A good program with a matrix phase between the two of its first rule, on a temporary of its own.
static void make_matrix_program(struct tiny *t, struct rt_iteration *it,
                                struct rt_phase phase[3], struct rt_tensor tensor[2]) {
  static const uint32_t temps[] = {RT_F32, RT_F32};
  tiny_make(t, numel);
  *it = (struct rt_iteration){.name = "one",
                              .norm = RT_NORM_FROBENIUS,
                              .safety = 1,
                              .compute = RT_F32,
                              .n_steps = 1,
                              .abc = abc};
  tensor[0] = (struct rt_tensor){RT_TENSOR_TEMP, 0, RT_F32, true, false};
  tensor[1] = (struct rt_tensor){RT_TENSOR_TEMP, 1, RT_F32, false, true};
  phase[0] = t->phase[0][1];
  phase[1] = (struct rt_phase){RT_PHASE_ORTHO, 0, tensor, 2, NULL};
  phase[2] = t->phase[0][2];
  t->rule[0].phase = phase;
  t->rule[0].n_phases = 3;
  t->rule[0].temp = temps;
  t->rule[0].n_temps = 2;
  t->rule[0].rows = 2;
  t->rule[0].cols = 2;
  t->program.iteration = it;
  t->program.n_iterations = 1;
  tiny_plan_make(&t->plan, &t->program, &(struct tiny_plan_options){0});
}

enum { N_MATRIX_SPOILS = 8 };

// Spoils one thing; returns what open says.
static const char *spoil_matrix(int which, struct rt_iteration *it,
                                struct rt_phase *phase, struct rt_tensor *tensor) {
  switch (which) {
  case 0:
    tensor[0].index = 1;
    return "rule 'tiny_b': its phase 1 names one temporary as operand and result";
  case 1:
    tensor[0].kind = RT_TENSOR_GRAD;
    return "rule 'tiny_b': its phase 1 names an operand that is no temporary, nor its "
           "parameter or a state of it";
  case 2:
    tensor[0].storage = RT_F16;
    return "rule 'tiny_b': its phase 1 names an operand that is not f32 or bf16";
  case 3:
    tensor[1].kind = RT_TENSOR_PARAM;
    return "rule 'tiny_b': its phase 1 names a result that is no temporary";
  case 4:
    it->compute = RT_BF16;
    return "rule 'tiny_b': its phase 1 names a result that does not have its compute "
           "type";
  case 5:
    phase[1].n_tensors = 1;
    return "rule 'tiny_b': its phase 1 names other tensors than an operand and a result";
  case 6: it->compute = RT_F16; return "iteration 'one': unknown norm or compute type";
  default: it->n_steps = 0; return "iteration 0 has no steps";
  }
}

Test(steprt_program, each_mistake_of_a_matrix_operation_is_named) {
  for (int i = 0; i < N_MATRIX_SPOILS; i++) {
    static struct tiny t;
    struct rt_iteration it;
    struct rt_phase phase[3];
    struct rt_tensor tensor[2];
    make_matrix_program(&t, &it, phase, tensor);
    const char *text = spoil_matrix(i, &it, phase, tensor);
    open_and_expect(&t, text);
  }
}

// Spoils a random 32-bit word of the tables that hold numbers only; sizes that would be honoured are not among the
// values.
static void spoil_anything(struct tiny *t, uint64_t *seed) {
  static const uint32_t values[] = {0,  1,   2,          3,          5,         7,
                                    20, 255, 0x7fffffff, 0x80000000, UINT32_MAX};
  uint32_t value = values[random_below(seed, sizeof values / sizeof *values)];
  struct rt_param *v = &t->param[random_below(seed, TINY_PARAMS)];
  struct rt_phase *phase =
      &t->phase[random_below(seed, TINY_RULES)][random_below(seed, 3)];
  struct rt_tensor *tensor =
      &t->tensor[random_below(seed, TINY_RULES)][random_below(seed, 7)];
  struct rt_host_ins *ins = &t->ins[random_below(seed, TINY_INS)];
  uint32_t *const word[] = {&v->rank,
                            &v->storage,
                            &v->grad,
                            &v->rule,
                            &phase->kind,
                            &phase->kernel,
                            &phase->n_tensors,
                            &tensor->kind,
                            &tensor->index,
                            &tensor->storage,
                            &t->momentum_scalar[random_below(seed, 2)],
                            &t->update_scalar[0],
                            &ins->out,
                            &ins->arg[0],
                            &ins->arg[1],
                            &ins->index};
  if (random_below(seed, 8)) {
    *word[random_below(seed, sizeof word / sizeof *word)] = value;
  } else if (random_below(seed, 2)) {
    ins->op = (uint8_t)value;
  } else {
    v->numel = v->dim[0] = value > 255 ? UINT64_MAX - value : value;
  }
}

Test(steprt_program, random_spoils_are_opened_or_refused) {
  uint64_t seed = 1;
  int opened = 0, refused = 0;
  for (int i = 0; i < 3000; i++) {
    static struct tiny t;
    struct steprt_options o = {.size = sizeof o, .threads = 1};
    struct steprt *rt;
    tiny_make(&t, numel);
    for (uint64_t n = 1 + random_below(&seed, 3); n > 0; n--) {
      spoil_anything(&t, &seed);
    }
    steprt_status s = steprt_open(&t.program, &o, &rt);
    cr_assert(s == STEPRT_OK || s == STEPRT_BAD_PROGRAM, "%d: %s", i, steprt_error(rt));
    opened += s == STEPRT_OK;
    refused += s != STEPRT_OK;
    steprt_destroy(rt);
  }
  cr_assert(opened > 100 && refused > 100, "%d %d", opened, refused);
}
