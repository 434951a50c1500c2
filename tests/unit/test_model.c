// Reading models: what a description means, and sets of safetensors files with everything that can be wrong there.
// Wrong descriptions are under tests/data/errors (E0501 to E0514).
#include "file/safetensors.h"
#include "front/model.h"
#include "tempdir.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct fixture {
  struct arena *arena;
  struct sources sources;
  struct diags diags;
  struct front front;
};

static void fixture_new(struct fixture *x) {
  *x = (struct fixture){.arena = arena_new(0)};
  x->sources.arena = x->arena;
  diags_init(&x->diags, x->arena, &x->sources);
  x->front = (struct front){x->arena, &x->sources, &x->diags};
}

static struct str said(struct fixture *x) {
  return diag_render(&x->diags, DIAG_TEXT, false, x->arena);
}

static struct model *parse(struct fixture *x, const char *text) {
  fixture_new(x);
  struct model *m = model_parse(&x->front, STR("m.json"), str_of(text));
  cr_assert_not_null(m, "%.*s", STR_FMT(said(x)));
  return m;
}

static const struct model_param *find(const struct model *m, const char *name) {
  for (uint32_t i = 0; i < m->n_params; i++) {
    if (str_is(m->param[i].name, name)) {
      return &m->param[i];
    }
  }
  cr_assert_fail("no parameter %s", name);
  return NULL;
}

// ---- descriptions

Test(model, shipped_models_have_the_published_totals) {
  static const struct {
    const char *file;
    uint32_t tensors; // without tied names
    uint64_t numel;
  } cases[] = {{"gpt2-124m", 148, 124439808},
               {"qwen3-0.6b", 310, 596049920},
               {"qwen3-30b-a3b", 579, 30532122624},
               {"qwen3-30b-a3b-index", 18867, 30532122624},
               {"qwen3-30b-a3b-rank", 369, 3816515328},
               {"tiny", 16, 7303},
               {"tiny-bf16", 16, 7303}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct fixture x;
    fixture_new(&x);
    struct str path = str_fmt(x.arena, "tests/models/%s.json", cases[i].file);
    struct model *m = model_read(&x.front, path);
    cr_assert_not_null(m, "%.*s", STR_FMT(said(&x)));
    uint32_t n = 0;
    for (uint32_t k = 0; k < m->n_params; k++) {
      n += m->param[k].tied_to == UINT32_MAX ? 1 : 0;
      cr_assert(m->param[k].has_order || m->param[k].tied_to != UINT32_MAX);
    }
    cr_assert_eq(n, cases[i].tensors, "%s: %u", cases[i].file, n);
    cr_assert_eq(model_numel(m), cases[i].numel, "%s", cases[i].file);
    cr_assert(str_is(m->name, cases[i].file));
    arena_free(x.arena);
  }
}

Test(model, entries_have_defaults) {
  struct fixture x;
  struct model *m =
      parse(&x, "{ \"format\": \"stepc-model/1\", \"params\": ["
                "  { \"name\": \"a\", \"shape\": [2, 0, 3] },"
                "  { \"name\": \"b\", \"shape\": [], \"dtype\": \"bf16\" },"
                "  { \"name\": \"c\", \"shape\": [5], \"grad\": \"bf16\","
                "    \"frozen\": true, \"order\": 7 },"
                "  { \"name\": \"d\", \"shape\": [5], \"tied\": \"c\" } ] }");
  cr_assert(m->world == 1 && m->n_axes == 0 && m->n_params == 4 && m->name.n == 0);
  const struct model_param *a = find(m, "a"), *b = find(m, "b"), *c = find(m, "c");
  cr_assert(a->shape.rank == 3 && a->shape.dim[0] == 2 && a->shape.dim[2] == 3);
  cr_assert(a->dtype == ST_F32 && a->grad == ST_F32 && !a->has_grad && !a->has_order);
  cr_assert(b->shape.rank == 0 && b->dtype == ST_BF16 && b->grad == ST_BF16);
  cr_assert(c->dtype == ST_F32 && c->grad == ST_BF16 && c->has_grad && c->frozen);
  cr_assert(c->has_order && c->order == 7);
  cr_assert(find(m, "d")->tied_to == 2 && a->tied_to == UINT32_MAX);
  cr_assert_eq(model_numel(m), 6); // a has none, b one, c five; d is c
  arena_free(x.arena);
}

Test(model, braces_bind_i_j_k_and_the_last_runs_fastest) {
  struct fixture x;
  struct model *m = parse(
      &x,
      "{ \"format\": \"stepc-model/1\", \"world\": 8,"
      "  \"mesh\": { \"ep\": {\"size\": 8, \"stride\": 1} }, \"params\": ["
      "  { \"name\": \"l.{9..10}.e.{0..63}.{2..2}\", \"shape\": [4],"
      "    \"on\": {\"ep\": \"j / 8\"}, \"order\": \"1 + (i-9)*100 + j%8 - k/2\" } ] }");
  cr_assert_eq(m->n_params, 128);
  cr_assert(str_is(m->param[0].name, "l.9.e.0.2"));
  cr_assert(str_is(m->param[1].name, "l.9.e.1.2"));
  cr_assert(str_is(m->param[64].name, "l.10.e.0.2"));
  const struct model_param *p = find(m, "l.10.e.29.2");
  cr_assert(str_is(p->on_axis, "ep") && p->on_coord == 3 && p->order == 105);
  arena_free(x.arena);
}

Test(model, mesh_and_placements) {
  struct fixture x;
  struct model *m = parse(
      &x,
      "{ \"format\": \"stepc-model/1\","
      "  \"mesh\": { \"fsdp\": {\"size\": 8, \"stride\": 1}, \"ep\": {\"size\": 4, "
      "\"stride\": 1}, \"pp\": {\"size\": 2, \"stride\": 8} }, \"params\": ["
      "  { \"name\": \"a\", \"shape\": [4, 6], \"place\": {\"pp\": 1, \"fsdp\": 0} },"
      "  { \"name\": \"b\", \"shape\": [4, 6], \"place\": [[\"ep\", 0], [\"pp\", 0]] },"
      "  { \"name\": \"c\", \"shape\": [3], \"flat\": {\"axis\": \"pp\","
      "    \"ranges\": [[0, 3], [0, 0]]} } ] }");
  cr_assert_eq(m->world, 16, "axes that share a stride count once");
  const struct model_param *a = find(m, "a"), *b = find(m, "b"), *c = find(m, "c");
  cr_assert(a->n_places == 2 && a->place[0].axis == 2 && a->place[0].dim == 1);
  cr_assert(a->place[1].axis == 0 && a->place[1].dim == 0);
  cr_assert(b->n_places == 2 && b->place[0].axis == 1 && b->place[1].axis == 2);
  cr_assert(str_is(c->flat_axis, "pp") && c->n_flat == 2 && c->flat[0][1] == 3);
  arena_free(x.arena);
}

Test(model, the_most_parameters) {
  struct fixture x;
  struct model *m =
      parse(&x, "{ \"format\": \"stepc-model/1\", \"params\": ["
                " { \"name\": \"{0..1023}.{1000..2023}\", \"shape\": [2] } ] }");
  cr_assert_eq(m->n_params, 1 << 20);
  cr_assert_eq(model_numel(m), 2 << 20);
  cr_assert(str_is(m->param[(1 << 20) - 1].name, "1023.2023"));
  arena_free(x.arena);
}

Test(model, the_longest_name) {
  struct fixture x;
  char text[2000];
  (void)snprintf(text, sizeof text,
                 "{ \"format\": \"stepc-model/1\", \"params\": ["
                 " { \"name\": \"%01018d{8..9}\", \"shape\": [2] } ] }",
                 7);
  struct model *m = parse(&x, text);
  cr_assert(m->n_params == 2 && m->param[1].name.n == 1019);
  arena_free(x.arena);
}

static void parse_in(struct arena *a, const char *text) {
  struct sources sources = {.arena = a};
  struct diags diags;
  diags_init(&diags, a, &sources);
  struct front f = {a, &sources, &diags};
  cr_assert_not_null(model_parse(&f, STR("m.json"), str_of(text)));
}

static bool fits(const char *text, size_t limit) {
  struct arena *a = arena_new(limit);
  jmp_buf oom;
  arena_guard(a, &oom);
  bool out = setjmp(oom) != 0;
  if (!out) {
    parse_in(a, text);
  }
  arena_free(a);
  return !out;
}

// Wherever memory runs out, the call leaves through the guard with nothing left open (the leak checker looks).
Test(model, out_of_memory_leaves_through_the_guard) {
  const char *text =
      "{ \"format\": \"stepc-model/1\", \"params\": ["
      " { \"name\": \"h.{0..20}.w\", \"shape\": [2, 3], \"order\": \"i\" } ] }";
  for (size_t limit = 1; !fits(text, limit); limit += 97) {
    cr_assert_lt(limit, 1 << 20);
  }
}

// ---- safetensors as a model

static void write_tensors(const struct tempdir *d, const char *file,
                          const struct st_out *t, uint32_t n) {
  char path[400];
  struct st_error err;
  cr_assert_eq(st_write(tempdir_join(d, file, path), t, n, &err), STEPRT_OK, "%s",
               err.text);
}

static const float zeros[64];
static const struct st_out w = {"w", ST_DT_F32, 2, {4, 3}, zeros},
                           b = {"b", ST_DT_BF16, 1, {3}, zeros},
                           s = {"s", ST_DT_F16, 0, {0}, zeros};

static struct model *read_at(struct fixture *x, const struct tempdir *d,
                             const char *name) {
  char path[400];
  fixture_new(x);
  return model_read(&x->front, str_copy(x->arena, str_of(tempdir_join(d, name, path))));
}

static void check_wbs(struct fixture *x, const struct model *m) {
  cr_assert_not_null(m, "%.*s", STR_FMT(said(x)));
  cr_assert(m->n_params == 3 && m->world == 1 && model_numel(m) == 16);
  const struct model_param *p = m->param;
  cr_assert(str_is(p[0].name, "b") && str_is(p[1].name, "s") && str_is(p[2].name, "w"));
  cr_assert(p[0].dtype == ST_BF16 && p[1].dtype == ST_F16 && p[2].grad == ST_F32);
  cr_assert(p[2].shape.rank == 2 && p[2].shape.dim[1] == 3 && p[1].shape.rank == 0);
  cr_assert(!p[0].has_grad && p[0].tied_to == UINT32_MAX);
  arena_free(x->arena);
}

static void write_index(const struct tempdir *d, const char *map) {
  char text[800];
  int n = snprintf(text, sizeof text,
                   "{\"metadata\": {\"total_size\": 56}, \"weight_map\": %s}", map);
  tempdir_write(d, "model.safetensors.index.json", text, (size_t)n);
}

Test(model, file_folder_and_index_give_the_same_model) {
  struct tempdir d = tempdir_new();
  struct fixture x;
  write_tensors(&d, "all.safetensors", (struct st_out[]){w, b, s}, 3);
  check_wbs(&x, read_at(&x, &d, "all.safetensors"));
  check_wbs(&x, read_at(&x, &d, ""));
  char path[400];
  cr_assert_eq(unlink(tempdir_join(&d, "all.safetensors", path)), 0);
  write_tensors(&d, "2.safetensors", &w, 1);
  write_tensors(&d, "1.safetensors", (struct st_out[]){b, s}, 2);
  tempdir_write(&d, ".hidden.safetensors", "x", 1);
  tempdir_write(&d, "config.json", "{}", 2);
  check_wbs(&x, read_at(&x, &d, ""));
  write_index(
      &d,
      "{\"w\": \"2.safetensors\", \"b\": \"1.safetensors\", \"s\": \"1.safetensors\"}");
  tempdir_write(&d, "not-in-the-index.safetensors", "x", 1);
  check_wbs(&x, read_at(&x, &d, ""));
  check_wbs(&x, read_at(&x, &d, "model.safetensors.index.json"));
  tempdir_remove(&d);
}

// The first message, with the folder's name taken out, is `expect`; only that one was given.
static void refused(const struct tempdir *d, const char *name, const char *expect) {
  struct fixture x;
  cr_assert_null(read_at(&x, d, name), "accepted; expected: %s", expect);
  const struct diag *g = x.diags.list.v[0];
  struct buf text = buf_new(x.arena);
  buf_printf(&text, "%s ", diag_info(g->code)->code);
  for (const char *c = g->text.p; *c != '\0';) {
    size_t n = strlen(d->path);
    bool is_folder = strncmp(c, d->path, n) == 0;
    buf_puts(&text, is_folder ? "DIR" : "");
    buf_put(&text, c, is_folder ? 0 : 1);
    c += is_folder ? n : 1;
  }
  cr_expect(str_is(buf_done(&text), expect), "\n%.*s\n%s", STR_FMT(buf_done(&text)),
            expect);
  cr_expect_eq(x.diags.n_errors, 1, "%.*s", STR_FMT(said(&x)));
  arena_free(x.arena);
}

Test(model, bad_safetensors) {
  struct tempdir d = tempdir_new();
  refused(&d, "none.safetensors",
          "E0001 cannot read `DIR/none.safetensors`: No such file or directory");
  refused(&d, "none.json",
          "E0001 cannot read `DIR/none.json`: No such file or directory");
  refused(&d, "",
          "E0517 `DIR/`: the folder holds no .safetensors file and no "
          "model.safetensors.index.json");
  tempdir_write(&d, "text.safetensors", "not a tensor file", 17);
  refused(&d, "text.safetensors",
          "E0515 `DIR/text.safetensors`: no safetensors file: a header of "
          "7310503696657575790 bytes (at most 100000000; file: 17)");
  struct st_out t = {"ids", ST_DT_I64, 1, {3}, zeros};
  write_tensors(&d, "ints.safetensors", (struct st_out[]){w, t}, 2);
  refused(&d, "ints.safetensors",
          "E0516 tensor `ids` of `DIR/ints.safetensors` has dtype "
          "I64: a parameter is F32, BF16 or F16");
  write_tensors(&d, "none.safetensors", NULL, 0);
  refused(&d, "none.safetensors", "E0515 `DIR/none.safetensors`: no tensors in it");
  t = (struct st_out){"a\n\x1b[31m", ST_DT_U8, 1, {3}, zeros};
  write_tensors(&d, "name.safetensors", &t, 1);
  refused(&d, "name.safetensors",
          "E0516 tensor `a\\n\\x1b[31m` of `DIR/name.safetensors` "
          "has dtype U8: a parameter is F32, BF16 or F16");
  t = (struct st_out){"a\n\x1b[31m", ST_DT_F32, 1, {3}, zeros};
  write_tensors(&d, "cut.safetensors", &t, 1);
  char path[400];
  cr_assert_eq(truncate(tempdir_join(&d, "cut.safetensors", path), 90), 0);
  refused(&d, "cut.safetensors",
          "E0515 `DIR/cut.safetensors`: tensor `a\\n\\x1b[31m`: "
          "offsets [0, 12] leave the 10 bytes of data");
  write_tensors(&d, "cut.safetensors", &w, 1);
  cr_assert_eq(truncate(tempdir_join(&d, "cut.safetensors", path), 80), 0);
  refused(&d, "cut.safetensors",
          "E0515 `DIR/cut.safetensors`: tensor `w`: offsets [0, 48] "
          "leave the 8 bytes of data");
  tempdir_remove(&d);
}

Test(model, bad_folders) {
  struct tempdir d = tempdir_new();
  write_tensors(&d, "1.safetensors", (struct st_out[]){w, b}, 2);
  write_tensors(&d, "2.safetensors", (struct st_out[]){b, s}, 2);
  refused(&d, "",
          "E0517 `DIR/`: tensor `b` stands in `DIR/1.safetensors` and in "
          "`DIR/2.safetensors`");
  tempdir_write(&d, "2.safetensors", "", 0);
  refused(&d, "",
          "E0515 `DIR/2.safetensors`: no safetensors file: 0 bytes, shorter than a "
          "header");
  tempdir_remove(&d);
}

Test(model, bad_indices) {
  struct tempdir d = tempdir_new();
  write_tensors(&d, "1.safetensors", (struct st_out[]){w, b}, 2);
  write_tensors(&d, "2.safetensors", &s, 1);
#define INDEX "`DIR/model.safetensors.index.json`: "
  static const struct {
    const char *map, *expect;
  } cases[] = {
      {"[]", "E0517 " INDEX "an index has a `weight_map` of tensors to file names"},
      {"{}", "E0517 " INDEX "an index has a `weight_map` of tensors to file names"},
      {"{\"w\": 1}", "E0517 " INDEX "`weight_map` maps tensors to file names"},
      {"{\"w\": \"../1.safetensors\"}",
       "E0517 " INDEX "`../1.safetensors` is not the name of a file beside the index"},
      {"{\"w\": \"/etc/passwd\"}",
       "E0517 " INDEX "`/etc/passwd` is not the name of a file beside the index"},
      {"{\"w\": \"..\"}",
       "E0517 " INDEX "`..` is not the name of a file beside the index"},
      {"{\"w\": \"\"}", "E0517 " INDEX "`` is not the name of a file beside the index"},
      {"{\"w\": \"link.safetensors\", \"b\": \"1.safetensors\"}",
       "E0517 " INDEX "`link.safetensors` is a link: an index names plain files"},
      {"{\"w\": \"3.safetensors\"}",
       "E0001 cannot read `DIR/3.safetensors`: No such file or directory"},
      {"{\"w\": \"1.safetensors\"}",
       "E0519 `DIR/1.safetensors` has a tensor `b`, which the index does not name"},
      {"{\"w\": \"1.safetensors\", \"b\": \"1.safetensors\", \"x\": \"1.safetensors\"}",
       "E0518 `DIR/1.safetensors` has no tensor `x`"},
      {"{\"w\": \"1.safetensors\", \"b\": \"1.safetensors\", \"s\": \"1.safetensors\"}",
       "E0518 `DIR/1.safetensors` has no tensor `s`"},
      {"{\"w\": \"1.safetensors\", \"w\": \"2.safetensors\"}",
       "E0501 the model is no JSON: duplicate key `w`"},
  };
  char path[400];
  cr_assert_eq(symlink("1.safetensors", tempdir_join(&d, "link.safetensors", path)), 0);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    write_index(&d, cases[i].map);
    refused(&d, "", cases[i].expect);
  }
  tempdir_remove(&d);
}
