// Recipes: which parameter takes which rule.
#include "front/parse.h"

struct items {
  VEC(struct recipe_item) list;
};

// clip = "clip" "global_norm" expr
static void parse_clip(struct parser *p, struct recipe_item *item) {
  item->kind = ITEM_CLIP;
  parse_advance(p);
  (void)parse_expect_word(p, "global_norm");
  item->clip = parse_expr(p);
}

// "skip" "nonfinite"
static void parse_skip(struct parser *p, struct recipe_item *item) {
  item->kind = ITEM_SKIP;
  parse_advance(p);
  (void)parse_expect_word(p, "nonfinite");
}

static void parse_recipe_hyper(struct parser *p, struct recipe_item *item) {
  item->kind = ITEM_HYPER;
  item->hyper = parse_hyper(p);
  item->hyper->span = parse_span_from(p, item->span);
}

static void parse_recipe_use(struct parser *p, struct recipe_item *item) {
  item->kind = ITEM_USE;
  item->use = parse_use(p);
}

// hyper | clip | "skip" "nonfinite" | use
static void parse_item(struct parser *p, void *ctx) {
  static const struct {
    const char *word;
    void (*parse)(struct parser *p, struct recipe_item *item);
  } rules[] = {{"hyper", parse_recipe_hyper},
               {"clip", parse_clip},
               {"skip", parse_skip},
               {"use", parse_recipe_use}};
  struct items *items = ctx;
  struct recipe_item item = {.span = p->tok.span};
  for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
    if (parse_at_word(p, rules[i].word)) {
      rules[i].parse(p, &item);
      item.span = parse_span_from(p, item.span);
      VEC_PUSH(p->f->arena, items->list, item);
      return;
    }
  }
  const struct str words[] = {STR("hyper"), STR("clip"), STR("skip"), STR("use")};
  parse_refuse_line(p, "`hyper`, `clip`, `skip` or `use`", words, 4);
}

// recipe = "recipe" ID "{" nl { hyper nl | clip nl | "skip" "nonfinite" nl | use nl } "}" nl
struct recipe *parse_recipe(struct parser *p) {
  struct recipe *r = ARENA_NEW(p->f->arena, struct recipe);
  r->span = p->tok.span;
  parse_advance(p);
  r->name = parse_name(p, "a name", &r->name_span);
  struct items items = {0};
  parse_block(p, parse_item, &items);
  r->span = parse_span_from(p, r->span);
  r->item = items.list.v;
  r->n_items = items.list.n;
  return r;
}
