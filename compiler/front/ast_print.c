// The syntax tree as text: one node a line, two spaces deeper for each level, no places.
//
//   optimizer muon
//     hyper lr: f32
//       default: num 0.02
//     state m: f32 like param
//     update m
//       value: call ema
//         name m
#include "front/ast.h"

struct printer {
  struct buf out;
  int depth;
};

__attribute__((format(printf, 2, 3))) static void line(struct printer *p, const char *fmt,
                                                       ...) {
  va_list ap;
  va_start(ap, fmt);
  buf_printf(&p->out, "%*s", 2 * p->depth, "");
  buf_vprintf(&p->out, fmt, ap);
  buf_char(&p->out, '\n');
  va_end(ap);
}

static struct str escape(struct printer *p, struct str s) {
  return str_escape(p->out.arena, s);
}

// ---- expressions

static void print_args(struct printer *p, const struct expr *e);

// `role` says what the expression is to its parent; "" for arguments.
static void print_expr(struct printer *p, const char *role, const struct expr *e) {
  const char *colon = role[0] == '\0' ? "" : ": ";
  struct str text = escape(p, e->text);
  switch (e->kind) {
  case EXPR_POISON: line(p, "%s%serror", role, colon); break;
  case EXPR_NUM: line(p, "%s%snum %.*s", role, colon, STR_FMT(text)); break;
  case EXPR_STR: line(p, "%s%sstr \"%.*s\"", role, colon, STR_FMT(text)); break;
  case EXPR_BOOL: line(p, "%s%s%s", role, colon, e->truth ? "true" : "false"); break;
  case EXPR_INF: line(p, "%s%sinf", role, colon); break;
  case EXPR_NAME: line(p, "%s%sname %.*s", role, colon, STR_FMT(text)); break;
  case EXPR_CALL: line(p, "%s%scall %.*s", role, colon, STR_FMT(text)); break;
  case EXPR_PER: line(p, "%s%s%s", role, colon, cls_name(e->per)); break;
  case EXPR_UNARY:
  case EXPR_BINARY: line(p, "%s%s%s", role, colon, expr_op_text(e->op)); break;
  case EXPR_IF: line(p, "%s%sif", role, colon); break;
  }
  print_args(p, e);
}

static void print_args(struct printer *p, const struct expr *e) {
  p->depth++;
  for (uint32_t i = 0; i < e->n_args; i++) {
    print_expr(p, "", e->arg[i]);
  }
  p->depth--;
}

static void print_child(struct printer *p, const char *role, const struct expr *e) {
  if (e != NULL) {
    p->depth++;
    print_expr(p, role, e);
    p->depth--;
  }
}

// ---- statements

static struct str type_text(struct printer *p, const struct type_ref *t) {
  static const char *const words[] = {
      [TYPE_F32] = "f32",         [TYPE_INT] = "int",
      [TYPE_BOOL] = "bool",       [TYPE_ITERATION] = "iteration",
      [TYPE_STORAGE] = "storage", [TYPE_CHOICE] = "",
      [TYPE_POISON] = "error"};
  struct buf b = buf_new(p->out.arena);
  buf_puts(&b, words[t->kind]);
  for (uint32_t i = 0; i < t->n_choices; i++) {
    struct str choice = escape(p, t->choice[i]);
    buf_printf(&b, "%s\"%.*s\"", i == 0 ? "" : " | ", STR_FMT(choice));
  }
  return buf_done(&b);
}

static struct str storage_text(struct printer *p, const struct storage_ref *s) {
  struct arena *a = p->out.arena;
  return s->has_block ? str_fmt(a, "%.*s(block = %llu)", STR_FMT(s->name),
                                (unsigned long long)s->block)
                      : s->name;
}

static struct str round_text(struct printer *p, struct str round) {
  return round.n == 0 ? STR("") : str_fmt(p->out.arena, " round %.*s", STR_FMT(round));
}

static const char *shape_of(const struct stmt *s) {
  return s->has_shape ? cls_name(s->shape) : "";
}

static struct str as_text(struct printer *p, struct str as) {
  struct str text = escape(p, as);
  return as.n == 0 ? STR("") : str_fmt(p->out.arena, " as \"%.*s\"", STR_FMT(text));
}

static void print_range(struct printer *p, const struct range *r) {
  if (r->present) {
    print_child(p, r->lo_open ? "above" : "from", r->lo);
    print_child(p, r->hi_open ? "below" : "to", r->hi);
  }
}

static void print_stmt(struct printer *p, const struct stmt *s) {
  struct str as = as_text(p, s->as), type = type_text(p, &s->type);
  struct str round = round_text(p, s->round), storage = storage_text(p, &s->storage);
  const char *gap = s->has_shape ? " " : "";
  const char *role = "value";
  switch (s->kind) {
  case STMT_HYPER:
    line(p, "hyper %.*s%.*s: %.*s", STR_FMT(s->name), STR_FMT(as), STR_FMT(type));
    role = "default";
    break;
  case STMT_STATIC:
    line(p, "static %.*s: %.*s", STR_FMT(s->name), STR_FMT(type));
    role = "default";
    break;
  case STMT_STATE:
    line(p, "state %.*s%.*s: %.*s%s%s%.*s", STR_FMT(s->name), STR_FMT(as),
         STR_FMT(storage), gap, shape_of(s), STR_FMT(round));
    role = "init";
    break;
  case STMT_INPUT:
    line(p, "input %.*s: %.*s%s%s", STR_FMT(s->name), STR_FMT(type), gap, shape_of(s));
    break;
  case STMT_REQUIRE: line(p, "require"); break;
  case STMT_LET: line(p, "let %.*s", STR_FMT(s->name)); break;
  case STMT_UPDATE: line(p, "update %.*s%.*s", STR_FMT(s->name), STR_FMT(round)); break;
  }
  print_child(p, role, s->value);
  print_range(p, &s->range);
  print_child(p, "when", s->when);
}

static void print_optimizer(struct printer *p, const struct optimizer *o) {
  line(p, "optimizer %.*s", STR_FMT(o->name));
  p->depth++;
  for (uint32_t i = 0; i < o->n_stmts; i++) {
    print_stmt(p, o->stmt[i]);
  }
  p->depth--;
}

// ---- iterations

static struct str num(struct printer *p, double x) {
  return num_shortest(p->out.arena, x);
}

static void print_form(struct printer *p, const struct iteration *it) {
  static const char *const forms[] = {
      [FORM_STANDARD] = "standard", [FORM_GRAM] = "gram", [FORM_AUTO] = "auto"};
  struct buf b = buf_new(p->out.arena);
  for (uint32_t i = 0; i < it->n_restarts; i++) {
    buf_printf(&b, "%s%llu", i == 0 ? " restart " : ", ",
               (unsigned long long)it->restart[i]);
  }
  line(p, "form %s%.*s", forms[it->form], STR_FMT(buf_done(&b)));
}

static void print_normalize(struct printer *p, const struct iteration *it) {
  struct str safety = num(p, it->safety), eps = num(p, it->eps), low = num(p, it->floor);
  line(p, "normalize %s safety %.*s eps %.*s floor %.*s%s%.*s",
       it->norm == NORM_AOL ? "aol" : "frobenius", STR_FMT(safety), STR_FMT(eps),
       STR_FMT(low), it->norm_in.n == 0 ? "" : " in ", STR_FMT(it->norm_in));
}

static void print_iteration(struct printer *p, const struct iteration *it) {
  static const char *const tails[] = {
      [TAIL_STOP] = "stop", [TAIL_CYCLE] = "cycle", [TAIL_REPEAT] = "repeat"};
  line(p, "iteration %.*s", STR_FMT(it->name));
  p->depth++;
  print_normalize(p, it);
  line(p, "compute %s", storage_name(it->compute));
  print_form(p, it);
  if (it->has_steps) {
    line(p, "steps %llu", (unsigned long long)it->steps);
  }
  line(p, "tail %s", tails[it->tail]);
  for (uint32_t i = 0; i < it->n_iters; i++) {
    const struct iter_line *l = &it->iter[i];
    struct str a = num(p, l->a), b = num(p, l->b), c = num(p, l->c);
    line(p, "iter %.*s, %.*s, %.*s repeat %llu", STR_FMT(a), STR_FMT(b), STR_FMT(c),
         (unsigned long long)l->repeat);
  }
  p->depth--;
}

// ---- recipes

static struct str sizes_text(struct printer *p, const struct view *v) {
  struct buf b = buf_new(p->out.arena);
  if (v->cut == CUT_EACH) {
    buf_printf(&b, " each %llu", (unsigned long long)v->n);
  }
  if (v->cut == CUT_GROUPS) {
    buf_printf(&b, " groups %llu of", (unsigned long long)v->n);
  }
  for (uint32_t i = 0; i < v->n_sizes; i++) {
    buf_printf(&b, "%s%llu", i == 0 ? " " : ", ", (unsigned long long)v->size[i]);
  }
  return buf_done(&b);
}

static void print_view(struct printer *p, const struct view *v) {
  struct str sizes = sizes_text(p, v);
  switch (v->kind) {
  case VIEW_SPLIT_ROWS: line(p, "split rows%.*s", STR_FMT(sizes)); break;
  case VIEW_SPLIT_COLS: line(p, "split cols%.*s", STR_FMT(sizes)); break;
  case VIEW_FLATTEN: line(p, "flatten %llu", (unsigned long long)v->n); break;
  case VIEW_TRANSPOSED: line(p, "transposed"); break;
  case VIEW_BLOCKWISE: line(p, "blockwise"); break;
  }
}

static void print_keep(struct printer *p, const struct keep *k) {
  struct str storage = storage_text(p, &k->storage), round = round_text(p, k->round);
  if (k->kind == KEEP_MASTER) {
    line(p, "master %.*s", STR_FMT(storage));
  } else {
    line(p, "store %.*s %.*s%.*s", STR_FMT(k->state), STR_FMT(storage), STR_FMT(round));
  }
}

static void print_use(struct printer *p, const struct use *u) {
  line(p, "use %.*s%s%.*s", STR_FMT(u->optimizer), u->label.n == 0 ? "" : " as ",
       STR_FMT(u->label));
  for (uint32_t i = 0; i < u->n_args; i++) {
    print_child(p, str_cstr(p->out.arena, u->arg[i].name), u->arg[i].value);
  }
  p->depth++;
  for (uint32_t i = 0; i < u->n_views; i++) {
    print_view(p, &u->view[i]);
  }
  for (uint32_t i = 0; i < u->n_keeps; i++) {
    print_keep(p, &u->keep[i]);
  }
  p->depth--;
  print_child(p, "when", u->when);
}

static void print_recipe(struct printer *p, const struct recipe *r) {
  line(p, "recipe %.*s", STR_FMT(r->name));
  p->depth++;
  for (uint32_t i = 0; i < r->n_items; i++) {
    const struct recipe_item *item = &r->item[i];
    switch (item->kind) {
    case ITEM_HYPER: print_stmt(p, item->hyper); break;
    case ITEM_CLIP:
      line(p, "clip global_norm");
      print_child(p, "limit", item->clip);
      break;
    case ITEM_SKIP: line(p, "skip nonfinite"); break;
    case ITEM_USE: print_use(p, item->use); break;
    }
  }
  p->depth--;
}

// ---- files

static void print_decl(struct printer *p, const struct decl *d) {
  switch (d->kind) {
  case DECL_IMPORT: {
    struct str path = escape(p, d->import.path);
    line(p, "import \"%.*s\"", STR_FMT(path));
    break;
  }
  case DECL_OPTIMIZER: print_optimizer(p, d->optimizer); break;
  case DECL_ITERATION: print_iteration(p, d->iteration); break;
  case DECL_RECIPE: print_recipe(p, d->recipe); break;
  }
}

struct str ast_print(struct arena *a, const struct module *m) {
  struct printer p = {.out = buf_new(a)};
  line(&p, "spec %llu", (unsigned long long)m->version);
  for (uint32_t i = 0; i < m->decl.n; i++) {
    print_decl(&p, &m->decl.v[i]);
  }
  return buf_done(&p.out);
}
