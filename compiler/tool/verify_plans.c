// Schedule proof: plans of the verified model, all ranks of each, are free of races and hold what they should.
#include "tool/verify.h"

#include "plan/prove.h"

static const struct plan_options tried[] = {
    {.offload = {"none", 4}},
    {.offload = {"none", 4}, .overlap = true},
    {.offload = {"host", 4}},
    {.offload = {"host", 4}, .chunk_bytes = 64 << 10, .slots = 3},
    {.offload = {"host", 4}, .chunk_bytes = 1 << 20, .slots = 8, .overlap = true},
    {.offload = {"host:0.5", 8}, .chunk_bytes = 256 << 10, .slots = 5},
};
enum { N_TRIED = sizeof tried / sizeof *tried };

// Plans all ranks with these options and proves them. NULL: a plan was refused.
static struct proof *prove(struct verify *v, struct plan_options o) {
  struct driver *d = &v->driver;
  struct arena *a = v->tool->arena;
  uint32_t world = (uint32_t)d->model->world;
  const struct rt_plan **plan = ARENA_ARRAY(a, const struct rt_plan *, world);
  for (o.rank = 0; o.rank < world; o.rank++) {
    plan[o.rank] = plan_make(&v->tool->front, d->job, d->step, &o, &d->ice);
    if (plan[o.rank] == NULL) {
      return NULL;
    }
  }
  return plan_prove(a, plan, world);
}

enum exit_code verify_plans(struct verify *v, struct verdict *out) {
  struct arena *a = v->tool->arena;
  uint64_t operations = 0, pairs = 0, world = v->driver.model->world;
  *out = (struct verdict){.held = true, .result = STR("no fault")};
  for (int i = 0; i < N_TRIED && out->held; i++) {
    struct arena_mark mark = arena_mark(a);
    struct proof *proof = prove(v, tried[i]);
    if (proof == NULL) {
      return job_failed(v->tool, &v->driver);
    }
    operations += proof->operations;
    pairs += proof->pairs;
    out->held = proof->n_faults == 0;
    if (out->held) {
      arena_rewind(a, mark);
    } else {
      out->result = proof->fault[0].text;
    }
  }
  out->tried =
      str_fmt(a,
              "%d plans of %llu %s, resident and streamed: %llu operations, %llu "
              "pairs of chunks",
              N_TRIED, (unsigned long long)world, world == 1 ? "rank" : "ranks",
              (unsigned long long)operations, (unsigned long long)pairs);
  return EXIT_OK;
}
