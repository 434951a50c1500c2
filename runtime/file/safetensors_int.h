// Shared by the reader and the writer of safetensors.
#ifndef STEPRT_FILE_SAFETENSORS_INT_H
#define STEPRT_FILE_SAFETENSORS_INT_H

#include "file/safetensors.h"

#include <stdbool.h>

enum { ST_NAME_SHOWN = 160 }; // bytes of a name in a message, with its NUL

void st_fail(struct st_error *err, steprt_status status, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
// Elements and bytes of a shape. False when the product of the non-zero dimensions passes 2^63 - 1, the bytes do,
// or the bits are no whole number of bytes.
bool st_shape_bytes(const uint64_t *dim, uint32_t rank, enum st_dtype dtype,
                    uint64_t *numel, uint64_t *bytes);

#endif
