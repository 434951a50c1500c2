// The planner's steps in order, and the tables that come out.
#include "plan/planner.h"

#include "plan/plan_int.h"

struct str plan_size(struct arena *a, uint64_t bytes) {
  static const char *const unit[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  double x = (double)bytes;
  uint32_t i = 0;
  for (; x >= 1024 && i < 4; i++) {
    x /= 1024;
  }
  return i == 0
             ? str_fmt(a, "%llu byte%s", (unsigned long long)bytes, bytes == 1 ? "" : "s")
             : str_fmt(a, "%.4g %s", x, unit[i]);
}

bool plan_too_large(struct plan_builder *b, uint64_t most, const char *what, uint64_t n) {
  if (n > most) {
    DIAG(b->f->diags, NO_SPAN, E0808,
         str_fmt(b->arena, "%llu %s", (unsigned long long)most, what),
         str_fmt(b->arena, "%llu", (unsigned long long)n));
  }
  return n > most;
}

uint64_t plan_slots_bytes(const struct plan_builder *b) {
  return b->n_slots * b->slot_bytes;
}

static const struct rt_kernel_info *kernel_table(struct plan_builder *b) {
  const struct steprt_program *p = b->program;
  struct rt_kernel_info *k = ARENA_ARRAY(b->arena, struct rt_kernel_info, p->n_kernels);
  for (uint32_t i = 0; i < p->n_kernels; i++) {
    const struct rt_kernel *from = &p->kernel[i];
    k[i] = (struct rt_kernel_info){.name = from->name,
                                   .n_ptrs = from->n_ptrs,
                                   .n_scalars = from->n_scalars,
                                   .access = from->access,
                                   .bytes_read = from->bytes_read,
                                   .bytes_written = from->bytes_written,
                                   .registers = from->registers,
                                   .shared = from->shared,
                                   .spilled = from->spilled};
  }
  return k;
}

// Chunks of each unit follow from the pieces; parameters learn their unit.
static const struct rt_unit *unit_table(struct plan_builder *b) {
  struct rt_unit *out = ARENA_ARRAY(b->arena, struct rt_unit, b->ordered.n);
  for (uint32_t i = 0; i < b->ordered.n; i++) {
    const struct unit *u = &b->ordered.v[i];
    out[i] = (struct rt_unit){.first = u->first, .n = u->n, .bytes = u->bytes};
  }
  for (uint32_t c = 0; c < b->chunk.n; c++) {
    for (uint32_t k = 0; k < b->chunk.v[c].n; k++) {
      struct rt_unit *u = &out[b->piece.v[b->chunk.v[c].first + k].unit];
      u->first_chunk = u->n_chunks++ == 0 ? c : u->first_chunk;
    }
  }
  return out;
}

// Parameters of the units in the order of the plan.
static void number_units(struct plan_builder *b) {
  uint32_t *list = ARENA_ARRAY(b->arena, uint32_t, b->n_unit_params), n = 0;
  for (uint32_t i = 0; i < b->ordered.n; i++) {
    struct unit *u = &b->ordered.v[i];
    for (uint32_t k = 0; k < u->n; k++) {
      uint32_t param = b->unit_param[u->first + k];
      b->param[param].unit = i;
      list[n + k] = param;
    }
    u->first = n;
    n += u->n;
  }
  b->unit_param = list;
}

static struct rt_configuration configuration(struct plan_builder *b) {
  return (struct rt_configuration){.target = b->program->target,
                                   .offload = str_cstr(b->arena, b->o.offload),
                                   .chunk_bytes = b->o.chunk_bytes,
                                   .slots = b->o.slots,
                                   .overlap = b->o.overlap,
                                   .gpu_memory = b->o.gpu_memory,
                                   .host_memory = b->o.host_memory,
                                   .rank = b->o.rank,
                                   .world = (uint32_t)b->model->world};
}

static struct rt_plan *finish(struct plan_builder *b) {
  struct rt_plan *p = ARENA_NEW(b->arena, struct rt_plan);
  *p = (struct rt_plan){.version = RT_PLAN_VERSION,
                        .configuration = configuration(b),
                        .param = b->param,
                        .n_params = b->program->n_params,
                        .kernel = kernel_table(b),
                        .n_kernels = b->program->n_kernels,
                        .state = b->home.v,
                        .n_states = b->home.n,
                        .unit_param = b->unit_param,
                        .n_unit_params = b->n_unit_params,
                        .unit = unit_table(b),
                        .n_units = b->ordered.n,
                        .chunk = b->out_chunk.v,
                        .n_chunks = b->out_chunk.n,
                        .op = b->op.v,
                        .init = b->init.v,
                        .n_ops = b->op.n,
                        .n_init = b->init.n,
                        .n_begin = b->n_begin,
                        .event = b->event.v,
                        .n_events = b->event.n,
                        .wait = b->wait.v,
                        .n_waits = b->wait.n,
                        .row = b->row.v,
                        .n_rows = b->row.n,
                        .at = b->at.v,
                        .n_at = b->at.n,
                        .copy = b->copy.v,
                        .n_copies = b->copy.n,
                        .n_slots = b->n_slots,
                        .slot_bytes = b->slot_bytes,
                        .arena_bytes = plan_slots_bytes(b) + b->work_bytes,
                        .state_bytes = b->state_bytes,
                        .host_bytes = b->host_bytes,
                        .step_bytes = plan_step_bytes(b),
                        .first_ahead = b->o.overlap ? PLAN_AT_ONCE : 0,
                        .ahead = b->o.overlap ? PLAN_AHEAD : 0,
                        .note = b->note.v,
                        .n_notes = b->note.n};
  return p;
}

struct rt_plan *plan_make(struct front *f, const struct job *job,
                          const struct steprt_program *program,
                          const struct plan_options *o, struct str *ice) {
  struct plan_builder *b = ARENA_NEW(f->arena, struct plan_builder);
  *b = (struct plan_builder){.f = f,
                             .arena = f->arena,
                             .job = job,
                             .model = job->model,
                             .program = program,
                             .o = *o,
                             .ice = ice};
  *ice = STR("");
  if (!plan_options_check(b) || !plan_forms(b) || !plan_table(b)) {
    return NULL;
  }
  if (!plan_units(b) || !plan_tiers(b)) {
    return NULL;
  }
  number_units(b);
  plan_layout(b);
  plan_ops(b);
  if (!plan_budgets(b)) {
    return NULL;
  }
  plan_notes(b);
  struct rt_plan *plan = finish(b);
  if (!rt_plan_seal(plan, program)) {
    *ice = STR("out of memory for the plan's digest");
    return NULL;
  }
  return plan;
}
