// stepc emit: what the compiler makes, as text on standard output, in files, or compared with files.
#include "emit/cuda.h"
#include "tool/diff.h"
#include "tool/file.h"
#include "tool/job.h"
#include "tool/objects.h"

#include <string.h>

enum emit_kind {
#define KIND(id, name, extension) EMIT_##id,
#define LATER(name, missing)
#include "tool/emit_kinds.def"
#undef KIND
#undef LATER
  N_EMIT_KINDS
};

static const char *const kind_names[] = {
#define KIND(id, name, extension) name,
#define LATER(name, missing)
#include "tool/emit_kinds.def"
#undef KIND
#undef LATER
};

static const char *const kind_extensions[] = {
#define KIND(id, name, extension) extension,
#define LATER(name, missing)
#include "tool/emit_kinds.def"
#undef KIND
#undef LATER
};

static const char *const later_kinds[][2] = {
#define KIND(id, name, extension)
#define LATER(name, missing) {name, missing},
#include "tool/emit_kinds.def"
#undef KIND
#undef LATER
};

struct output {
  struct str name; // of the file
  struct str text;
};

struct emit {
  struct tool *tool;
  struct job_setup setup;
  struct driver driver;
  bool wants[N_EMIT_KINDS];
  struct objects objects; // with ptx or cubin
  VEC(struct output) out;
};

static void add_output(struct emit *e, enum emit_kind kind, struct str stem,
                       struct str text) {
  struct output o = {
      str_fmt(e->tool->arena, "%.*s.%s", STR_FMT(stem), kind_extensions[kind]), text};
  VEC_PUSH(e->tool->arena, e->out, o);
}

static enum exit_code parse_kind(struct emit *e, struct str word) {
  struct arena *a = e->tool->arena;
  for (uint32_t i = 0; i < N_EMIT_KINDS; i++) {
    if (str_is(word, kind_names[i])) {
      e->wants[i] = true;
      return EXIT_OK;
    }
  }
  for (size_t i = 0; i < sizeof later_kinds / sizeof *later_kinds; i++) {
    if (str_is(word, later_kinds[i][0])) {
      return usage_error(
          e->tool, str_fmt(a, "--emit=%s comes with %s, which this version does not have",
                           later_kinds[i][0], later_kinds[i][1]));
    }
  }
  return usage_error(
      e->tool,
      str_fmt(a,
              "--emit takes ast, ir, phases, llvm, asm, cuda, ptx, cubin; what is `%s`?",
              str_escape(a, word).p));
}

static enum exit_code parse_kinds(struct emit *e) {
  const char *list = args_value(&e->tool->args, OPT_EMIT);
  if (list == NULL) {
    return usage_error(e->tool, STR("`stepc emit` needs --emit=KIND,..."));
  }
  for (;;) {
    size_t n = strcspn(list, ",");
    enum exit_code code = parse_kind(e, (struct str){list, n});
    if (code != EXIT_OK || list[n] == '\0') {
      return code;
    }
    list += n + 1;
  }
}

// A file name without folder and extension.
static struct str stem_of(struct str path) {
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

static void emit_ast(struct emit *e) {
  for (uint32_t i = 0; i < e->driver.program->module.n; i++) {
    const struct module *m = e->driver.program->module.v[i];
    add_output(e, EMIT_AST, stem_of(e->tool->sources.file.v[m->file].path),
               ast_print(e->tool->arena, m));
  }
}

static void emit_rules(struct emit *e, enum emit_kind kind) {
  const struct job *job = e->driver.job;
  for (uint32_t r = 0; r < job->n_rules; r++) {
    struct str text = kind == EMIT_IR
                          ? ir_print(e->tool->arena, e->driver.ir->ir[r])
                          : phases_print(e->tool->arena, e->driver.ir->phases[r]);
    add_output(e, kind, rule_stem(e->tool->arena, job, job->rule[r]), text);
  }
}

static bool emit_code(struct emit *e, enum emit_kind kind) {
  struct cpu_options o = {.cpu = e->setup.in.cpu};
  struct str text =
      cpu_emit_text(&e->tool->front, e->driver.ir, &o, kind == EMIT_ASM, &e->driver.ice);
  add_output(e, kind, e->driver.job->name, text);
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

static bool wants_objects(const struct emit *e) {
  return e->wants[EMIT_PTX] || e->wants[EMIT_CUBIN];
}

static bool wants_cuda(const struct emit *e) {
  return e->wants[EMIT_CUDA] || wants_objects(e);
}

static void add_object(struct emit *e, enum emit_kind kind, struct str file,
                       struct str bytes) {
  if (e->wants[kind]) {
    add_output(e, kind, stem_of(file), bytes);
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
  return wants_objects(e) ? emit_objects(e, text) : EXIT_OK;
}

// ---- --from=ir

// The IR text in the last operand, verified. NULL: reported.
static struct ir *read_ir(struct emit *e) {
  struct tool *t = e->tool;
  struct str path = str_of(t->args.operand[t->args.n_operands - 1]), text, why;
  struct file_reader disk = file_reader_disk();
  if (!disk.read(disk.ctx, t->arena, path, &text, &why)) {
    DIAG(&t->diags, NO_SPAN, E0001, path, why);
    return NULL;
  }
  struct ir *ir = ir_parse(&t->front, source_add(&t->sources, path, text));
  return t->diags.n_errors == 0 ? ir : NULL;
}

// The edited IR takes the place of the rule of its name, shape and types.
static bool replace_rule(struct emit *e, struct ir *ir) {
  struct tool *t = e->tool;
  struct job_ir *j = e->driver.ir;
  for (uint32_t r = 0; r < j->job->n_rules; r++) {
    const struct ir *old = j->ir[r];
    if (str_eq(old->name, ir->name) && shape_eq(&old->shape, &ir->shape) &&
        old->dtype == ir->dtype && old->grad == ir->grad &&
        old->n_states == ir->n_states && old->n_hypers == ir->n_hypers) {
      j->ir[r] = ir;
      j->phases[r] = phases_cut(t->arena, ir);
      return true;
    }
  }
  say(t,
      "no rule of this job is `%s` on shape %s with the hypers and states of the IR text",
      str_escape(t->arena, ir->name).p, shape_text(t->arena, &ir->shape).p);
  return false;
}

static enum exit_code emit_ir_alone(struct emit *e, const struct ir *ir) {
  struct tool *t = e->tool;
  if (e->wants[EMIT_AST] || e->wants[EMIT_LLVM] || e->wants[EMIT_ASM] || wants_cuda(e)) {
    return usage_error(
        t, STR("IR text alone gives ir and phases; code needs SPEC and --model too"));
  }
  struct str stem = stem_of(str_of(t->args.operand[t->args.n_operands - 1]));
  if (e->wants[EMIT_IR]) {
    add_output(e, EMIT_IR, stem, ir_print(t->arena, ir));
  }
  if (e->wants[EMIT_PHASES]) {
    add_output(e, EMIT_PHASES, stem, phases_print(t->arena, phases_cut(t->arena, ir)));
  }
  return EXIT_OK;
}

// ---- where it goes

static enum exit_code write_outputs(struct emit *e, const char *folder) {
  struct tool *t = e->tool;
  struct str why;
  if (!file_make_folder(t->arena, str_of(folder), &why)) {
    say(t, "cannot make the folder `%s`: %s", str_escape(t->arena, str_of(folder)).p,
        why.p);
    return EXIT_ENVIRONMENT;
  }
  for (uint32_t i = 0; i < e->out.n; i++) {
    struct str path = str_fmt(t->arena, "%s/%.*s", folder, STR_FMT(e->out.v[i].name));
    if (!file_replace(t->arena, path, e->out.v[i].text, &why)) {
      say(t, "cannot write `%s`: %s", str_escape(t->arena, path).p, why.p);
      return EXIT_ENVIRONMENT;
    }
  }
  return EXIT_OK;
}

static enum exit_code compare_outputs(struct emit *e, const char *folder) {
  struct tool *t = e->tool;
  struct file_reader disk = file_reader_disk();
  enum exit_code code = EXIT_OK;
  for (uint32_t i = 0; i < e->out.n; i++) {
    const struct output *o = &e->out.v[i];
    struct str path = str_fmt(t->arena, "%s/%.*s", folder, STR_FMT(o->name)), old, why;
    if (!disk.read(disk.ctx, t->arena, path, &old, &why)) {
      say(t, "cannot read `%s`: %s", str_escape(t->arena, path).p, why.p);
      code = EXIT_INPUT;
    } else if (!str_eq(old, o->text)) {
      bool binary = memchr(o->text.p, 0, o->text.n) != NULL;
      out_str(t, binary ? str_fmt(t->arena, "%s differs\n", str_escape(t->arena, path).p)
                        : text_diff(t->arena, path, old, o->text));
      code = EXIT_INPUT;
    }
  }
  return code;
}

static void print_outputs(struct emit *e) {
  for (uint32_t i = 0; i < e->out.n; i++) {
    if (i != 0) {
      out_str(e->tool, STR("\n"));
    }
    out_str(e->tool, e->out.v[i].text);
  }
}

static bool goes_to_folder(const struct tool *t) {
  const char *folder = args_value(&t->args, OPT_OUTPUT);
  return args_value(&t->args, OPT_CHECK_DIR) == NULL && folder != NULL &&
         strcmp(folder, "-") != 0;
}

static enum exit_code deliver(struct emit *e) {
  struct tool *t = e->tool;
  const char *check = args_value(&t->args, OPT_CHECK_DIR);
  if (check != NULL) {
    return compare_outputs(e, check);
  }
  if (!goes_to_folder(t)) {
    print_outputs(e);
    return EXIT_OK;
  }
  enum exit_code code = write_outputs(e, args_value(&t->args, OPT_OUTPUT));
  if (code == EXIT_OK && wants_objects(e)) {
    out_str(t, args_has(&t->args, OPT_JSON) ? objects_json(t->arena, &e->objects)
                                            : objects_table(t->arena, &e->objects));
  }
  return code;
}

// Options that do not go together. A target names what its kinds are made for; one that makes none of those asked for
// is a mistake.
static enum exit_code check_options(struct emit *e) {
  struct tool *t = e->tool;
  bool cpu = e->wants[EMIT_LLVM] || e->wants[EMIT_ASM];
  if (e->setup.in.names_cuda && !wants_cuda(e)) {
    return usage_error(t, STR("--target cuda is for --emit=cuda, ptx and cubin"));
  }
  if (e->setup.in.names_cpu && wants_cuda(e) && !cpu) {
    return usage_error(t, STR("--target cpu is for --emit=llvm and asm"));
  }
  if (e->wants[EMIT_CUBIN] && !goes_to_folder(t) &&
      args_value(&t->args, OPT_CHECK_DIR) == NULL) {
    return usage_error(t, STR("cubins are files: say where with -o DIR"));
  }
  if (args_has(&t->args, OPT_JSON) && !(wants_objects(e) && goes_to_folder(t))) {
    return usage_error(
        t, STR("--json is for what ptx and cubin tell of kernels, with -o DIR"));
  }
  return EXIT_OK;
}

// ---- the command

static enum exit_code generate(struct emit *e, struct ir *edited) {
  struct front *f = &e->tool->front;
  struct driver_input *in = &e->setup.in;
  struct driver *d = &e->driver;
  if (!driver_parse(f, in, d)) {
    return job_failed(e->tool, d);
  }
  if (e->wants[EMIT_AST]) {
    emit_ast(e);
  }
  bool needs_job = edited != NULL || e->wants[EMIT_IR] || e->wants[EMIT_PHASES] ||
                   e->wants[EMIT_LLVM] || e->wants[EMIT_ASM] || wants_cuda(e);
  if (!needs_job) {
    return report(e->tool);
  }
  if (in->model.n == 0) {
    return usage_error(
        e->tool, STR("ir, phases, llvm, asm, cuda, ptx and cubin are made for a model: "
                     "--model MODEL"));
  }
  if (!driver_model(f, in, d) || !driver_job(f, in, d) || !driver_lower(f, in, d)) {
    return job_failed(e->tool, d);
  }
  if (edited != NULL && !replace_rule(e, edited)) {
    return EXIT_INPUT;
  }
  for (uint32_t kind = EMIT_IR; kind <= EMIT_ASM; kind++) {
    if (!e->wants[kind]) {
      continue;
    }
    if (kind == EMIT_IR || kind == EMIT_PHASES) {
      emit_rules(e, (enum emit_kind)kind);
    } else if (!emit_code(e, (enum emit_kind)kind)) {
      return job_failed(e->tool, d);
    }
  }
  enum exit_code made = wants_cuda(e) ? emit_cuda(e) : EXIT_OK;
  if (made != EXIT_OK) {
    return made;
  }
  enum exit_code code = report(e->tool);
  return code != EXIT_OK ? code : job_finish_passes(e->tool, &e->setup, d);
}

enum exit_code cmd_emit(struct tool *t) {
  struct emit e = {.tool = t};
  const char *from = args_value(&t->args, OPT_FROM);
  enum exit_code code = job_setup(t, &e.setup);
  if (code == EXIT_OK) {
    code = parse_kinds(&e);
  }
  if (code == EXIT_OK) {
    code = check_options(&e);
  }
  if (code != EXIT_OK) {
    return code;
  }
  if (from != NULL && strcmp(from, "ir") != 0) {
    return usage_error(t, STR("--from takes ir"));
  }
  if (from == NULL && t->args.n_operands != 1) {
    return usage_error(t, STR("`stepc emit` takes one SPEC"));
  }
  struct ir *edited = from != NULL ? read_ir(&e) : NULL;
  if (from != NULL && edited == NULL) {
    return report(t);
  }
  code = from != NULL && t->args.n_operands == 1 ? emit_ir_alone(&e, edited)
                                                 : generate(&e, edited);
  return code != EXIT_OK ? code : deliver(&e);
}
