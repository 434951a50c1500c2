// The program's kernels on the device: loaded at open, so that no step compiles or loads.
#include "device/cuda/cuda.h"

// ---- what a row of a kernel's tables looks like (struct row of compiler/emit/cuda.h)

enum { ROW_TAIL = 32 }; // first, numel, first_tile, param, scalars, unused

// How many of the pointers of a phase's kernel are gradients.
static uint32_t count_grads(const struct rt_phase *ph) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < ph->n_tensors; i++) {
    n += ph->tensor[i].kind == RT_TENSOR_GRAD;
  }
  return n;
}

static steprt_status set_phases(struct rt_device *d, const struct rt_phase *ph,
                                uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    if (ph[i].kind != RT_PHASE_MAP) {
      continue;
    }
    struct cu_kernel *k = &d->kernel[ph[i].kernel];
    uint32_t ptrs = ph[i].n_tensors - count_grads(&ph[i]);
    if (k->row_size != 0 && k->n_ptrs != ptrs) {
      return rt_refuse(d->rt, STEPRT_BAD_PROGRAM,
                       "kernel '%s' has gradients at different places",
                       rt_show(d->program->kernel[ph[i].kernel].name).text);
    }
    k->n_ptrs = ptrs;
    k->row_size = (uint32_t)sizeof(uint64_t) * ptrs + ROW_TAIL;
  }
  return STEPRT_OK;
}

// Kernels that square gradients have none but those, so no pointers.
static steprt_status set_row_sizes(struct rt_device *d) {
  const struct steprt_program *p = d->program;
  for (uint32_t r = 0; r < p->n_rules; r++) {
    RT_TRY(set_phases(d, p->rule[r].phase, p->rule[r].n_phases));
    RT_TRY(set_phases(d, p->rule[r].init, p->rule[r].n_init));
  }
  for (uint32_t k = 0; k < p->n_kernels; k++) {
    d->kernel[k].row_size = d->kernel[k].row_size != 0 ? d->kernel[k].row_size : ROW_TAIL;
  }
  return STEPRT_OK;
}

// ---- loading

static steprt_status refuse_kernel(struct rt_device *d, const struct rt_kernel *k,
                                   int error, const char *call) {
  char text[320] = "";
  cu_append_error(&d->driver, error, text, sizeof text);
  bool other = error == CU_NO_BINARY_FOR_GPU || error == CU_UNSUPPORTED_PTX;
  return rt_refuse(
      d->rt, other ? STEPRT_NO_LIBRARY : STEPRT_BAD_PROGRAM,
      "kernel '%s', made for %s, does not load on CUDA device %d (%s, sm_%d%d, driver "
      "for CUDA %d.%d): %s: %s",
      rt_show(k->name).text, rt_show(d->program->target).text, d->context.ordinal,
      d->context.name, d->context.major, d->context.minor, d->driver.version / 1000,
      d->driver.version % 1000 / 10, call, text);
}

static steprt_status load(struct rt_device *d, const struct rt_kernel *k,
                          struct cu_kernel *out) {
  void *kernel = NULL;
  const struct cu_driver *cu = &d->driver;
  cu_count(d, CU_CALL_library_load);
  int error = cu->library_load(&out->library, k->image, NULL, NULL, 0, NULL, NULL, 0);
  if (error != CU_SUCCESS) {
    return refuse_kernel(d, k, error, "cuLibraryLoadData");
  }
  error = cu->library_kernel(&kernel, out->library, k->name);
  if (error != CU_SUCCESS) {
    return refuse_kernel(d, k, error, "cuLibraryGetKernel");
  }
  // Also loads it into this context, which the driver would else put off to the first launch.
  error = cu->kernel_function(&out->function, kernel);
  return error != CU_SUCCESS ? refuse_kernel(d, k, error, "cuKernelGetFunction")
                             : STEPRT_OK;
}

// Does a block fit? A note where it spills: a compiler that is told to fail there let none through, but bundles and
// edited kernels come from elsewhere.
static steprt_status inspect(struct rt_device *d, const struct rt_kernel *k,
                             const struct cu_kernel *out) {
  int blocks = 0, spilled = 0;
  CU_TRY(d, occupancy, &blocks, out->function, (int)k->block, 0);
  CU_TRY(d, function_attribute, &spilled, CU_FUNCTION_LOCAL, out->function);
  if (blocks < 1) {
    return rt_refuse(d->rt, STEPRT_BAD_PROGRAM,
                     "kernel '%s': a block of %u threads does not fit on CUDA device %d",
                     rt_show(k->name).text, k->block, d->context.ordinal);
  }
  if (spilled > 0) {
    rt_note(d->rt, "kernel '%s' keeps %d bytes per thread in local memory",
            rt_show(k->name).text, spilled);
  }
  return STEPRT_OK;
}

steprt_status cu_kernels_open(struct rt_device *d) {
  const struct steprt_program *p = d->program;
  d->kernel = rt_memory_alloc(&d->rt->memory, p->n_kernels, sizeof *d->kernel);
  if (!d->kernel) {
    return STEPRT_NO_MEMORY;
  }
  for (uint32_t i = 0; i < p->n_kernels; i++) {
    const struct rt_kernel *k = &p->kernel[i];
    if (k->image == NULL || k->block == 0) {
      return rt_refuse(d->rt, STEPRT_BAD_PROGRAM, "kernel '%s' has no CUDA image",
                       rt_show(k->name).text);
    }
    RT_TRY(load(d, k, &d->kernel[i]));
    RT_TRY(inspect(d, k, &d->kernel[i]));
  }
  return set_row_sizes(d);
}

void cu_kernels_close(struct rt_device *d) {
  for (uint32_t i = 0; d->kernel != NULL && i < d->program->n_kernels; i++) {
    if (d->kernel[i].library != NULL) {
      (void)d->driver.library_unload(d->kernel[i].library);
    }
  }
}
