/* device.c - the trusted process that owns the engine: memory, kernels, recordings, clocks.
 *
 * It takes one request after another from grade and ends when grade does. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "autograder/session/device_parts.h"
#include "common/cuda/gpu/gpu_device.h"
#include "common/cuda/sim/sim_device.h"
#include "common/cuda/wire.h"

/* A runner's allocations: enough for any lab's scratch, little enough that the simulator's host
 * survives. */
#define RUNNER_BYTES_SIM (2ull << 30)

static void slot_close(House *house, Slot *slot)
{
    if (slot->socket < 0) return;
    recording_clear(&slot->recording, house->engine);
    guard_close(slot->guard, house->engine);
    close(slot->socket);
    *slot = (Slot){.socket = -1};
}

/* ---- requests ----------------------------------------------------------------------------- */

static void engine_open(House *house, const ControlRequest *request, ControlReply *reply)
{
    Error error = {""};
    SimDeviceOptions options = {.machine = request->machine,
                                .gpus_directory = request->gpus_directory,
                                .threads = request->threads,
                                .checks = request->checks};
    house->engine = strcmp(request->engine, "gpu") ? device_open_sim(&options, &error)
                                                   : device_open_gpu(0, &error);
    if (!house->engine) {
        reply_set(reply, CONTROL_FAILED, "%s", error.text);
        return;
    }
    DeviceCall call = {.kind = CALL_PROPERTIES};
    DeviceReply answer = {0};
    if (house->engine->execute(house->engine, &call, &answer) || answer.status ||
        answer.data_bytes != sizeof house->properties) {
        reply_set(reply, CONTROL_FAILED, "the engine does not tell its properties");
        return;
    }
    memcpy(&house->properties, answer.data, sizeof house->properties);
    reply->properties = house->properties;
}

/* One descriptor, sent beside one byte. */
static int descriptor_receive(int fd)
{
    char byte;
    struct iovec part = {&byte, 1};
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))];
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof control};
    if (recvmsg(fd, &message, MSG_CMSG_CLOEXEC) != 1) return -1;
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    int got;
    if (!header || header->cmsg_type != SCM_RIGHTS || header->cmsg_len != CMSG_LEN(sizeof got))
        return -1;
    memcpy(&got, CMSG_DATA(header), sizeof got);
    return got;
}

static void runner_attach(House *house, Slot *slot, ControlReply *reply)
{
    slot_close(house, slot);
    uint64_t bytes =
        house->properties.engine[0] == 'g' ? house->properties.memory_bytes / 4 : RUNNER_BYTES_SIM;
    Guard *guard = guard_open(bytes);
    int socket = descriptor_receive(DEVICE_DESCRIPTORS);
    if (!guard || socket < 0) {
        free(guard);
        if (socket >= 0) close(socket);
        reply_set(reply, CONTROL_FAILED, "the runner's socket did not arrive");
        return;
    }
    *slot = (Slot){.socket = socket, .guard = guard};
}

static void problem_set(House *house, const ControlRequest *request, ControlReply *reply)
{
    Error error = {""};
    for (int i = 0; i < SESSION_RUNNERS; i++)
        slot_close(house, &house->slot[i]);
    tensors_free(&house->tensors, house->engine);
    free(house->output);
    house->call = request->call;
    uint32_t fence = house->properties.engine[0] == 'g' ? VERIFY_FENCE_FLOATS : 0;
    if (tensors_allocate(&house->tensors, house->engine, &house->call, fence, &error))
        reply_set(reply, CONTROL_FAILED, "the problem's tensors: %s", error.text);
    house->output = malloc(tensors_floats(&house->tensors, TENSOR_OUTPUT) * sizeof(float) + 1);
    if (!house->output) reply_set(reply, CONTROL_FAILED, "the device process is out of memory");
    for (uint32_t i = 0; i < house->tensors.count; i++)
        house->call.address[i] = house->tensors.address[i];
}

/* What is common to a call and a replay: inputs in, the run, outputs out. */
static void problem_run(House *house, const ControlRequest *request, Slot *slot,
                        ControlReply *reply)
{
    int host = (int)house->call.host, call = request->kind == CONTROL_CALL;
    Error error = {""};
    if (slot->socket < 0 || !house->output) {
        reply_set(reply, CONTROL_FAILED, "no runner or no problem");
        return;
    }
    serve_ready(slot, request->deadline, reply);
    if (reply->status != CONTROL_OK) return;
    if (!host && call && tensors_prepare(&house->tensors, house->engine, 1, &error)) {
        reply_set(reply, CONTROL_FAILED, "preparing the tensors: %s", error.text);
        return;
    }
    if (host)
        replay_host(house, slot, call ? 1 : request->repeats, request->deadline, reply);
    else if (call)
        serve_device(house, slot, request->deadline, reply);
    else
        replay_device(house, slot, request->repeats, reply);
    if (reply->status != CONTROL_OK || host) return;
    if (tensors_check(&house->tensors, house->engine, house->output, reply, &error))
        reply_set(reply, CONTROL_FAILED, "reading the results: %s", error.text);
}

/* ---- the loop ----------------------------------------------------------------------------- */

static void request_answer(House *house, const ControlRequest *request, ControlReply *reply)
{
    if (request->slot >= SESSION_RUNNERS || (!house->engine && request->kind != CONTROL_OPEN)) {
        reply_set(reply, CONTROL_FAILED, "a request out of order");
        return;
    }
    Slot *slot = &house->slot[request->slot];
    switch (request->kind) {
    case CONTROL_OPEN:
        engine_open(house, request, reply);
        break;
    case CONTROL_ATTACH:
        runner_attach(house, slot, reply);
        break;
    case CONTROL_DETACH:
        slot_close(house, slot);
        break;
    case CONTROL_PROBLEM:
        problem_set(house, request, reply);
        break;
    case CONTROL_CALL:
    case CONTROL_REPLAY:
        problem_run(house, request, slot, reply);
        break;
    default:
        reply_set(reply, CONTROL_FAILED, "an unknown request");
    }
}

/* Takes over body. */
static int request_serve(House *house, void *body, uint64_t bytes)
{
    ControlRequest request;
    ControlReply reply = {.fence_tensor = -1, .input_changed = -1};
    WirePiece piece[2] = {{&reply, sizeof reply}};
    Error error = {""};
    if (bytes < sizeof request) {
        free(body);
        return -1;
    }
    memcpy(&request, body, sizeof request);
    int keeps =
        request.has_inputs && (request.kind == CONTROL_CALL || request.kind == CONTROL_REPLAY);
    if (keeps && tensors_take(&house->tensors, body, sizeof request, bytes, &error))
        reply_set(&reply, CONTROL_FAILED, "%s", error.text);
    if (!keeps) free(body);
    if (reply.status == CONTROL_OK) request_answer(house, &request, &reply);
    if ((request.kind == CONTROL_CALL || request.kind == CONTROL_REPLAY) &&
        reply.status == CONTROL_OK)
        reply.output_count = tensors_floats(&house->tensors, TENSOR_OUTPUT);
    piece[1] = (WirePiece){house->output, reply.output_count * sizeof(float)};
    return wire_send(DEVICE_CONTROL, FRAME_RETURN, piece, 2, NULL);
}

int main(void)
{
    House *house = calloc(1, sizeof *house);
    if (!house) return 1;
    for (int i = 0; i < SESSION_RUNNERS; i++)
        house->slot[i].socket = -1;
    for (;;) {
        FrameType type;
        void *body = NULL;
        uint64_t bytes;
        if (wire_receive(DEVICE_CONTROL, 0, &type, &body, &bytes, NULL)) break; /* grade is gone */
        if (type != FRAME_REQUEST || request_serve(house, body, bytes)) break;
    }
    if (house->engine && house->engine->close) house->engine->close(house->engine);
    free(house->output);
    free(house->tensors.body);
    free(house);
    return 0;
}
