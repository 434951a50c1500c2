// The renderers' shared parts, also for the library's interface, which hands messages out as data.
#ifndef STEPC_BASE_DIAG_RENDER_H
#define STEPC_BASE_DIAG_RENDER_H

#include "base/diag.h"

// A span as people count: 1-based lines and columns in bytes; the end is exclusive.
struct place {
  struct str path;
  uint32_t line, col, end_line, end_col;
};
bool diag_place(const struct diags *d, struct span at,
                struct place *out); // false: no place
// The recorded messages by file, place and order of report; d->list.n of them.
struct diag **diags_sorted(const struct diags *d, struct arena *a);
const char *diag_severity_text(enum severity s); // "error"

// `list` is sorted. Each appends to `out`.
void diag_render_text(const struct diags *d, struct diag *const *list, uint32_t n,
                      bool color, struct buf *out);
void diag_render_json(const struct diags *d, struct diag *const *list, uint32_t n,
                      struct buf *out);
void diag_render_sarif(const struct diags *d, struct diag *const *list, uint32_t n,
                       struct buf *out);
void diag_render_github(const struct diags *d, struct diag *const *list, uint32_t n,
                        struct buf *out);

#endif
