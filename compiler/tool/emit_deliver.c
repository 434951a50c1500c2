// Where the outputs of `stepc emit` go.
#include "tool/diff.h"
#include "tool/emit.h"
#include "tool/file.h"
#include "tool/plan_words.h"

#include "plan/bundle.h" // runtime/

#include <string.h>

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
  enum exit_code code = EXIT_OK;
  for (uint32_t i = 0; i < e->out.n; i++) {
    const struct output *o = &e->out.v[i];
    struct str path = str_fmt(t->arena, "%s/%.*s", folder, STR_FMT(o->name)), old, why;
    if (!file_read(t->arena, path, &old, &why)) {
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

// Written at once: the folder appears whole or not at all.
static enum exit_code write_bundle(struct emit *e) {
  struct tool *t = e->tool;
  const struct steprt_program *p = e->driver.step;
  char why[480];
  if (rt_bundle_write(p, args_value(&t->args, OPT_OUTPUT), why, sizeof why) !=
      STEPRT_OK) {
    say(t, "%s", why);
    return EXIT_ENVIRONMENT;
  }
  out_str(t, str_fmt(t->arena, "bundle of %u kernel%s and %u parameter%s for %s: %s\n",
                     p->n_kernels, plan_plural(p->n_kernels), p->n_params,
                     plan_plural(p->n_params), p->target, p->digest));
  return EXIT_OK;
}

bool emit_goes_to_folder(const struct tool *t) {
  const char *folder = args_value(&t->args, OPT_OUTPUT);
  return args_value(&t->args, OPT_CHECK_DIR) == NULL && folder != NULL &&
         strcmp(folder, "-") != 0;
}

enum exit_code emit_deliver(struct emit *e) {
  struct tool *t = e->tool;
  const char *check = args_value(&t->args, OPT_CHECK_DIR);
  if (check != NULL) {
    return compare_outputs(e, check);
  }
  if (!emit_goes_to_folder(t)) {
    print_outputs(e);
    return EXIT_OK;
  }
  if (e->wants[EMIT_BUNDLE]) {
    return write_bundle(e);
  }
  enum exit_code code = write_outputs(e, args_value(&t->args, OPT_OUTPUT));
  if (code == EXIT_OK && emit_wants_objects(e)) {
    out_str(t, args_has(&t->args, OPT_JSON) ? objects_json(t->arena, &e->objects)
                                            : objects_table(t->arena, &e->objects));
  }
  return code;
}
