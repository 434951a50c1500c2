// The only reader of the environment.
#include "core/env.h"

#include <stdlib.h>

struct row {
  const char *name, *text;
};
static const struct row rows[] = {
#define ENV(id, name, text) {name, text},
#include "core/env.def"
#undef ENV
};

const char *rt_env(enum rt_env v) {
  const char *value = getenv(rows[v].name);
  return value == NULL || *value == '\0' ? NULL : value;
}

const char *rt_env_name(enum rt_env v) {
  return rows[v].name;
}

const char *rt_env_text(enum rt_env v) {
  return rows[v].text;
}
