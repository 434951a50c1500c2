// Any bytes as a spec that is checked and bound to a model: types are given or messages, never more. A job that is
// given prints, so that every node of it is looked at.
#include "front/sema.h"
#include "fuzz/fuzz.h"
#include "support/job_text.h"

#include <stdlib.h>
#include <string.h>

static bool read_again(void *ctx, struct arena *a, struct str path, struct str *text,
                       struct str *why) {
  (void)a;
  (void)why;
  *text = *(const struct str *)ctx;
  return path.n < 32;
}

static void check(bool ok) {
  if (!ok) {
    abort();
  }
}

static const struct model_param params[] = {
    {.name = {"embed.weight", 12}, .shape = {2, {64, 96}}, .tied_to = UINT32_MAX},
    {.name = {"conv", 4}, .shape = {4, {8, 3, 5, 5}}, .tied_to = UINT32_MAX},
    {.name = {"stack", 5},
     .shape = {3, {2, 6, 4}},
     .dtype = ST_BF16,
     .tied_to = UINT32_MAX},
    {.name = {"bias", 4}, .shape = {1, {12}}, .tied_to = UINT32_MAX},
    {.name = {"none", 4}, .shape = {2, {0, 3}}, .tied_to = UINT32_MAX},
    {.name = {"scalar", 6}, .tied_to = UINT32_MAX},
};
enum { N_PARAMS = sizeof params / sizeof *params };

static void run(struct arena *a, struct str text) {
  struct sources sources = {.arena = a};
  struct diags diags;
  diags_init(&diags, a, &sources);
  struct front f = {a, &sources, &diags};
  struct program *p =
      parse_program(&f, STR("fuzz.opt"), (struct file_reader){read_again, &text});
  if (p == NULL || diags.n_errors != 0) {
    return;
  }
  sema_check(&f, p);
  struct model_param param[N_PARAMS];
  for (uint32_t i = 0; i < N_PARAMS; i++) {
    param[i] = params[i];
  }
  struct model m = {.world = 1, .param = param, .n_params = N_PARAMS};
  const struct setting define[] = {{STR("form=torch")}, {STR("nesterov=false")}};
  const struct setting set[] = {{STR("lr=0.5")}};
  uint32_t checked = diags.n_errors + diags.n_repeated;
  struct job *plain = sema_job(&f, p, &m, &(struct job_options){0});
  check((plain != NULL) == (diags.n_errors + diags.n_repeated == checked));
  if (plain != NULL) {
    // Poison without a message would be an expression that nobody judged.
    check(strstr(job_text(a, plain).p, "POISON") == NULL);
  }
  (void)sema_job(
      &f, p, &m,
      &(struct job_options){.define = define, .n_defines = 2, .set = set, .n_sets = 1});
  (void)diag_render(&diags, DIAG_TEXT, false, a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct arena *a = arena_new(0);
  run(a, (struct str){(const char *)data, size});
  arena_free(a);
  return 0;
}
