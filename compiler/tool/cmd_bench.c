// stepc bench: what streaming states costs on this machine.
#include "tool/bench.h"
#include "tool/plan_options.h"
#include "tool/plan_totals.h"
#include "tool/progress.h"
#include "tool/run_plan.h"

#include "core/handle.h"
#include "core/team.h"

#include <math.h>

static const char *const arm_names[N_ARMS] = {"resident", "serial", "chunked"};

// ---- options and plans

static enum exit_code read_options(struct bench *b) {
  struct tool *t = b->tool;
  struct plan_options *o = &b->setup.in.plan;
  b->rounds = 7;
  if (!option_u64(t, OPT_ROUNDS, 1, 10000, &b->rounds) ||
      !option_u64(t, OPT_THREADS, 1, RT_MAX_THREADS, &b->threads) ||
      !option_u64(t, OPT_SEED, 0, UINT64_MAX, &b->source.seed)) {
    return EXIT_USAGE;
  }
  if (b->setup.in.model.n == 0) {
    return usage_error(t, STR("`stepc bench` needs --model MODEL"));
  }
  if (str_is(o->offload, "none")) {
    return usage_error(t, STR("`stepc bench` compares what streams with what does not: "
                              "--offload takes host or host:F here"));
  }
  o->offload = o->offload.n != 0 ? o->offload : STR("host");
  return EXIT_OK;
}

static enum exit_code compile(struct bench *b) {
  struct front *f = &b->tool->front;
  struct driver *d = &b->driver;
  const struct driver_input *in = &b->setup.in;
  if (!driver_parse(f, in, d) || !driver_model(f, in, d)) {
    return job_failed(b->tool, d);
  }
  enum exit_code code = run_plan_world(b->tool, d->model);
  if (code != EXIT_OK) {
    return code;
  }
  if (!driver_job(f, in, d) || !driver_lower(f, in, d) || !driver_compile(f, in, d)) {
    return job_failed(b->tool, d);
  }
  code = report(b->tool);
  return code != EXIT_OK ? code : job_finish_passes(b->tool, &b->setup, d);
}

static struct plan_options arm_options(const struct bench *b, enum bench_arm_id id) {
  const struct plan_options *o = &b->setup.in.plan;
  switch (id) {
  case ARM_RESIDENT: return (struct plan_options){.rank = o->rank};
  case ARM_SERIAL:
    return (struct plan_options){.offload = o->offload, .rank = o->rank, .serial = true};
  case ARM_CHUNKED:
  case N_ARMS: break;
  }
  return *o;
}

static enum exit_code plan_arms(struct bench *b) {
  struct driver_input in = b->setup.in;
  for (int i = 0; i < N_ARMS; i++) {
    struct bench_arm *arm = &b->arm[i];
    in.plan = arm_options(b, (enum bench_arm_id)i);
    if (!driver_plan(&b->tool->front, &in, &b->driver)) {
      return job_failed(b->tool, &b->driver);
    }
    const struct plan_totals *t = plan_total(b->tool->arena, b->driver.plan);
    arm->name = arm_names[i];
    arm->plan = b->driver.plan;
    arm->program = *b->driver.step;
    arm->up = t->loaded;
    arm->down = t->stored;
    arm->step = ARENA_ARRAY(b->tool->arena, double, b->rounds);
    arm->host = ARENA_ARRAY(b->tool->arena, double, b->rounds);
  }
  if (b->arm[ARM_CHUNKED].up == 0) {
    say(b->tool, "no state of this job leaves the device: there is nothing to compare");
    return EXIT_INPUT;
  }
  return EXIT_OK;
}

// ---- arms

// From the seed's parameters and new states, so that all arms compute the same.
static enum exit_code open_arm(struct bench *b, struct bench_arm *arm) {
  enum exit_code code = session_load_params(&b->tensors);
  if (code != EXIT_OK) {
    return code;
  }
  code = session_open_beside(&arm->session, &b->tensors, &arm->program, false);
  if (code == EXIT_OK) {
    arm->open = arm->session.open_seconds;
    arm->slab = arm->session.rt->slab_seconds;
    arm->bind = arm->session.bind_seconds;
  }
  return code;
}

// Opens an arm and hashes what its first steps make. One that only serves comparison may lack memory.
static enum exit_code start_arm(struct bench *b, enum bench_arm_id id) {
  struct bench_arm *arm = &b->arm[id];
  b->tensors.source.quiet = id != ARM_CHUNKED; // the runtime's notes, once
  enum exit_code code = open_arm(b, arm);
  b->tensors.source.quiet = true;
  if (code == EXIT_ENVIRONMENT && id != ARM_CHUNKED) {
    say(b->tool, "the arm `%s` is left out", arm->name);
    return EXIT_OK;
  }
  for (int i = 0; i < BENCH_COMPARED && code == EXIT_OK; i++) {
    code = session_step(&arm->session, NULL);
  }
  return code == EXIT_OK ? bench_hash(&arm->session, &arm->hash) : code;
}

static enum exit_code start(struct bench *b) {
  enum exit_code code = session_open_tensors(&b->tensors, b->tool, b->driver.job,
                                             &b->arm[ARM_CHUNKED].program, &b->source,
                                             (uint32_t)b->threads);
  if (code == EXIT_OK) {
    code = session_load_grads(&b->tensors);
  }
  for (int i = 0; i < N_ARMS && code == EXIT_OK; i++) {
    code = start_arm(b, (enum bench_arm_id)i);
  }
  b->same = true;
  for (int i = 0; i < N_ARMS; i++) {
    b->same =
        b->same && (!bench_has(&b->arm[i]) || b->arm[i].hash == b->arm[ARM_CHUNKED].hash);
  }
  const struct bench_arm *chunked = &b->arm[ARM_CHUNKED];
  return code == EXIT_OK ? floor_open(&b->floor, b->tool, b->tensors.team,
                                      b->tensors.on_gpu, chunked->up, chunked->down)
                         : code;
}

// ---- rounds

static enum exit_code run_round(struct bench *b, uint64_t round) {
  bool counts = round >= BENCH_WARM;
  enum exit_code code = EXIT_OK;
  for (int i = 0; i < N_ARMS && code == EXIT_OK; i++) {
    struct bench_arm *arm = &b->arm[i];
    code = bench_has(arm) ? session_step(&arm->session, NULL) : EXIT_OK;
    if (counts && code == EXIT_OK) {
      arm->step[round - BENCH_WARM] = arm->session.step_seconds;
      arm->host[round - BENCH_WARM] = arm->session.host_seconds;
    }
  }
  double seconds = 0;
  if (code == EXIT_OK) {
    code = floor_round(&b->floor, &seconds);
  }
  if (counts) {
    b->floor_seconds[round - BENCH_WARM] = seconds;
  }
  return code;
}

static enum exit_code run_rounds(struct bench *b) {
  struct progress bar = progress_begin(b->rounds + BENCH_WARM);
  enum exit_code code = EXIT_OK;
  b->floor_seconds = ARENA_ARRAY(b->tool->arena, double, b->rounds);
  for (uint64_t i = 0; i < b->rounds + BENCH_WARM && code == EXIT_OK; i++) {
    progress_show(&bar, i);
    code = run_round(b, i);
  }
  progress_end(&bar);
  return code;
}

static void read_trace(struct arena *a, struct bench_arm *arm) {
  struct steprt *rt = arm->session.rt;
  uint64_t n = steprt_trace(rt, NULL, 0);
  struct steprt_trace_record *r = ARENA_ARRAY(a, struct steprt_trace_record, n);
  double begin = INFINITY, end = 0;
  n = steprt_trace(rt, r, n);
  for (uint64_t i = 0; i < n; i++) {
    begin = fmin(begin, r[i].begin);
    end = fmax(end, r[i].end);
    arm->kind[arm->plan->op[r[i].op].kind] += r[i].end - r[i].begin;
  }
  arm->device = n != 0 ? end - begin : 0;
}

// Events of a trace cost time: no other round has them, and the handle is another one.
static enum exit_code trace_arm(struct bench *b, struct bench_arm *arm) {
  arm->counters.size = sizeof arm->counters;
  (void)steprt_counters(arm->session.rt, &arm->counters);
  session_close(&arm->session);
  enum exit_code code =
      session_open_beside(&arm->session, &b->tensors, &arm->program, true);
  for (int i = 0; i < BENCH_WARM && code == EXIT_OK; i++) {
    code = session_step(&arm->session, NULL);
  }
  if (code == EXIT_OK) {
    read_trace(b->tool->arena, arm);
  }
  return code;
}

static enum exit_code trace_arms(struct bench *b) {
  enum exit_code code = EXIT_OK;
  for (int i = 0; i < N_ARMS && code == EXIT_OK; i++) {
    code = bench_has(&b->arm[i]) ? trace_arm(b, &b->arm[i]) : EXIT_OK;
  }
  return code;
}

// ---- the command

static enum exit_code measure(struct bench *b) {
  enum exit_code code = start(b);
  if (code == EXIT_OK) {
    code = run_rounds(b);
  }
  if (code == EXIT_OK) {
    code = trace_arms(b);
  }
  if (code == EXIT_OK) {
    out_str(b->tool, args_has(&b->tool->args, OPT_JSON) ? bench_json(b) : bench_text(b));
    code = b->same ? EXIT_OK : EXIT_INPUT;
  }
  return code;
}

enum exit_code cmd_bench(struct tool *t) {
  struct bench *b = ARENA_NEW(t->arena, struct bench);
  b->tool = t;
  b->source.quiet = true;
  enum exit_code code = job_setup(t, &b->setup);
  if (code == EXIT_OK) {
    code = read_options(b);
  }
  if (code == EXIT_OK) {
    code = compile(b);
  }
  if (code == EXIT_OK) {
    code = plan_arms(b);
  }
  if (code == EXIT_OK) {
    code = measure(b);
  }
  floor_close(&b->floor);
  for (int i = 0; i < N_ARMS; i++) {
    session_close(&b->arm[i].session);
  }
  session_close(&b->tensors);
  driver_free(&b->driver);
  return code;
}
