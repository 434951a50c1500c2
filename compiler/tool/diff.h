// A difference of two texts for a person.
#ifndef STEPC_TOOL_DIFF_H
#define STEPC_TOOL_DIFF_H

#include "base/str.h"

// One unified hunk from the first to the last line that differs, with three lines of context; a long hunk is cut
// and says so. `name` heads it.
struct str text_diff(struct arena *a, struct str name, struct str old,
                     struct str new_text);

#endif
