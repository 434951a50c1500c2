// orthogonalize on a GPU: what the device asks of whoever multiplies matrices.
#ifndef STEPRT_CUDA_ORTHO_H
#define STEPRT_CUDA_ORTHO_H

#include "plan/program.h"
#include "steprt.h"

struct rt_device;
struct rt_cuda_ortho; // libraries, handles, chosen algorithms

// Neighbouring matrices of one parameter, row-major, one behind the other without a gap. Addresses of the device.
struct rt_cuda_matrices {
  uint64_t operand, result;
  uint64_t n;
};

// One launch: matrices of one shape and iteration.
struct rt_cuda_ortho_call {
  void *stream; // COMPUTE; all work goes there, nothing waits on the host
  const struct rt_iteration *iteration;
  uint64_t rows, cols; // of one matrix
  uint32_t operand_bytes,
      result_bytes; // per element: 4 f32, 2 bf16; the result is of the compute type
  const struct rt_cuda_matrices *list; // host memory, valid for the call
  uint32_t n_list;
  uint64_t n; // matrices in all
  uint64_t work,
      work_bytes; // device: at least rt_ortho_work(true, ...) of plan/work.h for n matrices, 256-aligned
};

// Called once at open with the primary context pushed, for programs that have ORTHO operations, behind the device's
// kernels, streams and memory: opens cuBLASLt, fixes an algorithm per shape, runs every product once in the arena.
// Refuses with text (rt_refuse).
steprt_status rt_cuda_ortho_open(struct rt_device *d, struct rt_cuda_ortho **out);
void rt_cuda_ortho_close(struct rt_device *d, struct rt_cuda_ortho *o); // accepts NULL
// Enqueues; context pushed. Allocates nothing.
steprt_status rt_cuda_ortho_run(struct rt_device *d, struct rt_cuda_ortho *o,
                                const struct rt_cuda_ortho_call *c);

#endif
