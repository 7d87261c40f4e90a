/* operation_call.h - the glue that calls a submission's entry point; linked into the runner, knows
 * no oracle.
 *
 * The file common/operations/<operation>_call.c defines operation_call for one operation; the
 * runner is linked with the one that the lab needs (conv_forward_call.c,
 * conv_forward_host_call.c). */
#ifndef CONVLAB_OPERATIONS_OPERATION_CALL_H
#define CONVLAB_OPERATIONS_OPERATION_CALL_H

/* Calls the entry point once: `problem` is the operation's struct, `tensor` its pointers (device
 * pointers, or host pointers for a host lab), `stream` a cudaStream_t or NULL. */
void operation_call(const void *problem, void *const *tensor, void *stream);

#endif
