// `stepc check`: judges a program by itself, over the instantiations that its `require` lines allow.
//
// Each optimizer is tried with every value of its bool and choice statics, on ranks 0 to 4 with matrices 2x3, 3x2,
// 2x2, and on every dtype where it reads `dtype`. Past MAX_COMBINATIONS of static values each pair of statics is tried
// with all its values, the others at their defaults, and past MAX_TRIALS instantiations nothing more is. Where `require`
// allows none of these shapes, larger ones are tried with the defaults.
#include "front/sema_rule.h"

enum { MAX_COMBINATIONS = 256, MAX_TRIALS = 4096, MAX_STATEMENTS = 200000 };

static const struct shape shapes[] = {
    {2, {2, 3}},       {2, {3, 2}},    {2, {2, 2}},       {3, {2, 2, 3}},
    {3, {2, 3, 2}},    {3, {2, 2, 2}}, {4, {2, 2, 2, 3}}, {4, {2, 2, 3, 2}},
    {4, {2, 2, 2, 2}}, {1, {3}},       {0, {0}},
};
enum { N_SHAPES = sizeof shapes / sizeof *shapes };
// For rules that ask for more than the small ones: tried where none of those is allowed.
static const struct shape large[] = {
    {2, {64, 128}},      {2, {128, 64}},         {2, {1024, 1024}},
    {2, {4096, 16384}},  {2, {16384, 4096}},     {3, {8, 1024, 4096}},
    {4, {64, 32, 3, 3}}, {5, {2, 2, 2, 64, 64}}, {1, {16384}},
};
enum { N_LARGE = sizeof large / sizeof *large };
static const enum storage dtypes[] = {ST_F32, ST_BF16, ST_F16};

struct knob { // a static whose values are tried
  uint32_t stmt, n_values;
};

struct checker {
  struct sema *s;
  struct bound_use use;
  VEC(struct knob) knob;
  uint32_t *choice; // by knob: 0 the default, else value choice - 1
  uint32_t n_trials, budget;
  bool fits;
};

static void find_knobs(struct checker *c) {
  const struct opt_info *o = c->use.o;
  for (uint32_t i = 0; i < o->opt->n_stmts; i++) {
    const struct stmt *st = o->opt->stmt[i];
    if (st->kind != STMT_STATIC || o->skip[i]) {
      continue;
    }
    struct knob k = {.stmt = i};
    k.n_values = st->type.kind == TYPE_BOOL     ? 2
                 : st->type.kind == TYPE_CHOICE ? st->type.n_choices
                                                : 0;
    if (k.n_values != 0) {
      VEC_PUSH(c->s->f->arena, c->knob, k);
    }
  }
  c->choice = ARENA_ARRAY(c->s->f->arena, uint32_t, c->knob.n);
}

static struct texpr *knob_value(struct checker *c, const struct knob *k, uint32_t v) {
  const struct stmt *st = c->use.o->opt->stmt[k->stmt];
  struct texpr *t = ARENA_NEW(c->s->f->arena, struct texpr);
  *t = (struct texpr){.kind = TEX_CONST, .span = st->span};
  t->type = st->type.kind == TYPE_BOOL ? VT_BOOL : VT_STRING;
  t->num = st->type.kind == TYPE_BOOL ? v : 0;
  t->text = st->type.kind == TYPE_BOOL ? STR("") : st->type.choice[v];
  return t;
}

static void turn_knobs(struct checker *c) {
  for (uint32_t i = 0; i < c->knob.n; i++) {
    const struct knob *k = &c->knob.v[i];
    c->use.given[k->stmt].value =
        c->choice[i] == 0 ? NULL : knob_value(c, k, c->choice[i] - 1);
  }
}

// "found for shape [3], nesterov = false": what tells this instantiation from the first.
static struct str describe(struct checker *c, const struct target *t) {
  struct arena *a = c->s->f->arena;
  struct buf b = buf_new(a);
  buf_puts(&b, "found for shape ");
  buf_str(&b, shape_text(a, &t->shape));
  for (uint32_t i = 0; i < c->knob.n; i++) {
    const struct texpr *v = c->use.given[c->knob.v[i].stmt].value;
    if (v != NULL) {
      struct str name = c->use.o->opt->stmt[c->knob.v[i].stmt]->name;
      struct str text = texpr_text(a, v);
      buf_printf(&b, ", %.*s = %.*s", STR_FMT(name), STR_FMT(text));
    }
  }
  return buf_done(&b);
}

// ---- the lint

static void lint(struct checker *c, const struct rule *rule, const double *hyper) {
  if (rule_is_identity(c->s->f->arena, rule, hyper)) {
    return;
  }
  for (uint32_t i = 0; i < rule->n_stmts; i++) {
    if (rule->stmt[i].kind == RULE_PARAM) {
      (void)DIAG(c->s->f->diags, rule->stmt[i].span, W0906, rule->name);
    }
  }
}

static const double *lint_hypers(struct checker *c) {
  struct hyper_list h = {0};
  hypers_add_use(c->s, &c->use, c->use.o->opt->name, &h);
  double *value = ARENA_ARRAY(c->s->f->arena, double, h.v.n);
  for (uint32_t i = 0; i < h.v.n; i++) {
    value[i] = str_is(h.v.v[i].name, "lr") ? 0 : h.v.v[i].value;
  }
  return value;
}

// ---- trials

static void try_target(struct checker *c, struct target *t, const double *hyper) {
  struct diags *d = c->s->f->diags;
  if (c->n_trials++ >= c->budget) {
    return;
  }
  if (c->fits) { // a message that the first instantiation did not give names its own
    t->note = describe(c, t);
    t->note_at = c->use.o->opt->name_span;
  }
  struct instance in = rule_instantiate(c->s, d, &c->use, t);
  c->fits |= in.fit != FIT_REQUIRE;
  if (in.fit == FIT_OK && sema_errors(c->s) == c->s->errors_before) {
    lint(c, in.rule, hyper);
  }
}

// Shapes and dtypes with the knobs as they stand. Memory is given back where nothing was said.
static void try_each(struct checker *c, const struct shape *shape, uint32_t n) {
  struct diags *d = c->s->f->diags;
  uint32_t n_dtypes = c->use.o->reads_dtype ? 3 : 1;
  turn_knobs(c);
  const double *hyper = lint_hypers(c);
  for (uint32_t i = 0; i < n; i++) {
    for (uint32_t k = 0; k < n_dtypes; k++) {
      struct arena_mark mark = arena_mark(c->s->f->arena);
      uint32_t said = d->list.n;
      struct target t = {.shape = shape[i], .dtype = dtypes[k], .grad = dtypes[k]};
      try_target(c, &t, hyper);
      if (d->list.n == said) {
        arena_rewind(c->s->f->arena, mark);
      }
    }
  }
}

static void try_shapes(struct checker *c) {
  try_each(c, shapes, N_SHAPES);
}

static void try_product(struct checker *c) {
  for (;;) {
    uint32_t i = 0;
    while (i < c->knob.n && ++c->choice[i] > c->knob.v[i].n_values) {
      c->choice[i++] = 1;
    }
    if (i == c->knob.n) {
      return;
    }
    try_shapes(c);
  }
}

static void try_pair(struct checker *c, uint32_t i, uint32_t k) {
  for (uint32_t v = 1; v <= c->knob.v[i].n_values; v++) {
    for (uint32_t w = 1; w <= c->knob.v[k].n_values; w++) {
      c->choice[i] = v;
      c->choice[k] = w;
      try_shapes(c);
      if (c->n_trials >= c->budget) {
        return;
      }
    }
  }
  c->choice[i] = 0;
  c->choice[k] = 0;
}

static void try_pairs(struct checker *c) {
  for (uint32_t i = 0; i < c->knob.n; i++) {
    for (uint32_t k = i + 1; k < c->knob.n; k++) {
      try_pair(c, i, k);
      if (c->n_trials >= c->budget) {
        return;
      }
    }
  }
}

static uint32_t combinations(const struct checker *c) {
  uint32_t n = 1;
  for (uint32_t i = 0; i < c->knob.n && n <= MAX_COMBINATIONS; i++) {
    n *= c->knob.v[i].n_values < MAX_COMBINATIONS ? c->knob.v[i].n_values
                                                  : MAX_COMBINATIONS + 1;
  }
  return n;
}

static void check_optimizer(struct sema *s, const struct optimizer *o) {
  struct checker c = {.s = s, .use = bound_use_new(s, sema_optimizer(s, o))};
  c.budget = o->n_stmts < MAX_STATEMENTS / MAX_TRIALS ? MAX_TRIALS
                                                      : MAX_STATEMENTS / (o->n_stmts + 1);
  c.budget = c.budget < N_SHAPES ? N_SHAPES : c.budget;
  find_knobs(&c);
  try_shapes(&c); // the defaults first: messages name the plainest case
  if (c.knob.n != 0 && combinations(&c) <= MAX_COMBINATIONS) {
    for (uint32_t i = 0; i < c.knob.n; i++) {
      c.choice[i] = 1;
    }
    try_shapes(&c);
    try_product(&c);
  } else if (c.knob.n != 0) {
    try_pairs(&c);
  }
  if (!c.fits) {
    for (uint32_t i = 0; i < c.knob.n; i++) {
      c.choice[i] = 0;
    }
    c.n_trials = 0;
    try_each(&c, large, N_LARGE);
  }
  if (!c.fits) {
    (void)DIAG(s->f->diags, o->name_span, E0239, o->name);
  }
}

// A recipe's lines with their arguments, on a matrix or, where that is not allowed, on another shape.
static void check_line(struct sema *s, struct bound_use *u) {
  struct hyper_list h = {0};
  hypers_add_use(s, u, u->o->opt->name, &h);
  for (uint32_t i = 0; i < N_SHAPES; i++) {
    struct target t = {.shape = shapes[i], .dtype = ST_F32, .grad = ST_F32};
    if (rule_instantiate(s, s->f->diags, u, &t).fit != FIT_REQUIRE) {
      return;
    }
  }
}

static void check_recipe(struct sema *s, const struct recipe *r, bool warn) {
  uint32_t before = sema_errors(s);
  const struct recipe_info *info = recipe_check(s, r);
  struct hyper_list h = {0};
  hypers_add_recipe(s, info, &h);
  struct job_lines l = recipe_lines(s, info);
  for (uint32_t i = 0; i < l.n && sema_errors(s) == before; i++) {
    check_line(s, &l.use[i]);
  }
  if (warn && sema_errors(s) == before) {
    unused_recipe(s, info);
  }
}

static void check_module(struct sema *s, const struct module *m, bool root) {
  for (uint32_t i = 0; i < m->decl.n; i++) {
    const struct decl *d = &m->decl.v[i];
    if (d->kind == DECL_OPTIMIZER) {
      check_optimizer(s, d->optimizer);
      if (root && sema_errors(s) == s->errors_before) {
        unused_optimizer(s, sema_optimizer(s, d->optimizer));
      }
    } else if (d->kind == DECL_RECIPE) {
      check_recipe(s, d->recipe, root);
    }
  }
}

void sema_check(struct front *f, const struct program *p) {
  struct sema s = {.f = f, .program = p};
  s.errors_before = sema_errors(&s);
  for (uint32_t m = p->module.n; m-- > 0;) { // imports before those that use them
    check_module(&s, p->module.v[m], m == 0);
  }
  if (sema_errors(&s) == s.errors_before) {
    unused_imports(&s);
  }
}
