#include "base/str.h"

#include <criterion/criterion.h>

Test(str, glob) {
  cr_assert(str_glob(STR("*wte*"), STR("transformer.wte.weight")));
  cr_assert(str_glob(STR("h.?.w"), STR("h.3.w")));
  cr_assert_not(str_glob(STR("h.?.w"), STR("h.12.w")));
  cr_assert_not(str_glob(STR("wte"), STR("wte.weight")));
}

Test(str, escape_keeps_terminals_safe) {
  struct arena *a = arena_new(0);
  struct str s = str_escape(a, STR("a\x1b[31m\n\\\xff\u202e"));
  cr_assert(str_is(s, "a\\x1b[31m\\n\\\\\\xff\\u{202e}"), "%.*s", STR_FMT(s));
  arena_free(a);
}

Test(str, shortest_numbers_read_back) {
  struct arena *a = arena_new(0);
  cr_assert(str_is(num_shortest(a, 0.1), "0.1"));
  cr_assert(str_is(num_shortest(a, 1e-8), "1e-08"));
  cr_assert(str_is(num_shortest(a, 10), "10"));
  cr_assert(str_is(num_shortest(a, -120000), "-120000"));
  cr_assert(str_is(num_shortest(a, -0.0), "-0"));
  cr_assert(str_is(num_shortest(a, 1e6), "1e+06"));
  cr_assert(str_is(num_shortest_f32(a, 40.0f), "40"));
  cr_assert(str_is(num_shortest_f32(a, 0.1f), "0.1"));
  arena_free(a);
}

Test(str, distance) {
  cr_assert_eq(str_distance(STR("betta1"), STR("beta1"), 3), 1);
  cr_assert_eq(str_distance(STR("abcd"), STR("zzzz"), 2), 3);
}
