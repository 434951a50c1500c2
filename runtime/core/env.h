// The environment, read in one place (DESIGN section 10).
#ifndef STEPRT_CORE_ENV_H
#define STEPRT_CORE_ENV_H

enum rt_env {
#define ENV(id, name, text) RT_ENV_##id,
#include "core/env.def"
#undef ENV
  RT_N_ENVS
};

// The variable's value; NULL when it is unset or empty. Points into the environment: copy it to keep it.
const char *rt_env(enum rt_env v);
const char *rt_env_name(enum rt_env v);
const char *rt_env_text(enum rt_env v); // what it does, for --help and the manual page

#endif
