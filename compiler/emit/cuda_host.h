// Host expressions for people.
#ifndef STEPC_EMIT_CUDA_HOST_H
#define STEPC_EMIT_CUDA_HOST_H

#include "ir/ir.h"

// The host value that a scalar is made of as an expression in the spec's terms: "1 - beta1", "lr / (1 - pow(beta1, step))".
// Names of hypers come without their label: kernels are shared.
struct str cuda_host_text(struct arena *a, const struct ir *ir, struct ir_ref scalar);

#endif
