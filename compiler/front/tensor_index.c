// model.safetensors.index.json: {"metadata": {...}, "weight_map": {tensor: file}}. It holds no shapes: those come
// from the headers of the files it names (github.com/huggingface/transformers, sharded checkpoints).
#include "front/json_text.h"
#include "front/tensor_files.h"

#include <stdlib.h>
#include <sys/stat.h>

enum { MAX_SHARDS = 10000 };

struct index_reader {
  struct front *f;
  struct str path;
  uint32_t file; // its source
  struct tensor_files *set;
};

static bool fail_at(struct index_reader *x, const struct json *v, struct str what) {
  DIAG(x->f->diags, v == NULL ? NO_SPAN : json_span(x->file, v), E0517, x->path, what);
  return false;
}

// A shard is a plain file beside the index: a name is never a path (DESIGN section 16).
static bool check_shard(struct index_reader *x, const struct json *v, struct str whole) {
  struct arena *a = x->f->arena;
  struct str name = json_str(v);
  bool has_slash = false;
  for (size_t i = 0; i < name.n; i++) {
    has_slash = has_slash || name.p[i] == '/' || name.p[i] == '\\';
  }
  if (has_slash || name.n == 0 || str_is(name, "..") || str_is(name, ".")) {
    return fail_at(
        x, v,
        str_fmt(a, "`%.*s` is not the name of a file beside the index", STR_FMT(name)));
  }
  struct stat st;
  if (lstat(whole.p, &st) == 0 && S_ISLNK(st.st_mode)) {
    return fail_at(
        x, v, str_fmt(a, "`%.*s` is a link: an index names plain files", STR_FMT(name)));
  }
  return true;
}

static struct str beside(struct arena *a, struct str path, struct str name) {
  size_t n = path.n;
  while (n > 0 && path.p[n - 1] != '/') {
    n--;
  }
  return str_fmt(a, "%.*s%.*s", (int)n, path.p, STR_FMT(name));
}

struct shard {
  struct str name;
  const struct json *at; // its first mention
};

static int compare_shards(const void *a, const void *b) {
  const struct shard *x = a, *y = b;
  uint32_t p = json_range(x->at).at, q = json_range(y->at).at;
  int c = str_cmp(x->name, y->name);
  return c != 0 ? c : (p > q) - (p < q);
}

// The distinct files of the map, sorted by name. UINT32_MAX: reported.
static uint32_t list_shards(struct index_reader *x, const struct json *map,
                            struct shard **out) {
  uint32_t n = json_size(map), kept = 0;
  struct shard *shard = ARENA_ARRAY(x->f->arena, struct shard, n);
  for (uint32_t i = 0; i < n; i++) {
    const struct json *v = json_item(map, i);
    if (json_kind(v) != JSON_STRING) {
      (void)fail_at(x, v, STR("`weight_map` maps tensors to file names"));
      return UINT32_MAX;
    }
    shard[i] = (struct shard){.name = json_str(v), .at = v};
  }
  qsort(shard, n, sizeof *shard, compare_shards);
  for (uint32_t i = 0; i < n; i++) {
    if (kept == 0 || !str_eq(shard[kept - 1].name, shard[i].name)) {
      shard[kept++] = shard[i];
    }
  }
  *out = shard;
  if (kept > MAX_SHARDS) {
    (void)fail_at(x, map, STR("more than 10,000 files"));
    return UINT32_MAX;
  }
  return kept;
}

static bool open_shards(struct index_reader *x, struct shard *shard, uint32_t n) {
  bool ok = true;
  x->set->file = ARENA_ARRAY(x->f->arena, struct st_file *, n);
  for (uint32_t i = 0; i < n; i++) {
    struct str whole = beside(x->f->arena, x->path, shard[i].name);
    ok =
        check_shard(x, shard[i].at, whole) && tensor_files_add(x->f, whole, x->set) && ok;
  }
  return ok;
}

// Every tensor of the map stands in the file that the map names.
static bool check_map(struct index_reader *x, const struct json *map) {
  bool ok = true;
  for (uint32_t i = 0; i < json_size(map); i++) {
    const struct json *v = json_item(map, i);
    struct str name = str_of(json_key(v));
    const struct tensor_ref *t = tensor_files_find(x->set, name);
    struct str file = beside(x->f->arena, x->path, json_str(v));
    if (t == NULL || !str_eq(tensor_files_path(x->set, t->file), file)) {
      DIAG(x->f->diags, json_key_span(x->f->sources, x->file, v), E0518, file, name);
      ok = false;
    }
  }
  return ok;
}

static int compare_names(const void *a, const void *b) {
  return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

// Every tensor of the files stands in the map.
static bool check_files(struct index_reader *x, const struct json *map) {
  uint32_t n = json_size(map), k = 0;
  struct str *name = ARENA_ARRAY(x->f->arena, struct str, n);
  for (uint32_t i = 0; i < n; i++) {
    name[i] = str_of(json_key(json_item(map, i)));
  }
  qsort(name, n, sizeof *name, compare_names);
  bool ok = true;
  for (uint32_t i = 0; i < x->set->n_tensors; i++) {
    const struct tensor_ref *t = &x->set->tensor[i];
    struct str have = str_of(t->tensor->name);
    while (k < n && str_cmp(name[k], have) < 0) {
      k++;
    }
    if (k == n || !str_eq(name[k], have)) {
      DIAG(x->f->diags, NO_SPAN, E0519, tensor_files_path(x->set, t->file), have,
           STR("which the index does not name"));
      ok = false;
    }
  }
  return ok;
}

bool tensor_index_open(struct front *f, struct str path, struct tensor_files *set) {
  struct json_text text;
  if (!json_text_open(f, path, &text)) {
    return false;
  }
  set->index = text.doc;
  struct index_reader x = {.f = f, .path = path, .file = text.file, .set = set};
  const struct json *root = json_root(text.doc);
  const struct json *map =
      json_kind(root) == JSON_OBJECT ? json_get(root, "weight_map") : NULL;
  if (map == NULL || json_kind(map) != JSON_OBJECT || json_size(map) == 0) {
    return fail_at(&x, root, STR("an index has a `weight_map` of tensors to file names"));
  }
  struct shard *shard;
  uint32_t n = list_shards(&x, map, &shard);
  if (n == UINT32_MAX || !open_shards(&x, shard, n) ||
      !tensor_files_collect(f, path, set)) {
    return false;
  }
  bool ok = check_map(&x, map);
  return check_files(&x, map) && ok;
}
