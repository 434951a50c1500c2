// Notes of a plan: one line for those that differ in names and numbers only.
#include "tool/plan_report.h"

#include <stdlib.h>

// What is alike in two notes: the text without what stands in backquotes, brackets and digits.
static struct str kind_of(struct arena *a, struct str note) {
  struct buf b = buf_new(a);
  bool quoted = false, bracketed = false;
  for (size_t i = 0; i < note.n; i++) {
    char c = note.p[i];
    quoted = c == '`' ? !quoted : quoted;
    bracketed = c == '[' ? true : c == ']' ? false : bracketed;
    if (!quoted && !bracketed && (c < '0' || c > '9')) {
      buf_char(&b, c);
    }
  }
  return buf_done(&b);
}

struct keyed {
  struct str kind;
  uint32_t index;
};

static int by_kind(const void *x, const void *y) {
  const struct keyed *a = x, *b = y;
  int order = str_cmp(a->kind, b->kind);
  return order != 0 ? order : (a->index > b->index) - (a->index < b->index);
}

struct first {
  uint32_t index, count;
};

static int by_index(const void *x, const void *y) {
  const struct first *a = x, *b = y;
  return (a->index > b->index) - (a->index < b->index);
}

static uint32_t gather(struct arena *a, const struct rt_plan *const *plan, uint32_t n,
                       const char ***out) {
  uint32_t total = 0, at = 0;
  for (uint32_t r = 0; r < n; r++) {
    total += plan[r]->n_notes;
  }
  *out = ARENA_ARRAY(a, const char *, total);
  for (uint32_t r = 0; r < n; r++) {
    for (uint32_t i = 0; i < plan[r]->n_notes; i++) {
      (*out)[at++] = plan[r]->note[i];
    }
  }
  return total;
}

// The first of each kind, in the order of the notes.
static uint32_t merge(struct arena *a, const char *const *note, uint32_t n,
                      struct first *first) {
  struct keyed *key = ARENA_ARRAY(a, struct keyed, n);
  uint32_t kinds = 0;
  for (uint32_t i = 0; i < n; i++) {
    key[i] = (struct keyed){kind_of(a, str_of(note[i])), i};
  }
  qsort(key, n, sizeof *key, by_kind);
  for (uint32_t i = 0; i < n; i++) {
    if (i == 0 || !str_eq(key[i].kind, key[i - 1].kind)) {
      first[kinds++] = (struct first){key[i].index, 0};
    }
    first[kinds - 1].count++;
  }
  qsort(first, kinds, sizeof *first, by_index);
  return kinds;
}

void plan_notes_put(struct buf *b, const struct rt_plan *const *plan, uint32_t n) {
  enum { MOST_NOTES = 8 };
  struct arena *a = b->arena;
  const char **note = NULL;
  uint32_t total = gather(a, plan, n, &note);
  struct first *first = ARENA_ARRAY(a, struct first, total);
  uint32_t kinds = merge(a, note, total, first);
  for (uint32_t i = 0; i < kinds && i < MOST_NOTES; i++) {
    buf_printf(b, "note        %s", str_escape(a, str_of(note[first[i].index])).p);
    if (first[i].count > 1) {
      buf_printf(b, " (and %u more like this)", first[i].count - 1);
    }
    buf_puts(b, "\n");
  }
  if (kinds > MOST_NOTES) {
    buf_printf(b, "and %u more kinds of notes\n", kinds - MOST_NOTES);
  }
}
