// The kernels of a program on the fake driver, after the contract in compiler/emit/cuda.h: element-wise arithmetic by
// functions of the CPU, and around it the walk over tables and tiles as blocks do it.
#ifndef TESTS_FAKE_KERNELS_H
#define TESTS_FAKE_KERNELS_H

#include "plan/program.h"

// Registers all kernels of `p`: fn[k] computes kernel k (NULL: it squares, merges or judges; kernels around products are
// left out). Both must stay until the next reset of the driver. At most 32 kernels.
void fake_kernels_register(const struct steprt_program *p, const rt_map_fn *fn);

#endif
