// A set of safetensors files that together hold a model's tensors: one file, a folder of them, or an index.
#ifndef STEPC_FRONT_TENSOR_FILES_H
#define STEPC_FRONT_TENSOR_FILES_H

#include "file/safetensors.h"
#include "front/ast.h"

struct dirent;
struct json_doc;

struct tensor_ref {
  uint32_t file;
  const struct st_tensor *tensor;
};

struct tensor_files {
  struct st_file **file; // open
  uint32_t n_files;
  struct tensor_ref *tensor; // of all files, sorted by name
  uint32_t n_tensors;
  struct dirent **listing; // of a folder; held, like `index`, for tensor_files_close
  int n_listing;
  struct json_doc *index;
};

// True for a path that tensor_files_open reads: a folder, a name that ends in ".safetensors" or ".index.json", or a
// file that begins as safetensors do, whatever its name.
bool tensor_files_takes(struct arena *a, struct str path);
// Opens a .safetensors file; an index and the files it names; or a folder: by its model.safetensors.index.json
// where there is one, else every *.safetensors in it. Whatever is wrong is reported (E0001, E0515, E0517), also a
// name in two files; false then. The caller zeroes `set` before and closes it after, in both cases.
bool tensor_files_open(struct front *f, struct str path, struct tensor_files *set);
void tensor_files_close(struct tensor_files *set);
// NULL: absent.
const struct tensor_ref *tensor_files_find(const struct tensor_files *set,
                                           struct str name);
struct str tensor_files_path(const struct tensor_files *set, uint32_t file);
// The storage of a tensor that can be a parameter; false for other dtypes.
bool tensor_storage(enum st_dtype dtype, enum storage *out);

// The index's part (tensor_index.c): opens what `weight_map` names. Files lie beside the index: names with `/`
// and links are refused. Index and files must agree on every tensor.
bool tensor_index_open(struct front *f, struct str path, struct tensor_files *set);
// Opens one more file of the set; `set->file` has room.
bool tensor_files_add(struct front *f, struct str path, struct tensor_files *set);
// Fills `set->tensor` once all files are open; a name that stands in two of them is reported.
bool tensor_files_collect(struct front *f, struct str path, struct tensor_files *set);

#endif
