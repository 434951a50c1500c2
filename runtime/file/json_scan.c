// RFC 8259 by recursive descent over bytes, with the limits that json.h states. Linear in the text; the stack is
// bounded by JSON_MAX_DEPTH.
#include "file/json_scan.h"

#include "file/json_token.h"

#include <stdlib.h>
#include <string.h>

struct scan {
  struct json_cursor c;
  uint32_t depth;
  struct json_marks *marks;
};

static void skip_space(struct json_cursor *s) {
  while (s->at < s->n && strchr(" \t\r\n", s->text[s->at]) != NULL &&
         s->text[s->at] != '\0') {
    s->at++;
  }
}

static bool scan_value(struct scan *s, uint32_t key);

// member = string ":" value
static bool scan_member(struct scan *s) {
  uint32_t key = s->c.at;
  if (!json_string_token(&s->c)) {
    return false;
  }
  skip_space(&s->c);
  if (!json_accept(&s->c, ':')) {
    return json_fail_expected(&s->c, "`:`");
  }
  skip_space(&s->c);
  return scan_value(s, key);
}

// object = "{" [ member { "," member } ] "}"   array = "[" [ value { "," value } ] "]"
static bool scan_group(struct scan *s, bool is_object) {
  char close = is_object ? '}' : ']';
  if (++s->depth > JSON_MAX_DEPTH) {
    return json_fail_at(&s->c, s->c.at, "nested more than 64 deep");
  }
  s->c.at++;
  skip_space(&s->c);
  if (!json_accept(&s->c, close)) {
    do {
      skip_space(&s->c);
      if (!(is_object ? scan_member(s) : scan_value(s, s->c.at))) {
        return false;
      }
      skip_space(&s->c);
    } while (json_accept(&s->c, ','));
    if (!json_accept(&s->c, close)) {
      return json_fail_expected(&s->c, is_object ? "`,` or `}`" : "`,` or `]`");
    }
  }
  s->depth--;
  return true;
}

static bool scan_word(struct scan *s, const char *word) {
  size_t n = strlen(word);
  if (s->c.n - s->c.at < n || memcmp(s->c.text + s->c.at, word, n) != 0) {
    return json_fail_expected(&s->c, "a value");
  }
  s->c.at += (uint32_t)n;
  return true;
}

static bool push_mark(struct scan *s, uint32_t key) {
  struct json_marks *m = s->marks;
  if (m->n == JSON_MAX_VALUES) {
    return json_fail_at(&s->c, s->c.at, "more than 2^24 values");
  }
  if (m->n == m->cap) {
    uint32_t cap = m->cap == 0 ? 64 : m->cap * 2;
    struct json_mark *v = realloc(m->v, cap * sizeof *v);
    if (v == NULL) {
      (void)json_fail_at(&s->c, s->c.at, "out of memory");
      s->c.err->no_memory = true;
      return false;
    }
    m->v = v;
    m->cap = cap;
  }
  m->v[m->n++] = (struct json_mark){.key = key, .at = s->c.at};
  return true;
}

static bool scan_value(struct scan *s, uint32_t key) {
  uint32_t mine = s->marks->n;
  if (!push_mark(s, key)) {
    return false;
  }
  bool ok, is_uint = false;
  char next = json_peek(&s->c);
  switch (next) {
  case '{': ok = scan_group(s, true); break;
  case '[': ok = scan_group(s, false); break;
  case '"': ok = json_string_token(&s->c); break;
  case 't': ok = scan_word(s, "true"); break;
  case 'f': ok = scan_word(s, "false"); break;
  case 'n': ok = scan_word(s, "null"); break;
  default:
    ok = next == '-' || (next >= '0' && next <= '9')
             ? json_number_token(&s->c, &is_uint)
             : json_fail_expected(&s->c, "a value");
    break;
  }
  if (ok) {
    struct json_mark *m = &s->marks->v[mine];
    m->end = s->c.at;
    m->subtree = s->marks->n - mine;
    m->is_uint = is_uint;
  }
  return ok;
}

static bool scan_document(struct scan *s) {
  if (s->c.n >= 3 && memcmp(s->c.text, "\xef\xbb\xbf", 3) == 0) {
    return json_fail_at(&s->c, 0, "JSON starts with no byte order mark");
  }
  skip_space(&s->c);
  if (!scan_value(s, s->c.at)) {
    return false;
  }
  skip_space(&s->c);
  return s->c.at == s->c.n || json_fail_expected(&s->c, "the end of the text");
}

bool json_scan(const char *text, size_t n, struct json_marks *out,
               struct json_error *err) {
  *out = (struct json_marks){0};
  if (n > UINT32_MAX) {
    json_fail(err, text, 0, "the text is longer than 4 GiB");
    return false;
  }
  struct scan s = {.c = {text, (uint32_t)n, 0, err}, .marks = out};
  if (!scan_document(&s)) {
    free(out->v);
    *out = (struct json_marks){0};
    return false;
  }
  return true;
}
