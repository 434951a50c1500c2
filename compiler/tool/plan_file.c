// Plans as files.
#include "tool/plan_file.h"

#include "tool/file.h"

#include <stdlib.h>

struct rt_plan *plan_file_read(struct tool *t, const char *path, enum exit_code *code) {
  struct str text, why, name = str_escape(t->arena, str_of(path));
  if (!file_read(t->arena, str_of(path), &text, &why)) {
    say(t, "cannot read `%s`: %s", name.p, why.p);
    *code = EXIT_ENVIRONMENT;
    return NULL;
  }
  char wrong[512];
  struct rt_plan *plan = NULL;
  steprt_status status = rt_plan_from_json(text.p, text.n, &plan, wrong, sizeof wrong);
  if (status == STEPRT_NO_MEMORY) {
    say(t, "out of memory");
    *code = EXIT_ENVIRONMENT;
  } else if (status != STEPRT_OK) {
    say(t, "`%s`: %s", name.p, wrong);
    *code = EXIT_INPUT;
  }
  return plan;
}

struct str plan_file_text(struct tool *t, const struct rt_plan *p) {
  uint64_t n = 0;
  char *json = rt_plan_to_json(p, &n);
  if (json == NULL) {
    say(t, "out of memory");
    return STR("");
  }
  struct str text = str_copy(t->arena, (struct str){json, n});
  free(json);
  return text;
}
