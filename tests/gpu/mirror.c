// Opening the mirror: kernels and memory.
#include "mirror_int.h"

#include "front/load.h"

#include <stdio.h>
#include <string.h>

// ---- kernels

static const struct cuda_kernel *kernel_named(const struct cuda_text *t,
                                              struct str name) {
  for (uint32_t i = 0; i < t->n_kernels; i++) {
    if (str_eq(t->kernel[i].name, name)) {
      return &t->kernel[i];
    }
  }
  return NULL;
}

// The maps of a rule are operations of each of its parameters, in the order of the phases.
bool mirror_match(struct mirror *m) {
  const struct job_ir *j = m->job;
  struct kernels kernels = {.arena = m->arena};
  struct rule_kernels *rule = ARENA_ARRAY(m->arena, struct rule_kernels, j->job->n_rules);
  struct str ice = STR("");
  for (uint32_t r = 0; r < j->job->n_rules; r++) {
    rule[r] = kernels_of_rule(&kernels, j->phases[r], &ice);
  }
  uint32_t *next = ARENA_ARRAY(m->arena, uint32_t, m->program->n_params); // phase
  m->of = ARENA_ARRAY(m->arena, const struct cuda_kernel *, m->program->n_ops);
  for (uint32_t i = 0; i < m->program->n_ops; i++) {
    const struct rt_wave_op *op = &m->program->op[i];
    const struct kernel_map *map = rule[m->program->param[op->param].rule].map;
    uint32_t *phase = &next[op->param];
    if (op->kind != RT_WAVE_MAP) {
      continue;
    }
    while (map[*phase].phases == NULL) {
      (*phase)++;
    }
    struct str name = kernels.list.v[map[(*phase)++].kernel]->name;
    m->of[i] = kernel_named(m->text, name);
    if (m->of[i] == NULL) {
      (void)fprintf(stderr, "gpu: no CUDA kernel is named %.*s\n", STR_FMT(name));
      return false;
    }
  }
  return true;
}

static bool load_kernel(struct mirror *m, uint32_t i, const char *folder) {
  const struct cuda_kernel *k = &m->text->kernel[i];
  size_t stem = k->file.n > 3 ? k->file.n - 3 : 0; // without ".cu"
  struct str path = str_fmt(m->arena, "%s/%.*s.cubin", folder, (int)stem, k->file.p);
  struct file_reader disk = file_reader_disk();
  struct str cubin, why;
  if (!disk.read(disk.ctx, m->arena, path, &cubin, &why)) {
    (void)fprintf(stderr, "gpu: %s: %.*s\n", path.p, STR_FMT(why));
    return false;
  }
  GPU(m->gpu, module_load(&m->module[i], cubin.p));
  GPU(m->gpu,
      module_function(&m->function[i], m->module[i], str_cstr(m->arena, k->name)));
  return true;
}

static bool load_kernels(struct mirror *m, const char *folder) {
  m->module = ARENA_ARRAY(m->arena, void *, m->text->n_kernels);
  m->function = ARENA_ARRAY(m->arena, void *, m->text->n_kernels);
  for (uint32_t i = 0; i < m->text->n_kernels; i++) {
    if (!load_kernel(m, i, folder)) {
      return false;
    }
  }
  return true;
}

// ---- memory

// Room behind every tensor shows writes past its end: mirror_compare reads it.
static void make_buffers(struct mirror *m, bool odd) {
  const struct steprt_program *p = m->program;
  m->block = ARENA_ARRAY(m->arena, uint64_t, p->n_buffers);
  m->base = ARENA_ARRAY(m->arena, uint64_t, p->n_buffers);
  for (uint32_t i = 0; i < p->n_buffers; i++) {
    uint32_t size = rt_storage_bytes(p->buffer[i].storage);
    m->block[i] = gpu_new(m->gpu, mirror_bytes(p, i) + 64);
    m->base[i] = m->block[i] + (odd && i % 2 == 1 ? size : 0);
    bool has_values =
        p->buffer[i].kind == RT_BUF_PARAM || p->buffer[i].kind == RT_BUF_STATE;
    if (has_values && mirror_bytes(p, i) != 0) {
      GPU(m->gpu,
          to_device(m->base[i], steprt_buffer(m->session->rt, i), mirror_bytes(p, i)));
    }
  }
}

static void make_verdict(struct mirror *m) {
  static const struct mirror_verdict none = {.clip = 1};
  m->verdict = gpu_new(m->gpu, sizeof none);
  GPU(m->gpu, to_device(m->verdict, &none, sizeof none));
  for (uint32_t i = 0; i < m->text->n_kernels; i++) {
    if (m->text->kernel[i].kind == CUDA_SQUARES) {
      m->max_parts += gpu_full_grid(m->gpu, m->function[i], m->text->kernel[i].block);
    }
  }
  m->parts = gpu_new(m->gpu, (size_t)m->max_parts * CUDA_BINNED_BYTES);
}

bool mirror_open(struct mirror *m, const char *folder, bool odd) {
  if (!mirror_match(m) || !load_kernels(m, folder)) {
    return false;
  }
  make_buffers(m, odd);
  make_verdict(m);
  return true;
}

void mirror_close(struct mirror *m) {
  for (uint32_t i = 0; m->block != NULL && i < m->program->n_buffers; i++) {
    GPU(m->gpu, mem_free(m->block[i]));
  }
  if (m->verdict != 0) {
    GPU(m->gpu, mem_free(m->verdict));
    GPU(m->gpu, mem_free(m->parts));
  }
  for (uint32_t i = 0; m->module != NULL && i < m->text->n_kernels; i++) {
    if (m->module[i] != NULL) {
      GPU(m->gpu, module_unload(m->module[i]));
    }
  }
}
