// Numbers of a spec. Private to the lexer.
#ifndef STEPC_FRONT_LEX_NUMBER_H
#define STEPC_FRONT_LEX_NUMBER_H

#include "base/str.h"

// Bytes of the number that `p`, terminated, begins with; 0 where it begins with none, or with one that letters or
// a point follow.
size_t number_scan(const char *p, bool *is_int);
// Bytes of what stands there instead, for a message.
size_t number_scan_wrong(const char *p);
// The value of a number that was scanned; false: it is infinite, an integer past 2^53, or so small that it became 0.
bool number_value(struct str text, bool is_int, double *x);

#endif
