// A session's tensors on a GPU: what the host's copies of parameters and gradients stand for there.
#ifndef STEPC_TOOL_SESSION_GPU_H
#define STEPC_TOOL_SESSION_GPU_H

#include "tool/session.h"

bool session_is_gpu(const struct steprt_program *program);
// Makes room for all tensors on device 0, sets s->at_param and s->at_grad, and brings the parameters there. What is
// wrong is said.
enum exit_code session_gpu_open(struct session *s);
void session_gpu_close(struct session *s);
enum exit_code session_gpu_put_grads(struct session *s);
enum exit_code session_gpu_get_params(struct session *s); // after wait_all

#endif
