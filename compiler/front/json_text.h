// JSON files of the compiler's inputs: read, registered as a source, parsed, with spans for messages.
#ifndef STEPC_FRONT_JSON_TEXT_H
#define STEPC_FRONT_JSON_TEXT_H

#include "file/json.h"
#include "front/ast.h"

struct json_text {
  uint32_t file; // index of the source
  struct json_doc *doc;
};
// Reads a regular file of at most 100 MB. False: reported as E0001 or E0501. The caller frees t->doc.
bool json_text_open(struct front *f, struct str path, struct json_text *t);
// The same for a text in memory.
bool json_text_parse(struct front *f, struct str path, struct str text,
                     struct json_text *t);

// The value's place; of an object or array its first byte, so that a span never covers lines.
struct span json_span(uint32_t file, const struct json *v);
struct span json_key_span(const struct sources *s, uint32_t file, const struct json *v);
struct str json_str(const struct json *v); // of a string; a view into the document

#endif
