// `h.{0..11}.w` becomes twelve parameters; several braces bind i, j, k, the last one runs fastest.
#include "front/model_int.h"

struct brace {
  size_t at, end; // `{` and behind `}` in the name
  uint64_t lo, hi;
};

struct template {
  struct str name;
  struct brace brace[MODEL_MAX_BRACES];
  uint32_t n_braces;
};

static void bad_name(struct model_reader *r, const struct model_entry *e, struct str name,
                     const char *what) {
  DIAG(r->f->diags, e->span, E0508, name, str_of(what));
}

// INT without leading zeros, at most 2^32.
static bool read_int(struct str s, size_t *at, uint64_t *out) {
  size_t from = *at;
  *out = 0;
  while (*at < s.n && s.p[*at] >= '0' && s.p[*at] <= '9' && *at - from < 10) {
    *out = *out * 10 + (uint64_t)(s.p[(*at)++] - '0');
  }
  size_t digits = *at - from;
  return digits > 0 && (digits == 1 || s.p[from] != '0') && *out <= UINT32_MAX;
}

static bool read_brace(struct str s, size_t at, struct brace *b) {
  *b = (struct brace){.at = at++};
  if (!read_int(s, &at, &b->lo) || s.n - at < 2 || s.p[at] != '.' || s.p[at + 1] != '.') {
    return false;
  }
  at += 2;
  if (!read_int(s, &at, &b->hi) || at == s.n || s.p[at] != '}') {
    return false;
  }
  b->end = at + 1;
  return true;
}

static bool read_template(struct model_reader *r, const struct model_entry *e,
                          struct template *t) {
  *t = (struct template){.name = e->name};
  for (size_t i = 0; i < e->name.n; i++) {
    char c = e->name.p[i];
    if (c == '}') {
      bad_name(r, e, e->name, "has a `}` without its `{`");
      return false;
    }
    if (c != '{') {
      continue;
    }
    if (t->n_braces == MODEL_MAX_BRACES) {
      bad_name(r, e, e->name, "has more than three braces");
      return false;
    }
    struct brace *b = &t->brace[t->n_braces++];
    if (!read_brace(e->name, i, b)) {
      bad_name(r, e, e->name, "has braces that hold no range like `{0..11}`");
      return false;
    }
    if (b->hi < b->lo) {
      bad_name(r, e, e->name, "has an empty range in its braces");
      return false;
    }
    i = b->end - 1;
  }
  return true;
}

static struct str expand_name(struct arena *a, const struct template *t,
                              const uint64_t *var) {
  if (t->n_braces == 0) {
    return str_copy(a, t->name);
  }
  char text[MODEL_MAX_NAME *
            2]; // names are checked on the way in; a number is no longer than its brace
  size_t n = 0, from = 0;
  for (uint32_t b = 0; b <= t->n_braces; b++) {
    size_t to = b < t->n_braces ? t->brace[b].at : t->name.n;
    for (size_t i = from; i < to; i++) {
      text[n++] = t->name.p[i];
    }
    if (b < t->n_braces) {
      n +=
          (size_t)snprintf(text + n, sizeof text - n, "%llu", (unsigned long long)var[b]);
      from = t->brace[b].end;
    }
  }
  return str_copy(a, (struct str){text, n});
}

// The value of `order` or `on` for these indices: a number, or a text to evaluate.
static bool read_index(struct model_reader *r, const struct json *v, const char *key,
                       const uint64_t *var, uint32_t n_vars, uint64_t *out) {
  if (json_u64(v, out)) {
    return true;
  }
  if (json_kind(v) != JSON_STRING) {
    model_bad_value(r, v, str_fmt(r->f->arena, "`%s`", key),
                    "an integer of 0 or more, or a text like \"1+i\"");
    return false;
  }
  struct str why;
  if (!model_eval(r->f->arena, json_str(v), var, n_vars, out, &why)) {
    DIAG(r->f->diags, json_span(r->file, v), E0511, json_str(v), why);
    return false;
  }
  return true;
}

static bool add_param(struct model_reader *r, const struct model_entry *e,
                      const struct template *t, const uint64_t *var) {
  struct model_param p = e->like;
  p.name = expand_name(r->f->arena, t, var);
  if (e->order != NULL) {
    p.has_order = true;
    if (!read_index(r, e->order, "order", var, t->n_braces, &p.order)) {
      return false;
    }
  }
  if (e->on != NULL) {
    if (!read_index(r, e->on, "on", var, t->n_braces, &p.on_coord)) {
      return false;
    }
    for (uint32_t i = 0; i < r->m->n_axes; i++) {
      if (str_eq(r->m->axis[i].name, p.on_axis) && p.on_coord >= r->m->axis[i].size) {
        DIAG(r->f->diags, json_span(r->file, e->on), E0513, p.name,
             str_fmt(r->f->arena, "coordinate %llu of an axis of size %llu",
                     (unsigned long long)p.on_coord,
                     (unsigned long long)r->m->axis[i].size));
        return false;
      }
    }
  }
  VEC_PUSH(r->f->arena, r->param, p);
  VEC_PUSH(r->f->arena, r->entry, e);
  return true;
}

void model_expand(struct model_reader *r, const struct model_entry *e) {
  struct template t;
  if (!read_template(r, e, &t)) {
    return;
  }
  uint64_t var[MODEL_MAX_BRACES] = {0}, count = 1;
  for (uint32_t b = 0; b < t.n_braces; b++) {
    var[b] = t.brace[b].lo;
    count *= t.brace[b].hi - t.brace[b].lo + 1;
    if (count > MODEL_MAX_PARAMS) {
      break; // before the product can overflow
    }
  }
  if (count + r->param.n > MODEL_MAX_PARAMS) {
    DIAG(r->f->diags, e->span, E0509, STR("2^20"));
    return;
  }
  for (uint64_t n = 0; n < count; n++) {
    if (!add_param(r, e, &t, var)) {
      return; // its other parameters would say the same
    }
    for (uint32_t b = t.n_braces; b-- > 0;) {
      if (++var[b] <= t.brace[b].hi) {
        break;
      }
      var[b] = t.brace[b].lo;
    }
  }
}
