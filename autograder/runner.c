/* runner.c - main of the sandboxed program: calls the submission's entry point when `device` asks.
 *
 * Everything here runs beside untrusted code and is trusted by nobody.  What it says of guard bands
 * and inputs of host labs only makes messages better. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "autograder/session/protocol.h"
#include "common/conv/operation_call.h"
#include "common/conv/verdict.h"
#include "common/cuda/runtime/runtime.h"
#include "common/cuda/wire.h"

enum { EXIT_WIRE = 90, EXIT_MEMORY = 91, ALIGNMENT_FLOATS = 16 };

static void words_fill(float *data, uint64_t count, uint32_t word)
{
    for (uint64_t i = 0; i < count; i++)
        memcpy(data + i, &word, sizeof word);
}

/* The first float of `count` that is not `word`, or -1. */
static int64_t words_check(const float *data, uint64_t count, uint32_t word)
{
    for (uint64_t i = 0; i < count; i++)
        if (memcmp(data + i, &word, sizeof word)) return (int64_t)i;
    return -1;
}

/* ---- host labs: tensors of our own, between guard bands ----------------------------------- */

typedef struct HostTensors {
    float *block[OPERATION_TENSORS]; /* guard band, tensor, guard band */
    float *data[OPERATION_TENSORS];
} HostTensors;

static void tensors_free(HostTensors *tensors)
{
    for (int i = 0; i < OPERATION_TENSORS; i++)
        free(tensors->block[i]);
}

static void tensors_make(const CallRequest *request, const float *inputs, HostTensors *tensors)
{
    for (uint32_t i = 0; i < request->tensors; i++) {
        uint64_t count = request->count[i], all = count + 2 * GUARD_BAND_FLOATS;
        all += ALIGNMENT_FLOATS - all % ALIGNMENT_FLOATS;
        float *block = aligned_alloc(ALIGNMENT_FLOATS * sizeof(float), all * sizeof(float));
        if (!block) _exit(EXIT_MEMORY);
        words_fill(block, GUARD_BAND_FLOATS, GUARD_BAND_WORD);
        words_fill(block + GUARD_BAND_FLOATS + count, GUARD_BAND_FLOATS, GUARD_BAND_WORD);
        tensors->block[i] = block;
        tensors->data[i] = block + GUARD_BAND_FLOATS;
        if (request->role[i] == TENSOR_INPUT) {
            memcpy(tensors->data[i], inputs, count * sizeof(float));
            inputs += count;
        } else {
            words_fill(tensors->data[i], count, OUTPUT_POISON);
        }
    }
}

static void tensors_check(const CallRequest *request, const float *inputs,
                          const HostTensors *tensors, CallReturn *answer)
{
    for (uint32_t i = 0; i < request->tensors; i++) {
        uint64_t count = request->count[i];
        const float *after = tensors->data[i] + count;
        int64_t before = words_check(tensors->block[i], GUARD_BAND_FLOATS, GUARD_BAND_WORD);
        int64_t past = words_check(after, GUARD_BAND_FLOATS, GUARD_BAND_WORD);
        if (answer->band_tensor < 0 && (before >= 0 || past >= 0)) {
            answer->band_tensor = (int32_t)i;
            answer->band_offset = past >= 0 ? past : before - GUARD_BAND_FLOATS;
        }
        if (request->role[i] != TENSOR_INPUT) continue;
        if (answer->input_changed < 0 && memcmp(tensors->data[i], inputs, count * sizeof(float)))
            answer->input_changed = (int32_t)i;
        inputs += count;
    }
}

static void host_call(int fd, const CallRequest *request, const float *inputs)
{
    HostTensors tensors = {{NULL}, {NULL}};
    CallReturn answer = {.band_tensor = -1, .input_changed = -1};
    WirePiece piece[1 + OPERATION_TENSORS] = {{&answer, sizeof answer}};
    void *pointer[OPERATION_TENSORS];
    int pieces = 1;
    tensors_make(request, inputs, &tensors);
    for (uint32_t i = 0; i < request->tensors; i++)
        pointer[i] = tensors.data[i];
    operation_call(request->problem.data, pointer, NULL);
    tensors_check(request, inputs, &tensors, &answer);
    for (uint32_t i = 0; i < request->tensors; i++)
        if (request->role[i] == TENSOR_OUTPUT)
            piece[pieces++] = (WirePiece){tensors.data[i], request->count[i] * sizeof(float)};
    int rc = wire_send(fd, FRAME_RETURN, piece, pieces, NULL);
    tensors_free(&tensors);
    if (rc) _exit(EXIT_WIRE);
}

/* ---- device labs -------------------------------------------------------------------------- */

static void device_call(int fd, const CallRequest *request)
{
    CallReturn answer = {.band_tensor = -1, .input_changed = -1};
    WirePiece piece = {&answer, sizeof answer};
    void *pointer[OPERATION_TENSORS];
    for (uint32_t i = 0; i < request->tensors; i++)
        pointer[i] = (void *)(uintptr_t)request->address[i];
    runtime_take_failure(answer.message, sizeof answer.message);
    operation_call(request->problem.data, pointer, NULL);
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
