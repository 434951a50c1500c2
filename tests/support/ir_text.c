#include "support/ir_text.h"

#include <criterion/criterion.h>

struct ir_text ir_text_new(void) {
  struct ir_text t = {.arena = arena_new(0)};
  t.sources = ARENA_NEW(t.arena, struct sources);
  t.sources->arena = t.arena;
  t.diags = ARENA_NEW(t.arena, struct diags);
  diags_init(t.diags, t.arena, t.sources);
  t.front = (struct front){t.arena, t.sources, t.diags};
  return t;
}

void ir_text_free(struct ir_text *t) {
  arena_free(t->arena);
}

struct ir *ir_text_parse(struct ir_text *t, struct str text) {
  uint32_t file = source_add(t->sources, STR("test.ir"), text);
  struct ir *ir = ir_parse(&t->front, file);
  struct str said = diag_render(t->diags, DIAG_TEXT, false, t->arena);
  cr_assert(ir != NULL && said.n == 0, "%.*s", STR_FMT(said));
  return ir;
}
