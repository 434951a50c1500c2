// orthogonalize on a GPU: this version has no products there, and says so before anything is allocated.
#include "device/cuda/cuda.h"

steprt_status rt_cuda_ortho_open(struct rt_device *d, struct rt_cuda_ortho **out) {
  *out = NULL;
  return rt_refuse(d->rt, STEPRT_BAD_PROGRAM,
                   "orthogonalize does not run on a CUDA device in this version; use the "
                   "target cpu for this program");
}

void rt_cuda_ortho_close(struct rt_device *d, struct rt_cuda_ortho *o) {
  (void)d;
  (void)o;
}

steprt_status rt_cuda_ortho_run(struct rt_device *d, struct rt_cuda_ortho *o,
                                const struct rt_cuda_ortho_call *c) {
  (void)o;
  (void)c;
  return rt_fail(d->rt, "orthogonalize was enqueued on a CUDA device without products");
}
