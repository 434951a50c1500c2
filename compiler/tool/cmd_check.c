// stepc check: parse and type-check.
#include "api/driver.h"
#include "front/sema.h"
#include "tool/tool.h"

enum exit_code cmd_check(struct tool *t) {
  for (int i = 0; i < t->args.n_operands; i++) {
    struct driver_input in = {.spec = str_of(t->args.operand[i])};
    struct driver d = {0};
    // A file that did not parse would only give messages about what is missing from it.
    if (driver_parse(&t->front, &in, &d)) {
      sema_check(&t->front, d.program);
    }
  }
  return report(t);
}
