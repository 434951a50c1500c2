// Recording, sorting and rendering of messages.
#include "base/diag.h"

#include <criterion/criterion.h>

struct said {
  struct arena *arena;
  struct sources sources;
  struct diags diags;
};

static void open_source(struct said *x, const char *path, struct str text) {
  struct arena *a = arena_new(0);
  *x = (struct said){.arena = a, .sources = {.arena = a}};
  diags_init(&x->diags, a, &x->sources);
  source_add(&x->sources, str_of(path), text);
}

static struct diag *say(struct said *x, uint32_t begin, uint32_t end) {
  return DIAG(&x->diags, ((struct span){0, begin, end}), E0105, STR("x"));
}

static void check(struct said *x, enum diag_format format, bool color,
                  const char *expected) {
  struct str text = diag_render(&x->diags, format, color, x->arena);
  cr_expect(str_is(text, expected), "expected:\n%s\nactual:\n%.*s", expected,
            STR_FMT(text));
  arena_free(x->arena);
}

Test(diag, text_shows_the_line_and_the_span) {
  struct said x;
  open_source(&x, "dir/a.opt", STR("one\ntwo three\n"));
  struct diag *d = say(&x, 8, 13);
  diag_note(&x.diags, d, (struct span){0, 0, 3}, STR("declared here"));
  diag_help(&x.diags, d, STR("try another"));
  check(&x, DIAG_TEXT, false,
        "dir/a.opt:2:5: error[E0105]: unexpected character `x`\n"
        "    2 | two three\n"
        "      |     ^~~~~\n"
        "dir/a.opt:1:1: note: declared here\n"
        "    1 | one\n"
        "      | ^~~\n"
        "help: try another\n"
        "1 error, 0 warnings\n");
}

Test(diag, tabs_controls_and_wide_characters_keep_the_caret_in_place) {
  struct said x;
  open_source(&x, "a\x1b.opt", STR("\ta\x1b[31m\xc3\xa9\xe2\x80\xae!\xff?\n"));
  say(&x, 7, 9);
  say(&x, 12, 13);
  say(&x, 14, 15);
  check(&x, DIAG_TEXT, false,
        "a\\x1b.opt:1:8: error[E0105]: unexpected character `x`\n"
        "    1 |     a\\x1b[31m\xc3\xa9\\u{202e}!\\xff?\n"
        "      |              ^\n"
        "a\\x1b.opt:1:13: error[E0105]: unexpected character `x`\n"
        "    1 |     a\\x1b[31m\xc3\xa9\\u{202e}!\\xff?\n"
        "      |                       ^\n"
        "a\\x1b.opt:1:15: error[E0105]: unexpected character `x`\n"
        "    1 |     a\\x1b[31m\xc3\xa9\\u{202e}!\\xff?\n"
        "      |                            ^\n"
        "3 errors, 0 warnings\n");
}

Test(diag, a_span_over_lines_shows_the_first) {
  struct said x;
  open_source(&x, "a", STR("one two\r\nthree"));
  say(&x, 4, 12);
  check(&x, DIAG_TEXT, false,
        "a:1:5: error[E0105]: unexpected character `x`\n"
        "    1 | one two\n"
        "      |     ^~~\n"
        "1 error, 0 warnings\n");
}

Test(diag, a_span_at_the_end_of_the_file_is_one_caret) {
  struct said x;
  open_source(&x, "a", STR("ab\n"));
  say(&x, 3, 3);
  check(&x, DIAG_TEXT, false,
        "a:2:1: error[E0105]: unexpected character `x`\n"
        "    2 | \n"
        "      | ^\n"
        "1 error, 0 warnings\n");
}

Test(diag, long_lines_are_cut_around_the_span) {
  char text[3001];
  for (int i = 0; i < 3000; i++) {
    text[i] = (char)('a' + i % 26);
  }
  struct said x;
  open_source(&x, "a", (struct str){text, 3000});
  say(&x, 1000, 1003);
  check(
      &x, DIAG_TEXT, false,
      "a:1:1001: error[E0105]: unexpected character `x`\n"
      "    1 | "
      "...yzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwx"
      "yzabcdefghijklmnopqrst...\n"
      "      |                                            ^~~\n"
      "1 error, 0 warnings\n");
}

Test(diag, messages_come_in_order_of_place_and_once) {
  struct said x;
  open_source(&x, "a", STR("abc"));
  say(&x, 2, 3);
  DIAG(&x.diags, NO_SPAN, E0001, STR("x.opt"), STR("no"));
  say(&x, 0, 1);
  cr_expect_null(say(&x, 2, 3));
  cr_expect_eq(x.diags.n_errors, 3);
  check(&x, DIAG_TEXT, false,
        "a:1:1: error[E0105]: unexpected character `x`\n"
        "    1 | abc\n"
        "      | ^\n"
        "a:1:3: error[E0105]: unexpected character `x`\n"
        "    1 | abc\n"
        "      |   ^\n"
        "stepc: error[E0001]: cannot read `x.opt`: no\n"
        "3 errors, 0 warnings\n");
}

Test(diag, warnings_show_their_names_and_can_be_muted_or_made_errors) {
  enum diag_code code;
  cr_assert(diag_find(STR("W0901"), &code));
  const struct diag_info *info = diag_info(code);
  struct said x;
  open_source(&x, "a", STR("abc"));
  struct str args[] = {STR("x"), STR("x"), STR("x")};
  diag_report(&x.diags, (struct span){0, 0, 1}, code, args, 3);
  struct str text = diag_render(&x.diags, DIAG_TEXT, false, x.arena);
  struct str name = str_fmt(x.arena, " [-W%s]\n    1 | abc\n", info->name);
  cr_expect_not_null(strstr(text.p, name.p));
  cr_expect(str_ends(text, "\n0 errors, 1 warning\n"));
  x.diags.muted[code] = true;
  cr_expect_null(diag_report(&x.diags, (struct span){0, 1, 2}, code, args, 3));
  x.diags.muted[code] = false;
  x.diags.warnings_are_errors = true;
  cr_expect_not_null(diag_report(&x.diags, (struct span){0, 1, 2}, code, args, 3));
  cr_expect_eq(x.diags.n_errors, 1);
  arena_free(x.arena);
}

Test(diag, errors_past_the_limit_are_counted_only) {
  struct said x;
  open_source(&x, "a", STR("abc"));
  x.diags.error_limit = 1;
  say(&x, 0, 1);
  cr_expect_null(say(&x, 1, 2));
  check(&x, DIAG_TEXT, false,
        "a:1:1: error[E0105]: unexpected character `x`\n"
        "    1 | abc\n"
        "      | ^\n"
        "2 errors, 0 warnings; only the first 1 errors are shown\n");
}

Test(diag, nothing_to_say_is_an_empty_text) {
  struct said x;
  open_source(&x, "a", STR(""));
  check(&x, DIAG_TEXT, true, "");
}

Test(diag, colors_only_when_asked) {
  struct said x;
  open_source(&x, "a", STR("abc"));
  say(&x, 0, 2);
  check(&x, DIAG_TEXT, true,
        "\x1b[1ma:1:1: \x1b[0m\x1b[1;31merror[E0105]:\x1b[0m unexpected character `x`\n"
        "    1 | abc\n"
        "      | \x1b[1;32m^~\x1b[0m\n"
        "1 error, 0 warnings\n");
}

Test(diag, json_lines) {
  struct said x;
  open_source(&x, "q\"\x01.opt", STR("one\ntwo\n"));
  struct diag *d = say(&x, 4, 7);
  diag_note(&x.diags, d, (struct span){0, 0, 3}, STR("here"));
  diag_help(&x.diags, d, STR("try"));
  DIAG(&x.diags, NO_SPAN, E0001, STR("x"), STR("no"));
  check(
      &x, DIAG_JSON, false,
      "{\"path\":\"q\\\"\\u0001.opt\",\"line\":2,\"col\":1,\"end_line\":2,\"end_col\":4,"
      "\"severity\":\"error\",\"code\":\"E0105\",\"name\":\"bad-character\","
      "\"message\":\"unexpected character `x`\",\"notes\":[{\"kind\":\"note\","
      "\"path\":\"q\\\"\\u0001.opt\",\"line\":1,\"col\":1,\"end_line\":1,\"end_col\":4,"
      "\"message\":\"here\"},{\"kind\":\"help\",\"message\":\"try\"}]}\n"
      "{\"severity\":\"error\",\"code\":\"E0001\",\"name\":\"cannot-read\","
      "\"message\":\"cannot read `x`: no\",\"notes\":[]}\n");
}

Test(diag, sarif) {
  struct said x;
  open_source(&x, "/a b.opt", STR("\xc3\xa9 two\n"));
  struct diag *d = say(&x, 3, 6);
  diag_note(&x.diags, d, (struct span){0, 0, 2}, STR("here"));
  diag_help(&x.diags, d, STR("try"));
  DIAG(&x.diags, NO_SPAN, E0001, STR("x"), STR("no"));
  check(
      &x, DIAG_SARIF, false,
      "{\"$schema\":\"https://json.schemastore.org/"
      "sarif-2.1.0.json\",\"version\":\"2.1.0\","
      "\"runs\":[{\"tool\":{\"driver\":{\"name\":\"stepc\",\"rules\":["
      "{\"id\":\"E0001\",\"name\":\"cannot-read\"},"
      "{\"id\":\"E0105\",\"name\":\"bad-character\"}]}},"
      "\"columnKind\":\"unicodeCodePoints\",\"results\":[\n"
      "{\"ruleId\":\"E0105\",\"level\":\"error\",\"message\":{\"text\":\"unexpected "
      "character `x`; try\"},\"locations\":[{\"physicalLocation\":{\"artifactLocation\":"
      "{\"uri\":\"file:///a%20b.opt\"},\"region\":{\"startLine\":1,\"startColumn\":3,"
      "\"endLine\":1,\"endColumn\":6}}}],\"relatedLocations\":[{\"physicalLocation\":"
      "{\"artifactLocation\":{\"uri\":\"file:///a%20b.opt\"},\"region\":{\"startLine\":1,"
      "\"startColumn\":1,\"endLine\":1,\"endColumn\":2}},\"message\":{\"text\":\"here\"}}"
      "]},\n"
      "{\"ruleId\":\"E0001\",\"level\":\"error\",\"message\":{\"text\":\"cannot read "
      "`x`: "
      "no\"}}\n]}]}\n");
}

Test(diag, github) {
  struct said x;
  open_source(&x, "a,b:100%.opt", STR("one\n"));
  diag_help(&x.diags, say(&x, 0, 3), STR("50% less"));
  check(&x, DIAG_GITHUB, false,
        "::error file=a%2Cb%3A100%25.opt,line=1,col=1,title=E0105::unexpected character "
        "`x`%0Ahelp: 50%25 less\n");
}

Test(diag, suggestions_are_near) {
  struct said x;
  open_source(&x, "a", STR("abc"));
  const struct str names[] = {STR("beta1"), STR("beta2"), STR("lr")};
  struct diag *d = say(&x, 0, 1);
  diag_suggest(&x.diags, d, STR("betta1"), names, 3);
  diag_suggest(&x.diags, d, STR("momentum"), names, 3);
  cr_assert_eq(d->extra.n, 1);
  cr_expect(str_is(d->extra.v[0].text, "did you mean `beta1`?"));
  arena_free(x.arena);
}
