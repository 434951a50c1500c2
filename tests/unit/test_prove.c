// The proof of plans: what the planner makes holds; a plan with one thing wrong does not.
#include "plan/prove.h"
#include "plan_job.h"
#include "support/plan_mutate.h"

#include <criterion/criterion.h>
#include <string.h>

#define MODEL(mesh, params)                                                              \
  "{ \"format\": \"stepc-model/1\", \"name\": \"t\", \"mesh\": {" mesh                   \
  "}, \"params\": [" params "] }"
#define PARAM(name, shape, more) "{ \"name\": \"" name "\", \"shape\": " shape more " }"

// Expert stacks along one axis, vectors sharded along another, one of bf16, one that lies on one rank only.
#define RANKS                                                                            \
  MODEL(                                                                                 \
      "\"ep\": {\"size\": 2, \"stride\": 1}, \"fsdp\": {\"size\": 2, \"stride\": 2}",    \
      PARAM("embed", "[40, 16]", ", \"place\": {\"fsdp\": 0}") "," PARAM(                \
          "l.{0..2}.e", "[6, 16, 24]",                                                   \
          ", \"place\": {\"ep\": 0}") "," PARAM("l.{0..2}.w", "[24, 16]",                \
                                                "") "," PARAM("l.{0..2}.x", "[16, 16]",  \
                                                              ", \"on\": {\"ep\": \"i "  \
                                                              "% 2\"}") "," PARAM("l.{"  \
                                                                                  "0.."  \
                                                                                  "2}."  \
                                                                                  "n",   \
                                                                                  "[130" \
                                                                                  "]",   \
                                                                                  ", "   \
                                                                                  "\"dt" \
                                                                                  "ype"  \
                                                                                  "\": " \
                                                                                  "\"bf" \
                                                                                  "16\"" \
                                                                                  ", "   \
                                                                                  "\"pl" \
                                                                                  "ace"  \
                                                                                  "\": " \
                                                                                  "{\"f" \
                                                                                  "sdp"  \
                                                                                  "\": " \
                                                                                  "0}"))

// Initial values other than zeros, and a rule of its own for matrices.
#define START                                                                            \
  "spec 1\n"                                                                             \
  "import \"muon.opt\"\n"                                                                \
  "optimizer start {\n"                                                                  \
  "  hyper lr : f32 = 0.1\n"                                                             \
  "  state x : f32 like param init param\n"                                              \
  "  state y : bf16 like param init 2\n"                                                 \
  "  x := x - lr * grad\n"                                                               \
  "  y := ema(y, x, 0.5)\n"                                                              \
  "  param := param + y\n"                                                               \
  "}\n"                                                                                  \
  "recipe both {\n"                                                                      \
  "  use muon when rank >= 2 and rows != 64\n"                                           \
  "  use start\n"                                                                        \
  "}\n"

enum { MAX_RANKS = 4 };
static const struct plan_case {
  const char *spec, *model;
  uint32_t ranks;
  bool cuda;
  struct plan_options o;
} cases[] = {
    {"specs/gpt.opt", "tests/models/tiny.json", 1, false, {.overlap = false}},
    {"specs/gpt.opt",
     "tests/models/tiny.json",
     1,
     false,
     {.chunk_bytes = 4096, .overlap = true}},
    {"specs/gpt.opt", "tests/models/tiny.json", 1, false, {.offload = {"host", 4}}},
    {"specs/gpt.opt",
     "tests/models/tiny-bf16.json",
     1,
     false,
     {.offload = {"host", 4}, .chunk_bytes = 4096, .slots = 3}},
    {"specs/gpt.opt",
     "tests/models/tiny.json",
     1,
     true,
     {.offload = {"host", 4}, .chunk_bytes = 1024, .slots = 8}},
    {"specs/gpt.opt",
     "tests/models/tiny.json",
     1,
     true,
     {.offload = {"host:0.5", 8}, .chunk_bytes = 1024, .slots = 3, .overlap = true}},
    {"specs/adamw.opt",
     "tests/models/tiny.json",
     1,
     false,
     {.offload = {"host", 4}, .chunk_bytes = 256, .slots = 5}},
    {"specs/sgd.opt",
     "tests/models/tiny.json",
     1,
     false,
     {.offload = {"host", 4}, .chunk_bytes = 512}},
    {START,
     "tests/models/tiny.json",
     1,
     false,
     {.offload = {"host", 4}, .chunk_bytes = 2048, .slots = 3}},
    {START,
     "tests/models/tiny.json",
     1,
     false,
     {.offload = {"host:0.4", 8}, .chunk_bytes = 2048}},
    {"specs/gpt.opt", RANKS, 4, false, {.overlap = false}},
    {"specs/gpt.opt",
     RANKS,
     4,
     true,
     {.offload = {"host", 4}, .chunk_bytes = 2048, .slots = 3}},
    {"specs/adamw.opt",
     RANKS,
     4,
     true,
     {.offload = {"host:0.5", 8}, .chunk_bytes = 1024}},
    {"specs/gpt.opt",
     "tests/models/gpt2-124m.json",
     1,
     false,
     {.offload = {"host", 4}, .chunk_bytes = 4 << 20}},
    {"specs/gpt.opt",
     "tests/models/qwen3-30b-a3b-rank.json",
     1,
     true,
     {.offload = {"host", 4}}},
    {"specs/lion.opt",
     "tests/models/qwen3-30b-a3b-rank.json",
     1,
     true,
     {.offload = {"host:0.6", 8}, .overlap = true}},
};
enum { N_CASES = sizeof cases / sizeof *cases };

struct plans {
  struct plan_job job;
  const struct rt_plan *plan[MAX_RANKS];
  uint32_t n;
};

static void plans_make(struct plans *x, const struct plan_case *c) {
  plan_job_open(&x->job, c->spec, c->model, c->cuda);
  x->n = c->ranks;
  for (uint32_t r = 0; r < c->ranks; r++) {
    struct plan_options o = c->o;
    o.rank = r;
    x->plan[r] = plan_job_plan(&x->job, &o);
    cr_assert_not_null(x->plan[r], "%s", plan_job_said(&x->job));
  }
}

static const char *faults_text(struct arena *a, const struct proof *proof) {
  struct buf b = buf_new(a);
  buf_printf(&b, "%u faults", proof->n_faults);
  for (uint32_t i = 0; i < proof->n_faults; i++) {
    const struct proof_fault *f = &proof->fault[i];
    buf_printf(&b, "\n  rank %u, %s: %.*s", f->rank, proof_kind_names[f->kind],
               STR_FMT(f->text));
  }
  return buf_done(&b).p;
}

static uint32_t count_chunks(const struct rt_plan *p) { // with work on this rank
  uint32_t n = 0;
  for (uint32_t i = 0; i < p->n_chunks; i++) {
    n += p->chunk[i].n_ops != 0 ? 1 : 0;
  }
  return n;
}

Test(prove, plans_hold) {
  for (uint32_t i = 0; i < N_CASES; i++) {
    struct plans x;
    plans_make(&x, &cases[i]);
    struct proof *proof = plan_prove(x.job.arena, x.plan, x.n);
    cr_expect_eq(proof->n_faults, 0, "case %u: %s", i, faults_text(x.job.arena, proof));
    uint64_t operations = 0, pairs = 0;
    for (uint32_t r = 0; r < x.n; r++) {
      uint64_t blocks = 1 + (uint64_t)count_chunks(x.plan[r]);
      operations += x.plan[r]->n_ops + x.plan[r]->n_init;
      pairs += blocks * blocks;
    }
    cr_expect_eq(proof->operations, operations);
    cr_expect_geq(proof->pairs, pairs);
    plan_job_close(&x.job);
  }
}

// ---- mutants

struct tally {
  uint32_t made, caught;
};

// Every place of a small plan, some of a large one; ranks in turn.
static void try_mutants(struct plans *x, enum mutation m, struct tally *t, uint32_t c) {
  enum { MOST = 40 };
  for (uint32_t r = 0; r < x->n; r++) {
    const struct rt_plan *good = x->plan[r];
    uint32_t n = plan_mutants(good, m), step = 1 + n / MOST;
    for (uint32_t k = 0; k < n; k += step) {
      struct arena_mark mark = arena_mark(x->job.arena);
      x->plan[r] = plan_mutant(x->job.arena, good, m, k);
      bool caught = plan_prove(x->job.arena, x->plan, x->n)->n_faults != 0;
      arena_rewind(x->job.arena, mark);
      t->made++;
      t->caught += caught ? 1 : 0;
      cr_expect(caught, "case %u, rank %u: %s, place %u of %u, is not found", c, r,
                mutation_names[m], k, n);
    }
    x->plan[r] = good;
  }
}

Test(prove, one_thing_wrong_is_found, .timeout = 240) {
  struct tally t[N_MUTATIONS] = {0};
  for (uint32_t i = 0; i < N_CASES; i++) {
    struct plans x;
    plans_make(&x, &cases[i]);
    for (uint32_t m = 0; m < N_MUTATIONS; m++) {
      try_mutants(&x, m, &t[m], i);
    }
    plan_job_close(&x.job);
  }
  for (uint32_t m = 0; m < N_MUTATIONS; m++) {
    printf("%-30s %5u of %5u mutants caught\n", mutation_names[m], t[m].caught,
           t[m].made);
    cr_expect_gt(t[m].made, 0);
  }
}
