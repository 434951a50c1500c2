// What a program tells, as records with terminated texts: messages, parameters, hypers, kernels, counts.
#include "api/program.h"
#include "base/diag_render.h"

// ---- messages

static struct stepc_diag record_of(struct arena *a, const struct diags *d,
                                   const struct diag *g, struct span at,
                                   struct str text) {
  struct place pl = {.path = STR("")};
  (void)diag_place(d, at, &pl);
  return (struct stepc_diag){.code = diag_info(g->code)->code,
                             .name = diag_info(g->code)->name,
                             .text = str_cstr(a, text),
                             .path = str_cstr(a, pl.path),
                             .line = pl.line,
                             .col = pl.col,
                             .end_line = pl.end_line,
                             .end_col = pl.end_col};
}

static struct diag_record diag_record(struct arena *a, const struct diags *d,
                                      const struct diag *g) {
  struct diag_record r = {.diag = record_of(a, d, g, g->span, g->text),
                          .note = ARENA_ARRAY(a, struct stepc_diag, g->extra.n)};
  r.diag.severity = g->severity == SEV_ERROR ? STEPC_ERROR : STEPC_WARNING;
  r.diag.n_notes = g->extra.n;
  for (uint32_t i = 0; i < g->extra.n; i++) {
    const struct diag_extra *e = &g->extra.v[i];
    r.note[i] = record_of(a, d, g, e->span, e->text);
    r.note[i].severity = e->is_help ? STEPC_HELP : STEPC_NOTE;
  }
  return r;
}

static void keep_diags(struct compiled *p) {
  const struct diags *d = &p->diags;
  struct diag **sorted = diags_sorted(d, p->arena);
  p->records.diag = ARENA_ARRAY(p->arena, struct diag_record, d->list.n);
  for (uint32_t i = 0; i < d->list.n; i++) {
    p->records.diag[i] = diag_record(p->arena, d, sorted[i]);
  }
  p->records.summary.n_diags = d->list.n;
  p->records.summary.n_errors = d->n_errors;
  p->records.summary.n_warnings = d->n_warnings;
}

// ---- the job

static struct stepc_param_info param_record(struct arena *a, const struct job *job,
                                            uint32_t i) {
  const struct model_param *m = &job->model->param[i];
  struct stepc_param_info out = {.name = str_cstr(a, m->name),
                                 .dtype = storage_name(m->dtype),
                                 .grad = storage_name(m->grad),
                                 .dim = m->shape.dim,
                                 .rank = m->shape.rank,
                                 .frozen = m->frozen,
                                 .tied_to =
                                     m->tied_to == UINT32_MAX ? -1 : (int64_t)m->tied_to,
                                 .optimizer = "",
                                 .label = "",
                                 .reason = ""};
  if (job->param[i].use != UINT32_MAX) {
    const struct job_use *use = &job->use[job->param[i].use];
    out.optimizer = str_cstr(a, use->optimizer->name);
    out.label = str_cstr(a, use->label);
    out.reason = str_cstr(a, use->when_text);
  }
  return out;
}

static struct stepc_hyper_info hyper_record(struct arena *a, const struct hyper *h) {
  return (struct stepc_hyper_info){.label = str_cstr(a, h->label),
                                   .name = str_cstr(a, h->name),
                                   .alias = str_cstr(a, h->as),
                                   .value = h->value,
                                   .is_bound = h->bound != NULL,
                                   .has_range = h->has_range,
                                   .lo_open = h->lo_open,
                                   .hi_open = h->hi_open,
                                   .lo = h->lo,
                                   .hi = h->hi};
}

static void keep_job(struct compiled *p, const struct job *job) {
  struct stepc_summary *s = &p->records.summary;
  struct arena *a = p->arena;
  s->name = str_cstr(a, job->name);
  s->n_params = job->model->n_params;
  s->n_uses = job->n_uses;
  s->n_rules = job->n_rules;
  s->n_hypers = job->n_hypers;
  p->records.param = ARENA_ARRAY(a, struct stepc_param_info, s->n_params);
  p->records.hyper = ARENA_ARRAY(a, struct stepc_hyper_info, s->n_hypers);
  for (uint32_t i = 0; i < s->n_params; i++) {
    p->records.param[i] = param_record(a, job, i);
  }
  for (uint32_t i = 0; i < s->n_hypers; i++) {
    p->records.hyper[i] = hyper_record(a, &job->hyper[i]);
  }
}

// ---- the code

static void count_bytes(struct stepc_summary *s, const struct rt_plan *plan) {
  for (uint32_t i = 0; i < plan->n_states; i++) {
    s->state_bytes += plan->state[i].bytes;
  }
  s->temp_bytes = plan->arena_bytes;
}

static void keep_code(struct compiled *p, const struct driver *d) {
  struct stepc_summary *s = &p->records.summary;
  const struct steprt_program *step = d->step;
  s->n_notes = d->n_notes;
  s->n_kernels = step->n_kernels;
  if (step->plan != NULL) {
    count_bytes(s, step->plan);
  }
  p->records.kernel = ARENA_ARRAY(p->arena, struct stepc_kernel_info, s->n_kernels);
  for (uint32_t i = 0; i < s->n_kernels; i++) {
    const struct rt_kernel *k = &step->kernel[i];
    p->records.kernel[i] = (struct stepc_kernel_info){.name = k->name,
                                                      .n_tensors = k->n_ptrs,
                                                      .n_scalars = k->n_scalars,
                                                      .bytes_read = k->bytes_read,
                                                      .bytes_written = k->bytes_written};
  }
  p->records.note = ARENA_ARRAY(p->arena, const char *, s->n_notes);
  for (uint32_t i = 0; i < s->n_notes; i++) {
    p->records.note[i] = str_cstr(p->arena, d->note[i]);
  }
}

void keep_records(struct compiled *p) {
  const struct driver_times *t = &p->driver.times;
  p->records.summary = (struct stepc_summary){.name = "",
                                              .parse_seconds = t->parse,
                                              .model_seconds = t->model,
                                              .sema_seconds = t->sema,
                                              .lower_seconds = t->lower,
                                              .code_seconds = t->compile};
  keep_diags(p);
  if (p->driver.job != NULL) {
    keep_job(p, p->driver.job);
  }
  if (p->driver.step != NULL) {
    keep_code(p, &p->driver);
  }
  p->messages = str_cstr(p->arena, diag_render(&p->diags, DIAG_TEXT, false, p->arena));
}
