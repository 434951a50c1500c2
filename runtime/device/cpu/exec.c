// Operations on the CPU. MAP, REDUCE: rows cut into items that the team shares. ORTHO: matrix after matrix, each by
// the team. LOAD, STORE: copies, by their lane's thread.
#include "device/cpu/exec.h"

char *cpu_at(const struct rt_device *d, struct rt_at at) {
  switch ((enum rt_space)at.space) {
  case RT_AT_PARAM: return d->param[at.index] + at.offset;
  case RT_AT_GRAD: return d->grad[at.index] ? d->grad[at.index] + at.offset : NULL;
  case RT_AT_STATE: return d->state + at.offset;
  case RT_AT_HOST: return (char *)d->host.at + at.offset;
  case RT_AT_ARENA: return d->arena + at.offset;
  case RT_AT_STEP: return d->step + at.offset;
  case RT_N_SPACES: break;
  }
  return NULL;
}

static bool is_init(const struct rt_device *d, const struct cpu_entry *e) {
  return e->op >= d->plan->n_ops;
}

// ---- rows

void cpu_items(const struct rt_device *d, const struct cpu_entry *e, uint64_t *first,
               uint64_t *end) {
  const struct cpu_cut *cut = &d->cut[e->op];
  uint64_t lo = cut->first, hi = cut->first + cut->n;
  while (lo < hi) { // the first item that ends behind the entry's first row
    uint64_t middle = lo + (hi - lo) / 2;
    if (d->item[middle].first + d->item[middle].n <= e->first) {
      lo = middle + 1;
    } else {
      hi = middle;
    }
  }
  *first = *end = lo;
  for (hi = cut->first + cut->n; *end < hi; ++*end) {
    if (d->item[*end].first >= e->first + e->n) {
      break;
    }
  }
}

struct cpu_span cpu_span_of(const struct rt_item *item, const struct cpu_entry *e) {
  uint32_t last = item->first + item->n, stop = e->first + e->n;
  struct cpu_span s = {.row = item->first > e->first ? item->first : e->first,
                       .end_row = last < stop ? last : stop};
  if (item->n == 1) {
    s.begin = item->begin;
    s.end = item->end;
  }
  return s;
}

struct map_job {
  const struct rt_device *d;
  const struct cpu_entry *entry;
  const struct rt_kernel *kernel;
  uint64_t first_item;
};

static void load_scalars(const struct map_job *job, const struct rt_row *row,
                         float *scalar) {
  const struct rt_device *d = job->d;
  uint32_t rule = d->program->param[row->param].rule;
  const float *from = d->scalar + d->scalar_at[row->param] +
                      rt_phase_scalars(d->program, rule, row->phase);
  const uint32_t *of = d->program->rule[rule].phase[row->phase].scalar;
  for (uint32_t i = 0; i < job->kernel->n_scalars; i++) {
    scalar[i] = of[i] == RT_SCALAR_CLIP ? cpu_verdict(d)->clip : from[i];
  }
}

static void map_row(const struct map_job *job, const struct rt_row *row, uint64_t begin,
                    uint64_t end) {
  const struct rt_device *d = job->d;
  void *ptr[RT_MAX_PTRS];
  float scalar[RT_MAX_SCALARS];
  for (uint32_t i = 0; i < job->kernel->n_ptrs; i++) {
    ptr[i] = cpu_at(d, d->plan->at[row->at + i]);
  }
  if (!is_init(d, job->entry)) {
    load_scalars(job, row, scalar);
  }
  job->kernel->fn(ptr, scalar, begin, end);
}

static void map_item(void *ctx, uint64_t item, uint32_t thread) {
  (void)thread;
  const struct map_job *job = ctx;
  const struct rt_device *d = job->d;
  struct cpu_span s = cpu_span_of(&d->item[job->first_item + item], job->entry);
  for (uint32_t i = s.row; i < s.end_row; i++) {
    const struct rt_row *row = &d->plan->row[i];
    uint64_t end = s.end > 0 ? s.end : row->numel;
    if (end > 0 && (d->grad[row->param] || is_init(d, job->entry))) {
      map_row(job, row, s.begin, end);
    }
  }
}

static void map(struct rt_device *d, const struct rt_op *op, const struct cpu_entry *e) {
  struct map_job job = {d, e, &d->program->kernel[op->kernel], 0};
  uint64_t end;
  cpu_items(d, e, &job.first_item, &end);
  rt_team_run(d->team, end - job.first_item, map_item, &job);
}

// ---- matrices

static void ortho(struct rt_device *d, const struct rt_op *op,
                  const struct cpu_entry *e) {
  for (uint32_t i = e->first; i < e->first + e->n; i++) {
    const struct rt_row *row = &d->plan->row[i];
    if (row->numel == 0 || !d->grad[row->param]) {
      continue;
    }
    const struct rt_matrices m = {.in = cpu_at(d, d->plan->at[row->at]),
                                  .in_storage = op->in_bytes == 4 ? RT_F32 : RT_BF16,
                                  .out = cpu_at(d, d->plan->at[row->at + 1]),
                                  .batch = row->numel / (op->rows * op->cols),
                                  .rows = op->rows,
                                  .cols = op->cols};
    rt_ortho(d->blas, d->team, &d->program->iteration[op->kernel], &m, d->scratch);
  }
}

// ---- copies

// Neighbours that continue each other on both sides are one copy.
static void copy(struct rt_device *d, const struct rt_op *op, const struct cpu_entry *e) {
  const struct rt_copy *c = d->plan->copy;
  for (uint32_t i = e->first, next; i < e->first + e->n; i = next) {
    uint64_t bytes = c[i].bytes;
    for (next = i + 1; next < e->first + e->n && c[next].host == c[i].host + bytes &&
                       c[next].arena == c[i].arena + bytes;
         next++) {
      bytes += c[next].bytes;
    }
    char *host = (char *)d->host.at + c[i].host, *arena = d->arena + c[i].arena;
    memcpy(op->kind == RT_OP_LOAD ? arena : host, op->kind == RT_OP_LOAD ? host : arena,
           bytes);
  }
}

static void upload(struct rt_device *d, const struct rt_stage *s) {
  memcpy(d->scalar, s->scalar, s->n_scalars * sizeof *d->scalar);
  memcpy(d->scalar_at, s->scalar_at, d->plan->n_params * sizeof *d->scalar_at);
  memcpy(d->grad, s->grad, d->plan->n_params * sizeof *d->grad);
  d->bound = s->bound;
}

// Read on COMPUTE only.
static bool is_skipped(const struct rt_device *d, const struct cpu_entry *e) {
  return !is_init(d, e) && cpu_verdict(d)->skip != 0;
}

void cpu_exec(struct rt_device *d, const struct cpu_entry *e) {
  const struct rt_op *op = cpu_op(d->plan, e->op);
  switch ((enum rt_op_kind)op->kind) {
  case RT_OP_UPLOAD: upload(d, &d->stage[e->stage]); return;
  case RT_OP_REDUCE: cpu_reduce(d, op, e); return;
  case RT_OP_VERDICT: cpu_verdict_of(d, op); return;
  case RT_OP_LOAD:
  case RT_OP_STORE: copy(d, op, e); return;
  case RT_OP_MAP:
    if (!is_skipped(d, e)) {
      map(d, op, e);
    }
    return;
  case RT_OP_ORTHO:
    if (!is_skipped(d, e)) {
      ortho(d, op, e);
    }
    return;
  case RT_OP_MERGE:    // of plans with several ranks:
  case RT_OP_EXCHANGE: // refused at open
  case RT_N_OP_KINDS: return;
  }
}
