// Same bits for every cut: each kernel on a whole range, then on pieces of odd sizes from addresses that are aligned
// to their element alone.
#include "tool/verify.h"

#include <stdlib.h>
#include <string.h>

enum { ELEMENTS = 40009, SLACK = 64 };

struct launch {
  const struct rt_kernel *kernel;
  uint64_t n;
  uint32_t n_tensors; // distinct ones; kernels may take one twice
  uint32_t *slot;     // by pointer: which tensor
  uint32_t *storage;  // by tensor
  unsigned char **whole, **cut;
  void **ptr;
  float *scalar;
};

// A phase that launches the kernel: it says what the pointers are. All that do are alike in that.
static const struct rt_phase *phase_of(const struct rt_phase *phase, uint32_t n,
                                       uint32_t kernel) {
  for (uint32_t i = 0; i < n; i++) {
    if (phase[i].kind == RT_PHASE_MAP && phase[i].kernel == kernel) {
      return &phase[i];
    }
  }
  return NULL;
}

static const struct rt_phase *user_of(const struct steprt_program *p, uint32_t kernel) {
  const struct rt_phase *found = NULL;
  for (uint32_t r = 0; r < p->n_rules && found == NULL; r++) {
    found = phase_of(p->rule[r].phase, p->rule[r].n_phases, kernel);
    if (found == NULL) {
      found = phase_of(p->rule[r].init, p->rule[r].n_init, kernel);
    }
  }
  return found;
}

static bool is_same(const struct rt_tensor *x, const struct rt_tensor *y) {
  return x->kind == y->kind && x->index == y->index;
}

static void assign_tensors(struct launch *l, const struct rt_phase *phase) {
  for (uint32_t i = 0; i < l->kernel->n_ptrs; i++) {
    uint32_t same = 0;
    while (same < i && !is_same(&phase->tensor[same], &phase->tensor[i])) {
      same++;
    }
    if (same < i) {
      l->slot[i] = l->slot[same];
      continue;
    }
    l->storage[l->n_tensors] = phase->tensor[i].storage;
    l->slot[i] = l->n_tensors++;
  }
}

// Tensor `t` at the given misalignment, holding the same values in both copies.
static bool fill(struct launch *l, uint32_t t, uint32_t kernel) {
  uint32_t size = rt_storage_bytes(l->storage[t]);
  size_t bytes = l->n * size + SLACK;
  l->whole[t] = malloc(bytes);
  l->cut[t] = malloc(bytes);
  if (l->whole[t] == NULL || l->cut[t] == NULL) {
    return false;
  }
  struct data_key key = {
      .seed = kernel, .role = DATA_PARAMS, .name = STR("cut"), .step = t};
  memset(l->whole[t], 0, bytes);
  data_seed(&key, (enum storage)l->storage[t], 0, l->n, l->whole[t]);
  memcpy(l->cut[t] + size, l->whole[t], l->n * size); // one element off
  return true;
}

static void call(struct launch *l, unsigned char *const *tensor, bool shifted,
                 uint64_t begin, uint64_t end) {
  for (uint32_t i = 0; i < l->kernel->n_ptrs; i++) {
    uint32_t t = l->slot[i];
    l->ptr[i] = tensor[t] + (shifted ? rt_storage_bytes(l->storage[t]) : 0);
  }
  l->kernel->fn(l->ptr, l->scalar, begin, end);
}

// The first tensor that differs, or n_tensors.
static uint32_t run_both(struct launch *l) {
  static const uint64_t pieces[] = {1, 2, 3, 5, 7, 8, 13, 16, 31, 64, 127, 997};
  call(l, l->whole, false, 0, l->n);
  for (uint64_t at = 0, i = 0; at < l->n; i++) {
    uint64_t size = pieces[i % (sizeof pieces / sizeof *pieces)];
    uint64_t end = l->n - at < size ? l->n : at + size;
    call(l, l->cut, true, at, end);
    at = end;
  }
  for (uint32_t t = 0; t < l->n_tensors; t++) {
    uint32_t size = rt_storage_bytes(l->storage[t]);
    if (memcmp(l->whole[t], l->cut[t] + size, l->n * size) != 0) {
      return t;
    }
  }
  return l->n_tensors;
}

static bool launch_new(struct arena *a, const struct steprt_program *p, uint32_t kernel,
                       const struct rt_phase *phase, struct launch *l) {
  const struct rt_kernel *k = &p->kernel[kernel];
  *l = (struct launch){.kernel = k,
                       .n = ELEMENTS,
                       .slot = ARENA_ARRAY(a, uint32_t, k->n_ptrs),
                       .storage = ARENA_ARRAY(a, uint32_t, k->n_ptrs),
                       .whole = ARENA_ARRAY(a, unsigned char *, k->n_ptrs),
                       .cut = ARENA_ARRAY(a, unsigned char *, k->n_ptrs),
                       .ptr = ARENA_ARRAY(a, void *, k->n_ptrs),
                       .scalar = ARENA_ARRAY(a, float, k->n_scalars)};
  for (uint32_t i = 0; i < k->n_scalars; i++) {
    l->scalar[i] = 1.0f / (float)(i + 2);
  }
  assign_tensors(l, phase);
  bool ok = true;
  for (uint32_t t = 0; t < l->n_tensors; t++) {
    ok = fill(l, t, kernel) && ok;
  }
  return ok;
}

static void launch_free(struct launch *l) {
  for (uint32_t t = 0; t < l->n_tensors; t++) {
    free(l->whole[t]);
    free(l->cut[t]);
  }
}

bool cuts_prove(struct arena *a, const struct steprt_program *p, struct verdict *out) {
  uint32_t kernels = 0;
  *out = (struct verdict){.held = true, .result = STR("same bits")};
  for (uint32_t k = 0; k < p->n_kernels; k++) {
    const struct rt_phase *phase = user_of(p, k);
    if (phase == NULL) {
      continue;
    }
    struct launch l;
    bool ok = launch_new(a, p, k, phase, &l);
    uint32_t differs = ok ? run_both(&l) : l.n_tensors;
    if (differs != l.n_tensors && out->held) {
      out->held = false;
      out->result =
          str_fmt(a, "kernel `%s`: tensor %u differs", p->kernel[k].name, differs);
    }
    launch_free(&l);
    if (!ok) {
      return false;
    }
    kernels++;
  }
  out->tried = str_fmt(
      a, "%u kernels, whole and in pieces of 1 to 997 elements, shifted by one", kernels);
  return true;
}

enum exit_code verify_cuts(struct verify *v, struct verdict *out) {
  if (cuts_prove(v->tool->arena, v->driver.step, out)) {
    return EXIT_OK;
  }
  say(v->tool, "out of memory");
  return EXIT_ENVIRONMENT;
}
