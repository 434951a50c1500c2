// Text files that tests read and compare with. Paths are relative to tests/data.
#ifndef TESTS_GOLDEN_H
#define TESTS_GOLDEN_H

#include "base/str.h"

// The whole file on the arena; fails the test when it cannot be read.
struct str golden_read(struct arena *a, const char *path);
// Names of the files in a folder that end in `suffix`, sorted.
struct str *golden_list(struct arena *a, const char *folder, const char *suffix,
                        uint32_t *n);
// Fails the test, showing the first line that differs, unless the file holds exactly `actual`. With UPDATE_GOLDEN=1
// the file is written instead; with CI=true that is refused.
void golden_check(struct arena *a, const char *path, struct str actual);

#endif
