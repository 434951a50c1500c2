// The rate of matrix products, for the probe. Private to device/cuda/.
#ifndef STEPRT_CUDA_PROBE_PRODUCTS_H
#define STEPRT_CUDA_PROBE_PRODUCTS_H

#include "device/cuda/link_int.h"

// FLOP per second of products of 8192 x 8192 bf16 matrices, a short burst. The link's context is pushed; its buffers up
// are used. On failure `why` says what cuBLASLt or the driver refused.
steprt_status probe_products(struct rt_link *l, double *rate, struct why why);

#endif
