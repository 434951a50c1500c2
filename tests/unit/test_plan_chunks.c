// Chunks: order, ramp, cuts, tiers.
#include "plan_job.h"

#include "plan/prove.h"

#include <criterion/criterion.h>
#include <string.h>

#define MODEL(params)                                                                    \
  "{ \"format\": \"stepc-model/1\", \"name\": \"t\", \"params\": [" params "] }"
// AdamW keeps 8 bytes an element: a vector of 4096 has 32 KiB, a matrix of Muon 64 x 64 has 16.
#define VECTORS(n) "{\"name\": \"b.{1.." n "}\", \"shape\": [4096]}"

static const struct expectation {
  const char *what, *params;
  struct plan_options o;
  const char *chunks; // "units/KiB", a word each; "r" in front: resident
} expectations[] = {
    {"small at both ends",
     VECTORS("20"),
     {.offload = {"host", 4}, .chunk_bytes = 64 << 10},
     "1/32 1/32 2/64 2/64 2/64 2/64 2/64 2/64 2/64 2/64 1/32 1/32"},
    {"all alike under overlap",
     VECTORS("7"),
     {.offload = {"host", 4}, .chunk_bytes = 64 << 10, .overlap = true},
     "2/64 2/64 2/64 1/32"},
    {"cut before the target is passed",
     VECTORS("4"),
     {.offload = {"host", 4}, .chunk_bytes = 95 << 10, .overlap = true},
     "2/64 2/64"},
    {"light units at both ends",
     "{\"name\": \"w\", \"shape\": [2, 64, 64]}, " VECTORS("4"),
     {.offload = {"host", 4}, .chunk_bytes = 64 << 10},
     "1/32 1/32 1/32 1/32 1/32"},
    {"a matrix unit is never cut",
     "{\"name\": \"w\", \"shape\": [64, 64]}",
     {.offload = {"host", 4}, .chunk_bytes = 4 << 10},
     "1/16"},
    {"an element-wise one is, between rows",
     "{\"name\": \"wte\", \"shape\": [10, 1024]}",
     {.offload = {"host", 4}, .chunk_bytes = 20 << 10, .overlap = true},
     "1/16 1/16 1/16 1/16 1/16"},
    {"or within a row after 4096 elements",
     "{\"name\": \"wte\", \"shape\": [2, 5000]}",
     {.offload = {"host", 4}, .chunk_bytes = 32 << 10, .overlap = true},
     "1/32 1/7.0625 1/32 1/7.0625"},
    {"its last piece takes others along",
     "{\"name\": \"wte\", \"shape\": [3, 4096]}, {\"name\": \"b\", \"shape\": [4096]}",
     {.offload = {"host", 4}, .chunk_bytes = 64 << 10, .overlap = true},
     "1/64 2/64"},
    {"resident states are one chunk", VECTORS("9"), {.rank = 0}, "r9/0"},
    {"and several under overlap",
     VECTORS("5"),
     {.chunk_bytes = 64 << 10, .overlap = true},
     "r2/0 r2/0 r1/0"},
    {"a share is resident, and first",
     VECTORS("4"),
     {.offload = {"host:0.5", 8}, .chunk_bytes = 32 << 10},
     "r2/0 1/32 1/32"},
    {"whole units only",
     VECTORS("4"),
     {.offload = {"host:0.6", 8}, .chunk_bytes = 32 << 10},
     "r1/0 1/32 1/32 1/32"},
    {"all of it", VECTORS("2"), {.offload = {"host:0", 6}}, "r2/0"},
    {"what is small enough fills the share",
     "{\"name\": \"wte\", \"shape\": [8, 4096]}, " VECTORS("2"),
     {.offload = {"host:0.75", 9}, .chunk_bytes = 1 << 20},
     "r2/0 1/128 1/128"},
    {"a serial step has one chunk of all that streams",
     "{\"name\": \"w\", \"shape\": [64, 64]}, " VECTORS("3"),
     {.offload = {"host", 4}, .serial = true},
     "4/112"},
    {"beside what is resident",
     VECTORS("4"),
     {.offload = {"host:0.5", 8}, .serial = true},
     "r2/0 2/64"},
    {"empty units have a place",
     "{\"name\": \"n.{1..2}\", \"shape\": [0]}, " VECTORS("1"),
     {.offload = {"host", 4}, .chunk_bytes = 32 << 10},
     "r2/0 1/32"},
};

static struct str chunks_text(struct arena *a, const struct rt_plan *p) {
  struct buf b = buf_new(a);
  for (uint32_t c = 0; c < p->n_chunks; c++) {
    buf_printf(&b, "%s%s%u/%.6g", c == 0 ? "" : " ",
               p->chunk[c].slot == RT_NO_ID ? "r" : "", p->chunk[c].n_units,
               (double)p->chunk[c].bytes / 1024);
  }
  return buf_done(&b);
}

Test(plan_chunks, are_as_expected) {
  for (size_t i = 0; i < sizeof expectations / sizeof expectations[0]; i++) {
    const struct expectation *e = &expectations[i];
    struct plan_job j;
    struct arena *a = arena_new(0);
    plan_job_open(&j, "specs/gpt.opt", str_fmt(a, MODEL("%s"), e->params).p, false);
    struct rt_plan *p = plan_job_plan(&j, &e->o);
    cr_assert_not_null(p, "%s: %s", e->what, plan_job_said(&j));
    struct str got = chunks_text(a, p);
    cr_expect(str_is(got, e->chunks), "%s:\n%s\n%.*s", e->what, e->chunks, STR_FMT(got));
    plan_job_close(&j);
    arena_free(a);
  }
}

// Where pieces of a cut parameter begin.
static void check_cuts(const char *shape, uint64_t chunk, const uint64_t *first,
                       uint32_t n) {
  struct plan_job j;
  struct arena *a = arena_new(0);
  plan_job_open(&j, "specs/gpt.opt",
                str_fmt(a, MODEL("{\"name\": \"wte\", \"shape\": %s}"), shape).p, false);
  struct plan_options o = {.offload = STR("host"), .chunk_bytes = chunk, .overlap = true};
  struct rt_plan *p = plan_job_plan(&j, &o);
  uint32_t k = 0;
  for (uint32_t i = p->n_begin; i < p->n_ops; i++) {
    for (uint32_t r = p->op[i].first;
         p->op[i].kind == RT_OP_MAP && r < p->op[i].first + p->op[i].n; r++) {
      cr_expect(k < n && p->row[r].first == first[k], "%s: piece %u begins at %llu",
                shape, k, (unsigned long long)p->row[r].first);
      k++;
    }
  }
  cr_expect_eq(k, n, "%s", shape);
  plan_job_close(&j);
  arena_free(a);
}

Test(plan_chunks, cuts_are_at_row_ends_or_multiples_of_4096) {
  check_cuts("[5, 300]", 5000, (const uint64_t[]){0, 600, 1200}, 3);
  check_cuts("[2, 9000]", 40000, (const uint64_t[]){0, 4096, 8192, 9000, 13096, 17192},
             6);
  check_cuts("[10000]", 1, (const uint64_t[]){0, 4096, 8192}, 3);
}

Test(plan_chunks, a_serial_step_has_one_slot_and_is_proven) {
  struct plan_job j;
  plan_job_open(&j, "specs/gpt.opt", MODEL(VECTORS("10")), false);
  struct plan_options o = {.offload = STR("host"), .serial = true};
  const struct rt_plan *p = plan_job_plan(&j, &o);
  cr_assert_not_null(p, "%s", plan_job_said(&j));
  cr_expect_eq(p->n_slots, 1);
  cr_expect_eq(p->slot_bytes, p->host_bytes);
  const struct proof *proof = plan_prove(j.arena, &p, 1);
  cr_expect_eq(proof->n_faults, 0, "%s",
               proof->n_faults != 0 ? proof->fault[0].text.p : "");
  plan_job_close(&j);
}

Test(plan_chunks, slots_are_taken_in_turn_and_no_more_than_needed) {
  struct plan_job j;
  plan_job_open(&j, "specs/gpt.opt", MODEL(VECTORS("10")), false);
  struct plan_options o = {.offload = STR("host"), .chunk_bytes = 1, .slots = 3};
  struct rt_plan *p = plan_job_plan(&j, &o);
  cr_assert_eq(p->n_chunks, 10);
  cr_expect_eq(p->n_slots, 3);
  for (uint32_t c = 0; c < p->n_chunks; c++) {
    cr_expect_eq(p->chunk[c].slot, c % 3);
  }
  o.slots = 20;
  cr_expect_eq(plan_job_plan(&j, &o)->n_slots, 10);
  plan_job_close(&j);
}

// The default target and what a budget keeps resident, on a model with 2.3 GiB of states.
Test(plan_chunks, default_size_and_budget) {
  struct plan_job j;
  plan_job_open(&j, "specs/adamw.opt",
                MODEL("{\"name\": \"w.{0..299}\", \"shape\": [1024, 1024]}"), false);
  struct plan_options o = {.offload = STR("host")};
  struct rt_plan *p = plan_job_plan(&j, &o);
  cr_expect_eq(p->configuration.chunk_bytes, 64 << 20);
  cr_expect_eq(p->configuration.slots, 4);
  cr_expect_eq(p->state_bytes, 0);
  cr_expect_eq(p->host_bytes, UINT64_C(300) * 8 << 20);
  uint64_t arena = p->arena_bytes + p->step_bytes;
  o.gpu_memory = arena + (UINT64_C(100) * 8 << 20) + 1000;
  p = plan_job_plan(&j, &o);
  cr_expect_eq(p->state_bytes, UINT64_C(100) * 8 << 20);
  cr_expect_eq(p->host_bytes, UINT64_C(200) * 8 << 20);
  cr_expect_leq(p->state_bytes + p->arena_bytes + p->step_bytes, o.gpu_memory);
  o.gpu_memory = UINT64_C(4) << 30;
  cr_expect_eq(plan_job_plan(&j, &o)->host_bytes, 0);
  plan_job_close(&j);
}
