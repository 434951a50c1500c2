// The parameter table: shards, replicas, and parameters that are frozen, tied, empty, scalar.
#include "plan_job.h"

#include <criterion/criterion.h>
#include <string.h>

static const char sgd[] = "spec 1\noptimizer sgd {\n  hyper lr : f32 = 0.1\n"
                          "  param := param - lr * grad\n}\n"
                          "recipe r {\n  clip global_norm 1.0\n  use sgd as all\n}\n";

#define MESH                                                                             \
  "{ \"format\": \"stepc-model/1\", \"name\": \"t\", \"world\": 12, \"mesh\": {"         \
  "\"dp\": {\"size\": 3, \"stride\": 4}, \"fsdp\": {\"size\": 4, \"stride\": 1}, "       \
  "\"ep\": {\"size\": 2, \"stride\": 1}, \"pairs\": {\"size\": 6, \"stride\": 2}}, "     \
  "\"params\": ["
static const char model[] = MESH
    "{\"name\": \"whole\", \"shape\": [5, 7]},"
    "{\"name\": \"rows\", \"shape\": [10, 3], \"place\": {\"fsdp\": 0}},"
    "{\"name\": \"few\", \"shape\": [5], \"place\": {\"fsdp\": 0}},"
    "{\"name\": \"one\", \"shape\": [1, 9], \"place\": {\"fsdp\": 0}},"
    "{\"name\": \"none\", \"shape\": [0, 9], \"place\": {\"fsdp\": 0}},"
    "{\"name\": \"both\", \"shape\": [7, 11], \"place\": {\"ep\": 1, \"pairs\": 0}},"
    "{\"name\": \"twice\", \"shape\": [13, 2], \"place\": [[\"ep\", 0], [\"dp\", 0]]},"
    "{\"name\": \"turned\", \"shape\": [13, 2], \"place\": [[\"dp\", 0], [\"ep\", 0]]},"
    "{\"name\": \"last\", \"shape\": [2, 3, 17], \"place\": {\"dp\": 2, \"ep\": 0}},"
    "{\"name\": \"on\", \"shape\": [4, 4], \"on\": {\"dp\": 1}},"
    "{\"name\": \"on.cut\", \"shape\": [9, 4], \"on\": {\"dp\": 2}, \"place\": {\"ep\": "
    "0}},"
    "{\"name\": \"flat\", \"shape\": [4, 5], \"flat\": {\"axis\": \"dp\", \"ranges\": "
    "[[0, 3], [3, 3], [3, 20]]}},"
    "{\"name\": \"scalar\", \"shape\": []},"
    "{\"name\": \"scalar.on\", \"shape\": [], \"on\": {\"ep\": 1}}"
    "] }";
enum { WORLD = 12 };

// ---- an oracle that asks for each element, not for ranges

static const struct model_axis *axis(const struct model *m, struct str name) {
  for (uint32_t i = 0; i < m->n_axes; i++) {
    if (str_eq(m->axis[i].name, name)) {
      return &m->axis[i];
    }
  }
  return NULL;
}

// The coordinate that holds index `i` of `n` and what that leaves: index and length within the shard.
static uint64_t owner(uint64_t size, uint64_t *i, uint64_t *n) {
  uint64_t full = *n / size + (*n % size != 0), c = *i / full;
  uint64_t left = *n - c * full;
  *i -= c * full;
  *n = left < full ? left : full;
  return c;
}

static bool holds(const struct model *m, const struct model_param *p, uint64_t rank,
                  uint64_t element) {
  const struct model_axis *on = axis(m, p->on_axis), *flat = axis(m, p->flat_axis);
  if (on != NULL && rank / on->stride % on->size != p->on_coord) {
    return false;
  }
  if (flat != NULL) {
    const uint64_t *r = p->flat[rank / flat->stride % flat->size];
    return r[0] <= element && element < r[1];
  }
  uint64_t index[MAX_RANK], length[MAX_RANK], rest = element;
  for (uint32_t d = p->shape.rank; d-- > 0;) {
    index[d] = rest % p->shape.dim[d];
    length[d] = p->shape.dim[d];
    rest /= p->shape.dim[d];
  }
  for (uint32_t i = 0; i < p->n_places; i++) {
    const struct model_axis *a = &m->axis[p->place[i].axis];
    uint32_t d = p->place[i].dim;
    if (owner(a->size, &index[d], &length[d]) != rank / a->stride % a->size) {
      return false;
    }
  }
  return true;
}

// ---- what the plan says

// Adds one to `hit` at every element of a shard, by its global place. False: a place outside.
static bool mark(const struct model_param *p, const struct rt_plan_param *s,
                 uint32_t *hit) {
  bool is_flat = p->flat_axis.n != 0 || (p->on_axis.n != 0 && s->numel == 0);
  for (uint64_t e = 0; e < s->numel; e++) {
    uint64_t at = 0, rest = e, stride = 1;
    for (uint32_t d = s->rank; d-- > 0;) {
      at += (s->start[d] + rest % s->dim[d]) * stride;
      rest /= s->dim[d];
      stride *= is_flat ? 1 : p->shape.dim[d];
    }
    if (at >= shape_numel(&p->shape)) {
      return false;
    }
    hit[at]++;
  }
  return true;
}

static void check_param(struct plan_job *j, struct rt_plan *const plan[WORLD],
                        uint32_t i) {
  const struct model *m = j->driver.model;
  const struct model_param *p = &m->param[i];
  uint64_t n = shape_numel(&p->shape);
  uint32_t *counted = ARENA_ARRAY(j->arena, uint32_t, n);
  for (uint32_t r = 0; r < WORLD; r++) {
    const struct rt_plan_param *s = &plan[r]->param[i];
    uint32_t *hit = ARENA_ARRAY(j->arena, uint32_t, n);
    cr_assert(mark(p, s, hit), "%s of rank %u", s->name, r);
    uint64_t numel = 1;
    for (uint32_t d = 0; d < s->rank; d++) {
      numel *= s->dim[d];
    }
    cr_expect_eq(numel, s->numel, "%s of rank %u", s->name, r);
    for (uint64_t e = 0; e < n; e++) {
      cr_assert_eq(hit[e], holds(m, p, r, e), "%s of rank %u: element %llu", s->name, r,
                   (unsigned long long)e);
      counted[e] += s->counted ? hit[e] : 0;
    }
  }
  for (uint64_t e = 0; e < n; e++) {
    cr_assert_eq(counted[e], 1, "%s: element %llu counts %u times",
                 plan[0]->param[i].name, (unsigned long long)e, counted[e]);
  }
}

Test(plan_params, shards_tile_every_tensor) {
  struct plan_job j;
  struct rt_plan *plan[WORLD];
  plan_job_open(&j, sgd, model, false);
  for (uint32_t r = 0; r < WORLD; r++) {
    plan[r] = plan_job_plan(&j, &(struct plan_options){.rank = r});
    cr_assert_not_null(plan[r], "%s", plan_job_said(&j));
    cr_expect_str_eq(plan[r]->agreed, plan[0]->agreed);
  }
  for (uint32_t i = 0; i < plan[0]->n_params; i++) {
    check_param(&j, plan, i);
  }
  plan_job_close(&j);
}

// ---- the rest of a row

static const char gpt_model[] =
    "{ \"format\": \"stepc-model/1\", \"name\": \"t\", \"params\": ["
    "{\"name\": \"wte\", \"shape\": [8, 4], \"order\": 3},"
    "{\"name\": \"h\", \"shape\": [4, 4], \"dtype\": \"bf16\", \"grad\": \"f32\"},"
    "{\"name\": \"ice\", \"shape\": [4], \"frozen\": true},"
    "{\"name\": \"head\", \"shape\": [8, 4], \"tied\": \"wte\"},"
    "{\"name\": \"none\", \"shape\": [0, 4]},"
    "{\"name\": \"b\", \"shape\": []}] }";
static const struct row {
  const char *name, *label, *rule, *reason;
  uint32_t n_states, storage, grad;
  bool has_unit;
  uint64_t order;
} rows[] = {
    {"wte", "embed", "adamw",
     "name ~ \"*embed*\" or name ~ \"*wte*\" or name ~ \"*wpe*\" or name ~ \"*lm_head*\"",
     2, RT_F32, RT_F32, true, 3},
    {"h", "muon", "muon", "rank >= 2", 1, RT_BF16, RT_F32, true, 0},
    {"ice", "", "", "", 0, RT_F32, RT_F32, false, 0},
    {"head", "", "", "", 0, RT_F32, RT_F32, false, 0},
    {"none", "muon", "muon", "rank >= 2", 1, RT_F32, RT_F32, true, 0},
    {"b", "rest", "adamw", "", 2, RT_F32, RT_F32, true, 0},
};

Test(plan_params, rows_say_rule_and_reason) {
  struct plan_job j;
  plan_job_open(&j, "specs/gpt.opt", gpt_model, false);
  const struct rt_plan *p = plan_job_plan(&j, &(struct plan_options){.rank = 0});
  cr_assert_not_null(p);
  cr_assert_eq(p->n_params, sizeof rows / sizeof rows[0]);
  for (uint32_t i = 0; i < p->n_params; i++) {
    const struct rt_plan_param *q = &p->param[i];
    cr_expect_str_eq(q->name, rows[i].name);
    cr_expect_str_eq(q->label, rows[i].label);
    cr_expect_str_eq(q->rule, rows[i].rule);
    cr_expect_str_eq(q->reason, rows[i].reason);
    cr_expect_eq(q->n_states, rows[i].n_states, "%s", q->name);
    cr_expect_eq(q->storage, rows[i].storage, "%s", q->name);
    cr_expect_eq(q->grad, rows[i].grad, "%s", q->name);
    cr_expect_eq(q->unit != RT_NO_ID, rows[i].has_unit, "%s", q->name);
    cr_expect_eq(q->counted, rows[i].has_unit, "%s", q->name);
    cr_expect_eq(q->order, rows[i].order, "%s", q->name);
  }
  cr_expect_str_eq(p->state[p->param[0].first_state + 1].name, "v");
  plan_job_close(&j);
}
