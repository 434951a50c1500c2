// safetensors: a reader that trusts nothing and a writer that loses nothing.
//
// Layout: u64 little-endian header length, JSON header, data. Offsets must tile the data exactly. Format as the
// README of github.com/huggingface/safetensors describes it.
#ifndef STEPRT_FILE_SAFETENSORS_H
#define STEPRT_FILE_SAFETENSORS_H

#include "steprt.h"

enum { ST_MAX_RANK = 8, ST_MAX_HEADER = 100000000 };

enum st_dtype {
#define ST_DTYPE(id, text, bits) ST_DT_##id,
#include "file/dtypes.def"
#undef ST_DTYPE
  N_ST_DTYPES
};
const char *st_dtype_name(enum st_dtype t);
uint32_t st_dtype_bits(enum st_dtype t);

struct st_tensor {
  const char *name; // bytes as in the header, NUL-terminated
  enum st_dtype dtype;
  uint32_t rank;
  uint64_t dim[ST_MAX_RANK];
  uint64_t numel, begin, bytes; // begin: absolute offset in the file
};

struct st_file {
  char *path;
  int fd; // open for pread, never mapped
  uint64_t size;
  struct st_tensor *tensor; // in the order of the header
  uint32_t n_tensors;
  uint32_t *by_name; // indices of `tensor`, sorted by name
  char *names;       // what the names point into
};

struct st_error {
  steprt_status status; // STEPRT_BAD_INPUT: the content; STEPRT_IO: the file system
  char text[400]; // names the tensor where one is at fault, not the path; names escaped
};

// NULL when refused. Refuses: header longer than the file or than 100 MB, no `{`, bad JSON, offsets out of range,
// holes, overlaps, wrong byte counts, unknown dtypes, more than 8 dimensions, duplicate names, trailing bytes.
// Bad content is STEPRT_BAD_INPUT; a path that cannot be read or is no regular file STEPRT_IO.
struct st_file *st_open(const char *path, struct st_error *err);
// The same checks on a header in memory: the `n` bytes of JSON that stand behind the length in a file of
// `file_size` bytes. The result has no path and fd -1.
struct st_file *st_parse(const char *json, size_t n, uint64_t file_size,
                         struct st_error *err);
void st_close(struct st_file *f); // accepts NULL
const struct st_tensor *st_find(const struct st_file *f,
                                const char *name); // NULL: absent
// Reads all bytes of a tensor; short and interrupted reads are retried.
steprt_status st_read(const struct st_file *f, const struct st_tensor *t, void *into,
                      struct st_error *err);

struct st_out { // a tensor to write
  const char *name;
  enum st_dtype dtype;
  uint32_t rank;
  uint64_t dim[ST_MAX_RANK];
  const void *data;
};
// Writes PATH as a whole or not at all: a temporary file in the same folder, synced, renamed; on any failure (a
// full disk, a folder that is not writable) the temporary is removed and what stood there before stays. Where a
// file-size limit may strike, the caller ignores SIGXFSZ. Tensors stand by falling element size, then by name, and
// the header is padded to a multiple of 8: so each tensor is aligned to its element, as readers that map expect.
// STEPRT_BAD_ARGUMENT for tensors that cannot be written: a name twice, "__metadata__" or no UTF-8, a size overflow.
steprt_status st_write(const char *path, const struct st_out *tensors, uint32_t n,
                       struct st_error *err);

#endif
