// Random models, meshes, chunk sizes, slots and tiers: facts about each rank's plan, and what all ranks share.
#include "plan_facts.h"

#include "../random.h"
#include "plan/prove.h"

#include <criterion/criterion.h>
#include <string.h>

// Element-wise rules with and without states and initial values, Muon with one and with two copies of its operand.
static const char spec[] =
    "spec 1\n"
    "import \"muon.opt\"\n"
    "import \"adamw.opt\"\n"
    "optimizer plain {\n  hyper lr : f32 = 0.1\n  param := param - lr * grad\n}\n"
    "optimizer anchored {\n  hyper lr : f32 = 0.1\n"
    "  state a : f32 like param init param\n  state s : bf16 like param\n"
    "  state c : f32 like param init 2.5\n"
    "  s := ema(s, grad, 0.5)\n  c := c * 0.5\n"
    "  param := param - lr * (s + 0.1 * (param - a) + c)\n}\n"
    "recipe r {\n"
    "  clip global_norm 1.0\n  skip nonfinite\n"
    "  use plain                    when name ~ \"plain*\"\n"
    "  use anchored                 when name ~ \"anchored*\"\n"
    "  use muon as heavy(nesterov = false)  when rank >= 2 and name ~ \"heavy*\"\n"
    "  use muon                     when rank >= 2 and name ~ \"muon*\"\n"
    "  use adamw\n}\n";

static const char *const kinds[] = {"plain", "anchored", "heavy", "muon", "adamw"};
static const char *const axes[] = {"a", "b", "c"};

static uint64_t pick(uint64_t *seed, uint64_t lo, uint64_t hi) {
  return lo + random_below(seed, hi - lo + 1);
}

static void put_place(struct buf *b, uint64_t *seed, uint64_t rank, bool is_matrix,
                      bool is_on) {
  uint64_t dims = is_matrix ? rank - 2 : rank;
  if (dims == 0 || pick(seed, 0, 2) == 0) {
    return;
  }
  buf_puts(b, ", \"place\": [");
  uint64_t n = pick(seed, 1, 2), first = is_on ? 0 : pick(seed, 0, 1);
  for (uint64_t i = 0; i < n; i++) {
    buf_printf(b, "%s[\"%s\", %u]", i == 0 ? "" : ", ", axes[first + i],
               (unsigned)pick(seed, 0, dims - 1));
  }
  buf_puts(b, "]");
}

static void put_param(struct buf *b, uint64_t *seed, uint32_t i) {
  uint32_t kind = (uint32_t)pick(seed, 0, 4);
  bool is_matrix = kind == 2 || kind == 3;
  uint64_t rank = is_matrix ? pick(seed, 2, 3) : pick(seed, 0, 3);
  buf_printf(b, "%s{\"name\": \"%s.%u\", \"shape\": [", i == 0 ? "" : ", ", kinds[kind],
             i);
  uint64_t numel = 1;
  for (uint64_t d = 0; d < rank; d++) {
    uint64_t most = rank == 1 ? 9000 : 40;
    uint64_t n = pick(seed, 0, 15) == 0 ? 0 : pick(seed, 1, most);
    n = is_matrix && n > 4 ? n / 8 * 8 + 1 : n;
    numel *= n;
    buf_printf(b, "%s%u", d == 0 ? "" : ", ", (unsigned)n);
  }
  buf_puts(b, "]");
  bool is_flat = !is_matrix && pick(seed, 0, 5) == 0;
  bool is_on = !is_flat && pick(seed, 0, 5) == 0;
  if (is_flat) {
    unsigned cut = (unsigned)pick(seed, 0, numel);
    buf_printf(b, ", \"flat\": {\"axis\": \"c\", \"ranges\": [[0, %u], [%u, %u]]}", cut,
               cut, (unsigned)numel);
  } else {
    put_place(b, seed, rank, is_matrix, is_on);
  }
  if (pick(seed, 0, 3) == 0) {
    buf_puts(b, ", \"dtype\": \"bf16\"");
  }
  if (pick(seed, 0, 2) == 0) {
    buf_printf(b, ", \"order\": %u", (unsigned)pick(seed, 0, 5));
  }
  if (is_on) {
    buf_printf(b, ", \"on\": {\"c\": %u}", (unsigned)pick(seed, 0, 1));
  }
  buf_puts(b, "}");
}

static struct str model_text(struct arena *a, uint64_t *seed) {
  struct buf b = buf_new(a);
  uint64_t one = pick(seed, 1, 3), two = pick(seed, 1, 3);
  buf_printf(
      &b,
      "{ \"format\": \"stepc-model/1\", \"name\": \"t\", \"mesh\": {"
      "\"a\": {\"size\": %u, \"stride\": 1}, \"b\": {\"size\": %u, \"stride\": %u}, "
      "\"c\": {\"size\": 2, \"stride\": %u}}, \"params\": [",
      (unsigned)one, (unsigned)two, (unsigned)one, (unsigned)(one * two));
  uint64_t n = pick(seed, 1, 14);
  for (uint32_t i = 0; i < n; i++) {
    put_param(&b, seed, i);
  }
  buf_puts(&b, "] }");
  return buf_done(&b);
}

static struct plan_options options(uint64_t *seed) {
  static const char *const offloads[] = {"none", "host", "host", "host:0.5", "host:0.1"};
  struct plan_options o = {.offload = str_of(offloads[pick(seed, 0, 4)])};
  o.overlap = pick(seed, 0, 1) != 0;
  bool is_host = !str_is(o.offload, "none");
  if (is_host || o.overlap) {
    o.chunk_bytes = UINT64_C(1) << pick(seed, 6, 18);
  }
  if (is_host) {
    o.slots = (uint32_t)pick(seed, 3, 8);
  }
  return o;
}

// A budget is kept, or refused with one that works.
static void check_budget(struct plan_job *j, struct plan_options o,
                         const struct rt_plan *p, uint64_t *seed, const char *what) {
  uint64_t all = p->state_bytes + p->arena_bytes + p->step_bytes + p->host_bytes;
  o.rank = p->configuration.rank;
  o.gpu_memory = pick(seed, 1, all + all / 4);
  const struct rt_plan *q = plan_job_plan(j, &o);
  if (q == NULL) {
    const char *said = plan_job_said(j), *help = strstr(said, "with these options ");
    cr_assert_not_null(help, "%s\n%s", what, said);
    uint64_t least = strtoull(help + strlen("with these options "), NULL, 10) * 1024;
    cr_assert_gt(least, o.gpu_memory, "%s\n%s", what, said);
    o.gpu_memory = least;
    q = plan_job_plan(j, &o);
    cr_assert_not_null(q, "%s\n%s", what, said);
  }
  cr_expect_leq(q->state_bytes + q->arena_bytes + q->step_bytes, o.gpu_memory, "%s",
                what);
  plan_facts_check(j, q, what);
}

static void check_seed(uint64_t seed) {
  struct arena *a = arena_new(0);
  struct str model = model_text(a, &seed);
  struct plan_options o = options(&seed);
  const char *what =
      str_fmt(a, "%.*s\n%.*s chunk %llu slots %u overlap %d", STR_FMT(model),
              STR_FMT(o.offload), (unsigned long long)o.chunk_bytes, o.slots, o.overlap)
          .p;
  struct plan_job j;
  plan_job_open(&j, spec, model.p, pick(&seed, 0, 1) != 0);
  uint32_t world = (uint32_t)j.driver.model->world;
  const struct rt_plan **plan = ARENA_ARRAY(a, const struct rt_plan *, world);
  for (uint32_t r = 0; r < world; r++) {
    o.rank = r;
    plan[r] = plan_job_plan(&j, &o);
    cr_assert_not_null(plan[r], "%s\n%s", what, plan_job_said(&j));
    cr_assert_str_eq(plan[r]->agreed, plan[0]->agreed, "%s", what);
    plan_facts_check(&j, plan[r], what);
  }
  struct proof *proof = plan_prove(a, plan, world);
  cr_assert_eq(proof->n_faults, 0, "%s\n%.*s", what,
               STR_FMT(proof->n_faults ? proof->fault[0].text : STR("")));
  check_budget(&j, o, plan[0], &seed, what);
  plan_job_close(&j);
  arena_free(a);
}

Test(plan_random, every_plan_keeps_the_facts, .timeout = 300) {
  for (uint64_t seed = 1; seed <= 200; seed++) {
    check_seed(seed);
  }
}
