// The chain from a spec to machine code.
#include "api/driver.h"

#include "base/clock.h"
#include "emit/cuda_device.h"

#include "plan/program_json.h" // runtime/

#include <unistd.h>

static bool is_identifier(struct str s) {
  for (size_t i = 0; i < s.n; i++) {
    char c = s.p[i];
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    if (!letter && (i == 0 || c < '0' || c > '9')) {
      return false;
    }
  }
  return s.n != 0;
}

void driver_split_spec(struct str spec, struct str *path, struct str *name) {
  *path = spec;
  *name = STR("");
  size_t colon = spec.n;
  while (colon > 0 && spec.p[colon - 1] != ':') {
    colon--;
  }
  if (colon <= 1) {
    return;
  }
  struct str tail = {spec.p + colon, spec.n - colon};
  if (is_identifier(tail) && access(spec.p, F_OK) != 0) {
    *path = (struct str){spec.p, colon - 1};
    *name = tail;
  }
}

bool driver_parse(struct front *f, const struct driver_input *in, struct driver *d) {
  double start = clock_now();
  uint32_t errors_before = f->diags->n_errors;
  d->path = in->spec;
  d->pick = in->pick;
  if (in->pick.n == 0 && in->reader.read == NULL) {
    driver_split_spec(in->spec, &d->path, &d->pick);
  }
  d->path = str_copy(f->arena, d->path);
  d->program = parse_program(f, d->path,
                             in->reader.read != NULL ? in->reader : file_reader_disk());
  d->times.parse = clock_now() - start;
  return d->program != NULL && f->diags->n_errors == errors_before &&
         (d->pick.n == 0 || sema_has_pick(f, d->program, d->pick));
}

bool driver_model(struct front *f, const struct driver_input *in, struct driver *d) {
  double start = clock_now();
  d->model = in->tensor != NULL         ? model_of_tensors(f, in->tensor, in->n_tensors)
             : in->model_text.p != NULL ? model_parse(f, in->model, in->model_text)
                                        : model_read(f, in->model);
  d->times.model = clock_now() - start;
  return d->model != NULL;
}

bool driver_job(struct front *f, const struct driver_input *in, struct driver *d) {
  double start = clock_now();
  struct job_options o = {.pick = d->pick,
                          .define = in->define,
                          .set = in->set,
                          .n_defines = in->n_defines,
                          .n_sets = in->n_sets};
  d->job = sema_job(f, d->program, d->model, &o);
  d->times.sema = clock_now() - start;
  return d->job != NULL;
}

bool driver_lower(struct front *f, const struct driver_input *in, struct driver *d) {
  double start = clock_now();
  d->ir = job_lower(f->arena, d->job, in->log, &d->ice);
  d->times.lower = clock_now() - start;
  return d->ir != NULL;
}

static bool compile_cpu(struct front *f, const struct driver_input *in,
                        struct driver *d) {
  struct cpu_options o = {.cpu = in->cpu};
  d->cpu = cpu_compile(f, d->ir, &o, &d->ice);
  if (d->cpu == NULL) {
    return false;
  }
  d->step = cpu_program_step(d->cpu);
  d->note = cpu_program_notes(d->cpu, &d->n_notes);
  return true;
}

// The architecture named, else that of this machine's device.
static bool find_arch(struct front *f, const struct driver_input *in, struct str *arch) {
  struct str why;
  *arch = in->arch.n != 0 ? in->arch : cuda_device_arch(f->arena, 0, &why);
  if (arch->n == 0) {
    DIAG(f->diags, NO_SPAN, E0003, why);
  }
  return arch->n != 0;
}

static bool compile_cuda(struct front *f, const struct driver_input *in,
                         struct driver *d) {
  struct cuda_options o;
  struct str why;
  if (!find_arch(f, in, &o.arch)) {
    return false;
  }
  switch (cuda_compile(f, d->ir, &o, &d->cuda, &why)) {
  case CUDA_FINE: break;
  case CUDA_REFUSED: return false;
  case CUDA_NO_NVRTC: DIAG(f->diags, NO_SPAN, E0002, why); return false;
  case CUDA_BROKEN: d->ice = why; return false;
  }
  d->step = d->cuda->step;
  d->note = d->cuda->note.v;
  d->n_notes = d->cuda->note.n;
  return true;
}

bool driver_compile(struct front *f, const struct driver_input *in, struct driver *d) {
  double start = clock_now();
  bool made = in->names_cuda ? compile_cuda(f, in, d) : compile_cpu(f, in, d);
  d->times.compile = clock_now() - start;
  return made && driver_plan(f, in, d);
}

bool driver_program(struct front *f, const struct driver_input *in, struct driver *d) {
  if (in->names_cuda) {
    struct cuda_options o;
    if (!find_arch(f, in, &o.arch)) {
      return false;
    }
    struct cuda_program *p = cuda_program_plan_only(f, d->ir, &o, &d->ice);
    d->step = p != NULL ? p->step : NULL;
  } else {
    d->step = cpu_program_plan_only(f, d->ir, &d->ice);
  }
  return d->step != NULL;
}

bool driver_plan(struct front *f, const struct driver_input *in, struct driver *d) {
  double start = clock_now();
  if (!rt_program_digest(d->step, d->step->digest)) {
    d->ice = STR("out of memory for the digest of the program");
    return false;
  }
  d->plan = plan_make(f, d->job, d->step, &in->plan, &d->ice);
  d->step->plan = d->plan;
  d->times.plan = clock_now() - start;
  return d->plan != NULL;
}

bool driver_run(struct front *f, const struct driver_input *in, struct driver *d) {
  return driver_parse(f, in, d) && driver_model(f, in, d) && driver_job(f, in, d) &&
         driver_lower(f, in, d) && driver_compile(f, in, d);
}

void driver_free(struct driver *d) {
  cpu_program_free(d->cpu);
  d->cpu = NULL;
}
