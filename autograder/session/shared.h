/* shared.h - a problem's floats in memory that grade and device share: inputs that grade puts
 * there, outputs that device does.  Hundreds of megabytes need not cross a socket so.
 *
 * Both are trusted.  A runner never holds the descriptor: it is closed on exec, and passed to
 * nobody else. */
#ifndef CONVLAB_AUTOGRADER_SESSION_SHARED_H
#define CONVLAB_AUTOGRADER_SESSION_SHARED_H

#include "autograder/session/protocol.h"

typedef struct SharedTensors {
    int fd; /* -1: device's side, or closed */
    void *memory;
    size_t bytes;
    float *input[OPERATION_TENSORS]; /* NULL for an output */
    float *output;                   /* all outputs, one after the other */
} SharedTensors;

/* Floats of all the call's tensors of that role. */
uint64_t call_floats(const CallRequest *call, TensorRole role);

/* Makes memory for the call's tensors, or takes what an earlier call had where that is enough: new
 * pages cost ten times what writing them does.  `shared->fd`, -1 at first, may be sent to the
 * device process.  -1 with error and nothing left. */
int shared_open(SharedTensors *shared, const CallRequest *call, Error *error);
/* The other side: maps what `fd` stands for, and closes it.  -1 with error also where that is
 * smaller than the call's tensors. */
int shared_attach(SharedTensors *shared, int fd, const CallRequest *call, Error *error);
void shared_close(SharedTensors *shared);

#endif
