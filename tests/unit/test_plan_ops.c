// The list of operations on small models, written out: kinds, kernels, rows, addresses, waits, work.
#include "plan_job.h"

#include <criterion/criterion.h>
#include <string.h>

#define MODEL(mesh, params)                                                              \
  "{ \"format\": \"stepc-model/1\", \"name\": \"t\", \"mesh\": {" mesh                   \
  "}, \"params\": [" params "] }"
#define TWO                                                                              \
  "{\"name\": \"w\", \"shape\": [3, 8, 16]}, {\"name\": \"b\", \"shape\": [100]},"       \
  "{\"name\": \"v\", \"shape\": [8, 16]}"

// "param+first:numel@phase" and each address as space and offset.
static void put_rows(struct buf *b, const struct rt_plan *p, const struct rt_op *op,
                     uint32_t n_ptrs) {
  static const char space[] = "PGSHAT";
  for (uint32_t r = op->first; r < op->first + op->n; r++) {
    const struct rt_row *row = &p->row[r];
    buf_printf(b, " %s+%llu:%llu", p->param[row->param].name,
               (unsigned long long)row->first, (unsigned long long)row->numel);
    for (uint32_t i = 0; i < n_ptrs; i++) {
      const struct rt_at *at = &p->at[row->at + i];
      buf_printf(b, "%c%c%llu", i == 0 ? '[' : ' ', space[at->space],
                 (unsigned long long)at->offset);
    }
    buf_puts(b, n_ptrs == 0 ? "" : "]");
  }
}

static void put_op(struct buf *b, const struct rt_plan *p, const struct rt_op *op) {
  static const char *const event[] = {"loaded", "computed", "free", "summed", "gathered"};
  static const char *const kind[] = {"upload", "reduce", "merge", "exchange", "verdict",
                                     "load",   "map",    "ortho", "store"};
  bool is_map = op->kind == RT_OP_MAP;
  buf_puts(b, kind[op->kind]);
  if (is_map) {
    buf_printf(b, " %s", p->kernel[op->kernel].name);
  }
  if (op->kind == RT_OP_ORTHO) {
    buf_printf(b, " %llux%llu", (unsigned long long)op->rows,
               (unsigned long long)op->cols);
  }
  if (is_map || op->kind == RT_OP_ORTHO || op->kind == RT_OP_REDUCE) {
    put_rows(b, p, op,
             is_map                    ? p->kernel[op->kernel].n_ptrs
             : op->kind == RT_OP_ORTHO ? 2
                                       : 1);
  }
  for (uint32_t i = op->first;
       (op->kind == RT_OP_LOAD || op->kind == RT_OP_STORE) && i < op->first + op->n;
       i++) {
    buf_printf(b, " H%llu-A%llu:%llu", (unsigned long long)p->copy[i].host,
               (unsigned long long)p->copy[i].arena,
               (unsigned long long)p->copy[i].bytes);
  }
  if (op->work_bytes != 0) {
    buf_printf(b, " work %llu+%llu", (unsigned long long)op->work.offset,
               (unsigned long long)op->work_bytes);
  }
  for (uint32_t i = 0; i < op->n_waits; i++) {
    const struct rt_event *e = &p->event[p->wait[op->first_wait + i]];
    buf_printf(b, " <%s%u", event[e->kind], e->slot);
  }
  if (op->signal != RT_NO_ID) {
    buf_printf(b, " >%s%u", event[p->event[op->signal].kind], p->event[op->signal].slot);
  }
  buf_char(b, '\n');
}

static const char anchored[] =
    "spec 1\noptimizer anchored {\n  hyper lr : f32 = 0.1\n"
    "  state a : f32 like param init param\n  state b : bf16 like param\n"
    "  b := grad\n  param := param - lr * (param - a)\n}\n";

static const char resting[] =
    "spec 1\nimport \"iterations.opt\"\noptimizer x {\n  hyper lr : f32 = 0.1\n"
    "  state m : bf16 like param\n  require rank >= 2\n  m := ema(m, grad, 0.9)\n"
    "  param := param - lr * orthogonalize(m, jordan)\n}\n";

static const struct expectation {
  const char *what, *spec, *model;
  bool cuda;
  struct plan_options o;
  const char *list; // operations; behind "init", the initial ones
} expectations[] = {
    {"resident",
     "specs/gpt.opt",
     MODEL("", TWO),
     false,
     {.rank = 0},
     "upload\n"
     "reduce w+0:384[G0] b+0:100[G0] v+0:128[G0] work 128+40\n"
     "verdict work 128+40\n"
     "map adamw__p0__f32 b+0:100[S2048 G0 S2560 P0]\n"
     "map muon__p0__f32 w+0:384[S0 G0 A0] v+0:128[S1536 G0 A768]\n"
     "ortho 8x16 w+0:384[A0 A1024] v+0:128[A768 A1792]\n"
     "map muon__p2__f32 w+0:384[A1024 P0] v+0:128[A1792 P0]\n"},
    {"streamed",
     "specs/gpt.opt",
     MODEL("", TWO),
     false,
     {.offload = {"host", 4}, .chunk_bytes = 4096},
     "upload\n"
     "reduce w+0:384[G0] b+0:100[G0] v+0:128[G0] work 128+40\n"
     "verdict work 128+40\n"
     "load H0-A0:2048 <free0 >loaded0\n"
     "map muon__p0__f32 w+0:384[A0 G0 A4096] v+0:128[A1536 G0 A4864] <loaded0\n"
     "ortho 8x16 w+0:384[A4096 A5120] v+0:128[A4864 A5888]\n"
     "map muon__p2__f32 w+0:384[A5120 P0] v+0:128[A5888 P0] >computed0\n"
     "store H0-A0:2048 <computed0 >free0\n"
     "load H2048-A2048:1024 <free1 >loaded1\n"
     "map adamw__p0__f32 b+0:100[A2048 G0 A2560 P0] <loaded1 >computed1\n"
     "store H2048-A2048:1024 <computed1 >free1\n"},
    {"an operand at rest in its state",
     resting,
     MODEL("", "{\"name\": \"w\", \"shape\": [8, 16]}"),
     true,
     {.rank = 0},
     "upload\n"
     "map x__p0__f32 w+0:128[S0 G0]\n"
     "ortho 8x16 w+0:128[S0 A0] work 256+1280\n"
     "map x__p2__f32 w+0:128[A0 P0]\n"},
    {"cut",
     "specs/adamw.opt",
     MODEL("", "{\"name\": \"w\", \"shape\": [3, 300]}"),
     false,
     {.offload = {"host", 4}, .chunk_bytes = 4800, .overlap = true},
     "upload\n"
     "load H0-A0:2400 H3840-A2560:2400 <free0 >loaded0\n"
     "map adamw__p0__f32 w+0:600[A0 G0 A2560 P0] <loaded0 >computed0\n"
     "store H0-A0:2400 H3840-A2560:2400 <computed0 >free0\n"
     "load H2400-A5120:1200 H6240-A6400:1200 <free1 >loaded1\n"
     "map adamw__p0__f32 w+600:300[A5120 G2400 A6400 P2400] <loaded1 >computed1\n"
     "store H2400-A5120:1200 H6240-A6400:1200 <computed1 >free1\n"},
    {"initial values, streamed",
     anchored,
     MODEL("", "{\"name\": \"w.{0..1}\", \"shape\": [40]}"),
     false,
     {.offload = {"host", 4}, .chunk_bytes = 300},
     "upload\n"
     "load H0-A0:512 <free0 >loaded0\n"
     "map anchored__p0__f32 w.0+0:40[G0 A256 P0 A0] <loaded0 >computed0\n"
     "store H0-A0:512 <computed0 >free0\n"
     "load H512-A512:512 <free1 >loaded1\n"
     "map anchored__p0__f32 w.1+0:40[G0 A768 P0 A512] <loaded1 >computed1\n"
     "store H512-A512:512 <computed1 >free1\n"
     "init\n"
     "load H0-A0:512 <free0 >loaded0\n"
     "map anchored__p0__f32__2 w.0+0:40[P0 A0] <loaded0 >computed0\n"
     "store H0-A0:512 <computed0 >free0\n"
     "load H512-A512:512 <free1 >loaded1\n"
     "map anchored__p0__f32__2 w.1+0:40[P0 A512] <loaded1 >computed1\n"
     "store H512-A512:512 <computed1 >free1\n"},
    {"several ranks",
     "specs/gpt.opt",
     MODEL("\"dp\": {\"size\": 3, \"stride\": 1}",
           "{\"name\": \"a\", \"shape\": [10], \"place\": {\"dp\": 0}},"
           "{\"name\": \"c\", \"shape\": [6], \"dtype\": \"bf16\"}"),
     false,
     {.rank = 1},
     "upload\n"
     "reduce a+0:4[G0] work 256+40\n"
     "merge work 256+40 >summed0\n"
     "exchange <summed0 >gathered0\n"
     "verdict work 128+120 <gathered0\n"
     "map adamw__p0__f32 a+0:4[S0 G0 S256 P0]\n"
     "map adamw__p0__bf16 c+0:6[S512 G0 S768 P0]\n"},
};

Test(plan_ops, are_as_written) {
  for (size_t i = 0; i < sizeof expectations / sizeof expectations[0]; i++) {
    const struct expectation *e = &expectations[i];
    struct plan_job j;
    plan_job_open(&j, e->spec, e->model, e->cuda);
    struct rt_plan *p = plan_job_plan(&j, &e->o);
    cr_assert_not_null(p, "%s: %s", e->what, plan_job_said(&j));
    struct buf b = buf_new(j.arena);
    for (uint32_t k = 0; k < p->n_ops; k++) {
      put_op(&b, p, &p->op[k]);
    }
    for (uint32_t k = 0; k < p->n_init; k++) {
      buf_puts(&b, k == 0 ? "init\n" : "");
      put_op(&b, p, &p->init[k]);
    }
    cr_expect(str_is(buf_done(&b), e->list), "%s:\n%s", e->what, b.p);
    plan_job_close(&j);
  }
}

// 300 matrices of one parameter: 264 and 36, which use the same bytes behind the slots.
Test(plan_ops, sub_batches_split_a_stack) {
  struct plan_job j;
  plan_job_open(&j, "specs/muon.opt",
                MODEL("", "{\"name\": \"e\", \"shape\": [300, 8, 16]}"), true);
  struct rt_plan *p = plan_job_plan(&j, &(struct plan_options){.offload = STR("host")});
  cr_assert_eq(p->n_chunks, 1);
  cr_assert_eq(p->chunk[0].n_ops, 8);
  const uint64_t first[] = {0, 264}, n[] = {264, 36}, size = 8 * 16;
  for (uint32_t i = 0; i < 6; i++) {
    const struct rt_op *op = &p->op[p->chunk[0].first_op + 1 + i];
    const struct rt_row *row = &p->row[op->first];
    cr_expect_eq(op->n, 1);
    cr_expect_eq(row->phase, i % 3);
    cr_expect_eq(row->first, first[i / 3] * size);
    cr_expect_eq(row->numel, n[i / 3] * size);
    cr_expect_eq(op->kind, i % 3 == 1 ? RT_OP_ORTHO : RT_OP_MAP);
  }
  const struct rt_op *ortho = &p->op[p->chunk[0].first_op + 2];
  uint64_t temps = 2 * 264 * size * 2;
  uint64_t work = 2 * 264 * size * 2 + 2 * 264 * 64 * 2 + 264 * 64;
  cr_expect_eq(ortho->work_bytes, work);
  cr_expect_eq(ortho->work.offset, p->slot_bytes + temps);
  cr_expect_eq(p->arena_bytes, p->slot_bytes + temps + work);
  // Five steps of 4 m m k + 2 m m m.
  cr_expect_eq(ortho->flops, UINT64_C(264) * 5 * (4 * 8 * 8 * 16 + 2 * 8 * 8 * 8));
  cr_expect_eq(ortho->bytes_read, 264 * size * 2);
  cr_expect_eq(p->op[p->chunk[0].first_op + 1].bytes_read, 264 * size * (4 + 4));
  plan_job_close(&j);
}
