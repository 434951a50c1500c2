// Names: tables of them, and what each stands for.
#include "front/sema_names.h"

static uint32_t slot_of(const struct name_map *m, struct str key) {
  uint32_t i = (uint32_t)str_hash(key) & (m->cap - 1);
  while (m->key[i].p != NULL && !str_eq(m->key[i], key)) {
    i = (i + 1) & (m->cap - 1);
  }
  return i;
}

static void grow(struct name_map *m) {
  struct name_map big = {.arena = m->arena, .cap = m->cap == 0 ? 32 : m->cap * 2};
  big.key = ARENA_ARRAY(m->arena, struct str, big.cap);
  big.value = ARENA_ARRAY(m->arena, uint32_t, big.cap);
  for (uint32_t i = 0; i < m->cap; i++) {
    if (m->key[i].p != NULL) {
      (void)name_map_put(&big, m->key[i], m->value[i]);
    }
  }
  *m = big;
}

bool name_map_put(struct name_map *m, struct str key, uint32_t value) {
  if (m->n * 2 >= m->cap) {
    grow(m);
  }
  uint32_t i = slot_of(m, key);
  if (m->key[i].p != NULL) {
    return false;
  }
  m->key[i] = key;
  m->value[i] = value;
  m->n++;
  return true;
}

uint32_t name_map_get(const struct name_map *m, struct str key) {
  if (m->cap == 0) {
    return NO_INDEX;
  }
  uint32_t i = slot_of(m, key);
  return m->key[i].p == NULL ? NO_INDEX : m->value[i];
}

static const struct {
  const char *text;
  enum name_kind kind;
} builtins[] = {
    {"param", NAME_PARAM}, {"grad", NAME_GRAD},   {"step", NAME_STEP},
    {"rank", NAME_RANK},   {"rows", NAME_ROWS},   {"cols", NAME_COLS},
    {"numel", NAME_NUMEL}, {"dtype", NAME_DTYPE}, {"name", NAME_NAME},
};
enum { N_BUILTINS = sizeof builtins / sizeof *builtins };

static enum name_kind builtin_of(struct str name) {
  for (uint32_t i = 0; i < N_BUILTINS; i++) {
    if (str_is(name, builtins[i].text)) {
      return builtins[i].kind;
    }
  }
  return NAME_UNKNOWN;
}

bool builtin_at(uint32_t i, struct str *text, enum name_kind *kind) {
  if (i >= N_BUILTINS) {
    return false;
  }
  *text = str_of(builtins[i].text);
  *kind = builtins[i].kind;
  return true;
}

bool fn_find(struct str name, enum fn *out) {
  for (uint32_t i = 0; i < N_FNS; i++) {
    // Operators have no name to call them by; `neg` is written `-x`.
    bool word = fn_name((enum fn)i)[0] >= 'a' && i != FN_NEG && i != FN_AND &&
                i != FN_OR && i != FN_NOT;
    if (word && str_is(name, fn_name((enum fn)i))) {
      *out = (enum fn)i;
      return true;
    }
  }
  return false;
}

struct name_ref name_resolve(const struct sema *s, const struct opt_info *o,
                             const struct recipe_info *r, struct str name) {
  struct name_ref ref = {.kind = NAME_UNKNOWN};
  uint32_t stmt = o == NULL ? NO_INDEX : name_map_get(&o->names, name);
  if (stmt != NO_INDEX) {
    return (struct name_ref){
        .kind = NAME_STMT, .index = stmt, .stmt = o->opt->stmt[stmt]->kind};
  }
  uint32_t hyper = r == NULL ? NO_INDEX : name_map_get(&r->names, name);
  if (hyper != NO_INDEX) {
    return (struct name_ref){.kind = NAME_RECIPE_HYPER, .index = hyper};
  }
  ref.kind = builtin_of(name);
  if (ref.kind != NAME_UNKNOWN) {
    return ref;
  }
  ref.iteration = program_iteration(s->program, name);
  if (ref.iteration != NULL) {
    ref.kind = NAME_ITERATION;
  } else if (storage_find(name, &ref.storage)) {
    ref.kind = NAME_STORAGE;
  }
  return ref;
}

// ---- functions

// `max` is two functions: with one argument or a `per` word it is the reduction.
bool call_function(const struct expr *e, enum fn *f) {
  if (!fn_find(e->text, f)) {
    return false;
  }
  bool per = e->n_args != 0 && e->arg[e->n_args - 1]->kind == EXPR_PER;
  if (*f == FN_MAX && (e->n_args == 1 || per)) {
    *f = FN_MAXOF;
  }
  return true;
}

bool expr_function(const struct expr *e, enum fn *f) {
  uint32_t lo, hi;
  if (!call_function(e, f)) {
    return false;
  }
  fn_arity(*f, &lo, &hi);
  if (e->n_args < lo || e->n_args > hi) {
    return false;
  }
  for (uint32_t i = 0; i < e->n_args; i++) {
    bool last_of_reduction =
        fn_group_of(*f) == FNG_REDUCE && i + 1 == e->n_args && i >= lo;
    // The place after a reduction's values belongs to `per`, and `per` to it.
    if ((e->arg[i]->kind == EXPR_PER) != last_of_reduction) {
      return false;
    }
  }
  return true;
}

bool name_is_taken(struct str name, bool in_recipe) {
  enum name_kind k = builtin_of(name);
  return k != NAME_UNKNOWN && (k != NAME_NAME || in_recipe);
}
