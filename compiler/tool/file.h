// Texts in and out: standard input, and files that are written as a whole or not at all.
#ifndef STEPC_TOOL_FILE_H
#define STEPC_TOOL_FILE_H

#include "base/str.h"

// Reads standard input to its end, 64 MB at most. False: `why` says why not.
bool file_read_stdin(struct arena *a, struct str *text, struct str *why);
// Reads a regular file of at most 1 GiB: plans of many parameters are long. False: `why` says why not.
bool file_read(struct arena *a, struct str path, struct str *text, struct str *why);
// Replaces PATH (a link's target, keeping its permissions) through a temporary file beside it that is synced and
// renamed; on failure the temporary is removed, what stood there stays and `why` says what happened.
bool file_replace(struct arena *a, struct str path, struct str text, struct str *why);
// Can a file PATH be made or replaced? Asked before any work is done, and answered by making one beside it.
bool file_can_write(struct arena *a, struct str path, struct str *why);
// Do two paths name one file, which may not be there yet? Folders that cannot be read hold no same file.
bool file_is_same(struct arena *a, const char *x, const char *y);
// Makes the folder unless it is there; its parent must exist.
bool file_make_folder(struct arena *a, struct str path, struct str *why);

#endif
