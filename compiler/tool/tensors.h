// The tensors of a session by name: for digests, files and comparisons.
#ifndef STEPC_TOOL_TENSORS_H
#define STEPC_TOOL_TENSORS_H

#include "tool/session.h"

struct tensor { // a parameter, or a state as PARAMETER/STATE
  struct str name;
  const void *data;
  enum storage storage;
  struct shape shape;
  uint64_t numel;
};
struct tensors {
  VEC(struct tensor) v;
  struct str unread; // the first that could not be brought to the host; empty: none
};

// Parameters that have values, then (with `states`) device states; sorted by name, bytewise. What lies on a GPU is
// copied onto the tool's arena; EXIT_ENVIRONMENT, said, where that fails.
enum exit_code session_tensors(struct session *s, bool params, bool states,
                               struct tensors *out);
// Shape of a state of class `c` of a parameter of shape `s`.
struct shape state_shape(enum cls c, const struct shape *s);

// A state's name may meet a parameter's ("a" with state "b", and a parameter "a/b"): true, and said.
bool session_names_collide(struct tool *t, const struct job *job);

// `sha256  NAME` lines over little-endian bytes with all NaNs made equal; then `count N  NAME` and
// `host VALUE  NAME/STATE` lines, sorted alike.
enum exit_code digest_text(struct session *s, struct str *out);
// Do two tensors hold the same bits, all NaNs being one value? The first element that differs, else numel.
uint64_t tensor_differs(const struct tensor *a, const struct tensor *b);

// Writes tensors as safetensors. EXIT_ENVIRONMENT, said, when it failed.
enum exit_code tensors_write(struct tool *t, const struct tensors *v, const char *path);

#endif
