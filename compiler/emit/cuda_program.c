// From the text of all kernels to a program with their images.
#include "emit/cuda_program.h"

#include "emit/cpu_plan.h"
#include "emit/nvrtc_cache.h"

#include "base/clock.h"

#include <stdlib.h>

static void set_squares(struct steprt_program *s, const struct cuda_text *text) {
  for (uint32_t i = 0; i < sizeof s->squares / sizeof *s->squares; i++) {
    s->squares[i] = RT_NO_ID;
  }
  s->merge = s->judge = RT_NO_ID;
  for (uint32_t i = 0; i < text->n_kernels; i++) {
    switch (text->kernel[i].kind) {
    case CUDA_SQUARES: s->squares[text->kernel[i].storage] = i; break;
    case CUDA_MERGE: s->merge = i; break;
    case CUDA_VERDICT: s->judge = i; break;
    case CUDA_MAP:
    case CUDA_ORTHO: break;
    }
  }
}

// The kernels of the program, then those that have no rule; one access where they read gradients.
static void set_kernels(struct front *f, struct cuda_program *p) {
  struct steprt_program *s = p->step;
  const struct cuda_text *text = p->text;
  struct rt_kernel *kernel = ARENA_ARRAY(f->arena, struct rt_kernel, text->n_kernels);
  for (uint32_t i = 0; i < text->n_kernels; i++) {
    const struct cuda_kernel *k = &text->kernel[i];
    struct rt_access *access = ARENA_NEW(f->arena, struct rt_access);
    *access = (struct rt_access){.bytes = k->bytes_read, .read = true};
    if (i < s->n_kernels) {
      kernel[i] = s->kernel[i];
    } else {
      kernel[i] = (struct rt_kernel){.name = str_cstr(f->arena, k->name),
                                     .n_ptrs = k->kind == CUDA_SQUARES,
                                     .bytes_read = k->bytes_read,
                                     .bytes_written = k->bytes_written,
                                     .access = access};
    }
    kernel[i].block = k->block;
    kernel[i].tile = k->tile;
  }
  s->kernel = p->kernel = kernel;
  s->n_kernels = text->n_kernels;
}

static struct cuda_program *make(struct front *f, const struct job_ir *j,
                                 const struct cuda_options *o, struct str *ice) {
  struct cuda_text *text = cuda_emit(f, j, STR(""), ice);
  if (text == NULL) {
    return NULL;
  }
  struct cuda_program *p = ARENA_NEW(f->arena, struct cuda_program);
  *p = (struct cuda_program){.step = &text->plan->program, .text = text};
  p->step->target = str_fmt(f->arena, "cuda:%.*s", STR_FMT(o->arch)).p;
  p->step->ortho = text->ortho;
  p->step->n_ortho = text->n_ortho;
  set_kernels(f, p);
  set_squares(p->step, text);
  return p;
}

struct cuda_program *cuda_program_plan_only(struct front *f, const struct job_ir *j,
                                            const struct cuda_options *o,
                                            struct str *ice) {
  return make(f, j, o, ice);
}

// 90 of "sm_90a".
static long number_of(struct arena *a, struct str arch) {
  return strtol(str_cstr(a, arch) + 3, NULL, 10);
}

// The architecture to compile for: the device's, or the newest that NVRTC knows, whose PTX the driver then compiles.
// False: neither.
static bool choose_arch(struct front *f, const struct nvrtc *n, struct cuda_program *p,
                        struct str wanted, struct str *arch, struct str *why) {
  *arch = wanted;
  if (nvrtc_knows(n, wanted)) {
    return true;
  }
  struct str newest = nvrtc_newest(f->arena, n);
  if (number_of(f->arena, wanted) <= number_of(f->arena, newest)) {
    *why = str_fmt(f->arena, "NVRTC %s does not compile for `%s`; it does for %s",
                   nvrtc_version(f->arena, n).p, str_escape(f->arena, wanted).p,
                   nvrtc_archs(f->arena, n).p);
    return false;
  }
  struct str note =
      str_fmt(f->arena,
              "NVRTC %s does not know %s: kernels are PTX for %s, which the "
              "driver compiles when they are loaded",
              nvrtc_version(f->arena, n).p, wanted.p, newest.p);
  VEC_PUSH(f->arena, p->note, note);
  *arch = newest;
  return true;
}

static bool set_images(struct cuda_program *p, const struct nvrtc_object *object,
                       bool as_ptx, struct str *why) {
  struct rt_kernel *kernel = p->kernel;
  for (uint32_t i = 0; i < p->step->n_kernels; i++) {
    const struct nvrtc_object *o = &object[i];
    if (o->fault.n != 0) { // the first: one reason suffices to end
      *why = o->fault;
      return false;
    }
    struct str image = as_ptx ? o->ptx : o->cubin;
    kernel[i].image = image.p;
    kernel[i].image_bytes = image.n;
    p->n_cached += o->cached;
    for (uint32_t k = 0; k < o->n_kernels; k++) {
      if (str_eq(o->kernel[k].kernel, str_of(kernel[i].name))) {
        kernel[i].registers = o->kernel[k].registers;
        kernel[i].shared = o->kernel[k].shared;
        kernel[i].spilled = o->kernel[k].stack;
      }
    }
  }
  return true;
}

static enum cuda_failure compile(struct front *f, const struct nvrtc *n,
                                 struct cuda_program *p, struct str wanted,
                                 struct str *why) {
  uint32_t n_kernels = p->text->n_kernels;
  struct nvrtc_source *source = ARENA_ARRAY(f->arena, struct nvrtc_source, n_kernels);
  struct nvrtc_object *object = ARENA_ARRAY(f->arena, struct nvrtc_object, n_kernels);
  for (uint32_t i = 0; i < n_kernels; i++) {
    source[i] = (struct nvrtc_source){p->text->kernel[i].file, p->text->kernel[i].source};
  }
  struct str arch, note;
  if (!choose_arch(f, n, p, wanted, &arch, why)) {
    return CUDA_NO_NVRTC;
  }
  struct cache cache = cache_open(f->arena, &note);
  if (note.n != 0) {
    VEC_PUSH(f->arena, p->note, note);
  }
  (void)nvrtc_compile_cached(n, &cache, f->arena, source, n_kernels, arch, object);
  return set_images(p, object, !str_eq(arch, wanted), why) ? CUDA_FINE : CUDA_BROKEN;
}

enum cuda_failure cuda_compile(struct front *f, const struct job_ir *j,
                               const struct cuda_options *o, struct cuda_program **out,
                               struct str *why) {
  double start = clock_now();
  struct cuda_program *p = make(f, j, o, why);
  if (p == NULL) {
    return why->n != 0 ? CUDA_BROKEN : CUDA_REFUSED;
  }
  struct nvrtc *n = nvrtc_open(f->arena, why);
  if (n == NULL) {
    return CUDA_NO_NVRTC;
  }
  enum cuda_failure failure = compile(f, n, p, o->arch, why);
  nvrtc_close(n);
  p->seconds = clock_now() - start;
  *out = failure == CUDA_FINE ? p : NULL;
  return failure;
}
