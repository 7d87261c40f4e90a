/* shared.h - a problem's floats in memory shared by grade and device: grade stores inputs, device
 * stores outputs.  This avoids sending hundreds of megabytes through a socket.
 *
 * Both processes are trusted.  A runner never has the descriptor: it is closed on exec and sent to
 * no other process. */
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

/* Number of floats of all the call's tensors with that role. */
uint64_t call_floats(const CallRequest *call, TensorRole role);

/* Allocates memory for the call's tensors, or reuses an earlier call's if that is large enough,
 * because new pages cost ten times as much as writing to present ones.  `shared->fd`, -1 at first,
 * may be sent to the device process.  -1 with error and nothing allocated. */
int shared_open(SharedTensors *shared, const CallRequest *call, Error *error);
/* The other side: maps the memory of `fd` and closes it.  -1 with error also if it is smaller than
 * the call's tensors. */
int shared_attach(SharedTensors *shared, int fd, const CallRequest *call, Error *error);
void shared_close(SharedTensors *shared);

#endif
