// The long text of each message, from explain.def.
#include "base/diag.h"

static const struct explanation explanations[N_DIAG_CODES] = {
#define EXPLAIN(code, text, wrong, right) [code] = {code, text, wrong, right},
#include "base/explain.def"
#undef EXPLAIN
};

const struct explanation *diag_explain(enum diag_code code) {
  return &explanations[code];
}
