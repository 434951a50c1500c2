#include "support/adversary.h"

#include "device/cpu/exec.h"
#include "random.h"

#include <criterion/criterion.h>
#include <stdlib.h>

enum { MOST_WAITS = 8, POISON = 0xff }; // bytes of a NaN, in f32 and in bf16

struct pending {
  struct cpu_entry entry;
  uint64_t need
      [MOST_WAITS]; // signals of each event waited for, as plan.h says: those issued before
};
struct queue {
  struct pending *v;
  uint32_t head, n, room;
  uint32_t begun, start,
      stride; // of the head: rows or copies done, and the order they are taken in
};

struct adversary {
  struct rt_device cpu; // first: the core's pointer is this one
  uint64_t rng, eager;  // of 256: how often an issue is followed by work
  struct queue lane[RT_N_LANES];
  uint64_t *signalled, *done; // per event
  uint32_t upload_done[RT_STAGES], upload_issued[RT_STAGES];
  uint32_t verdicts_issued, verdicts_done;
  uint32_t last_compute; // the operation that COMPUTE ran last
  bool *stored;          // per copy of a LOAD: a STORE brings the same bytes back
};

static uint64_t next_seed;
void adversary_seed(uint64_t seed) {
  next_seed = seed;
}

static struct adversary *of(struct rt_device *d) {
  return (struct adversary *)d;
}

static uint32_t pick(struct adversary *a, uint32_t n) {
  return (uint32_t)random_below(&a->rng, n);
}

// ---- poison

static void poison(char *at, uint64_t bytes) {
  memset(at, POISON, bytes);
}

// Temporaries and workspaces: everything in the arena behind the slots.
static void poison_temps(struct adversary *a) {
  const struct rt_plan *plan = a->cpu.plan;
  uint64_t slots = plan->n_slots * plan->slot_bytes;
  poison(a->cpu.arena + slots, plan->arena_bytes - slots);
}

static void poison_stage(struct adversary *a, uint32_t of_stage) {
  struct rt_stage *s = &a->cpu.stage[of_stage];
  uint32_t n = a->cpu.plan->n_params;
  poison((char *)s->scalar, s->n_scalars * sizeof *s->scalar);
  poison((char *)s->scalar_at, n * sizeof *s->scalar_at);
  poison((char *)s->grad, n * sizeof *s->grad);
}

// What became dead by an operation's item (a copy), or all of it.
static void poison_after(struct adversary *a, const struct rt_op *op,
                         const struct cpu_entry *e) {
  struct rt_device *d = &a->cpu;
  bool copies = op->kind == RT_OP_LOAD || op->kind == RT_OP_STORE;
  for (uint32_t i = e->first; copies && i < e->first + e->n; i++) {
    const struct rt_copy *c = &d->plan->copy[i];
    if (op->kind == RT_OP_STORE) {
      poison(d->arena + c->arena, c->bytes);
    } else if (a->stored[i]) {
      poison((char *)d->host.at + c->host, c->bytes);
    }
  }
  if (op->kind == RT_OP_UPLOAD) {
    poison_stage(a, e->stage);
  }
}

static bool is_first_compute(const struct rt_plan *plan, const struct rt_op *op) {
  return op->lane == RT_LANE_COMPUTE && op->chunk != RT_NO_ID &&
         (op == plan->op || op[-1].chunk != op->chunk || op[-1].lane != op->lane);
}

// ---- running

static bool is_ready(const struct adversary *a, const struct queue *q) {
  const struct pending *p = &q->v[q->head];
  const struct rt_op *op = cpu_op(a->cpu.plan, p->entry.op);
  for (uint32_t i = 0; i < op->n_waits && q->begun == 0; i++) {
    if (a->done[a->cpu.plan->wait[op->first_wait + i]] < p->need[i]) {
      return false;
    }
  }
  return true;
}

static uint32_t gcd(uint32_t x, uint32_t y) {
  return y == 0 ? x : gcd(y, x % y);
}

static void finish(struct adversary *a, struct queue *q, const struct rt_op *op,
                   const struct cpu_entry *e) {
  if (op->signal != RT_NO_ID) {
    a->done[op->signal]++;
  }
  a->upload_done[e->stage] += op->kind == RT_OP_UPLOAD;
  a->verdicts_done += op->kind == RT_OP_VERDICT;
  q->begun = 0;
  if (++q->head == q->n) {
    q->head = q->n = 0;
  }
}

// The next row or copy of the lane's head, or all of them.
static void run_head(struct adversary *a, struct queue *q) {
  const struct cpu_entry e = q->v[q->head].entry;
  const struct rt_op *op = cpu_op(a->cpu.plan, e.op);
  if (q->begun == 0) {
    if (e.op < a->cpu.plan->n_ops && is_first_compute(a->cpu.plan, op) &&
        a->last_compute != e.op) { // else a part of the same operation went before
      poison_temps(a);
    }
    a->last_compute = op->lane == RT_LANE_COMPUTE ? e.op : a->last_compute;
    q->start = e.n > 0 ? pick(a, e.n) : 0;
    q->stride = 1 + pick(a, e.n + 1);
    while (e.n > 0 && gcd(q->stride, e.n) != 1) {
      q->stride++;
    }
  }
  bool whole = op->kind == RT_OP_REDUCE || e.n < 2 || (q->begun == 0 && pick(a, 2));
  struct cpu_entry part = e;
  if (!whole) {
    part.first = e.first + (uint32_t)((q->start + (uint64_t)q->begun * q->stride) % e.n);
    part.n = 1;
  }
  cpu_exec(&a->cpu, &part);
  poison_after(a, op, &part);
  q->begun++;
  if (whole || q->begun == e.n) {
    finish(a, q, op, &e);
  }
}

// Something that may run, on a random lane. False: there is nothing, or no lane can go on.
static bool run_something(struct adversary *a) {
  uint32_t first = pick(a, RT_N_LANES);
  for (uint32_t i = 0; i < RT_N_LANES; i++) {
    struct queue *q = &a->lane[(first + i) % RT_N_LANES];
    if (q->head < q->n && is_ready(a, q)) {
      run_head(a, q);
      return true;
    }
  }
  return false;
}

static bool is_idle(const struct adversary *a, bool compute_only) {
  for (int i = 0; i < RT_N_LANES; i++) {
    bool counts = !compute_only || i == RT_LANE_COMPUTE;
    if (counts && a->lane[i].head < a->lane[i].n) {
      return false;
    }
  }
  return true;
}

static steprt_status stuck(struct adversary *a) {
  return rt_fail(a->cpu.rt, "adversary: no lane can go on");
}

// ---- the device's calls

static bool match_stores(struct adversary *a) {
  const struct rt_plan *plan = a->cpu.plan;
  a->stored = calloc(plan->n_copies + 1, sizeof *a->stored);
  for (uint32_t i = 0; i < plan->n_ops; i++) {
    const struct rt_op *load = &plan->op[i];
    for (uint32_t k = i; load->kind == RT_OP_LOAD && k < plan->n_ops; k++) {
      const struct rt_op *store = &plan->op[k];
      if (store->kind != RT_OP_STORE || store->chunk != load->chunk) {
        continue;
      }
      for (uint32_t x = load->first; x < load->first + load->n; x++) {
        for (uint32_t y = store->first; y < store->first + store->n; y++) {
          a->stored[x] |= memcmp(&plan->copy[x], &plan->copy[y], sizeof *plan->copy) == 0;
        }
      }
    }
  }
  return a->stored != NULL;
}

static void adversary_close(struct rt_device *d) {
  struct adversary *a = of(d);
  rt_team_free(d->team);
  rt_blas_close(d->blas);
  rt_slab_close(&d->host);
  for (int i = 0; i < RT_N_LANES; i++) {
    free(a->lane[i].v);
  }
  free(a->signalled);
  free(a->done);
  free(a->stored);
}

static steprt_status open_cpu(struct rt_device *d) {
  char why[480];
  RT_TRY(rt_team_new(1, &d->team));
  RT_TRY(cpu_exec_open(d));
  return rt_slab_open(&(struct rt_slab_request){.bytes = d->plan->host_bytes,
                                                .node = -1,
                                                .team = d->team},
                      &d->host, why, sizeof why);
}

static steprt_status adversary_open(struct steprt *rt,
                                    const struct steprt_options *options,
                                    struct rt_device **out) {
  (void)options;
  struct adversary *a = rt_memory_alloc(&rt->memory, 1, sizeof *a);
  a->cpu.rt = rt;
  a->cpu.program = rt->program;
  a->cpu.plan = rt->plan;
  a->cpu.lanes.plan = rt->plan;
  a->rng = next_seed;
  a->eager = random_below(&a->rng, 3) * 96;
  a->last_compute = RT_NO_ID;
  a->signalled = calloc(rt->plan->n_events + 1, sizeof *a->signalled);
  a->done = calloc(rt->plan->n_events + 1, sizeof *a->done);
  match_stores(a);
  steprt_status s = open_cpu(&a->cpu);
  if (s) {
    adversary_close(&a->cpu);
    return s;
  }
  poison(a->cpu.arena, rt->plan->arena_bytes);
  *out = &a->cpu;
  return STEPRT_OK;
}

static steprt_status drain(struct adversary *a, bool compute_only) {
  while (!is_idle(a, compute_only)) {
    if (!run_something(a)) {
      return stuck(a);
    }
  }
  return STEPRT_OK;
}

static void push(struct adversary *a, const struct cpu_entry *e) {
  const struct rt_op *op = cpu_op(a->cpu.plan, e->op);
  struct queue *q = &a->lane[op->lane];
  if (q->n == q->room) {
    q->room = q->room ? 2 * q->room : 64;
    q->v = realloc(q->v, q->room * sizeof *q->v);
    cr_assert_not_null(q->v);
  }
  struct pending *p = &q->v[q->n++];
  p->entry = *e;
  cr_assert_leq(op->n_waits, MOST_WAITS);
  for (uint32_t i = 0; i < op->n_waits; i++) {
    p->need[i] = a->signalled[a->cpu.plan->wait[op->first_wait + i]];
  }
  if (op->signal != RT_NO_ID) {
    a->signalled[op->signal]++;
  }
  a->upload_issued[e->stage] += op->kind == RT_OP_UPLOAD;
  a->verdicts_issued += op->kind == RT_OP_VERDICT;
}

static steprt_status adversary_bind(struct rt_device *d, void *const *params) {
  for (uint32_t i = 0; i < d->plan->n_params; i++) {
    d->param[i] = params[i];
  }
  for (uint32_t i = 0; i < d->plan->n_init; i++) {
    const struct rt_op *op = &d->plan->init[i];
    push(of(d), &(struct cpu_entry){d->plan->n_ops + i, op->first, op->n, 0});
  }
  return drain(of(d), false);
}

static steprt_status adversary_stage(struct rt_device *d, struct rt_stage **out) {
  struct adversary *a = of(d);
  uint32_t i = d->next_stage++ % RT_STAGES;
  while (a->upload_done[i] < a->upload_issued[i]) {
    if (!run_something(a)) {
      return stuck(a);
    }
  }
  *out = &d->stage[i];
  return STEPRT_OK;
}

static steprt_status adversary_issue(struct rt_device *d, const struct rt_entry *e,
                                     const struct rt_stage *stage) {
  struct adversary *a = of(d);
  push(a, &(struct cpu_entry){e->op, e->first, e->n, (uint32_t)(stage - d->stage)});
  while (random_below(&a->rng, 256) < a->eager && run_something(a)) {
  }
  return STEPRT_OK;
}

static steprt_status adversary_wait(struct rt_device *d, bool compute_only) {
  return drain(of(d), compute_only);
}

static steprt_status adversary_wait_chunk(struct rt_device *d, uint32_t chunk,
                                          void *stream) {
  (void)chunk;
  (void)stream;
  return drain(of(d), true); // waiting for more is right too
}

static steprt_status adversary_verdict(struct rt_device *d, struct rt_verdict *out) {
  struct adversary *a = of(d);
  while (a->verdicts_done < a->verdicts_issued) {
    if (!run_something(a)) {
      return stuck(a);
    }
  }
  *out = *cpu_verdict(d);
  return STEPRT_OK;
}

static steprt_status adversary_read(struct rt_device *d, struct rt_at at, void *to,
                                    uint64_t bytes) {
  memcpy(to, cpu_at(d, at), bytes);
  return STEPRT_OK;
}

static steprt_status adversary_write(struct rt_device *d, struct rt_at at,
                                     const void *from, uint64_t bytes) {
  memcpy(cpu_at(d, at), from, bytes);
  return STEPRT_OK;
}

static void *adversary_address(struct rt_device *d, struct rt_at at) {
  return cpu_at(d, at);
}

static void adversary_times(struct rt_device *d, double *seconds) {
  (void)d;
  memset(seconds, 0, RT_N_OP_KINDS * sizeof *seconds);
}

static uint64_t adversary_trace(struct rt_device *d, struct steprt_trace_record *out,
                                uint64_t n) {
  (void)d;
  (void)out;
  (void)n;
  return 0;
}

const struct rt_device_class adversary_class = {.name = "adversary",
                                                .open = adversary_open,
                                                .close = adversary_close,
                                                .bind = adversary_bind,
                                                .stage = adversary_stage,
                                                .issue = adversary_issue,
                                                .wait_chunk = adversary_wait_chunk,
                                                .wait = adversary_wait,
                                                .verdict = adversary_verdict,
                                                .read = adversary_read,
                                                .write = adversary_write,
                                                .address = adversary_address,
                                                .times = adversary_times,
                                                .trace = adversary_trace};
