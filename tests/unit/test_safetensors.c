// The safetensors reader refuses every malformed file by name; reading survives short and interrupted calls.
#include "file/safetensors.h"
#include "tempdir.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define A_TENSOR "\"a\":{\"dtype\":\"F32\",\"shape\":[2,2],\"data_offsets\":[0,16]}"

struct bad {
  const char *json;
  uint64_t data; // bytes behind the header
  const char *message;
};

static const struct bad bad[] = {
    {"", 0, "no safetensors file: the header does not start with `{`"},
    {" {}", 0, "no safetensors file: the header does not start with `{`"},
    {"[]", 0, "no safetensors file: the header does not start with `{`"},
    {"{\"a\":", 0, "header, byte 5: expected a value, found the end of the text"},
    {"{" A_TENSOR "," A_TENSOR "}", 16, "header, byte 57: duplicate key `a`"},
    {"{\"a\":1}", 0, "tensor `a`: its entry is no object"},
    {"{\"a\":{\"shape\":[],\"data_offsets\":[0,4]}}", 4,
     "tensor `a`: `dtype` is missing or no string"},
    {"{\"a\":{\"dtype\":\"F33\",\"shape\":[],\"data_offsets\":[0,4]}}", 4,
     "tensor `a`: unknown dtype `F33`"},
    {"{\"a\":{\"dtype\":\"f32\",\"shape\":[],\"data_offsets\":[0,4]}}", 4,
     "tensor `a`: unknown dtype `f32`"},
    {"{\"a\":{\"dtype\":\"F32\",\"data_offsets\":[0,4]}}", 4,
     "tensor `a`: `shape` is missing or no array"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[-1],\"data_offsets\":[0,4]}}", 4,
     "tensor `a`: a dimension is no integer of 0 or more"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1.0],\"data_offsets\":[0,4]}}", 4,
     "tensor `a`: a dimension is no integer of 0 or more"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[\"1\"],\"data_offsets\":[0,4]}}", 4,
     "tensor `a`: a dimension is no integer of 0 or more"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[9007199254740993],\"data_offsets\":[0,4]}}", 4,
     "header, byte 29: an integer is at most 2^53 in magnitude"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[4294967296,4294967296],\"data_offsets\":[0,0]}"
     "}",
     0, "tensor `a`: the shape has too many elements, or a part of a byte"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[0,4294967296,4294967296],\"data_offsets\":[0,"
     "0]}}",
     0, "tensor `a`: the shape has too many elements, or a part of a byte"},
    {"{\"a\":{\"dtype\":\"F4\",\"shape\":[3],\"data_offsets\":[0,1]}}", 1,
     "tensor `a`: the shape has too many elements, or a part of a byte"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1,1,1,1,1,1,1,1,1],\"data_offsets\":[0,4]}}",
     4, "tensor `a`: more than 8 dimensions"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[]}}", 4,
     "tensor `a`: `data_offsets` is missing or no pair of integers"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4,8]}}", 4,
     "tensor `a`: `data_offsets` is missing or no pair of integers"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[4,0]}}", 4,
     "tensor `a`: offsets [4, 0] leave the 4 bytes of data"},
    {"{" A_TENSOR "}", 15, "tensor `a`: offsets [0, 16] leave the 15 bytes of data"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,4]}}", 4,
     "tensor `a`: shape and dtype take 8 bytes, the offsets span 4"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4],\"x\":1}}", 4,
     "tensor `a`: unknown key `x`"},
    {"{" A_TENSOR ",\"b\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[12,20]}}",
     20, "tensor `b` overlaps tensor `a`"},
    {"{" A_TENSOR ",\"b\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[20,24]}}",
     24, "a hole of 4 bytes before tensor `b`"},
    {"{\"b\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1,2]}}", 2,
     "a hole of 1 bytes before tensor `b`"},
    {"{" A_TENSOR ",\"z\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[8,8]}}", 16,
     "tensor `z` overlaps tensor `a`"},
    {"{" A_TENSOR "}", 17, "1 bytes of data belong to no tensor"},
    {"{}", 1, "1 bytes of data belong to no tensor"},
    {"{\"__metadata__\":{\"n\":1}," A_TENSOR "}", 16,
     "`__metadata__` maps names to strings only"},
    {"{\"__metadata__\":[]," A_TENSOR "}", 16,
     "`__metadata__` maps names to strings only"},
    {"{\"\\u001b[2J\\n\":1}", 0, "tensor `\\x1b[2J\\n`: its entry is no object"},
};

Test(safetensors, refuses_bad_headers) {
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    struct st_error err;
    size_t n = strlen(bad[i].json);
    struct st_file *f = st_parse(bad[i].json, n, 8 + n + bad[i].data, &err);
    cr_assert_null(f, "accepted: %s", bad[i].json);
    cr_assert_str_eq(err.text, bad[i].message, "%s:\n%s", bad[i].json, err.text);
    cr_assert_eq(err.status, STEPRT_BAD_INPUT);
  }
}

static const char *open_error(const struct tempdir *d, const void *bytes, size_t n,
                              steprt_status status, struct st_error *err) {
  char path[400];
  tempdir_write(d, "f", bytes, n);
  cr_assert_null(st_open(tempdir_join(d, "f", path), err));
  cr_assert_eq(err->status, status);
  return err->text;
}

Test(safetensors, refuses_bad_files) {
  struct tempdir d = tempdir_new();
  struct st_error err;
  cr_assert_str_eq(open_error(&d, "", 0, STEPRT_BAD_INPUT, &err),
                   "no safetensors file: 0 bytes, shorter than a header");
  cr_assert_str_eq(open_error(&d, "\3\0\0\0\0\0\0\0{}", 10, STEPRT_BAD_INPUT, &err),
                   "a header of 3 bytes is longer than the file of 10");
  cr_assert_str_eq(open_error(&d,
                              "\x7f"
                              "ELF\1\1\1\0\0\0",
                              10, STEPRT_BAD_INPUT, &err),
                   "no safetensors file: a header of 282579962709375 bytes (at most "
                   "100000000; file: 10)");
  cr_assert_null(st_open(d.path, &err));
  cr_assert_str_eq(err.text, strerror(EISDIR));
  cr_assert_eq(err.status, STEPRT_IO);
  char path[400];
  cr_assert_null(st_open(tempdir_join(&d, "none", path), &err));
  cr_assert_eq(err.status, STEPRT_IO);
  cr_assert_str_eq(err.text, strerror(ENOENT));
  cr_assert_eq(mkfifo(tempdir_join(&d, "pipe", path), 0600), 0);
  cr_assert_null(st_open(path, &err));
  cr_assert_str_eq(err.text, "not a regular file");
  tempdir_remove(&d);
}

Test(safetensors, reads_a_header_written_by_hand) {
  // Spaces behind the header, an empty tensor between others, any order, metadata, a scalar.
  const char *json =
      "{\"__metadata__\":{\"format\":\"pt\"},"
      "\"c\":{\"dtype\":\"BF16\",\"shape\":[3],\"data_offsets\":[12,18]},"
      "\"e\":{\"dtype\":\"F32\",\"shape\":[0,7],\"data_offsets\":[12,12]},"
      "\"a\":{\"dtype\":\"F64\",\"shape\":[],\"data_offsets\":[0,8]},"
      "\"b\":{\"dtype\":\"F4\",\"shape\":[2,4],\"data_offsets\":[8,12]}}   ";
  struct st_error err;
  size_t n = strlen(json);
  struct st_file *f = st_parse(json, n, 8 + n + 18, &err);
  cr_assert_not_null(f, "%s", err.text);
  cr_assert_eq(f->n_tensors, 4);
  cr_assert_str_eq(f->tensor[0].name, "c");
  const struct st_tensor *a = st_find(f, "a"), *e = st_find(f, "e");
  cr_assert(a->rank == 0 && a->numel == 1 && a->bytes == 8 && a->begin == 8 + n);
  cr_assert(e->rank == 2 && e->dim[1] == 7 && e->numel == 0 && e->bytes == 0);
  cr_assert_null(st_find(f, "__metadata__"));
  cr_assert_null(st_find(f, "A"));
  st_close(f);
}

// ---- calls that fall short: the linker sends the library's pread here
ssize_t __real_pread(int fd, void *into, size_t n, off_t at);
ssize_t __wrap_pread(int fd, void *into, size_t n, off_t at);
static int
    trouble; // 0: none; every third call is interrupted, the others give at most 3 bytes
static unsigned calls;

ssize_t __wrap_pread(int fd, void *into, size_t n, off_t at) {
  if (trouble != 0 && calls++ % 3 == 0) {
    errno = EINTR;
    return -1;
  }
  return __real_pread(fd, into, trouble != 0 && n > 3 ? 3 : n, at);
}

Test(safetensors, short_and_interrupted_reads_are_retried) {
  struct tempdir d = tempdir_new();
  char path[400];
  float x[5] = {1, 2, 3, 4, 5}, y[5] = {0};
  struct st_out out = {"x", ST_DT_F32, 1, {5}, x};
  struct st_error err;
  cr_assert_eq(st_write(tempdir_join(&d, "x", path), &out, 1, &err), STEPRT_OK);
  trouble = 1;
  struct st_file *f = st_open(path, &err);
  cr_assert_not_null(f, "%s", err.text);
  cr_assert_eq(st_read(f, st_find(f, "x"), y, &err), STEPRT_OK);
  cr_assert_arr_eq(x, y, sizeof x);
  trouble = 0;
  cr_assert_eq(truncate(path, (off_t)f->size - 1), 0);
  cr_assert_eq(st_read(f, st_find(f, "x"), y, &err), STEPRT_IO);
  cr_assert_str_eq(err.text, "the file ended early: it was cut while it was read");
  st_close(f);
  tempdir_remove(&d);
}
