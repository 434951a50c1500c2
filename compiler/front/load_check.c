// What must hold over the files of a program: no cycle of imports, no name twice.
#include "front/load.h"

#include <stdlib.h>

// ---- cycles

struct walk {
  struct front *f;
  const struct program *program;
  enum { UNSEEN, OPEN, DONE } state[LOAD_MAX_FILES];
  uint32_t path[LOAD_MAX_FILES], depth; // the open modules, outermost first
};

static void report_cycle(struct walk *w, const struct import *i) {
  struct buf b = buf_new(w->f->arena);
  uint32_t k = 0;
  while (w->path[k] != i->target) {
    k++;
  }
  for (; k < w->depth; k++) {
    buf_str(&b, w->f->sources->file.v[w->program->module.v[w->path[k]]->file].path);
    buf_puts(&b, " -> ");
  }
  buf_str(&b, w->f->sources->file.v[w->program->module.v[i->target]->file].path);
  DIAG(w->f->diags, i->span, E0115, buf_done(&b));
}

// Depth first; at most LOAD_MAX_FILES deep.
static void find_cycles(struct walk *w, uint32_t module) {
  const struct module *m = w->program->module.v[module];
  w->state[module] = OPEN;
  w->path[w->depth++] = module;
  for (uint32_t i = 0; i < m->decl.n; i++) {
    const struct decl *d = &m->decl.v[i];
    if (d->kind != DECL_IMPORT || d->import.target == UINT32_MAX) {
      continue;
    }
    if (w->state[d->import.target] == OPEN) {
      report_cycle(w, &d->import);
    } else if (w->state[d->import.target] == UNSEEN) {
      find_cycles(w, d->import.target);
    }
  }
  w->depth--;
  w->state[module] = DONE;
}

// ---- names

struct named {
  struct str name;
  struct span span;
  uint32_t order;
};

static int by_name(const void *a, const void *b) {
  const struct named *x = a, *y = b;
  int c = str_cmp(x->name, y->name);
  return c != 0 ? c : (x->order > y->order) - (x->order < y->order);
}

void load_check_names(struct front *f, const struct program *p) {
  VEC(struct named) all = {0};
  for (uint32_t m = 0; m < p->module.n; m++) {
    for (uint32_t i = 0; i < p->module.v[m]->decl.n; i++) {
      struct named n = {.order = all.n};
      n.name = decl_name(&p->module.v[m]->decl.v[i], &n.span);
      if (n.name.n != 0) {
        VEC_PUSH(f->arena, all, n);
      }
    }
  }
  if (all.n == 0) {
    return;
  }
  qsort(all.v, all.n, sizeof all.v[0], by_name);
  for (uint32_t i = 1, first = 0; i < all.n; i++) {
    if (!str_eq(all.v[i].name, all.v[first].name)) {
      first = i;
      continue;
    }
    struct diag *d = DIAG(f->diags, all.v[i].span, E0118, all.v[i].name);
    diag_note(f->diags, d, all.v[first].span, STR("it is defined here"));
  }
}

void load_check_cycles(struct front *f, const struct program *p) {
  struct walk w = {.f = f, .program = p};
  find_cycles(&w, 0);
}
