// stepc emit: what the compiler makes, as text on standard output, in files, or compared with files.
#include "tool/emit.h"
#include "tool/plan_options.h"

#include <string.h>

static const char *const kind_names[] = {
#define KIND(id, name, extension) name,
#include "tool/emit_kinds.def"
#undef KIND
};

static enum exit_code parse_kind(struct emit *e, struct str word) {
  struct arena *a = e->tool->arena;
  for (uint32_t i = 0; i < N_EMIT_KINDS; i++) {
    if (str_is(word, kind_names[i])) {
      e->wants[i] = true;
      return EXIT_OK;
    }
  }
  return usage_error(e->tool, str_fmt(a,
                                      "--emit takes ast, ir, phases, llvm, asm, cuda, "
                                      "ptx, cubin, plan, bundle; what is "
                                      "`%s`?",
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

// A bundle is a folder of its own, for CUDA.
static enum exit_code check_bundle(struct emit *e) {
  struct tool *t = e->tool;
  if (strchr(args_value(&t->args, OPT_EMIT), ',') != NULL) {
    return usage_error(t, STR("--emit=bundle makes a whole folder: it stands alone"));
  }
  if (args_has(&t->args, OPT_JSON)) {
    return usage_error(t, STR("--json is for what ptx and cubin tell of kernels"));
  }
  if (e->setup.in.names_cpu) {
    return usage_error(t, STR("a bundle is for CUDA: machine code for the CPU lives in "
                              "the process that makes it"));
  }
  if (!emit_goes_to_folder(t)) {
    return usage_error(t, STR("a bundle is a folder: say where with -o DIR"));
  }
  e->setup.in.names_cuda = true;
  if (e->setup.in.arch.n == 0) {
    e->setup.in.arch = STR("sm_90a");
  }
  return EXIT_OK;
}

// Options that do not go together. A target names what its kinds are made for; one that makes none of those asked for
// is a mistake.
static enum exit_code check_options(struct emit *e) {
  struct tool *t = e->tool;
  if (args_has(&t->args, OPT_CHECK_DIR) && args_has(&t->args, OPT_OUTPUT)) {
    return usage_error(t, STR("--check writes nothing: -o has nothing to name"));
  }
  if (e->wants[EMIT_BUNDLE]) {
    return check_bundle(e);
  }
  bool cpu = e->wants[EMIT_LLVM] || e->wants[EMIT_ASM], plan = e->wants[EMIT_PLAN];
  const char *given = plan_options_given(t);
  if (e->setup.in.names_cuda && !emit_wants_cuda(e) && !plan) {
    return usage_error(t, STR("--target cuda is for --emit=cuda, ptx, cubin and plan"));
  }
  if (e->setup.in.names_cpu && emit_wants_cuda(e) && !cpu && !plan) {
    return usage_error(t, STR("--target cpu is for --emit=llvm, asm and plan"));
  }
  if (given != NULL && !plan) {
    return usage_error(t, str_fmt(t->arena, "--%s is for --emit=plan", given));
  }
  if (e->wants[EMIT_CUBIN] && !emit_goes_to_folder(t) &&
      args_value(&t->args, OPT_CHECK_DIR) == NULL) {
    return usage_error(t, STR("cubins are files: say where with -o DIR"));
  }
  if (args_has(&t->args, OPT_JSON) &&
      !(emit_wants_objects(e) && emit_goes_to_folder(t))) {
    return usage_error(
        t, STR("--json is for what ptx and cubin tell of kernels, with -o DIR"));
  }
  return EXIT_OK;
}

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
                   e->wants[EMIT_LLVM] || e->wants[EMIT_ASM] || e->wants[EMIT_PLAN] ||
                   e->wants[EMIT_BUNDLE] || emit_wants_cuda(e);
  if (!needs_job) {
    return report(e->tool);
  }
  if (in->model.n == 0) {
    return usage_error(
        e->tool, STR("ir, phases, llvm, asm, cuda, ptx, cubin, plan and bundle are made "
                     "for a model: --model MODEL"));
  }
  if (!driver_model(f, in, d) || !driver_job(f, in, d) || !driver_lower(f, in, d)) {
    return job_failed(e->tool, d);
  }
  if (edited != NULL && !emit_replace_rule(e, edited)) {
    return EXIT_INPUT;
  }
  enum exit_code code = emit_of_job(e);
  if (code != EXIT_OK) {
    return code;
  }
  code = report(e->tool);
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
  struct ir *edited = from != NULL ? emit_read_ir(&e) : NULL;
  if (from != NULL && edited == NULL) {
    return report(t);
  }
  code = from != NULL && t->args.n_operands == 1 ? emit_ir_alone(&e, edited)
                                                 : generate(&e, edited);
  return code != EXIT_OK ? code : emit_deliver(&e);
}
