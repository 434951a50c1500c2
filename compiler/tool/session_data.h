// The parameters and gradients of a session: on the host each by itself, on a GPU side by side in one block a role.
#ifndef STEPC_TOOL_SESSION_DATA_H
#define STEPC_TOOL_SESSION_DATA_H

#include "tool/session.h"

// A parameter's values or gradient as they rest; 0 bytes where it has none.
enum storage tensor_storage_of(const struct model_param *p, enum data_role role);
uint64_t tensor_bytes(const struct model_param *p, enum data_role role);
// Of all parameters of a model.
uint64_t tensors_bytes(const struct model *m, enum data_role role);
// By parameter, on the session's device; NULL where there is none.
void **session_tensors_at(const struct session *s, enum data_role role);
const char *role_name(enum data_role role); // "parameters"

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
