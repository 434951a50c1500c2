// The cache on disk for compiled code: bytes by key, a file each. What lies there is run, so it is trusted like a
// shared library: the folder and its files must be the user's own and not writable by others (DESIGN section 16).
#ifndef STEPC_EMIT_CACHE_H
#define STEPC_EMIT_CACHE_H

#include "base/str.h"

struct cache {
  struct str folder; // empty: there is none, nothing is found and nothing kept
};

// STEPC_CACHE_DIR, else stepc/ in XDG_CACHE_HOME, else .cache/stepc in HOME; made, 0700, when missing. Without a home
// there is none. `note` says why a folder is not used; empty otherwise.
struct cache cache_open(struct arena *a, struct str *note);
// Length of a key: SHA-256 in hexadecimal.
enum { CACHE_KEY = 64 };
// The bytes kept under `key`, a NUL behind them (the driver takes PTX without a length); false: none, or the file is damaged or not ours.
bool cache_get(const struct cache *c, struct arena *a, const char *key,
               struct str *bytes);
// Keeps bytes: whole or not at all, also when several processes do so at once. A failure leaves nothing behind.
bool cache_put(const struct cache *c, struct arena *a, const char *key, struct str bytes);

#endif
