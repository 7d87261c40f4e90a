/* protocol.h - frames between grade and device, and between device and runner, beside the DeviceCalls of wire.h. */
#ifndef CONVLAB_AUTOGRADER_PROTOCOL_H
#define CONVLAB_AUTOGRADER_PROTOCOL_H

#include <stdint.h>

#include "common/conv/operation.h"

/* device -> runner, FRAME_REQUEST: call the entry point once.  For host labs the inputs' floats follow, tensor by tensor, and the
 * FRAME_RETURN that answers carries the outputs' floats: so neither inputs early nor outputs late can dodge the clock. */
typedef struct CallRequest {
    Problem problem;
    uint32_t host, tensors;
    uint32_t role[OPERATION_TENSORS];
    uint64_t count[OPERATION_TENSORS];      /* floats */
    uint64_t address[OPERATION_TENSORS];    /* device addresses; 0 for host labs */
} CallRequest;

#endif
