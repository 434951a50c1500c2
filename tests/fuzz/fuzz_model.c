// Any bytes as a stepc-model/1 file: a model whose parameters keep the limits, or messages that can be shown.
#include "front/model.h"
#include "fuzz/fuzz.h"

#include <stdlib.h>

enum {
  MEMORY = 16 << 20
}; // a model of 2^20 names takes seconds; running out is an answer too

static void check(bool ok) {
  if (!ok) {
    abort();
  }
}

static void check_param(const struct model *m, const struct model_param *p) {
  check(p->name.n >= 1 && p->name.n <= 1024 && p->shape.rank <= MAX_RANK);
  check(shape_numel(&p->shape) <= (uint64_t)1 << 60);
  check(p->tied_to == UINT32_MAX ||
        (p->tied_to < m->n_params && m->param[p->tied_to].tied_to == UINT32_MAX));
  for (uint32_t i = 0; i < p->n_places; i++) {
    check(p->place[i].axis < m->n_axes && p->place[i].dim < p->shape.rank);
  }
}

static void run(struct arena *a, const uint8_t *data, size_t size) {
  struct str text = {(const char *)data, size};
  struct sources sources = {.arena = a};
  struct diags diags;
  diags_init(&diags, a, &sources);
  struct front f = {a, &sources, &diags};
  const struct model *m = model_parse(&f, STR("fuzz.json"), text);
  struct str said = diag_render(&diags, DIAG_TEXT, false, a);
  check((m == NULL) == (diags.n_errors != 0) && (m != NULL || said.n > 0));
  for (uint32_t i = 0; m != NULL && i < m->n_params; i++) {
    check_param(m, &m->param[i]);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct arena *a = arena_new(MEMORY);
  jmp_buf oom;
  arena_guard(a, &oom);
  if (setjmp(oom) == 0) {
    run(a, data, size);
  }
  arena_free(a);
  return 0;
}
