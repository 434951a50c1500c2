// Texts of `stepc bench`.
#include "tool/bench.h"
#include "tool/plan_totals.h"
#include "tool/run_plan.h"
#include "tool/spread.h"
#include "tool/table.h"

#include "device/cuda/probe.h"
#include "plan/names.h"

// ---- numbers

static double median(const struct bench *b, const double *x) {
  return spread_of(b->tool->arena, x, b->rounds).median;
}

static struct str range_text(struct arena *a, struct spread s) {
  return str_fmt(a, "%s - %s", text_seconds(a, s.least).p, text_seconds(a, s.most).p);
}

// Both ways together.
static struct str rate_text(struct arena *a, uint64_t bytes, double seconds) {
  return bytes == 0 || seconds <= 0
             ? STR("")
             : str_fmt(a, "%.1f", (double)bytes / seconds / (double)(1 << 30));
}

// The GPU's name; empty on the CPU.
static struct str device_name(const struct bench *b) {
  char why[512];
  struct rt_gpus *g = ARENA_NEW(b->tool->arena, struct rt_gpus);
  bool found = b->tensors.on_gpu && rt_gpus(g, why, sizeof why) == STEPRT_OK && g->n != 0;
  return found ? str_escape(b->tool->arena, str_of(g->gpu[0].name)) : STR("");
}

// ---- text

static void put_heading(struct buf *out, const struct bench *b) {
  struct arena *a = b->tool->arena;
  const struct driver *d = &b->driver;
  const struct bench_arm *chunked = &b->arm[ARM_CHUNKED];
  struct str model = d->model->name.n != 0 ? d->model->name : d->model->path;
  struct str device = device_name(b), target = job_target_name(a, &b->setup.in, d->step);
  buf_printf(out, "%.*s on %s: %u tensors, %s elements; %s", STR_FMT(d->job->name),
             str_escape(a, model).p, d->model->n_params,
             text_count(a, (double)model_numel(d->model)).p, target.p);
  if (device.n != 0) {
    buf_printf(out, " (%s)", device.p);
  }
  buf_printf(out, ", %llu rounds\neach step streams %s up and %s down\n\n",
             (unsigned long long)b->rounds, text_binary(a, (double)chunked->up).p,
             text_binary(a, (double)chunked->down).p);
}

// Against all up, the step, all down.
static struct str speed_up(const struct bench *b, double seconds) {
  const struct bench_arm *serial = &b->arm[ARM_SERIAL];
  return bench_has(serial)
             ? str_fmt(b->tool->arena, "%.2f", median(b, serial->step) / seconds)
             : STR("-");
}

static void put_arm(struct table *t, const struct bench *b, const struct bench_arm *arm) {
  struct arena *a = t->arena;
  if (!bench_has(arm)) {
    struct str none = STR("");
    TABLE_ROW(t, str_of(arm->name), STR("left out"), none, none, none, none, none, none);
    return;
  }
  struct spread s = spread_of(a, arm->step, b->rounds);
  double floor = median(b, b->floor_seconds);
  TABLE_ROW(t, str_of(arm->name), text_seconds(a, s.median), range_text(a, s),
            text_seconds(a, median(b, arm->host)), text_seconds(a, arm->device),
            rate_text(a, arm->up + arm->down, s.median),
            arm->up != 0 ? str_fmt(a, "%.3f", s.median / floor) : STR(""),
            speed_up(b, s.median));
}

static void put_times(struct buf *out, const struct bench *b) {
  struct arena *a = b->tool->arena;
  const struct bench_arm *chunked = &b->arm[ARM_CHUNKED];
  struct table t = {.arena = a, .columns = "lrrrrrrr"};
  struct spread s = spread_of(a, b->floor_seconds, b->rounds);
  TABLE_ROW(&t, STR("arm"), STR("step"), STR("least - most"), STR("host"), STR("device"),
            STR("GiB/s"), STR("of floor"), STR("speed-up"));
  for (int i = 0; i < N_ARMS; i++) {
    put_arm(&t, b, &b->arm[i]);
  }
  TABLE_ROW(&t, STR("floor"), text_seconds(a, s.median), range_text(a, s), STR(""),
            STR(""), rate_text(a, chunked->up + chunked->down, s.median), STR("1"),
            speed_up(b, s.median));
  buf_str(out, table_text(&t));
}

static void put_memory(struct buf *out, const struct bench *b) {
  struct arena *a = b->tool->arena;
  struct table t = {.arena = a, .columns = "lrrrrrrr"};
  TABLE_ROW(&t, STR("arm"), STR("chunks"), STR("slots"), STR("staging"), STR("states"),
            STR("host slab"), STR("slab ready"), STR("open, bind"));
  for (int i = 0; i < N_ARMS; i++) {
    const struct bench_arm *arm = &b->arm[i];
    const struct rt_plan *p = arm->plan;
    if (bench_has(arm)) {
      TABLE_ROW(&t, str_of(arm->name), str_fmt(a, "%u", p->n_chunks),
                p->n_slots != 0 ? str_fmt(a, "%u x %s", p->n_slots,
                                          text_binary(a, (double)p->slot_bytes).p)
                                : STR(""),
                text_binary(a, (double)p->arena_bytes),
                text_binary(a, (double)p->state_bytes),
                text_binary(a, (double)p->host_bytes), text_seconds(a, arm->slab),
                str_fmt(a, "%s, %s", text_seconds(a, arm->open).p,
                        text_seconds(a, arm->bind).p));
    }
  }
  buf_char(out, '\n');
  buf_str(out, table_text(&t));
}

static void put_compiled(struct buf *out, const struct bench *b) {
  const struct driver *d = &b->driver;
  uint32_t cached = d->cuda != NULL ? d->cuda->n_cached : 0;
  buf_printf(out, "%u kernel%s compiled in %s", d->step->n_kernels,
             d->step->n_kernels == 1 ? "" : "s",
             text_seconds(b->tool->arena, d->times.compile).p);
  if (d->cuda != NULL) {
    buf_printf(out, ", %u of them from the cache", cached);
  }
  buf_char(out, '\n');
}

struct str bench_text(const struct bench *b) {
  struct arena *a = b->tool->arena;
  struct buf out = buf_new(a);
  put_heading(&out, b);
  put_times(&out, b);
  put_memory(&out, b);
  buf_char(&out, '\n');
  put_compiled(&out, b);
  buf_printf(&out, "%s: parameters and states of all arms after %d steps\n",
             b->same ? "same digests" : "DIFFERENT DIGESTS", BENCH_COMPARED);
  for (int i = 0; i < N_ARMS; i++) {
    struct str events = run_counters_text(a, &b->arm[i].counters);
    if (events.n != 0) {
      buf_printf(&out, "%s is not silent: %.*s", b->arm[i].name, STR_FMT(events));
    }
  }
  return buf_done(&out);
}

// ---- JSON

static void put_u64(struct buf *out, const char *name, uint64_t n) {
  buf_printf(out, "\"%s\": %llu, ", name, (unsigned long long)n);
}

static void put_list(struct buf *out, const char *name, const double *x, uint64_t n) {
  buf_printf(out, "\"%s\": [", name);
  for (uint64_t i = 0; i < n; i++) {
    buf_printf(out, "%s%.9g", i != 0 ? ", " : "", x[i]);
  }
  buf_puts(out, "]");
}

static uint64_t events_of(const struct steprt_counters *c) {
  return c->allocations + c->pins + c->opens + c->compiles + c->connects +
         c->states_created + c->waits;
}

static void put_arm_json(struct buf *out, const struct bench *b,
                         const struct bench_arm *arm) {
  const struct rt_plan *p = arm->plan;
  buf_printf(out, "    { \"name\": \"%s\", \"ran\": %s", arm->name,
             bench_has(arm) ? "true" : "false");
  if (!bench_has(arm)) {
    buf_puts(out, " }");
    return;
  }
  buf_puts(out, ",\n      ");
  put_u64(out, "bytes_up", arm->up);
  put_u64(out, "bytes_down", arm->down);
  put_u64(out, "chunks", p->n_chunks);
  put_u64(out, "slots", p->n_slots);
  put_u64(out, "staging_bytes", p->arena_bytes);
  put_u64(out, "state_bytes", p->state_bytes);
  put_u64(out, "host_bytes", p->host_bytes);
  put_u64(out, "events", events_of(&arm->counters));
  buf_printf(out,
             "\n      \"hash\": \"%016llx\", \"open_seconds\": %.9g, \"slab_seconds\": "
             "%.9g, \"bind_seconds\": %.9g, \"device_seconds\": %.9g,\n      ",
             (unsigned long long)arm->hash, arm->open, arm->slab, arm->bind, arm->device);
  buf_puts(out, "\"operation_seconds\": {");
  for (int k = 0, n = 0; k < RT_N_OP_KINDS; k++) {
    if (arm->kind[k] > 0) {
      buf_printf(out, "%s\"%s\": %.9g", n++ != 0 ? ", " : "", rt_op_names[k],
                 arm->kind[k]);
    }
  }
  buf_puts(out, "},\n      ");
  put_list(out, "step_seconds", arm->step, b->rounds);
  buf_puts(out, ",\n      ");
  put_list(out, "host_seconds", arm->host, b->rounds);
  buf_puts(out, " }");
}

struct str bench_json(const struct bench *b) {
  struct arena *a = b->tool->arena;
  const struct driver *d = &b->driver;
  struct buf out = buf_new(a);
  buf_puts(&out, "{\n  \"format\": \"stepc-bench/1\", \"job\": ");
  buf_json(&out, d->job->name);
  buf_puts(&out, ", \"model\": ");
  buf_json(&out, d->model->name.n != 0 ? d->model->name : d->model->path);
  buf_puts(&out, ",\n  \"target\": ");
  buf_json(&out, job_target_name(a, &b->setup.in, d->step));
  buf_puts(&out, ", \"device\": ");
  buf_json(&out, device_name(b));
  buf_puts(&out, ", ");
  put_u64(&out, "threads", rt_team_size(b->tensors.team));
  put_u64(&out, "elements", model_numel(d->model));
  put_u64(&out, "kernels", d->step->n_kernels);
  put_u64(&out, "kernels_cached", d->cuda != NULL ? d->cuda->n_cached : 0);
  buf_printf(&out, "\"compile_seconds\": %.9g,\n  \"same_digests\": %s,\n  ",
             d->times.compile, b->same ? "true" : "false");
  put_list(&out, "floor_seconds", b->floor_seconds, b->rounds);
  buf_puts(&out, ",\n  \"arms\": [\n");
  for (int i = 0; i < N_ARMS; i++) {
    put_arm_json(&out, b, &b->arm[i]);
    buf_puts(&out, i + 1 < N_ARMS ? ",\n" : "\n");
  }
  buf_puts(&out, "  ]\n}\n");
  return buf_done(&out);
}
