// One step on both sides, and the comparison.
#include "mirror_int.h"

#include "core/hostcode.h"
#include "tool/tensors.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- gradients

static void copy_gradients(struct mirror *m) {
  for (uint32_t i = 0; i < m->program->n_params; i++) {
    const struct rt_param *p = &m->program->param[i];
    if (p->active && p->numel != 0) {
      GPU(m->gpu, to_device(m->base[p->grad_buffer], m->session->grad[i],
                            mirror_bytes(m->program, p->grad_buffer)));
    }
  }
}

static double clip_bound(const struct mirror *m) {
  const struct steprt *rt = m->session->rt;
  const struct rt_host_env env = {.hyper = rt->hyper};
  return m->program->clips
             ? rt_host_eval(m->program->clip, m->program->n_clip, &env, rt->reg)
             : HUGE_VAL;
}

static bool measure(struct mirror *m) {
  double bound = clip_bound(m);
  uint32_t n_parts = 0;
  const struct cuda_kernel *last = NULL;
  for (uint32_t i = 0; i < m->text->n_kernels; i++) {
    const struct cuda_kernel *k = &m->text->kernel[i];
    last = k->kind == CUDA_VERDICT ? k : last;
    if (k->kind == CUDA_SQUARES) {
      struct mirror_launch l = mirror_prepare_squares(m, k);
      l.parts += (uint64_t)n_parts * CUDA_BINNED_BYTES;
      mirror_launch(m, &l);
      n_parts += l.n_blocks;
      GPU(m->gpu, synchronize());
      mirror_launch_free(m, &l);
    }
  }
  if (last == NULL) {
    return !m->program->clips && !m->program->skips_nonfinite;
  }
  void *arguments[] = {&m->parts, &n_parts, &bound, &m->verdict};
  gpu_launch(m->gpu, m->function[last - m->text->kernel], 1, last->block, arguments);
  return true;
}

static bool same_double(double a, double b) {
  return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

static bool check_verdict(struct mirror *m) {
  struct mirror_verdict v;
  struct steprt_report r = {.size = sizeof r};
  GPU(m->gpu, to_host(&v, m->verdict, sizeof v));
  (void)steprt_report(m->session->rt, &r);
  bool same = v.skip == (uint32_t)r.skipped;
  if (same && !r.skipped && m->program->clips) {
    same = same_double((double)v.clip, r.clip_factor) && same_double(v.norm, r.grad_norm);
  }
  if (!same) {
    (void)printf(
        "  DIFFERS: norm %.17g, factor %.9g, skip %u; the CPU has %.17g, %.9g, %d\n",
        v.norm, (double)v.clip, v.skip, r.grad_norm, r.clip_factor, r.skipped);
  }
  return same;
}

// ---- tensors

// The device's bytes of a buffer, on the heap.
static void *fetch(const struct mirror *m, uint32_t buffer, uint64_t bytes) {
  void *p = malloc(bytes != 0 ? bytes : 1);
  if (p == NULL) {
    (void)fputs("gpu: out of memory\n", stderr);
    exit(3);
  }
  if (bytes != 0) {
    GPU(m->gpu, to_host(p, m->base[buffer], bytes));
  }
  return p;
}

static bool same_tensor(const struct mirror *m, uint32_t buffer, uint64_t numel,
                        const void *device, const char *what) {
  const struct rt_buffer *b = &m->program->buffer[buffer];
  struct tensor cpu = {.data = steprt_buffer(m->session->rt, buffer),
                       .storage = (enum storage)b->storage,
                       .numel = numel};
  struct tensor gpu = cpu;
  gpu.data = device;
  uint64_t at = tensor_differs(&cpu, &gpu), size = rt_storage_bytes(b->storage);
  if (at == numel) {
    return true;
  }
  uint32_t x = 0, y = 0;
  memcpy(&x, (const char *)cpu.data + at * size, size < 4 ? size : 4);
  memcpy(&y, (const char *)device + at * size, size < 4 ? size : 4);
  (void)printf("  DIFFERS: %s %s, element %llu of %llu: 0x%x, the CPU has 0x%x\n", what,
               b->name != NULL ? b->name : "", (unsigned long long)at,
               (unsigned long long)numel, y, x);
  return false;
}

// gpu_new's pattern must stand in the bytes of the block outside the tensor.
static bool check_room(const struct mirror *m, uint32_t buffer) {
  uint64_t bytes = mirror_bytes(m->program, buffer),
           before = m->base[buffer] - m->block[buffer];
  unsigned char room[64];
  if (before != 0) {
    GPU(m->gpu, to_host(room, m->block[buffer], before));
  }
  GPU(m->gpu, to_host(room + before, m->base[buffer] + bytes, sizeof room - before));
  for (size_t i = 0; i < sizeof room; i++) {
    if (room[i] != 0xa5) {
      (void)printf("  DIFFERS: bytes around %s are overwritten\n",
                   m->program->buffer[buffer].name);
      return false;
    }
  }
  return true;
}

bool mirror_compare(struct mirror *m) {
  bool same = true;
  for (uint32_t i = 0; i < m->program->n_buffers; i++) {
    const struct rt_buffer *b = &m->program->buffer[i];
    if (b->kind != RT_BUF_PARAM && b->kind != RT_BUF_STATE) {
      continue;
    }
    uint64_t bytes = mirror_bytes(m->program, i);
    void *device = fetch(m, i, bytes);
    same &= same_tensor(m, i, b->numel, device, m->program->param[b->param].name);
    same &= check_room(m, i);
    memcpy(steprt_buffer(m->session->rt, i), device, bytes);
    free(device);
  }
  return same;
}

// ---- operations

// The operand of a product on both sides, then its result from the CPU's.
static bool take_product(struct mirror *m, const struct rt_wave_op *op) {
  uint64_t numel = op->batch * op->rows * op->cols;
  uint64_t in = numel * rt_storage_bytes(m->program->buffer[op->in].storage);
  uint64_t out = numel * rt_storage_bytes(m->program->buffer[op->out].storage);
  void *device = fetch(m, op->in, in);
  bool same = same_tensor(m, op->in, numel, device, m->program->param[op->param].name);
  free(device);
  if (out != 0) {
    GPU(m->gpu, to_device(m->base[op->out], steprt_buffer(m->session->rt, op->out), out));
  }
  return same;
}

static bool run_wave(struct mirror *m, uint32_t wave) {
  const struct rt_wave *w = &m->session->rt->old.step.wave[wave];
  bool same = true;
  for (uint32_t i = 0; i < m->text->n_kernels; i++) {
    if (m->text->kernel[i].kind == CUDA_MAP) {
      struct mirror_launch l = mirror_prepare(m, &m->text->kernel[i], wave);
      mirror_launch(m, &l);
      GPU(m->gpu, synchronize());
      mirror_launch_free(m, &l);
    }
  }
  for (uint32_t i = w->first_op; i < w->first_op + w->n_ops; i++) {
    const struct rt_wave_op *op = &m->program->op[i];
    bool takes_part = m->session->rt->takes_part[op->param];
    if (op->kind == RT_WAVE_ORTHO && takes_part && !m->session->rt->report.skipped) {
      same &= take_product(m, op);
    }
  }
  return same;
}

// The CPU's own waves one at a time: temps are shared, so a later wave overwrites what an earlier one left. A step
// that is skipped is launched on the device all the same: its kernels must see that for themselves.
bool mirror_step(struct mirror *m) {
  struct session *s = m->session;
  struct steprt *rt = s->rt;
  struct steprt_step step = {.size = sizeof step, .grads = (const void *const *)s->grad};
  if (steprt_begin(rt, &step) != STEPRT_OK) {
    (void)fprintf(stderr, "gpu: %s\n", steprt_error(rt));
    exit(3);
  }
  copy_gradients(m);
  bool same = measure(m) && check_verdict(m);
  for (uint32_t i = 0; i < rt->old.step.n_waves; i++) {
    const struct rt_schedule one = {rt->old.step.op, &rt->old.step.wave[i], 1,
                                    rt->old.step.item};
    if (!rt->report.skipped) {
      rt_run_schedule(rt, &one);
    }
    same &= run_wave(m, i);
  }
  rt->old.ran = true;
  s->step++;
  return steprt_end(rt) == STEPRT_OK && same;
}
