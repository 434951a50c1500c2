// A small map from text to a number, for the labels of IR text.
#ifndef STEPC_IR_NAMES_H
#define STEPC_IR_NAMES_H

#include "base/str.h"

struct names_slot {
  struct str key;
  uint32_t value;
  bool used;
};
struct names {
  struct arena *arena;
  struct names_slot *slot;
  uint32_t n, cap; // cap: a power of two, at least twice n
};

// The slot of `key`; made with value 0 when it is new (`*is_new` says so). Pointers live until the next call.
uint32_t *names_at(struct names *t, struct str key, bool *is_new);
const uint32_t *names_find(const struct names *t, struct str key); // NULL: absent

#endif
