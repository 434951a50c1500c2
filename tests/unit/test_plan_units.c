// Units: what batches, what does not, and that all ranks make the same.
#include "plan_job.h"

#include <criterion/criterion.h>
#include <string.h>

#define MODEL(mesh, params)                                                              \
  "{ \"format\": \"stepc-model/1\", \"name\": \"t\", \"mesh\": {" mesh                   \
  "}, \"params\": [" params "] }"

// Parameters of each unit in the order of the plan, resident and without overlap: that of the model, by the first
// parameter of each.
static const struct expectation {
  const char *what, *mesh, *params;
  const char *units; // "first name/parameters/KiB of states", a word each
} expectations[] = {
    {"an element-wise parameter is a unit of its own", "",
     "{\"name\": \"b.{0..2}\", \"shape\": [128]}", "b.0/1/1 b.1/1/1 b.2/1/1"},
    {"a batch ends before 264 matrices are passed", "",
     "{\"name\": \"w.{0..299}\", \"shape\": [8, 16]}", "w.0/264/132 w.264/36/18"},
    {"and before 64 MiB are", "", "{\"name\": \"w.{0..19}\", \"shape\": [1024, 1024]}",
     "w.0/16/65536 w.16/4/16384"},
    {"one parameter is never cut", "",
     "{\"name\": \"w.{0..1}\", \"shape\": [5, 2048, 2048]}", "w.0/1/81920 w.1/1/81920"},
    {"a stack counts its matrices", "",
     "{\"name\": \"e.{0..3}\", \"shape\": [100, 8, 16]}", "e.0/2/100 e.2/2/100"},
    {"batches go across layers, by shape", "",
     "{\"name\": \"q.{0..1}\", \"shape\": [16, 16]}, {\"name\": \"k\", \"shape\": [16, "
     "32]},"
     "{\"name\": \"v\", \"shape\": [16, 16]}, {\"name\": \"o\", \"shape\": [2, 2, 16, "
     "32]}",
     "q.0/3/3 k/2/10"},
    {"rows and columns are not alike", "",
     "{\"name\": \"a\", \"shape\": [16, 32]}, {\"name\": \"b\", \"shape\": [32, 16]}",
     "a/1/2 b/1/2"},
    {"nor are storages", "",
     "{\"name\": \"a\", \"shape\": [16, 32]},"
     "{\"name\": \"b\", \"shape\": [16, 32], \"dtype\": \"bf16\"}",
     "a/1/2 b/1/2"},
    {"nothing batches with what has no elements", "",
     "{\"name\": \"a\", \"shape\": [16, 16]}, {\"name\": \"n\", \"shape\": [0, 16, 16]},"
     "{\"name\": \"b\", \"shape\": [16, 16]}",
     "a/2/2 n/1/0"},
    {"bytes are global ones by the number of shards that have any, rounded up",
     "\"ep\": {\"size\": 4, \"stride\": 1}",
     "{\"name\": \"e\", \"shape\": [6, 16, 16], \"place\": {\"ep\": 0}},"
     "{\"name\": \"b\", \"shape\": [1280], \"place\": {\"ep\": 0}}",
     "e/1/2 b/1/2.5"},
    {"a matrix whole in one rank's flat buffer is local",
     "\"dp\": {\"size\": 2, \"stride\": 1}",
     "{\"name\": \"w\", \"shape\": [8, 16], \"flat\": {\"axis\": \"dp\", \"ranges\": "
     "[[0, 0], [0, 128]]}}, {\"name\": \"v\", \"shape\": [8, 16]}",
     "w/2/1"},
    {"a stack's largest shard counts", "\"ep\": {\"size\": 2, \"stride\": 1}",
     "{\"name\": \"e.{0..2}\", \"shape\": [201, 8, 8], \"place\": {\"ep\": 0}}",
     "e.0/2/50.25 e.2/1/25.125"},
    {"experts batch with those of their ranks", "\"ep\": {\"size\": 2, \"stride\": 1}",
     "{\"name\": \"e.{0..1}.{0..3}\", \"shape\": [16, 16], \"on\": {\"ep\": \"j/2\"}}",
     "e.0.0/4/4 e.0.2/4/4"},
};

static struct str units_text(struct arena *a, const struct rt_plan *p) {
  struct buf b = buf_new(a);
  for (uint32_t u = 0; u < p->n_units; u++) {
    const struct rt_unit *x = &p->unit[u];
    buf_printf(&b, "%s%s/%u/%.6g", u == 0 ? "" : " ",
               p->param[p->unit_param[x->first]].name, x->n, (double)x->bytes / 1024);
  }
  return buf_done(&b);
}

static void check(const struct expectation *e) {
  struct plan_job j;
  struct arena *a = arena_new(0);
  struct str model = str_fmt(a, MODEL("%s", "%s"), e->mesh, e->params);
  plan_job_open(&j, "specs/gpt.opt", model.p, false);
  struct rt_plan *first = NULL;
  for (uint32_t r = 0; r < j.driver.model->world; r++) {
    struct rt_plan *p = plan_job_plan(&j, &(struct plan_options){.rank = r});
    cr_assert_not_null(p, "%s: %s", e->what, plan_job_said(&j));
    first = r == 0 ? p : first;
    struct str got = units_text(j.arena, p);
    cr_expect(str_is(got, e->units), "%s:\n%s\n%.*s", e->what, e->units, STR_FMT(got));
    cr_expect_str_eq(p->agreed, first->agreed, "%s", e->what);
  }
  plan_job_close(&j);
  arena_free(a);
}

Test(plan_units, are_as_expected_on_all_ranks) {
  for (size_t i = 0; i < sizeof expectations / sizeof expectations[0]; i++) {
    check(&expectations[i]);
  }
}

// Under overlap parameters are walked as the forward pass needs them.
Test(plan_units, follow_the_forward_pass_under_overlap) {
  struct plan_job j;
  plan_job_open(&j, "specs/gpt.opt",
                MODEL("",
                      "{\"name\": \"a.{0..3}\", \"shape\": [64], \"order\": \"3-i\"},"
                      "{\"name\": \"w.{0..2}\", \"shape\": [4, 8], \"order\": \"5-i\"},"
                      "{\"name\": \"z\", \"shape\": [64]}"),
                false);
  struct rt_plan *p = plan_job_plan(&j, &(struct plan_options){.overlap = true});
  cr_assert_not_null(p, "%s", plan_job_said(&j));
  struct str got = units_text(j.arena, p);
  cr_expect(str_is(got, "a.3/1/0.5 z/1/0.5 a.2/1/0.5 a.1/1/0.5 a.0/1/0.5 w.2/3/0.375"),
            "%.*s", STR_FMT(got));
  // Whatever the order, a chunk is needed when the first of its parameters is.
  p = plan_job_plan(&j, &(struct plan_options){.offload = STR("host"), .chunk_bytes = 1});
  uint32_t unit = p->param[4].unit;
  cr_expect_eq(p->unit[unit].n, 3);
  cr_expect_eq(p->chunk[p->unit[unit].first_chunk].order, 3);
  plan_job_close(&j);
}
