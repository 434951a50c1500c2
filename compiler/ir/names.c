// Open addressing with linear probing; grows at half load.
#include "ir/names.h"

static uint32_t probe(const struct names_slot *slot, uint32_t cap, struct str key) {
  uint32_t i = (uint32_t)str_hash(key) & (cap - 1);
  while (slot[i].used && !str_eq(slot[i].key, key)) {
    i = (i + 1) & (cap - 1);
  }
  return i;
}

static void grow(struct names *t) {
  uint32_t cap = t->cap == 0 ? 64 : t->cap * 2;
  struct names_slot *slot = ARENA_ARRAY(t->arena, struct names_slot, cap);
  for (uint32_t i = 0; i < t->cap; i++) {
    if (t->slot[i].used) {
      slot[probe(slot, cap, t->slot[i].key)] = t->slot[i];
    }
  }
  t->slot = slot;
  t->cap = cap;
}

uint32_t *names_at(struct names *t, struct str key, bool *is_new) {
  if (t->n * 2 >= t->cap) {
    grow(t);
  }
  struct names_slot *s = &t->slot[probe(t->slot, t->cap, key)];
  *is_new = !s->used;
  if (!s->used) {
    *s = (struct names_slot){.key = key, .used = true};
    t->n++;
  }
  return &s->value;
}

const uint32_t *names_find(const struct names *t, struct str key) {
  if (t->cap == 0) {
    return NULL;
  }
  const struct names_slot *s = &t->slot[probe(t->slot, t->cap, key)];
  return s->used ? &s->value : NULL;
}
