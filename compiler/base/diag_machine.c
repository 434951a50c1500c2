// Messages for machines: JSON lines, SARIF 2.1.0 (OASIS standard, 2020), GitHub workflow commands.
#include "base/diag_render.h"

// ---- JSON: one object a line

static void put_place_fields(struct buf *out, const struct place *pl) {
  buf_puts(out, "\"path\":");
  buf_json(out, pl->path);
  buf_printf(out, ",\"line\":%u,\"col\":%u,\"end_line\":%u,\"end_col\":%u", pl->line,
             pl->col, pl->end_line, pl->end_col);
}

static void put_notes(const struct diags *d, const struct diag *g, struct buf *out) {
  const char *comma = "";
  for (uint32_t i = 0; i < g->extra.n; i++) {
    const struct diag_extra *e = &g->extra.v[i];
    struct place pl;
    buf_printf(out, "%s{\"kind\":\"%s\",", comma, e->is_help ? "help" : "note");
    if (diag_place(d, e->span, &pl)) {
      put_place_fields(out, &pl);
      buf_char(out, ',');
    }
    buf_puts(out, "\"message\":");
    buf_json(out, e->text);
    buf_char(out, '}');
    comma = ",";
  }
}

void diag_render_json(const struct diags *d, struct diag *const *list, uint32_t n,
                      struct buf *out) {
  for (uint32_t i = 0; i < n; i++) {
    const struct diag *g = list[i];
    const struct diag_info *info = diag_info(g->code);
    struct place pl;
    buf_char(out, '{');
    if (diag_place(d, g->span, &pl)) {
      put_place_fields(out, &pl);
      buf_char(out, ',');
    }
    buf_printf(out, "\"severity\":\"%s\",\"code\":\"%s\",\"name\":\"%s\",\"message\":",
               diag_severity_text(g->severity), info->code, info->name);
    buf_json(out, g->text);
    buf_puts(out, ",\"notes\":[");
    put_notes(d, g, out);
    buf_puts(out, "]}\n");
  }
}

// ---- SARIF

// A path as a relative or file URI: everything but unreserved characters and `/` is percent-encoded (RFC 3986).
static struct str path_uri(struct arena *a, struct str path) {
  struct buf b = buf_new(a);
  buf_puts(&b, str_starts(path, "/") ? "file://" : "");
  for (size_t i = 0; i < path.n; i++) {
    char c = path.p[i];
    bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                    (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' ||
                    c == '~' || c == '/';
    buf_printf(&b, is_plain ? "%c" : "%%%02X", (unsigned char)c);
  }
  return buf_done(&b);
}

// Columns in code points, as the run's columnKind says: `col` counts bytes.
static uint32_t code_point_col(const struct source *s, uint32_t line, uint32_t col) {
  uint32_t n = 1;
  for (uint32_t i = s->line_at[line - 1]; i < s->line_at[line - 1] + col - 1; i++) {
    n += ((unsigned char)s->text.p[i] & 0xc0) != 0x80;
  }
  return n;
}

static void put_location(const struct diags *d, struct span at, const struct place *pl,
                         struct buf *out) {
  const struct source *s = &d->sources->file.v[at.file];
  buf_puts(out, "\"physicalLocation\":{\"artifactLocation\":{\"uri\":");
  buf_json(out, path_uri(out->arena, pl->path));
  buf_printf(out,
             "},\"region\":{\"startLine\":%u,\"startColumn\":%u,\"endLine\":%u,"
             "\"endColumn\":%u}}",
             pl->line, code_point_col(s, pl->line, pl->col), pl->end_line,
             code_point_col(s, pl->end_line, pl->end_col));
}

static void put_related(const struct diags *d, const struct diag *g, struct buf *out) {
  const char *before = ",\"relatedLocations\":[";
  for (uint32_t i = 0; i < g->extra.n; i++) {
    struct place pl;
    if (diag_place(d, g->extra.v[i].span, &pl)) {
      buf_printf(out, "%s{", before);
      put_location(d, g->extra.v[i].span, &pl, out);
      buf_puts(out, ",\"message\":{\"text\":");
      buf_json(out, g->extra.v[i].text);
      buf_puts(out, "}}");
      before = ",";
    }
  }
  buf_puts(out, before[1] == '\0' ? "]" : "");
}

static void put_result(const struct diags *d, const struct diag *g, struct buf *out) {
  struct buf text = buf_new(out->arena);
  buf_str(&text, g->text);
  for (uint32_t i = 0; i < g->extra.n; i++) {
    if (g->extra.v[i].is_help) {
      buf_puts(&text, "; ");
      buf_str(&text, g->extra.v[i].text);
    }
  }
  buf_printf(out, "{\"ruleId\":\"%s\",\"level\":\"%s\",\"message\":{\"text\":",
             diag_info(g->code)->code, diag_severity_text(g->severity));
  buf_json(out, buf_done(&text));
  buf_char(out, '}');
  struct place pl;
  if (diag_place(d, g->span, &pl)) {
    buf_puts(out, ",\"locations\":[{");
    put_location(d, g->span, &pl, out);
    buf_puts(out, "}]");
  }
  put_related(d, g, out);
  buf_char(out, '}');
}

static void put_rules(struct diag *const *list, uint32_t n, struct buf *out) {
  bool used[N_DIAG_CODES] = {false};
  for (uint32_t i = 0; i < n; i++) {
    used[list[i]->code] = true;
  }
  const char *comma = "";
  for (uint32_t c = 0; c < N_DIAG_CODES; c++) {
    if (used[c]) {
      const struct diag_info *info = diag_info((enum diag_code)c);
      buf_printf(out, "%s{\"id\":\"%s\",\"name\":\"%s\"}", comma, info->code, info->name);
      comma = ",";
    }
  }
}

void diag_render_sarif(const struct diags *d, struct diag *const *list, uint32_t n,
                       struct buf *out) {
  buf_puts(out,
           "{\"$schema\":\"https://json.schemastore.org/sarif-2.1.0.json\","
           "\"version\":\"2.1.0\",\"runs\":[{\"tool\":{\"driver\":{\"name\":\"stepc\","
           "\"rules\":[");
  put_rules(list, n, out);
  buf_puts(out, "]}},\"columnKind\":\"unicodeCodePoints\",\"results\":[");
  for (uint32_t i = 0; i < n; i++) {
    buf_puts(out, i == 0 ? "\n" : ",\n");
    put_result(d, list[i], out);
  }
  buf_puts(out, "\n]}]}\n");
}

// ---- GitHub: https://docs.github.com/actions, "workflow commands": % and newlines are escaped, in properties
// `:` and `,` as well.

static void put_github(struct buf *out, struct str s, bool is_property) {
  for (size_t i = 0; i < s.n; i++) {
    char c = s.p[i];
    if (c == '%' || c == '\r' || c == '\n' || (is_property && (c == ':' || c == ','))) {
      buf_printf(out, "%%%02X", (unsigned char)c);
    } else {
      buf_char(out, c);
    }
  }
}

void diag_render_github(const struct diags *d, struct diag *const *list, uint32_t n,
                        struct buf *out) {
  for (uint32_t i = 0; i < n; i++) {
    const struct diag *g = list[i];
    struct place pl;
    buf_printf(out, "::%s ", diag_severity_text(g->severity));
    if (diag_place(d, g->span, &pl)) {
      buf_puts(out, "file=");
      put_github(out, pl.path, true);
      buf_printf(out, ",line=%u,col=%u,", pl.line, pl.col);
    }
    buf_printf(out, "title=%s::", diag_info(g->code)->code);
    put_github(out, g->text, false);
    for (uint32_t k = 0; k < g->extra.n; k++) {
      put_github(out, g->extra.v[k].is_help ? STR("\nhelp: ") : STR("\nnote: "), false);
      put_github(out, g->extra.v[k].text, false);
    }
    buf_char(out, '\n');
  }
}
