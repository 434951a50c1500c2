// One file: its version line and its declarations.
#include "front/parse.h"

static void skip_newlines(struct parser *p) {
  while (parse_accept(p, TOKEN_NL)) {
  }
}

// "spec" INT nl; false where the rest is in a language that is not ours.
static bool parse_version(struct parser *p, struct module *m) {
  skip_newlines(p);
  m->version = 1;
  if (!parse_at_word(p, "spec")) {
    DIAG0(p->f->diags, p->tok.span, E0101);
    if (!parse_at_declaration(p)) {
      parse_skip_line(p); // a version line gone wrong
    }
    return true;
  }
  struct span begin = p->tok.span;
  parse_advance(p);
  uint64_t version = parse_int(p, "an integer");
  if (!p->failed && version != 1) {
    DIAG(p->f->diags, parse_span_from(p, begin), E0104,
         str_fmt(p->f->arena, "%llu", (unsigned long long)version));
    return false;
  }
  parse_end_line(p);
  return true;
}

// import = "import" STR nl
static struct import parse_import(struct parser *p) {
  struct import i = {.target = UINT32_MAX};
  parse_advance(p);
  i.span = p->tok.span;
  i.path = parse_filled_string(p, "a path in quotes");
  return i;
}

// Skips what is no declaration, up to a line that begins one.
static void skip_to_declaration(struct parser *p) {
  while (!parse_at(p, TOKEN_END)) {
    parse_skip_line(p);
    while (parse_accept(p, TOKEN_NL) || parse_accept(p, TOKEN_RBRACE)) {
    }
    if (parse_at_declaration(p)) {
      return;
    }
  }
}

static const struct str declaration_words[] = {
    {"import", 6}, {"optimizer", 9}, {"iteration", 9}, {"recipe", 6}};

// import | optimizer | iteration | recipe
static void parse_declaration(struct parser *p, struct module *m) {
  struct decl d = {.span = p->tok.span};
  if (parse_at_word(p, "import")) {
    d.kind = DECL_IMPORT;
    d.import = parse_import(p);
  } else if (parse_at_word(p, "optimizer")) {
    d.kind = DECL_OPTIMIZER;
    d.optimizer = parse_optimizer(p);
  } else if (parse_at_word(p, "iteration")) {
    d.kind = DECL_ITERATION;
    d.iteration = parse_iteration(p);
  } else if (parse_at_word(p, "recipe")) {
    d.kind = DECL_RECIPE;
    d.recipe = parse_recipe(p);
  } else {
    parse_refuse_line(p, "`import`, `optimizer`, `iteration` or `recipe`",
                      declaration_words, 4);
    p->failed = false;
    skip_to_declaration(p);
    return;
  }
  d.span = parse_span_from(p, d.span);
  parse_end_line(p);
  VEC_PUSH(p->f->arena, m->decl, d);
}

// file = "spec" INT nl { import | optimizer | iteration | recipe }
static void parse_file(struct parser *p, struct module *m) {
  if (!parse_version(p, m)) {
    return;
  }
  skip_newlines(p);
  while (!parse_at(p, TOKEN_END)) {
    parse_declaration(p, m);
    skip_newlines(p);
  }
}

struct module *parse_module(struct front *f, uint32_t file) {
  struct module *m = ARENA_NEW(f->arena, struct module);
  m->file = file;
  struct str text = f->sources->file.v[file].text;
  size_t where;
  if (lex_find_binary(text, &where)) {
    struct span at = {file, (uint32_t)where, (uint32_t)where + 1};
    DIAG(f->diags, at, E0103, str_fmt(f->arena, "0x%02x", (unsigned char)text.p[where]));
    return m;
  }
  struct parser p = {.f = f, .lx = lexer_new(f->arena, f->sources, f->diags, file)};
  p.tok = lexer_next(&p.lx);
  parse_file(&p, m);
  return m;
}
