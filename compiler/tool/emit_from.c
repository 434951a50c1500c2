// stepc emit --from=ir: edited IR text in the place of a rule, or alone.
#include "tool/emit.h"

struct ir *emit_read_ir(struct emit *e) {
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

bool emit_replace_rule(struct emit *e, struct ir *ir) {
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

enum exit_code emit_ir_alone(struct emit *e, const struct ir *ir) {
  struct tool *t = e->tool;
  for (uint32_t i = 0; i < N_EMIT_KINDS; i++) {
    if (e->wants[i] && i != EMIT_IR && i != EMIT_PHASES) {
      return usage_error(t, STR("IR text alone gives ir and phases; all else needs SPEC "
                                "and --model too"));
    }
  }
  struct str stem = emit_stem(str_of(t->args.operand[t->args.n_operands - 1]));
  if (e->wants[EMIT_IR]) {
    emit_add(e, EMIT_IR, stem, ir_print(t->arena, ir));
  }
  if (e->wants[EMIT_PHASES]) {
    emit_add(e, EMIT_PHASES, stem, phases_print(t->arena, phases_cut(t->arena, ir)));
  }
  return EXIT_OK;
}
