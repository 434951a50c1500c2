// program.json, written.
#include "file/sha256.h"
#include "plan/names.h"
#include "plan/program_code.h"
#include "plan/program_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const norm_names[] = {"frobenius", "aol"};

static void write_ids(struct rt_text *t, const char *key, const uint32_t *id,
                      uint32_t n) {
  rt_text_key(t, key);
  rt_text_put(t, "[");
  for (uint32_t i = 0; i < n; i++) {
    rt_text_comma(t);
    if (id[i] == RT_NO_ID) {
      rt_text_put(t, "null");
    } else {
      rt_text_u64(t, id[i]);
    }
  }
  rt_text_put(t, "]");
}

static void write_hypers(struct rt_text *t, const struct steprt_program *p,
                         bool with_values) {
  rt_text_open_list(t, "hypers");
  for (uint32_t i = 0; i < p->n_hypers; i++) {
    const struct rt_hyper *h = &p->hyper[i];
    rt_text_open_item(t, "hyper", i);
    if (with_values) {
      rt_text_member_double(t, "value", h->value);
    }
    rt_fields_write(t, &rt_hyper_fields, h);
    rt_code_write(t, "bound", h->bound, h->n_bound, h->n_bound_regs);
    rt_text_put(t, "}");
  }
  rt_text_put(t, "]");
}

static void write_iterations(struct rt_text *t, const struct steprt_program *p) {
  rt_text_open_list(t, "iterations");
  for (uint32_t i = 0; i < p->n_iterations; i++) {
    const struct rt_iteration *it = &p->iteration[i];
    rt_text_open_item(t, "iteration", i);
    rt_fields_write(t, &rt_iteration_fields, it);
    rt_text_member_string(t, "norm", it->norm <= RT_NORM_AOL ? norm_names[it->norm] : "");
    rt_text_key(t, "steps");
    rt_text_put(t, "[");
    for (uint32_t k = 0; k < it->n_steps; k++) {
      rt_text_comma(t);
      rt_text_put(t, "[");
      for (int c = 0; c < 3; c++) {
        rt_text_comma(t);
        rt_text_double(t, it->abc[k][c]);
      }
      rt_text_put(t, "]");
    }
    rt_text_put(t, "]}");
  }
  rt_text_put(t, "]");
}

bool rt_image_name(const struct rt_kernel *k, char file[RT_IMAGE_NAME]) {
  static const char plain[] =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  *file = '\0';
  size_t n = k->name == NULL ? 0 : strlen(k->name);
  if (k->image == NULL || k->image_bytes == 0 || n == 0 || n > RT_IMAGE_NAME - 8 ||
      strspn(k->name, plain) != n) {
    return false;
  }
  bool is_elf = k->image_bytes >= 4 && memcmp(k->image,
                                              "\x7f"
                                              "ELF",
                                              4) == 0;
  (void)snprintf(file, RT_IMAGE_NAME, "%s.%s", k->name, is_elf ? "cubin" : "ptx");
  return true;
}

static void hash_bytes(const void *bytes, uint64_t n, char hex[65]) {
  struct sha256 s;
  sha256_init(&s);
  sha256_add(&s, bytes, n);
  sha256_hex(&s, hex);
}

// What the kernel compiler made.
static void write_built(struct rt_text *t, const struct rt_kernel *k,
                        const struct rt_image_ref *image) {
  if (*image->file == '\0') {
    return;
  }
  rt_text_key(t, "image");
  rt_text_put(t, "{");
  rt_text_member_string(t, "file", image->file);
  rt_text_member_u64(t, "bytes", image->bytes);
  rt_text_member_string(t, "sha256", image->sha256);
  rt_fields_write(t, &rt_built_fields, k);
  rt_text_put(t, "}");
}

static void write_kernels(struct rt_text *t, const struct steprt_program *p,
                          const struct rt_image_ref *image) {
  rt_text_open_list(t, "kernels");
  for (uint32_t i = 0; i < p->n_kernels; i++) {
    const struct rt_kernel *k = &p->kernel[i];
    rt_text_open_item(t, "kernel", i);
    rt_fields_write(t, &rt_program_kernel_fields, k);
    rt_text_member_string(t, "source", k->source_digest);
    rt_pointers_write(t, k->access, k->access == NULL ? 0 : k->n_ptrs);
    if (image != NULL) {
      write_built(t, k, &image[i]);
    }
    rt_text_put(t, "}");
  }
  rt_text_put(t, "]");
  rt_text_open_list(t, "orthos");
  for (uint32_t i = 0; i < p->n_ortho; i++) {
    rt_text_open_item(t, "ortho", i);
    rt_fields_write(t, &rt_ortho_set_fields, &p->ortho[i]);
    write_ids(t, "kernels", p->ortho[i].kernel, RT_N_ORTHO_KERNELS);
    rt_text_put(t, "}");
  }
  rt_text_put(t, "]");
}

static void write_states(struct rt_text *t, const struct rt_rule *r) {
  rt_text_key(t, "states");
  rt_text_put(t, "[");
  for (uint32_t i = 0; i < r->n_states; i++) {
    rt_text_comma(t);
    rt_text_put(t, "[");
    rt_text_string(t, r->state[i].name);
    rt_text_comma(t);
    rt_text_string(t, r->state[i].storage < RT_N_STORAGES
                          ? rt_storage_names[r->state[i].storage]
                          : "");
    rt_text_put(t, "]");
  }
  rt_text_put(t, "]");
  rt_text_key(t, "temps");
  rt_text_put(t, "[");
  for (uint32_t i = 0; i < r->n_temps; i++) {
    rt_text_comma(t);
    rt_text_string(t, r->temp[i] < RT_N_STORAGES ? rt_storage_names[r->temp[i]] : "");
  }
  rt_text_put(t, "]");
  rt_text_key(t, "host_states");
  rt_text_put(t, "[");
  for (uint32_t i = 0; i < r->n_host_states; i++) {
    rt_text_comma(t);
    rt_text_put(t, "[");
    rt_text_double(t, r->host_init[i]);
    rt_text_put(t, r->host_is_group[i] ? ", true]" : ", false]");
  }
  rt_text_put(t, "]");
}

static void write_rules(struct rt_text *t, const struct steprt_program *p) {
  rt_text_open_list(t, "rules");
  for (uint32_t i = 0; i < p->n_rules; i++) {
    const struct rt_rule *r = &p->rule[i];
    rt_text_open_item(t, "rule", i);
    rt_fields_write(t, &rt_rule_fields, r);
    write_states(t, r);
    rt_code_write(t, "host", r->ins, r->n_ins, r->n_regs);
    rt_phases_write(t, "init", p, r->init, r->n_init);
    rt_phases_write(t, "phases", p, r->phase, r->n_phases);
    rt_text_put(t, "}");
  }
  rt_text_put(t, "]");
}

static void write_params(struct rt_text *t, const struct steprt_program *p) {
  rt_text_open_list(t, "params");
  for (uint32_t i = 0; i < p->n_params; i++) {
    rt_text_open_item(t, "param", i);
    rt_fields_write(t, &rt_program_param_fields, &p->param[i]);
    rt_text_key(t, "shape");
    rt_text_put(t, "[");
    for (uint32_t d = 0; d < p->param[i].rank; d++) {
      rt_text_comma(t);
      rt_text_u64(t, p->param[i].dim[d]);
    }
    rt_text_put(t, "]}");
  }
  rt_text_put(t, "]");
}

enum form {
  OF_COMPUTATION, // what the digest is taken over: without values of hypers and what the kernel compiler made
  UNSEALED,       // all but the line that seals the text
  SEALED
};

static void write_program(struct rt_text *t, const struct steprt_program *p,
                          enum form form, const struct rt_image_ref *image,
                          const char *seal) {
  rt_text_put(t, "{\n");
  rt_text_member_string(t, "format", "stepc-program/1");
  if (form == SEALED) {
    rt_text_line(t);
    rt_text_member_string(t, "seal", seal);
  }
  if (form != OF_COMPUTATION) {
    rt_text_line(t);
    rt_text_member_string(t, "digest", p->digest);
  }
  rt_text_line(t);
  rt_fields_write(t, &rt_program_fields, p);
  write_ids(t, "squares", p->squares, sizeof p->squares / sizeof *p->squares);
  rt_text_line(t);
  rt_code_write(t, "clip", p->clip, p->n_clip, p->n_clip_regs);
  write_hypers(t, p, form != OF_COMPUTATION);
  write_iterations(t, p);
  write_kernels(t, p, form == OF_COMPUTATION ? NULL : image);
  write_rules(t, p);
  write_params(t, p);
  rt_text_put(t, "\n}\n");
}

static bool hash_text(const struct steprt_program *p, enum form form,
                      const struct rt_image_ref *image, char hex[65]) {
  struct rt_text t = {0};
  uint64_t n;
  write_program(&t, p, form, image, NULL);
  char *text = rt_text_done(&t, &n);
  if (text != NULL) {
    hash_bytes(text, n, hex);
  }
  free(text);
  return text != NULL;
}

bool rt_program_digest(const struct steprt_program *program, char hex[65]) {
  return hash_text(program, OF_COMPUTATION, NULL, hex);
}

bool rt_program_seal(const struct steprt_program *program,
                     const struct rt_image_ref *image, char hex[65]) {
  return hash_text(program, UNSEALED, image, hex);
}

char *rt_program_to_json(const struct steprt_program *program, uint64_t *n) {
  struct rt_text t = {0};
  char seal[65];
  *n = 0;
  struct rt_image_ref *image = calloc((size_t)program->n_kernels + 1, sizeof *image);
  if (image == NULL) {
    return NULL;
  }
  for (uint32_t i = 0; i < program->n_kernels; i++) {
    const struct rt_kernel *k = &program->kernel[i];
    if (rt_image_name(k, image[i].file)) {
      image[i].bytes = k->image_bytes;
      hash_bytes(k->image, k->image_bytes, image[i].sha256);
    }
  }
  bool sealed = rt_program_seal(program, image, seal);
  if (sealed) {
    write_program(&t, program, SEALED, image, seal);
  }
  free(image);
  return sealed ? rt_text_done(&t, n) : NULL;
}
