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
    struct tiny t;
    tiny_make(&t, numel);
    spoil(&t, i);
    open_and_expect(&t, texts[i]);
  }
}

static const double abc[1][3] = {{1.5, -0.5, 0}};

// A good program whose last operation is a matrix operation on two temporaries.
static void make_matrix_program(struct tiny *t, struct rt_iteration *it) {
  tiny_make(t, numel);
  *it = (struct rt_iteration){.name = "one",
                              .norm = RT_NORM_FROBENIUS,
                              .safety = 1,
                              .compute = RT_F32,
                              .n_steps = 1,
                              .abc = abc};
  t->program.iteration = it;
  t->program.n_iterations = 1;
  t->op[5] = (struct rt_wave_op){.kind = RT_WAVE_ORTHO,
                                 .param = 0,
                                 .wave = 1,
                                 .in = 4,
                                 .out = 9,
                                 .batch = 2,
                                 .rows = 2,
                                 .cols = 2};
}

Test(steprt_program, each_mistake_of_a_matrix_operation_is_named) {
  static const char bad_result[] =
      "step operation 5 names a result that does not have its compute type and size";
  struct tiny t;
  struct rt_iteration it;
  make_matrix_program(&t, &it);
  t.op[5].out = 4;
  open_and_expect(&t, "step operation 5 names one buffer as operand and result");
  make_matrix_program(&t, &it);
  t.op[5].in = 1;
  open_and_expect(&t, "step operation 5 names an operand that is no temporary, nor its "
                      "parameter or a state of it");
  make_matrix_program(&t, &it);
  t.op[5].in = 7;
  open_and_expect(&t, "step operation 5 names an operand that is no temporary, nor its "
                      "parameter or a state of it");
  make_matrix_program(&t, &it);
  t.op[5].out = 2;
  open_and_expect(&t, "step operation 5 names a result that is no temporary");
  make_matrix_program(&t, &it);
  t.op[5].batch = 3;
  open_and_expect(
      &t, "step operation 5 names an operand that is not f32 or bf16 of its size");
  make_matrix_program(&t, &it);
  it.compute = RT_BF16;
  open_and_expect(&t, bad_result);
  make_matrix_program(&t, &it);
  t.op[5].rows = t.op[5].cols = UINT32_MAX;
  open_and_expect(&t, "step operation 5 names dimensions that overflow");
  make_matrix_program(&t, &it);
  it.compute = RT_F16;
  open_and_expect(&t, "iteration 'one': unknown norm or compute type");
  make_matrix_program(&t, &it);
  it.n_steps = 0;
  open_and_expect(&t, "iteration 0 has no steps");
}

// Spoils a random 32-bit word of the tables that hold numbers only; sizes that would be honoured are not among the
// values.
static void spoil_anything(struct tiny *t, uint64_t *seed) {
  static const uint32_t values[] = {0,  1,   2,          3,          5,         7,
                                    20, 255, 0x7fffffff, 0x80000000, UINT32_MAX};
  uint32_t value = values[random_below(seed, sizeof values / sizeof *values)];
  struct rt_param *v = &t->param[random_below(seed, TINY_PARAMS)];
  struct rt_buffer *b = &t->buffer[random_below(seed, t->program.n_buffers)];
  struct rt_wave_op *op = random_below(seed, 4) ? &t->op[random_below(seed, 6)]
                                                : &t->init[random_below(seed, 3)];
  uint32_t *const word[] = {&v->rank,
                            &v->storage,
                            &v->rule,
                            &v->param_buffer,
                            &v->grad_buffer,
                            &v->first_state,
                            &v->n_states,
                            &b->storage,
                            &b->param,
                            &op->param,
                            &op->wave,
                            &op->kernel,
                            &op->iteration,
                            &op->in,
                            &op->out,
                            (uint32_t *)&b->kind,
                            (uint32_t *)&op->kind,
                            (uint32_t *)t->init_buffer + random_below(seed, 8),
                            (uint32_t *)t->momentum_buffer + random_below(seed, 12),
                            (uint32_t *)t->update_buffer + random_below(seed, 8),
                            &t->momentum_scalar[random_below(seed, 2)],
                            &t->update_scalar[0],
                            &t->ins[random_below(seed, t->rule[0].n_ins)].out,
                            &t->ins[random_below(seed, t->rule[0].n_ins)].arg[0],
                            &t->ins[random_below(seed, t->rule[0].n_ins)].arg[1],
                            &t->ins[random_below(seed, t->rule[0].n_ins)].index};
  if (random_below(seed, 8)) {
    *word[random_below(seed, sizeof word / sizeof *word)] = value;
  } else if (random_below(seed, 2)) {
    t->ins[random_below(seed, t->rule[0].n_ins)].op = (uint8_t)value;
  } else {
    b->numel = v->numel = op->numel = v->dim[0] =
        value > 255 ? UINT64_MAX - value : value;
  }
}

Test(steprt_program, random_spoils_are_opened_or_refused) {
  uint64_t seed = 1;
  int opened = 0, refused = 0;
  for (int i = 0; i < 3000; i++) {
    struct tiny t;
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
