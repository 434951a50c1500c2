// Tokens, and what newlines, brackets and damage do to them.
#include "front/lex.h"

#include <criterion/criterion.h>
#include <locale.h>

struct lexed {
  struct arena *arena;
  struct sources sources;
  struct diags diags;
  struct lexer lx;
};

static void open_text(struct lexed *x, struct str text) {
  struct arena *a = arena_new(0);
  *x = (struct lexed){.arena = a, .sources = {.arena = a}};
  diags_init(&x->diags, a, &x->sources);
  uint32_t file = source_add(&x->sources, STR("test.opt"), text);
  x->lx = lexer_new(a, &x->sources, &x->diags, file);
}

// The kinds of all tokens as one line; faulty ones in capitals.
static struct str kinds(struct lexed *x) {
  struct buf b = buf_new(x->arena);
  for (struct token t; (t = lexer_next(&x->lx)).kind != TOKEN_END;) {
    buf_puts(&b, b.n == 0 ? "" : " ");
    buf_puts(&b, t.kind == TOKEN_NL    ? "nl"
                 : t.kind == TOKEN_BAD ? "BAD"
                 : t.kind == TOKEN_NUM ? "num"
                 : t.kind == TOKEN_STR ? "str"
                                       : str_cstr(x->arena, t.text));
  }
  return buf_done(&b);
}

static void check(struct str text, const char *expected, const char *codes) {
  struct lexed x;
  open_text(&x, text);
  struct str got = kinds(&x);
  cr_expect(str_is(got, expected), "`%.*s` gives `%.*s`", STR_FMT(text), STR_FMT(got));
  struct buf said = buf_new(x.arena);
  for (uint32_t i = 0; i < x.diags.list.n; i++) {
    buf_printf(&said, "%s%s", i == 0 ? "" : " ",
               diag_info(x.diags.list.v[i]->code)->code);
  }
  cr_expect(str_is(buf_done(&said), codes), "`%.*s` reports `%s`", STR_FMT(text), said.p);
  arena_free(x.arena);
}

Test(lex, newlines) {
  check(STR("a\nb\r\nc"), "a nl b nl c", "");
  check(STR("a # comment\n\n # another\nb"), "a nl nl nl b", "");
  check(STR("a\rb\rc"), "a nl b nl c", "E0106"); // said once a file
  check(STR("\xef\xbb\xbf"
            "a"),
        "a", "");
  check(STR(""), "", "");
}

Test(lex, a_newline_between_brackets_is_a_space) {
  check(STR("(a\nb)\nc"), "( a b ) nl c", "");
  check(STR("(0,\n 1]\nc"), "( num , num ] nl c", ""); // both kinds count together
  check(STR("[(\n)\n]\nc"), "[ ( ) ] nl c", "");
  check(STR(")\na"), ") nl a", "");
  check(STR("(# comment with )\n)"), "( )", "");
}

Test(lex, an_unclosed_bracket_ends_where_a_statement_begins) {
  check(STR("(a\nlet b"), "( a nl let b", "E0110");
  check(STR("(a\n\n# c\n  m := b"), "( a nl m := b", "E0110");
  check(STR("(a\n}"), "( a nl }", "E0110");
  check(STR("((a\nhyper lr"), "( ( a nl hyper lr", "E0110"); // one message for both
  check(STR("(a\nrequire not b"), "( a nl require not b", "E0110");
  check(STR("(a\nimport \"b\""), "( a nl import str", "E0110");
  check(STR("(a"), "( a nl", "E0110");
  // Statement words are names too: these close.
  check(STR("(a,\nstate, use,\nhyper\n)"), "( a , state , use , hyper )", "");
  check(STR("(a }\nb"), "( a BAD nl b", "E0110");
}

Test(lex, numbers) {
  check(STR("0 12 1.5 1e3 1e-3 1.5e+3 007"), "num num num num num num num", "");
  check(STR("1."), "BAD", "E0108");
  check(STR(".5"), "BAD", "E0108");
  check(STR("1.2.3"), "BAD", "E0108");
  check(STR("1e"), "BAD", "E0108");
  check(STR("1E5"), "BAD", "E0108");
  check(STR("0x10"), "BAD", "E0108");
  check(STR("1f"), "BAD", "E0108");
  check(STR("1e308 1e309"), "num BAD", "E0109");
  check(STR("5e-324 1e-400 0e-400"), "num BAD num", "E0109");
  check(STR("9007199254740992 9007199254740993"), "num BAD", "E0109");
  check(STR("99999999999999999999999999"), "BAD", "E0109");
}

Test(lex, a_number_does_not_depend_on_the_locale) {
  static const char *const commas[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8"};
  for (size_t i = 0; i < 3; i++) {
    (void)setlocale(LC_ALL,
                    commas[i]); // where none is installed, this tests the plain case
  }
  struct lexed x;
  open_text(&x, STR("1.5"));
  cr_expect_eq(lexer_next(&x.lx).num, 1.5);
  arena_free(x.arena);
}

Test(lex, punctuation_and_words) {
  check(STR("a:=b==c!=d<=e>=f<g>h~i=j:k"),
        "a := b == c != d <= e >= f < g > h ~ i = j : k", "");
  check(STR("let letter in inner _x x9"), "let letter in inner _x x9", "");
  check(STR("a ^ b"), "a BAD b", "E0105");
  check(STR("a ! b"), "a BAD b", "E0105");
  check(STR("a \xe2\x88\x92 b"), "a BAD b", "E0105"); // U+2212 is one character
  check(STR("\"a b\" \"\""), "str str", "");
  check(STR("\"a\nb"), "BAD nl b", "E0107");
  check(STR("\"a"), "BAD", "E0107");
}

static bool is_binary(struct str text, size_t *at) {
  return lex_find_binary(text, at);
}

Test(lex, binary_texts_are_found) {
  size_t at = 0;
  cr_expect_not(is_binary(STR("plain \t\x1b \xc3\xa9"), &at));
  cr_expect(is_binary(STR("ab\0cd"), &at) && at == 2);
  cr_expect(is_binary(STR("abc\xff"), &at) && at == 3);
  cr_expect(is_binary(STR("\xc3"), &at) && at == 0);
  cr_expect(is_binary(STR("\xed\xa0\x80"), &at)); // a surrogate
}
