// Inside the reader of program.json.
#ifndef STEPRT_PLAN_PROGRAM_READ_H
#define STEPRT_PLAN_PROGRAM_READ_H

#include "plan/program_json.h"
#include "plan/reader.h"

struct program_reader {
  struct rt_reader r;
  struct steprt_program *program;
  struct rt_kernel *kernel;
  struct rt_image_ref *image; // by kernel
};

// program_read_tables.c. A list of exactly `n` ids, null for none.
bool rt_program_read_ids(struct rt_reader *r, const struct json *obj, const char *key,
                         uint32_t *out, uint32_t n);
bool rt_program_read_kernels(struct program_reader *p, const struct json *root);
bool rt_program_read_orthos(struct program_reader *p, const struct json *root);
bool rt_program_read_rules(struct program_reader *p, const struct json *root);

#endif
