// Diagnostics: source texts, spans, and messages as data.
//
// Every message of the compiler stands once, in diags.def, with a stable code. Reporting records; nothing is
// printed here but by `diag_render`. An error does not stop the caller: the node it concerns becomes poison
// and stays silent.
#ifndef STEPC_BASE_DIAG_H
#define STEPC_BASE_DIAG_H

#include "base/str.h"

// Byte range [begin, end) of one source; `file` indexes `struct sources`. file == NO_FILE: no place to show.
struct span {
  uint32_t file, begin, end;
};
#define NO_FILE UINT32_MAX
#define NO_SPAN ((struct span){NO_FILE, 0, 0})
struct span span_join(struct span a,
                      struct span b); // from a's begin to b's end; of one file

struct source {
  struct str path;   // as it is shown
  struct str text;   // NUL-terminated after its end, without BOM
  uint32_t *line_at; // byte offset of each line's first byte; line_at[0] = 0
  uint32_t n_lines;
};

struct sources {
  struct arena *arena;
  VEC(struct source) file;
};

uint32_t source_add(struct sources *s, struct str path,
                    struct str text); // returns its file index
// 1-based line and column (in bytes) of an offset.
void source_locate(const struct source *s, uint32_t at, uint32_t *line, uint32_t *col);

enum severity { SEV_WARNING, SEV_ERROR };

enum diag_code {
#define DIAG_ERROR(code, name, text)   code,
#define DIAG_WARNING(code, name, text) code,
#include "base/diags.def"
#undef DIAG_ERROR
#undef DIAG_WARNING
  N_DIAG_CODES
};

struct diag_info {
  const char *code; // "E0203"; "W0401"
  const char *name; // warnings: what follows -W and -Wno-; errors: a name for tests
  const char *text; // `{}` stands for the next argument
  enum severity severity;
};
const struct diag_info *diag_info(enum diag_code code);
bool diag_find(struct str code, enum diag_code *out); // "E0203" or "unused-state"

struct diag_extra { // a note at another place, or a help without one
  struct span span;
  struct str text;
  bool is_help;
};

struct diag {
  enum diag_code code;
  enum severity severity;
  struct span span;
  struct str text; // formatted, arguments escaped
  VEC(struct diag_extra) extra;
};

struct diags {
  struct arena *arena;
  struct sources *sources;
  VEC(struct diag *) list; // in order of report; sorted by place when rendered
  uint32_t n_errors, n_warnings;
  uint32_t n_repeated;  // errors not recorded because they were already
  uint32_t error_limit; // errors kept; 20 by default. Past it they are counted, not kept
  bool warnings_are_errors;
  bool muted[N_DIAG_CODES]; // -Wno-name
};

void diags_init(struct diags *d, struct arena *a, struct sources *s);

// Records one message; the same code at the same span with the same text is recorded once. NULL when it was
// dropped. Arguments are escaped before they are put into the text.
struct diag *diag_report(struct diags *d, struct span at, enum diag_code code,
                         const struct str *args, uint32_t n_args);
// The same for arguments that are safe to show already, such as the runtime's messages, which hold escaped names.
struct diag *diag_report_safe(struct diags *d, struct span at, enum diag_code code,
                              const struct str *args, uint32_t n_args);
#define DIAG(d, at, code, ...)                                                           \
  diag_report((d), (at), (code), (struct str[]){__VA_ARGS__},                            \
              (uint32_t)(sizeof((struct str[]){__VA_ARGS__}) / sizeof(struct str)))
#define DIAG0(d, at, code) diag_report((d), (at), (code), NULL, 0)
// Attach to a message; `to` may be NULL (dropped).
void diag_note(struct diags *d, struct diag *to, struct span at, struct str text);
void diag_help(struct diags *d, struct diag *to, struct str text);
// "did you mean `x`?" for the nearest of `n` candidates, when one is near; ties go to the first.
void diag_suggest(struct diags *d, struct diag *to, struct str wrong,
                  const struct str *candidates, uint32_t n);

enum diag_format { DIAG_TEXT, DIAG_JSON, DIAG_SARIF, DIAG_GITHUB };
// All recorded messages, sorted by file, place and report order, then "N errors, M warnings" (text form only).
// `color` adds ANSI colours to the text form.
struct str diag_render(const struct diags *d, enum diag_format format, bool color,
                       struct arena *a);

// The long text of `stepc explain CODE`: what it means, a wrong and a right example (whole spec files, tested).
struct explanation {
  enum diag_code code;
  const char *text, *wrong, *right;
};
const struct explanation *
diag_explain(enum diag_code code); // never NULL: every code has one

#endif
