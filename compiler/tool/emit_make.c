// What `stepc emit` makes: texts and objects, each with the name of its file.
#include "tool/emit.h"

#include "tool/plan_file.h"

#include <string.h>

static const char *const kind_extensions[] = {
#define KIND(id, name, extension) extension,
#include "tool/emit_kinds.def"
#undef KIND
};

void emit_add(struct emit *e, enum emit_kind kind, struct str stem, struct str text) {
  struct output o = {
      str_fmt(e->tool->arena, "%.*s.%s", STR_FMT(stem), kind_extensions[kind]), text};
  VEC_PUSH(e->tool->arena, e->out, o);
}

struct str emit_stem(struct str path) {
  size_t begin = path.n, end = path.n;
  while (begin > 0 && path.p[begin - 1] != '/') {
    begin--;
  }
  for (size_t i = begin + 1; i < path.n; i++) {
    if (path.p[i] == '.') {
      end = i;
    }
  }
  return (struct str){path.p + begin, end - begin};
}

// "rest-768x2304-f32": unique, since a rule is one use line, shape and pair of types.
static struct str rule_stem(struct arena *a, const struct job *job,
                            const struct rule *rule) {
  struct buf b = buf_new(a);
  struct str label = job->use[rule->use].label;
  buf_str(&b, label.n != 0 ? label : rule->name);
  for (uint32_t i = 0; i < rule->shape.rank; i++) {
    buf_printf(&b, "%c%llu", i == 0 ? '-' : 'x', (unsigned long long)rule->shape.dim[i]);
  }
  buf_printf(&b, "-%s", storage_name(rule->dtype));
  if (rule->grad != rule->dtype) {
    buf_printf(&b, "-%s", storage_name(rule->grad));
  }
  return buf_done(&b);
}

void emit_ast(struct emit *e) {
  for (uint32_t i = 0; i < e->driver.program->module.n; i++) {
    const struct module *m = e->driver.program->module.v[i];
    emit_add(e, EMIT_AST, emit_stem(e->tool->sources.file.v[m->file].path),
             ast_print(e->tool->arena, m));
  }
}

static void emit_rules(struct emit *e, enum emit_kind kind) {
  const struct job *job = e->driver.job;
  for (uint32_t r = 0; r < job->n_rules; r++) {
    struct str text = kind == EMIT_IR
                          ? ir_print(e->tool->arena, e->driver.ir->ir[r])
                          : phases_print(e->tool->arena, e->driver.ir->phases[r]);
    emit_add(e, kind, rule_stem(e->tool->arena, job, job->rule[r]), text);
  }
}

static bool emit_code(struct emit *e, enum emit_kind kind) {
  struct cpu_options o = {.cpu = e->setup.in.cpu};
  struct str text =
      cpu_emit_text(&e->tool->front, e->driver.ir, &o, kind == EMIT_ASM, &e->driver.ice);
  emit_add(e, kind, e->driver.job->name, text);
  return text.n != 0;
}

static struct str shown_path(struct arena *a, const char *path) {
  const char *slash = strrchr(path, '/');
  return str_escape(a, str_of(path[0] == '/' ? slash + 1 : path));
}

// The command that makes the CUDA text again. Paths of this machine are cut to their last part.
static struct str cuda_command(const struct emit *e) {
  struct arena *a = e->tool->arena;
  struct buf b = buf_new(a);
  buf_puts(&b, "stepc emit");
  for (int i = 0; i < e->tool->args.n_operands; i++) {
    buf_printf(&b, " %s", shown_path(a, e->tool->args.operand[i]).p);
  }
  buf_printf(&b, " --model %s", shown_path(a, str_cstr(a, e->setup.in.model)).p);
  for (uint32_t i = 0; i < e->setup.in.n_defines; i++) {
    buf_printf(&b, " -D %s", str_escape(a, e->setup.in.define[i].text).p);
  }
  buf_puts(&b, args_value(&e->tool->args, OPT_FROM) != NULL ? " --from=ir" : "");
  buf_puts(&b, " --emit=cuda");
  return buf_done(&b);
}

static void add_object(struct emit *e, enum emit_kind kind, struct str file,
                       struct str bytes) {
  if (e->wants[kind]) {
    emit_add(e, kind, emit_stem(file), bytes);
  }
}

static enum exit_code emit_objects(struct emit *e, const struct cuda_text *text) {
  struct str arch = e->setup.in.arch.n != 0 ? e->setup.in.arch : STR("sm_90a");
  enum exit_code code = objects_compile(e->tool, text, arch, &e->objects);
  for (uint32_t i = 0; code == EXIT_OK && i < text->n_kernels; i++) {
    add_object(e, EMIT_PTX, text->kernel[i].file, e->objects.object[i].ptx);
    add_object(e, EMIT_CUBIN, text->kernel[i].file, e->objects.object[i].cubin);
  }
  return code;
}

static enum exit_code emit_cuda(struct emit *e) {
  struct cuda_text *text =
      cuda_emit(&e->tool->front, e->driver.ir, cuda_command(e), &e->driver.ice);
  if (text == NULL) {
    return job_failed(e->tool, &e->driver);
  }
  for (uint32_t i = 0; e->wants[EMIT_CUDA] && i < text->n_kernels; i++) {
    struct output o = {text->kernel[i].file, text->kernel[i].source};
    VEC_PUSH(e->tool->arena, e->out, o);
  }
  return emit_wants_objects(e) ? emit_objects(e, text) : EXIT_OK;
}

static enum exit_code emit_plan(struct emit *e) {
  struct tool *t = e->tool;
  if (!driver_program(&t->front, &e->setup.in, &e->driver) ||
      !driver_plan(&t->front, &e->setup.in, &e->driver)) {
    return job_failed(t, &e->driver);
  }
  struct str text = plan_file_text(t, e->driver.plan);
  emit_add(e, EMIT_PLAN, STR("plan"), text);
  return text.n != 0 ? EXIT_OK : EXIT_ENVIRONMENT;
}

enum exit_code emit_of_job(struct emit *e) {
  for (uint32_t kind = EMIT_IR; kind <= EMIT_ASM; kind++) {
    if (!e->wants[kind]) {
      continue;
    }
    if (kind == EMIT_IR || kind == EMIT_PHASES) {
      emit_rules(e, (enum emit_kind)kind);
    } else if (!emit_code(e, (enum emit_kind)kind)) {
      return job_failed(e->tool, &e->driver);
    }
  }
  enum exit_code code = emit_wants_cuda(e) ? emit_cuda(e) : EXIT_OK;
  code = code == EXIT_OK && e->wants[EMIT_PLAN] ? emit_plan(e) : code;
  struct front *f = &e->tool->front;
  if (code == EXIT_OK && e->wants[EMIT_BUNDLE] &&
      !driver_compile(f, &e->setup.in, &e->driver)) {
    return job_failed(e->tool, &e->driver);
  }
  return code;
}
