// program.json (`stepc-program/1`): what a program computes, as text: all of struct steprt_program but the plan, machine
// code and addresses. With the plan and the kernels' images it is a bundle (bundle.h).
#ifndef STEPRT_PLAN_PROGRAM_JSON_H
#define STEPRT_PLAN_PROGRAM_JSON_H

#include "plan/program.h"
#include "steprt.h"

// SHA-256 over what is computed: the text without values of hypers, which any step may change, and without what the kernel
// compiler made (registers, images). False: out of memory.
bool rt_program_digest(const struct steprt_program *program, char hex[65]);

// The canonical text, ended by a newline, deterministic to the byte; from malloc. `program->digest` is written as it is.
// Its "seal" is over all other lines. NULL: out of memory.
char *rt_program_to_json(const struct steprt_program *program, uint64_t *n);

// The image of a kernel: a file beside program.json. `file` is "" where the kernel has none.
enum { RT_IMAGE_NAME = 256 };
struct rt_image_ref {
  // of letters, digits, `_`, `-` and `.`, not beginning with `.`
  char file[RT_IMAGE_NAME];
  uint64_t bytes;
  char sha256[65];
};
// The name of a kernel's image, "muon__p0__f32.cubin" or ".ptx". False: it has none, or a name that no file may have.
bool rt_image_name(const struct rt_kernel *k, char file[RT_IMAGE_NAME]);

// SHA-256 over the text without its "seal" line, for images known by name and digest. False: out of memory.
bool rt_program_seal(const struct steprt_program *program,
                     const struct rt_image_ref *image, char hex[65]);

// Reads text: strict JSON, every member known and of its kind, seal and digest compared; ids and ranges are steprt_open's.
// *images has one entry per kernel and lives as long as the program; NULL: not wanted. Kernels have no code yet. On
// failure STEPRT_BAD_INPUT or STEPRT_NO_MEMORY with the reason, *out is NULL.
steprt_status rt_program_from_json(const char *text, uint64_t n,
                                   struct steprt_program **out,
                                   const struct rt_image_ref **images, char *why,
                                   size_t n_why);
// The bytes of a kernel's image; they stay the caller's.
void rt_program_set_image(struct steprt_program *program, uint32_t kernel,
                          const void *image, uint64_t bytes);
void rt_program_free(struct steprt_program *program); // one that it made; accepts NULL

#endif
