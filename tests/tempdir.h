// A folder for one test's files.
#ifndef TESTS_TEMPDIR_H
#define TESTS_TEMPDIR_H

#include <stddef.h>

struct tempdir {
  char path[64];
};
struct tempdir tempdir_new(void);
void tempdir_remove(const struct tempdir *d); // with everything in it
// "<folder>/<name>" in `out`, which has 400 bytes; returns it.
char *tempdir_join(const struct tempdir *d, const char *name, char out[400]);
void tempdir_write(const struct tempdir *d, const char *name, const void *bytes,
                   size_t n);
// Entries of the folder.
int tempdir_count(const struct tempdir *d);

#endif
