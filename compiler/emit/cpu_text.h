// The generated code as text for people.
#ifndef STEPC_EMIT_CPU_TEXT_H
#define STEPC_EMIT_CPU_TEXT_H

#include "emit/kernel.h"

// LLVM's text (`assembly`: GNU assembly) with a banner above each kernel and, in IR, the spec name that a statement
// serves behind it. `cpu` goes into the head.
struct str cpu_text_annotate(struct arena *a, const struct sources *sources,
                             const struct kernels *k, struct str cpu, struct str text,
                             bool assembly);

#endif
