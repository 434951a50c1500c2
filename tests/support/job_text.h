// A job as text, one fact a line: hypers, which line and rule each parameter takes, and every rule's states, inputs and
// statements, expressions in prefix form with stage and class. For goldens.
#ifndef TESTS_SUPPORT_JOB_TEXT_H
#define TESTS_SUPPORT_JOB_TEXT_H

#include "front/sema.h"

struct str job_text(struct arena *a, const struct job *job);

#endif
