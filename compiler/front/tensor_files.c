// Opening safetensors files, alone or by folder, and the table of all their tensors.
#include "front/tensor_files.h"

#include "file/json.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_folder(struct arena *a, struct str path) {
  struct stat st;
  return stat(str_cstr(a, path), &st) == 0 && S_ISDIR(st.st_mode);
}

// A header's length, at most ST_MAX_HEADER, and the brace that begins it: no JSON text does. Only regular files are
// looked into: what a pipe gave would be missing afterwards.
static bool begins_as_safetensors(struct arena *a, struct str path) {
  const char *name = str_cstr(a, path);
  struct stat st;
  if (stat(name, &st) != 0 || !S_ISREG(st.st_mode)) {
    return false;
  }
  unsigned char head[9];
  int fd = open(name, O_RDONLY | O_CLOEXEC);
  bool all = fd >= 0 && pread(fd, head, sizeof head, 0) == (ssize_t)sizeof head;
  if (fd >= 0) {
    (void)close(fd);
  }
  uint64_t length = 0;
  for (int i = 7; all && i >= 0; i--) {
    length = length << 8 | head[i];
  }
  return all && length <= ST_MAX_HEADER && head[8] == '{';
}

bool tensor_files_takes(struct arena *a, struct str path) {
  return str_ends(path, ".safetensors") || str_ends(path, ".index.json") ||
         is_folder(a, path) || begins_as_safetensors(a, path);
}

bool tensor_files_add(struct front *f, struct str path, struct tensor_files *set) {
  struct st_error err;
  struct st_file *file = st_open(str_cstr(f->arena, path), &err);
  if (file == NULL) {
    bool unreadable = err.status == STEPRT_IO || err.status == STEPRT_NO_MEMORY;
    struct str args[] = {str_escape(f->arena, path), str_of(err.text)};
    (void)diag_report_safe(f->diags, NO_SPAN, unreadable ? E0001 : E0515, args, 2);
    return false;
  }
  set->file[set->n_files++] = file;
  return true;
}

static int compare_refs(const void *a, const void *b) {
  const struct tensor_ref *x = a, *y = b;
  int c = strcmp(x->tensor->name, y->tensor->name);
  return c != 0 ? c : (x->file > y->file) - (x->file < y->file);
}

// Fills the table; a name that stands in two files is reported.
bool tensor_files_collect(struct front *f, struct str path, struct tensor_files *set) {
  uint64_t n = 0;
  for (uint32_t i = 0; i < set->n_files; i++) {
    n += set->file[i]->n_tensors;
  }
  set->tensor = ARENA_ARRAY(f->arena, struct tensor_ref, n);
  for (uint32_t i = 0; i < set->n_files; i++) {
    for (uint32_t k = 0; k < set->file[i]->n_tensors; k++) {
      set->tensor[set->n_tensors++] = (struct tensor_ref){i, &set->file[i]->tensor[k]};
    }
  }
  qsort(set->tensor, set->n_tensors, sizeof *set->tensor, compare_refs);
  bool ok = true;
  for (uint32_t i = 1; i < set->n_tensors; i++) {
    const struct tensor_ref *t = &set->tensor[i];
    if (strcmp(t[-1].tensor->name, t->tensor->name) == 0) {
      DIAG(f->diags, NO_SPAN, E0517, path,
           str_fmt(f->arena, "tensor `%s` stands in `%s` and in `%s`", t->tensor->name,
                   set->file[t[-1].file]->path, set->file[t->file]->path));
      ok = false;
    }
  }
  return ok;
}

static struct str join(struct arena *a, struct str folder, struct str name) {
  const char *slash = str_ends(folder, "/") ? "" : "/";
  return str_fmt(a, "%.*s%s%.*s", STR_FMT(folder), slash, STR_FMT(name));
}

static int is_tensor_file(const struct dirent *d) {
  return d->d_name[0] != '.' && str_ends(str_of(d->d_name), ".safetensors");
}

static int compare_entries(const struct dirent **a, const struct dirent **b) {
  return strcmp((*a)->d_name, (*b)->d_name); // alphasort would ask the locale
}

static bool open_listing(struct front *f, struct str path, struct tensor_files *set) {
  set->n_listing =
      scandir(str_cstr(f->arena, path), &set->listing, is_tensor_file, compare_entries);
  if (set->n_listing < 0) {
    char text[200];
    DIAG(f->diags, NO_SPAN, E0001, path, str_of(strerror_r(errno, text, sizeof text)));
    return false;
  }
  if (set->n_listing == 0) {
    DIAG(
        f->diags, NO_SPAN, E0517, path,
        STR("the folder holds no .safetensors file and no model.safetensors.index.json"));
    return false;
  }
  bool ok = true;
  set->file = ARENA_ARRAY(f->arena, struct st_file *, (size_t)set->n_listing);
  for (int i = 0; i < set->n_listing; i++) {
    ok =
        tensor_files_add(f, join(f->arena, path, str_of(set->listing[i]->d_name)), set) &&
        ok;
  }
  return ok && tensor_files_collect(f, path, set);
}

bool tensor_files_open(struct front *f, struct str path, struct tensor_files *set) {
  if (is_folder(f->arena, path)) {
    struct str index = join(f->arena, path, STR("model.safetensors.index.json"));
    struct stat st;
    return lstat(index.p, &st) == 0 ? tensor_index_open(f, index, set)
                                    : open_listing(f, path, set);
  }
  if (str_ends(path, ".index.json")) {
    return tensor_index_open(f, path, set);
  }
  set->file = ARENA_ARRAY(f->arena, struct st_file *, 1);
  return tensor_files_add(f, path, set) && tensor_files_collect(f, path, set);
}

void tensor_files_close(struct tensor_files *set) {
  for (uint32_t i = 0; i < set->n_files; i++) {
    st_close(set->file[i]);
  }
  for (int i = 0; i < set->n_listing; i++) {
    free(set->listing[i]);
  }
  free(set->listing);
  json_free(set->index);
  *set = (struct tensor_files){0};
}

const struct tensor_ref *tensor_files_find(const struct tensor_files *set,
                                           struct str name) {
  uint32_t lo = 0, hi = set->n_tensors;
  while (lo < hi) {
    uint32_t mid = lo + (hi - lo) / 2;
    int c = str_cmp(str_of(set->tensor[mid].tensor->name), name);
    if (c == 0) {
      return &set->tensor[mid];
    }
    if (c < 0) {
      lo = mid + 1;
    } else {
      hi = mid;
    }
  }
  return NULL;
}

struct str tensor_files_path(const struct tensor_files *set, uint32_t file) {
  return str_of(set->file[file]->path);
}

bool tensor_storage(enum st_dtype dtype, enum storage *out) {
  *out = dtype == ST_DT_F32 ? ST_F32 : dtype == ST_DT_BF16 ? ST_BF16 : ST_F16;
  return dtype == ST_DT_F32 || dtype == ST_DT_BF16 || dtype == ST_DT_F16;
}
