/* runner.c - main of the sandboxed program: calls the submission's entry point at the request of
 * `device`.
 *
 * This code shares a process with untrusted code, so nothing trusts its output.  Its reports on
 * guard bands and inputs of host labs only improve messages. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "autograder/session/protocol.h"
#include "common/operations/calls/operation_call.h"
#include "common/cuda/runtime/runtime.h"
#include "common/cuda/wire.h"

enum { EXIT_WIRE = 90, EXIT_MEMORY = 91 };

/* ---- host labs: tensors in this process, between guard bands -------------------------------- */

static void host_call(int fd, const CallRequest *request, const float *floats)
{
    GuardedTensors tensors;
    Error error;
    CallReturn answer = {.damage = DAMAGE_NONE};
    WirePiece piece[1 + OPERATION_TENSORS] = {{&answer, sizeof answer}};
    const float *input[OPERATION_TENSORS] = {NULL};
    void *pointer[OPERATION_TENSORS];
    int pieces = 1;
    if (guarded_open(&tensors, NULL, request->tensors, request->role, request->count, NULL,
                     GUARD_BAND_FLOATS, &error))
        _exit(EXIT_MEMORY);
    for (uint32_t i = 0; i < request->tensors; i++) {
        pointer[i] = (void *)(uintptr_t)tensors.address[i];
        if (request->role[i] == TENSOR_INPUT) {
            input[i] = floats;
            floats += request->count[i];
        } else {
            piece[pieces++] = (WirePiece){pointer[i], request->count[i] * sizeof(float)};
        }
    }
    guarded_fill(&tensors, input, &error);
    operation_call(request->operation, request->problem.data, pointer, NULL);
    guarded_check(&tensors, input, NULL, &answer.damage, &error);
    int rc = wire_send(fd, FRAME_RETURN, piece, pieces, NULL);
    guarded_close(&tensors);
    if (rc) _exit(EXIT_WIRE);
}

/* ---- device labs -------------------------------------------------------------------------- */

static void device_call(int fd, const CallRequest *request)
{
    CallReturn answer = {.damage = DAMAGE_NONE};
    WirePiece piece = {&answer, sizeof answer};
    void *pointer[OPERATION_TENSORS];
    for (uint32_t i = 0; i < request->tensors; i++)
        pointer[i] = (void *)(uintptr_t)request->address[i];
    runtime_take_failure(answer.message, sizeof answer.message);
    runtime_take_habits();
    operation_call(request->operation, request->problem.data, pointer, runtime_given_stream());
    answer.habits = runtime_take_habits();
    answer.status = runtime_take_failure(answer.message, sizeof answer.message);
    if (wire_send(fd, FRAME_RETURN, &piece, 1, NULL)) _exit(EXIT_WIRE);
}

int main(void)
{
    runtime_set_device(device_open_wire(RUNNER_SOCKET));
    if (wire_send(RUNNER_SOCKET, FRAME_READY, NULL, 0, NULL)) _exit(EXIT_WIRE);
    for (;;) {
        FrameType type;
        void *body = NULL;
        uint64_t bytes;
        if (wire_receive(RUNNER_SOCKET, 0, &type, &body, &bytes, NULL)) _exit(0);
        if (type != FRAME_REQUEST || bytes < sizeof(CallRequest)) _exit(EXIT_WIRE);
        const CallRequest *request = body;
        if (request->host)
            host_call(RUNNER_SOCKET, request, (const float *)(request + 1));
        else
            device_call(RUNNER_SOCKET, request);
        free(body);
    }
}
