// The tool's texts: numbers with units, tables, differences, JSON strings.
#include "tool/diff.h"
#include "tool/table.h"

#include <criterion/criterion.h>
#include <string.h>

static struct arena *arena;
static void make(void) {
  arena = arena_new(0);
}
static void drop(void) {
  arena_free(arena);
}
TestSuite(tool, .init = make, .fini = drop);

static void check(struct str got, const char *want) {
  cr_assert(str_is(got, want), "got\n%.*s\nwant\n%s", STR_FMT(got), want);
}

Test(tool, numbers_keep_three_digits) {
  check(text_count(arena, 0), "0");
  check(text_count(arena, 999), "999");
  check(text_count(arena, 1000), "1.00 k");
  check(text_count(arena, 124439808), "124 M");
  check(text_count(arena, 99960), "100 k");
  check(text_bytes(arena, 7), "7 B");
  check(text_bytes(arena, 3.484e9), "3.48 GB");
  check(text_bytes(arena, 999.9e3), "1.00 MB");
  check(text_binary(arena, 999), "999 B");
  check(text_binary(arena, 14.5 * (1 << 30)), "14.5 GiB");
  check(text_binary(arena, 1023.0 * 1024), "1.00 MiB");
  check(text_seconds(arena, 12.34), "12.3 s");
  check(text_seconds(arena, 1.234), "1.23 s");
  check(text_seconds(arena, 0.8123), "812 ms");
  check(text_seconds(arena, 0.0123), "12.3 ms");
  check(text_seconds(arena, 0.0000042), "4.2 us");
}

Test(tool, columns_are_as_wide_as_their_widest_cell) {
  struct table t = {.arena = arena, .columns = "lrl"};
  TABLE_ROW(&t, STR("rule"), STR("n"), STR("when"));
  TABLE_ROW(&t, STR("\xc3\xa9t\xc3\xa9"), STR("124"),
            STR("rank >= 2")); // three letters, five bytes
  check(table_text(&t), "rule    n  when\n\xc3\xa9t\xc3\xa9   124  rank >= 2\n");
}

Test(tool, json_strings_escape_what_json_and_terminals_take_amiss) {
  struct buf b = buf_new(arena);
  buf_json(&b, STR("a\"b\\c\n\x1b[31m\x7f"));
  check(buf_done(&b), "\"a\\\"b\\\\c\\u000a\\u001b[31m\\u007f\"");
}

Test(tool, a_difference_is_one_hunk_with_context) {
  check(text_diff(arena, STR("f"), STR("1\n2\n3\n4\n5\n6\n7\n8\n9\n"),
                  STR("1\n2\n3\n4\nfive\n6\n7\n8\n9\n")),
        "--- f\n+++ f (now)\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
  check(text_diff(arena, STR("f"), STR(""), STR("1\n")),
        "--- f\n+++ f (now)\n@@ -1,0 +1,1 @@\n+1\n");
  check(text_diff(arena, STR("f"), STR("1\n2\n2\n"), STR("1\n2\n")),
        "--- f\n+++ f (now)\n@@ -1,3 +1,2 @@\n 1\n 2\n-2\n");
  check(text_diff(arena, STR("f"), STR("1"), STR("1\n")),
        "--- f\n+++ f (now)\n@@ -1,1 +1,1 @@\n-1\n\\ no newline at the end\n+1\n");
}

Test(tool, a_long_difference_is_cut_and_says_so) {
  struct buf b = buf_new(arena);
  for (int i = 0; i < 100; i++) {
    buf_puts(&b, "x\n");
  }
  struct str d = text_diff(arena, STR("f"), STR(""), buf_done(&b));
  cr_assert(strstr(str_cstr(arena, d), "\n+ ... 60 more lines\n") != NULL);
}
