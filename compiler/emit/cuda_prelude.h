// The device helpers of prelude.cuh, section by section.
#ifndef STEPC_EMIT_CUDA_PRELUDE_H
#define STEPC_EMIT_CUDA_PRELUDE_H

#include "base/str.h"

extern const char cuda_prelude_text[], cuda_ortho_text[]; // whole files; made by CMake

// Appends the sections named in `want`, in the file's order, between marks that name the file.
void cuda_prelude_put(struct buf *b, const char *const *want, uint32_t n);

// Appends one section of ortho.cuh, without marks.
void cuda_section_put(struct buf *b, const char *text, const char *section);

#endif
