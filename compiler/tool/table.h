// Results for people and machines: tables, numbers with units, JSON strings.
#ifndef STEPC_TOOL_TABLE_H
#define STEPC_TOOL_TABLE_H

#include "base/str.h"

enum { TABLE_MAX_COLUMNS = 8 };
struct table {
  struct arena *arena;
  const char *columns;  // 'l' or 'r' per column: which side its cells lean to
  VEC(struct str) cell; // row by row
};

void table_row(struct table *t, const struct str *cells); // strlen(columns) of them
#define TABLE_ROW(t, ...) table_row((t), (struct str[]){__VA_ARGS__})
struct str table_text(const struct table *t);

// "124.4 M", "3.48 GB": three digits and a decimal prefix.
struct str text_count(struct arena *a, double n);
struct str text_bytes(struct arena *a, double n);
struct str text_binary(struct arena *a, double n);  // "14.5 GiB": what is allocated
struct str text_seconds(struct arena *a, double s); // "812 ms"

#endif
