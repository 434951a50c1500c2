// IR from text in tests.
#ifndef TESTS_SUPPORT_IR_TEXT_H
#define TESTS_SUPPORT_IR_TEXT_H

#include "ir/ir.h"
#include "support/golden.h"

struct ir_text {
  struct arena *arena;
  struct sources *sources;
  struct diags *diags;
  struct front front;
};

struct ir_text ir_text_new(void);
void ir_text_free(struct ir_text *t);
// Fails the test, with the messages, when the text is refused.
struct ir *ir_text_parse(struct ir_text *t, struct str text);

#endif
