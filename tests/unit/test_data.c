// Data for runs: files are matched to the model by name, shape and dtype; seeds do not depend on how they are cut.
#include "tool/data.h"

#include "core/convert.h"
#include "file/safetensors.h"
#include "tempdir.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct fixture {
  struct arena *arena;
  struct sources sources;
  struct diags diags;
  struct front front;
  struct model *model;
  struct tempdir dir;
  struct str path; // of the file that write_tensors writes
};

static const char *const description =
    "{ \"format\": \"stepc-model/1\", \"params\": ["
    " { \"name\": \"w\", \"shape\": [2, 3] },"
    " { \"name\": \"b\", \"shape\": [3], \"dtype\": \"bf16\", \"grad\": \"f32\" },"
    " { \"name\": \"e\", \"shape\": [0, 3], \"dtype\": \"bf16\" },"
    " { \"name\": \"f\", \"shape\": [2], \"frozen\": true },"
    " { \"name\": \"t\", \"shape\": [2, 3], \"tied\": \"w\" } ] }";

static void fixture_new(struct fixture *x) {
  *x = (struct fixture){.arena = arena_new(0), .dir = tempdir_new()};
  x->sources.arena = x->arena;
  diags_init(&x->diags, x->arena, &x->sources);
  x->front = (struct front){x->arena, &x->sources, &x->diags};
  x->model = model_parse(&x->front, STR("m.json"), str_of(description));
  cr_assert_not_null(x->model);
  x->path = str_fmt(x->arena, "%s/x.safetensors", x->dir.path);
}

static void fixture_free(struct fixture *x) {
  tempdir_remove(&x->dir);
  arena_free(x->arena);
}

static const float values[6] = {1, 2, 3, 4, 5, 6};
#define W  {"w", ST_DT_F32, 2, {2, 3}, values}
#define B  {"b", ST_DT_BF16, 1, {3}, values}
#define GB {"b", ST_DT_F32, 1, {3}, values}
#define E  {"e", ST_DT_BF16, 2, {0, 3}, values}
#define F  {"f", ST_DT_F32, 1, {2}, values}

static struct data_set *open_tensors(struct fixture *x, const struct st_out *t,
                                     uint32_t n, enum data_role role) {
  struct st_error err;
  cr_assert_eq(st_write(x->path.p, t, n, &err), STEPRT_OK, "%s", err.text);
  return data_open(&x->front, x->model, x->path, role);
}

Test(data, matching_files_are_read) {
  struct fixture x;
  fixture_new(&x);
  const struct st_out params[] = {W, B, E, F}, grads[] = {W, GB, E};
  struct data_set *s = open_tensors(&x, params, 4, DATA_PARAMS);
  cr_assert_not_null(s, "%.*s",
                     STR_FMT(diag_render(&x.diags, DIAG_TEXT, false, x.arena)));
  float w[6], f[2];
  cr_assert(data_read(&x.front, s, 0, w) && data_read(&x.front, s, 3, f));
  cr_assert(data_read(&x.front, s, 2, NULL), "no elements");
  cr_assert_arr_eq(w, values, sizeof w);
  cr_assert_arr_eq(f, values, sizeof f);
  data_close(s);
  s = open_tensors(&x, grads, 3, DATA_GRADS);
  cr_assert_not_null(s);
  const struct model_param *p = x.model->param;
  cr_assert(p[0].has_grad && p[0].grad == ST_F32 && p[2].has_grad &&
            p[2].grad == ST_BF16);
  data_close(s);
  fixture_free(&x);
}

Test(data, an_open_gradient_dtype_is_the_files) {
  struct fixture x;
  fixture_new(&x);
  const struct st_out half[] = {{"w", ST_DT_BF16, 2, {2, 3}, values}, GB, E},
                      full[] = {W, GB, E};
  struct data_set *s = open_tensors(&x, half, 3, DATA_GRADS);
  cr_assert_not_null(s);
  cr_assert_eq(x.model->param[0].grad, ST_BF16);
  data_close(s);
  cr_assert_null(open_tensors(&x, full, 3, DATA_GRADS), "another dtype in the next file");
  fixture_free(&x);
}

Test(data, what_does_not_match_is_named) {
  static const struct {
    enum data_role role;
    uint32_t n;
    struct st_out t[5];
    const char *expect; // F for the path
  } cases[] = {
      {DATA_PARAMS, 3, {W, E, F}, "E0518 `F` has no tensor `b`"},
      {DATA_GRADS, 2, {W, GB}, "E0518 `F` has no tensor `e`"},
      {DATA_PARAMS,
       5,
       {W, B, E, F, {"ww", ST_DT_F32, 1, {1}, values}},
       "E0519 `F` has a tensor `ww`, which is no parameter of the model"},
      {DATA_PARAMS,
       5,
       {W, B, E, F, {"t", ST_DT_F32, 2, {2, 3}, values}},
       "E0519 `F` has a tensor `t`, which is tied to `w`"},
      {DATA_GRADS,
       4,
       {W, GB, E, F},
       "E0519 `F` has a tensor `f`, whose parameter is frozen"},
      {DATA_PARAMS,
       4,
       {{"w", ST_DT_F32, 2, {3, 2}, values}, B, E, F},
       "E0520 tensor `w` of `F` is f32 [3, 2], the model says f32 [2, 3]"},
      {DATA_PARAMS,
       4,
       {{"w", ST_DT_F32, 1, {6}, values}, B, E, F},
       "E0520 tensor `w` of `F` is f32 [6], the model says f32 [2, 3]"},
      {DATA_PARAMS,
       4,
       {{"w", ST_DT_F16, 2, {2, 3}, values}, B, E, F},
       "E0520 tensor `w` of `F` is f16 [2, 3], the model says f32 [2, 3]"},
      {DATA_GRADS,
       3,
       {W, B, E},
       "E0520 tensor `b` of `F` is bf16 [3], the model says f32 [3]"},
      {DATA_GRADS,
       3,
       {{"w", ST_DT_I32, 2, {2, 3}, values}, GB, E},
       "E0516 tensor `w` of `F` has dtype I32: a parameter is F32, BF16 or F16"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct fixture x;
    fixture_new(&x);
    cr_assert_null(open_tensors(&x, cases[i].t, cases[i].n, cases[i].role));
    struct buf want = buf_new(x.arena);
    for (const char *c = cases[i].expect + 6; *c != '\0'; c++) {
      bool is_path = strncmp(c - 1, "`F`", 3) == 0;
      buf_put(&want, is_path ? x.path.p : c, is_path ? x.path.n : 1);
    }
    const struct diag *d = x.diags.list.v[0];
    cr_expect(str_eq(d->text, buf_done(&want)), "\n%.*s\n%.*s", STR_FMT(d->text),
              STR_FMT(buf_done(&want)));
    cr_expect(str_starts(str_of(cases[i].expect), diag_info(d->code)->code));
    cr_expect_eq(x.diags.n_errors, 1);
    fixture_free(&x);
  }
}

Test(data, a_file_cut_after_it_was_opened) {
  struct fixture x;
  fixture_new(&x);
  const struct st_out params[] = {W, B, E, F};
  struct data_set *s = open_tensors(&x, params, 4, DATA_PARAMS);
  float w[6];
  cr_assert_eq(truncate(x.path.p, 16), 0);
  cr_assert_not(data_read(&x.front, s, 0, w));
  cr_assert_eq(x.diags.list.v[0]->code, E0001);
  data_close(s);
  fixture_free(&x);
}

// ---- seeds

static const struct data_key key = {1, DATA_PARAMS, {"h.0.w", 5}, 0};

Test(data, seeds_do_not_depend_on_cuts_and_threads) {
  enum { N = 200003 };
  float *whole = malloc(N * sizeof *whole), *cut = malloc(N * sizeof *cut);
  uint16_t *half = malloc(N * sizeof *half);
  data_seed(&key, ST_F32, 0, N, whole);
  for (uint64_t at = 0, step = 1; at < N; at += step, step = step * 3 + 1) {
    data_seed(&key, ST_F32, at, at + step < N ? at + step : N, cut + at);
  }
  cr_assert_eq(memcmp(whole, cut, N * sizeof *whole), 0);
  for (uint32_t threads = 1; threads <= 3; threads++) {
    struct rt_team *team;
    cr_assert_eq(rt_team_new(threads, &team), STEPRT_OK);
    memset(cut, 0, N * sizeof *cut);
    data_seed_all(team, &key, ST_F32, N, cut);
    cr_assert_eq(memcmp(whole, cut, N * sizeof *whole), 0);
    data_seed_all(team, &key, ST_BF16, N, half);
    rt_team_free(team);
    for (uint32_t i = 0; i < N; i++) {
      cr_assert_eq(half[i], rt_f32_to_bf16(whole[i]));
    }
  }
  free(whole);
  free(cut);
  free(half);
}

static double correlation(const float *x, const float *y, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) {
    sum += (double)x[i] * (double)y[i];
  }
  return sum / n / (0.02 * 0.02);
}

// Mean 0, deviation as documented, fourth moment near a normal's (a sum of four uniforms has 2.7 of 3), and streams
// that differ in one part of the key alone are unrelated. N is large enough for five deviations of slack.
Test(data, seeds_look_normal_and_independent) {
  enum { N = 400000 };
  float *x = malloc(N * sizeof *x), *y = malloc((N + 1) * sizeof *y);
  data_seed(&key, ST_F32, 0, N, x);
  double mean = 0, square = 0, fourth = 0;
  for (int i = 0; i < N; i++) {
    double u = (double)x[i] / 0.02;
    mean += u / (double)N;
    square += u * u / (double)N;
    fourth += u * u * u * u / (double)N;
    cr_assert(fabs(u) < 3.5);
  }
  const double slack = 5 / sqrt(N);
  cr_assert(fabs(mean) < slack && fabs(square - 1) < 2 * slack, "%g %g", mean, square);
  cr_assert(fabs(fourth - 2.7) < 6 * slack, "%g", fourth);
  const struct data_key other[] = {{2, DATA_PARAMS, {"h.0.w", 5}, 0},
                                   {1, DATA_PARAMS, {"h.1.w", 5}, 0},
                                   {1, DATA_PARAMS, {"h.0.w", 5}, 1},
                                   {1, DATA_GRADS, {"h.0.w", 5}, 0}};
  for (int k = 0; k < 4; k++) {
    data_seed(&other[k], ST_F32, 0, N, y);
    cr_assert(fabs(correlation(x, y, N)) < slack, "key %d", k);
  }
  data_seed(&key, ST_F32, 0, N + 1, y);
  cr_assert(fabs(correlation(x, y + 1, N)) < slack, "neighbours");
  free(x);
  free(y);
}

// The values are part of what `run` means: digests that were published must come out again.
Test(data, seeds_are_pinned) {
  float x[3], g[1];
  data_seed(&key, ST_F32, 0, 3, x);
  const struct data_key grad = {1, DATA_GRADS, {"h.0.w", 5}, 1};
  data_seed(&grad, ST_F32, 1000000007, 1000000008, g);
  cr_assert(x[0] == 0x1.86e17p-6f && x[1] == 0x1.8636bap-7f && x[2] == -0x1.b1fb92p-6f &&
                g[0] == -0x1.00a988p-10f,
            "%a %a %a %a", (double)x[0], (double)x[1], (double)x[2], (double)g[0]);
}
