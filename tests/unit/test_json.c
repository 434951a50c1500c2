// The strict JSON reader: what it accepts, what it refuses and where, and that its time is bounded.
#include "file/json.h"
#include "random.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bad {
  const char *text;
  uint32_t line, col;
  const char *message;
};

static const struct bad bad[] = {
    {"", 1, 1, "expected a value, found the end of the text"},
    {" \n ", 2, 2, "expected a value, found the end of the text"},
    {"\xef\xbb\xbf{}", 1, 1, "JSON starts with no byte order mark"},
    {"{\"a\": 1,\n \"a\": 2}", 2, 2, "duplicate key `a`"},
    {"{\"a\": 1, \"\\u0061\": 2}", 1, 10, "duplicate key `a`"},
    {"[{\"x\\n\": 1, \"x\\n\": 2}]", 1, 13, "duplicate key `x\\n`"},
    {"{\"b\": 1, \"a\": 2, \"b\": 3, \"a\": 4}", 1, 18, "duplicate key `b`"},
    {"{\"a\": 01}", 1, 7, "a number has no leading zeros"},
    {"-00", 1, 1, "a number has no leading zeros"},
    {"[1.]", 1, 4, "expected a digit, found `]`"},
    {"[1e+]", 1, 5, "expected a digit, found `]`"},
    {"[-]", 1, 3, "expected a digit, found `]`"},
    {"[.5]", 1, 2, "expected a value, found `.`"},
    {"+1", 1, 1, "expected a value, found `+`"},
    {"NaN", 1, 1, "expected a value, found `N`"},
    {"[nul]", 1, 2, "expected a value, found `n`"},
    {"9007199254740993", 1, 1, "an integer is at most 2^53 in magnitude"},
    {"-9007199254740993", 1, 1, "an integer is at most 2^53 in magnitude"},
    {"100000000000000000000000", 1, 1, "an integer is at most 2^53 in magnitude"},
    {"[1e400]", 1, 2, "a number beyond the range of double"},
    {"[0.0000000000000000000000000000000000000000000000000000000000000001]", 1, 2,
     "a number has at most 63 characters"},
    {"[1,]", 1, 4, "expected a value, found `]`"},
    {"[1 2]", 1, 4, "expected `,` or `]`, found `2`"},
    {"{\"a\" 1}", 1, 6, "expected `:`, found `1`"},
    {"{\"a\": 1,}", 1, 9, "expected a string, found `}`"},
    {"{a: 1}", 1, 2, "expected a string, found `a`"},
    {"[1", 1, 3, "expected `,` or `]`, found the end of the text"},
    {"{} {}", 1, 4, "expected the end of the text, found `{`"},
    {"// x\n1", 1, 1, "expected a value, found `/`"},
    {"\"abc", 1, 1, "a string without its end"},
    {"\"a\tb\"", 1, 3, "a control character in a string"},
    {"\"a\nb\"", 1, 3, "a control character in a string"},
    {"\"\\x41\"", 1, 2, "unknown escape in a string"},
    {"\"\\u00g1\"", 1, 6, "expected a hexadecimal digit, found `g`"},
    {"\"\\u0000\"", 1, 2, "\\u0000 in a string"},
    {"\"\\ud800\"", 1, 2, "a surrogate without its partner in a string"},
    {"\"\\ud800\\u0041\"", 1, 2, "a surrogate without its partner in a string"},
    {"\"\\ud800\\ud800\"", 1, 2, "a surrogate without its partner in a string"},
    {"\"\\udc00\"", 1, 2, "a surrogate without its partner in a string"},
    {"\"\xc0\xaf\"", 1, 2, "invalid UTF-8"},
    {"\"\xe0\x80\xaf\"", 1, 2, "invalid UTF-8"},
    {"\"\xf0\x80\x80\xaf\"", 1, 2, "invalid UTF-8"},
    {"\"\xed\xa0\x80\"", 1, 2, "invalid UTF-8"},
    {"\"\xf4\x90\x80\x80\"", 1, 2, "invalid UTF-8"},
    {"\"\xe2\x82\"", 1, 2, "invalid UTF-8"},
    {"[\xff]", 1, 2, "expected a value, found `\\xff`"},
    {"[\x1b]", 1, 2, "expected a value, found `\\x1b`"},
};

Test(json, refuses_and_says_where) {
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    struct json_error err;
    struct json_doc *d = json_parse(bad[i].text, strlen(bad[i].text), &err);
    cr_assert_null(d, "accepted: %s", bad[i].text);
    cr_assert_str_eq(err.text, bad[i].message, "%s: %s", bad[i].text, err.text);
    cr_assert(err.line == bad[i].line && err.col == bad[i].col, "%s: %u:%u", bad[i].text,
              err.line, err.col);
    cr_assert_not(err.no_memory);
  }
}

Test(json, refuses_a_nul_byte) {
  struct json_error err;
  cr_assert_null(json_parse("1\0", 2, &err));
  cr_assert_str_eq(err.text, "expected the end of the text, found `\\x00`");
}

static struct json_doc *parse(const char *text) {
  struct json_error err;
  struct json_doc *d = json_parse(text, strlen(text), &err);
  cr_assert_not_null(d, "%s: %u:%u: %s", text, err.line, err.col, err.text);
  return d;
}

Test(json, reads_every_kind) {
  struct json_doc *d =
      parse(" {\"a\": [null, true, false, -1.5e-3], \"A\": {}, \"b\\\"\": "
            "\"\\ud83d\\ude00\\t\xc3\xa9\"} \n");
  const struct json *root = json_root(d), *a = json_get(root, "a");
  cr_assert_eq(json_kind(root), JSON_OBJECT);
  cr_assert_eq(json_size(root), 3);
  cr_assert_eq(json_size(a), 4);
  cr_assert_eq(json_kind(json_item(a, 0)), JSON_NULL);
  cr_assert(json_bool(json_item(a, 1)));
  cr_assert_eq(json_kind(json_item(a, 2)), JSON_BOOL);
  cr_assert_not(json_bool(json_item(a, 2)));
  cr_assert_eq(json_number(json_item(a, 3)), -1.5e-3);
  cr_assert_eq(json_kind(json_get(root, "A")), JSON_OBJECT, "keys differ by case");
  cr_assert_null(json_get(root, "B\""));
  cr_assert_str_eq(json_key(json_item(root, 2)), "b\"");
  size_t n;
  cr_assert_str_eq(json_string(json_get(root, "b\""), &n), "\xf0\x9f\x98\x80\t\xc3\xa9");
  cr_assert_eq(n, 7);
  json_free(d);
}

Test(json, integers_are_exact) {
  struct json_doc *d =
      parse("[0, 9007199254740992, 9007199254740991, 1.0, 1e3, -1, -0, 0.5]");
  uint64_t x = 1;
  cr_assert(json_u64(json_item(json_root(d), 0), &x) && x == 0);
  cr_assert(json_u64(json_item(json_root(d), 1), &x) && x == 9007199254740992u);
  cr_assert(json_u64(json_item(json_root(d), 2), &x) && x == 9007199254740991u);
  for (uint32_t i = 3; i < 8; i++) {
    cr_assert_not(json_u64(json_item(json_root(d), i), &x), "item %u", i);
  }
  json_free(d);
}

Test(json, every_value_has_its_range) {
  const char *text = "{\"k\": [1, [22, {\"z\": \"q\"}], 333], \"m\": true}";
  struct json_doc *d = parse(text);
  const struct json *root = json_root(d), *k = json_get(root, "k");
  const struct json *z = json_get(json_item(json_item(k, 1), 1), "z");
  const struct json *all[] = {json_item(k, 2), z, json_get(root, "m")};
  const char *expect[] = {"333", "\"q\"", "true"};
  for (int i = 0; i < 3; i++) {
    struct json_range r = json_range(all[i]);
    cr_assert_eq(r.end - r.at, strlen(expect[i]));
    cr_assert(strncmp(text + r.at, expect[i], r.end - r.at) == 0);
  }
  cr_assert_eq(text[json_range(z).key + 1], 'z');
  json_free(d);
}

Test(json, depth_is_bounded) {
  char text[2 * JSON_MAX_DEPTH + 4] = {0};
  memset(text, '[', JSON_MAX_DEPTH);
  memset(text + JSON_MAX_DEPTH, ']', JSON_MAX_DEPTH);
  json_free(parse(text));
  char wide[3 * JSON_MAX_DEPTH + 8] = "[[]"; // many groups beside each other are not deep
  for (int i = 0; i < JSON_MAX_DEPTH; i++) {
    strcat(wide, ",{}");
  }
  json_free(parse(strcat(wide, "]")));
  size_t n = 10u << 20;
  char *deep = malloc(n);
  memset(deep, '[', n);
  struct json_error err;
  cr_assert_null(json_parse(deep, n, &err));
  cr_assert_str_eq(err.text, "nested more than 64 deep");
  cr_assert_eq(err.at, JSON_MAX_DEPTH);
  free(deep);
}

// 100,000 keys with long common prefixes, the last one given twice. A quadratic search would take minutes.
Test(json, finds_a_duplicate_among_many, .timeout = 60) {
  enum { N = 100000, EACH = 64 };
  char *text = malloc((size_t)N * EACH + 16), *p = text;
  *p++ = '{';
  for (int i = 0; i < N; i++) {
    p += snprintf(p, EACH, "\"transformer.layers.weight.number.%d\": %d,\n", i, i);
  }
  p += sprintf(p, "\"transformer.layers.weight.number.77777\": 1}");
  struct json_error err;
  cr_assert_null(json_parse(text, (size_t)(p - text), &err));
  cr_assert_str_eq(err.text, "duplicate key `transformer.layers.weight.number.77777`");
  cr_assert_eq(err.line, N + 1);
  free(text);
}

// Text of a random value; `seed` advances.
static char *write_random(char *p, uint64_t *seed, int depth) {
  unsigned pick = (unsigned)random_below(seed, depth > 0 ? 6 : 4);
  if (pick == 0) {
    return p + sprintf(p, "%llu", (unsigned long long)(random_u64(seed) >> 11));
  }
  if (pick == 1) {
    return p + sprintf(p, "\"s%llx\\u00e9\\n\"", (unsigned long long)*seed);
  }
  if (pick < 4) {
    return p + sprintf(p, "%s", pick == 2 ? "null" : "true");
  }
  unsigned n = (unsigned)random_below(seed, 5);
  *p++ = pick == 4 ? '[' : '{';
  for (unsigned i = 0; i < n; i++) {
    p += pick == 4 ? sprintf(p, "%s", i == 0 ? "" : ",")
                   : sprintf(p, "%s\"k%u\" : ", i == 0 ? "" : ",", i);
    p = write_random(p, seed, depth - 1);
  }
  *p++ = pick == 4 ? ']' : '}';
  return p;
}

// Every proper prefix of a valid text is refused.
Test(json, random_texts_parse_and_their_prefixes_do_not) {
  uint64_t seed = 42;
  char *text = malloc(1 << 18);
  for (int round = 0; round < 200; round++) {
    char *end = write_random(text + 1, &seed, 5);
    text[0] = '[';
    *end++ = ']';
    size_t n = (size_t)(end - text);
    struct json_error err;
    struct json_doc *d = json_parse(text, n, &err);
    cr_assert_not_null(d, "%.*s: %s", (int)n, text, err.text);
    json_free(d);
    for (size_t cut = 0; cut < n && n < 400; cut++) {
      cr_assert_null(json_parse(text, cut, &err), "%.*s", (int)cut, text);
    }
  }
  free(text);
}
