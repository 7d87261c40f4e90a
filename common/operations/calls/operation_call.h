/* operation_call.h - calls of a submission's entry points.
 *
 * Module: <entry>.c says how one entry point is called, and which operation that is; operation_call
 * finds the one of a name among them.
 * Callers: runner and run, which are linked with those that the lab needs (pool_forward.c,
 * conv_forward_host.c).
 * May use: the headers of labs and of the toolkit, no oracle: it is in the untrusted process. */
#ifndef CONVLAB_OPERATIONS_CALLS_OPERATION_CALL_H
#define CONVLAB_OPERATIONS_CALLS_OPERATION_CALL_H

/* Calls the entry point once: `problem` is the operation's struct, `tensor` its pointers (device
 * pointers, or host pointers in a host lab), `stream` a cudaStream_t or NULL. */
typedef void EntryCall(const void *problem, void *const *tensor, void *stream);

typedef struct OperationEntry {
    const char *operation; /* Operation.name */
    EntryCall *call;
} OperationEntry;

/* The single definition in an <entry>.c.  The linker collects all of them in a table. */
#define OPERATION_ENTRY(name, function)                                                            \
    static const OperationEntry entry                                                              \
        __attribute__((used, section("operation_entries"))) = {name, function}

/* Calls the entry point of `operation`, which is linked, because the lab's build and its problems
 * come from the same lab.ini. */
void operation_call(const char *operation, const void *problem, void *const *tensor, void *stream);

#endif
