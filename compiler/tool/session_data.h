// The parameters and gradients of a session: on the host each by itself, on a GPU side by side in one block a role.
#ifndef STEPC_TOOL_SESSION_DATA_H
#define STEPC_TOOL_SESSION_DATA_H

#include "tool/session.h"

// Bytes of all parameters or gradients of a model.
uint64_t tensors_bytes(const struct model *m, enum data_role role);

// Where every tensor will lie; allocates nothing but the tables, on the tool's arena.
void session_data_layout(struct session *s);
// Bytes of host memory that open takes, after layout.
uint64_t session_data_bytes(const struct session *s);
// What is wrong was said.
enum exit_code session_data_open(struct session *s);
// Calls `fn` with the bytes of each parameter, in the order of the model; they stay for the call.
typedef void (*bytes_fn)(void *ctx, const void *at, uint64_t bytes);
enum exit_code session_read_params(struct session *s, bytes_fn fn, void *ctx);
void session_data_close(struct session *s); // accepts what never opened

#endif
