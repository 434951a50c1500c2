// Golden files: committed expected texts.
#ifndef TESTS_SUPPORT_GOLDEN_H
#define TESTS_SUPPORT_GOLDEN_H

#include "base/str.h"

// Compares `actual` with the file at `path`, byte for byte. With UPDATE_GOLDEN=1 in the environment the file is
// rewritten instead, unless CI=true. A missing file is a failure. Returns "" when they agree, else what to tell.
struct str golden_compare(struct arena *a, const char *path, struct str actual);

// The whole file; false when it cannot be read.
bool golden_read(struct arena *a, const char *path, struct str *text);
// Names in `folder` that end in `suffix`, sorted.
uint32_t golden_list(struct arena *a, const char *folder, const char *suffix,
                     struct str **names);

#endif
