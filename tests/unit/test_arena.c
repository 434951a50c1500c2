// Arenas: marks give back what came after them, and a limit leads to the guard.
#include "base/arena.h"

#include <criterion/criterion.h>
#include <string.h>

Test(arena, rewind_forgets_what_came_after_the_mark) {
  struct arena *a = arena_new(0);
  char *kept = arena_alloc(a, 100, 1);
  memset(kept, 'k', 100);
  struct arena_mark outer = arena_mark(a);
  size_t bytes = arena_bytes(a);
  for (int i = 0; i < 100; i++) { // over many blocks
    memset(arena_alloc(a, 50000, 8), 'x', 50000);
    struct arena_mark inner = arena_mark(a);
    (void)arena_alloc(a, 200000, 64);
    arena_rewind(a, inner);
  }
  arena_rewind(a, outer);
  cr_expect_eq(arena_bytes(a), bytes);
  const char *again = arena_alloc(a, 1000, 1);
  for (int i = 0; i < 1000; i++) {
    cr_assert_eq(again[i], 0, "memory comes zeroed");
  }
  for (int i = 0; i < 100; i++) {
    cr_assert_eq(kept[i], 'k');
  }
  arena_free(a);
}

Test(arena, rewind_to_the_empty_arena) {
  struct arena *a = arena_new(0);
  struct arena_mark empty = arena_mark(a);
  for (int i = 0; i < 10; i++) {
    (void)arena_alloc(a, 100000, 16);
    arena_rewind(a, empty);
    cr_expect_eq(arena_bytes(a), 0);
  }
  arena_free(a);
}

Test(arena, alignment_and_growing) {
  struct arena *a = arena_new(0);
  for (size_t align = 1; align <= 64; align *= 2) {
    (void)arena_alloc(a, 1, 1);
    cr_expect_eq((uintptr_t)arena_alloc(a, 3, align) % align, 0);
  }
  VEC(uint32_t) v = {0};
  for (uint32_t i = 0; i < 1000; i++) {
    VEC_PUSH(a, v, i);
  }
  cr_expect_eq(v.n, 1000);
  cr_expect_eq(v.v[999], 999);
  arena_free(a);
}

Test(arena, a_limit_leads_to_the_guard) {
  struct arena *a = arena_new(1000);
  jmp_buf oom;
  volatile int reached = 0;
  if (setjmp(oom) == 0) {
    arena_guard(a, &oom);
    (void)arena_alloc(a, 1000, 1);
    reached = 1;
    (void)arena_alloc(a, 1, 1);
    cr_assert_fail("past the limit");
  }
  cr_expect_eq(reached, 1);
  if (setjmp(oom) == 0) {
    (void)ARENA_ARRAY(a, uint64_t, SIZE_MAX / 4);
    cr_assert_fail("a product that does not fit");
  }
  arena_free(a);
}
