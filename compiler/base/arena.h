// Arenas: memory with one lifetime, freed at once.
//
// A compilation has one arena for what it returns and a scratch arena per pass. Nothing in compiler/ calls free()
// on a part of one. Running out of memory leaves the library call through `arena_guard`: the caller of the
// library gets a status, the process is never aborted (DESIGN section 14).
#ifndef STEPC_BASE_ARENA_H
#define STEPC_BASE_ARENA_H

#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

// A new, empty arena; NULL when memory is out. `limit` bounds its bytes (0: no bound): tests use it to make
// every allocation fail once.
struct arena *arena_new(size_t limit);
void arena_free(struct arena *a); // accepts NULL
// Forgets every allocation and keeps the first block for reuse; under ASan the bytes become poisoned.
void arena_reset(struct arena *a);
// Everything allocated after the mark is forgotten by arena_rewind; marks nest like calls.
struct arena_mark {
  void *block;
  size_t used, total;
};
struct arena_mark arena_mark(const struct arena *a);
void arena_rewind(struct arena *a, struct arena_mark m);
size_t arena_bytes(const struct arena *a); // bytes handed out since the last reset

// Where allocation failures go. Set it at the entry of a library call:
//   jmp_buf oom; if (setjmp(oom)) return STATUS_NO_MEMORY; arena_guard(a, &oom);
void arena_guard(struct arena *a, jmp_buf *oom);
jmp_buf *arena_guarded(const struct arena *a); // the guard in force; NULL: none

// Zeroed memory of `size` bytes; never NULL. `align` is a power of two.
void *arena_alloc(struct arena *a, size_t size, size_t align)
    __attribute__((returns_nonnull));
// `n * size` bytes, zeroed, with the product checked.
void *arena_array(struct arena *a, size_t n, size_t size, size_t align)
    __attribute__((returns_nonnull));

#define ARENA_NEW(a, T)      ((T *)arena_alloc((a), sizeof(T), _Alignof(T)))
#define ARENA_ARRAY(a, T, n) ((T *)arena_array((a), (n), sizeof(T), _Alignof(T)))

// A growable array on an arena: VEC(struct token) toks = {0}; VEC_PUSH(a, toks, t);
// Growing copies; pointers into `v` do not survive a push.
#define VEC(T)                                                                           \
  struct {                                                                               \
    T *v;                                                                                \
    uint32_t n, cap;                                                                     \
  }
#define VEC_PUSH(a, vec, x)                                                              \
  do {                                                                                   \
    if ((vec).n == (vec).cap) {                                                          \
      (vec).v = vec_grow((a), (vec).v, (vec).n, &(vec).cap, sizeof *(vec).v);            \
    }                                                                                    \
    (vec).v[(vec).n++] = (x);                                                            \
  } while (0)

void *vec_grow(struct arena *a, const void *old, uint32_t n, uint32_t *cap, size_t size)
    __attribute__((returns_nonnull));

#endif
