/* device.c - the trusted process that owns the engine: memory, kernels, recordings, clocks.
 *
 * It executes one request of grade after another and ends when grade ends. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "autograder/session/device_parts.h"
#include "common/cuda/gpu/gpu_device.h"
#include "common/cuda/sim/sim_device.h"
#include "common/cuda/wire.h"

/* Limit of a runner's allocations: enough for any lab's scratch memory, and harmless for the
 * simulator's host. */
#define RUNNER_BYTES_SIM (2ull << 30)

static void slot_close(DeviceProcess *process, Slot *slot)
{
    if (slot->socket < 0) return;
    recording_clear(&slot->recording, process->engine);
    gatekeeper_close(slot->gatekeeper, process->engine);
    close(slot->socket);
    *slot = (Slot){.socket = -1};
}

/* ---- requests ----------------------------------------------------------------------------- */

static int engine_start(DeviceProcess *process, Error *error)
{
    const ControlRequest *opening = &process->opening;
    SimDeviceOptions options = {.machine = opening->machine,
                                .gpus_directory = opening->gpus_directory,
                                .threads = opening->threads,
                                .checks = opening->checks,
                                .warp_sync = opening->warp_sync,
                                .untrusted = 1,
                                .instruction_limit = process->instructions};
    process->engine = opening->engine == ENGINE_SIM ? device_open_sim(&options, error)
                                                    : device_open_gpu(0, error);
    return process->engine ? 0 : -1;
}

/* A simulated GPU is reset for every problem: the sets of its L1 depend on the address, so
 * allocations for earlier problems would change a kernel's cycles. */
static int engine_renew(DeviceProcess *process, Error *error)
{
    if (process->opening.engine != ENGINE_SIM) return 0;
    process->engine->close(process->engine);
    return engine_start(process, error);
}

static void engine_open(DeviceProcess *process, const ControlRequest *request, ControlReply *reply)
{
    Error error = {""};
    process->opening = *request;
    if (engine_start(process, &error)) {
        reply_set(reply, RUN_BROKEN, "%s", error.text);
        return;
    }
    DeviceCall call = {.kind = CALL_PROPERTIES};
    DeviceReply answer = {0};
    if (process->engine->execute(process->engine, &call, &answer) || answer.status ||
        answer.data_bytes != sizeof process->properties) {
        reply_set(reply, RUN_BROKEN, "the engine does not report its properties");
        return;
    }
    memcpy(&process->properties, answer.data, sizeof process->properties);
    reply->properties = process->properties;
}

/* Receives one descriptor, sent with one byte. */
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

static void runner_attach(DeviceProcess *process, Slot *slot, const char *code, ControlReply *reply)
{
    slot_close(process, slot);
    uint64_t bytes = process->properties.engine == ENGINE_GPU ? process->properties.memory_bytes / 4
                                                              : RUNNER_BYTES_SIM;
    Gatekeeper *gatekeeper = gatekeeper_open(bytes, code);
    int socket = descriptor_receive(DEVICE_DESCRIPTORS);
    if (!gatekeeper || socket < 0) {
        free(gatekeeper);
        if (socket >= 0) close(socket);
        reply_set(reply, RUN_BROKEN, "the runner's socket did not arrive");
        return;
    }
    *slot = (Slot){.socket = socket, .gatekeeper = gatekeeper};
}

static void problem_set(DeviceProcess *process, const ControlRequest *request, ControlReply *reply)
{
    Error error = {""};
    int next = request->kind == CONTROL_NEXT, tensors = descriptor_receive(DEVICE_DESCRIPTORS);
    for (int i = 0; i < SESSION_RUNNERS; i++)
        if (next)
            recording_drop(process, &process->slot[i]);
        else
            slot_close(process, &process->slot[i]);
    guarded_close(&process->tensors);
    shared_close(&process->shared);
    process->given = 0;
    process->instructions = request->instructions;
    if (shared_attach(&process->shared, tensors, &request->call, &error) ||
        (!next && engine_renew(process, &error))) {
        reply_set(reply, RUN_BROKEN, "%s", error.text);
        return;
    }
    process->call = request->call;
    CallRequest *call = &process->call;
    if (call->host) return;
    uint32_t band = process->properties.engine == ENGINE_GPU ? GUARD_BAND_FLOATS : 0;
    if (guarded_open(&process->tensors, process->engine, call->tensors, call->role, call->count,
                     request->name, band, &error))
        reply_set(reply, RUN_BROKEN, "the problem's tensors: %s", error.text);
    memcpy(call->address, process->tensors.address, sizeof call->address);
}

/* The run itself, after the preparation. */
static void slot_run(DeviceProcess *process, const ControlRequest *request, Slot *slot,
                     ControlReply *reply)
{
    double start = wire_now();
    int call = request->kind == CONTROL_CALL;
    if (process->engine->study) process->engine->study(process->engine, request->study);
    if (process->call.host && call)
        serve_host(process, slot, reply);
    else if (process->call.host)
        reply_set(reply, RUN_NOT_RECORDED, "a lab on the host has no recording");
    else if (call)
        serve_device(process, slot, reply);
    else
        replay_device(process, slot, request->repeats, reply);
    reply->spent.run = wire_now() - start;
    if (!call) reply->spent.run -= reply->spent.upload;
}

/* Common part of a call and a replay: inputs, the run, outputs. */
static void problem_run(DeviceProcess *process, const ControlRequest *request, Slot *slot,
                        ControlReply *reply)
{
    int host = (int)process->call.host;
    Error error = {""};
    process->given |= request->has_inputs != 0;
    if (slot->socket < 0 || !process->shared.memory) {
        reply_set(reply, RUN_BROKEN, "no runner or no problem");
        return;
    }
    serve_ready(slot, reply);
    if (reply->status != RUN_OK) return;
    double start = wire_now();
    if (!host && request->kind == CONTROL_CALL &&
        guarded_fill(&process->tensors, serve_inputs(process), &error)) {
        reply_set(reply, RUN_BROKEN, "preparing the tensors: %s", error.text);
        return;
    }
    reply->spent.upload = wire_now() - start;
    slot_run(process, request, slot, reply);
    if (reply->status != RUN_OK || host || request->unseen) return;
    start = wire_now();
    if (guarded_check(&process->tensors, serve_inputs(process), process->shared.output,
                      &reply->damage, &error))
        reply_set(reply, RUN_BROKEN, "reading the results: %s", error.text);
    reply->spent.download = wire_now() - start;
}

/* ---- the loop ----------------------------------------------------------------------------- */

static void request_answer(DeviceProcess *process, const ControlRequest *request,
                           ControlReply *reply)
{
    if (request->slot >= SESSION_RUNNERS || request->study > DEVICE_STUDIED ||
        (!process->engine && request->kind != CONTROL_OPEN)) {
        reply_set(reply, RUN_BROKEN, "a request out of order");
        return;
    }
    Slot *slot = &process->slot[request->slot];
    switch (request->kind) {
    case CONTROL_OPEN:
        engine_open(process, request, reply);
        break;
    case CONTROL_ATTACH:
        runner_attach(process, slot, request->code, reply);
        break;
    case CONTROL_PROBLEM:
    case CONTROL_NEXT:
        problem_set(process, request, reply);
        break;
    case CONTROL_DETACH:
        serve_ready(slot, reply);
        if (reply->status == RUN_OK) slot_close(process, slot);
        break;
    case CONTROL_CALL:
    case CONTROL_REPLAY:
        problem_run(process, request, slot, reply);
        break;
    default:
        reply_set(reply, RUN_BROKEN, "an unknown request");
    }
}

static int request_serve(DeviceProcess *process, const void *body, uint64_t bytes)
{
    ControlRequest request;
    ControlReply reply = {.damage = DAMAGE_NONE};
    WirePiece piece = {&reply, sizeof reply};
    if (bytes != sizeof request) return -1;
    memcpy(&request, body, sizeof request);
    request_answer(process, &request, &reply);
    return wire_send(DEVICE_CONTROL, FRAME_RETURN, &piece, 1, NULL);
}

int main(void)
{
    DeviceProcess *process = calloc(1, sizeof *process);
    if (!process) return 1;
    process->shared.fd = -1;
    for (int i = 0; i < SESSION_RUNNERS; i++)
        process->slot[i].socket = -1;
    for (;;) {
        FrameType type;
        void *body = NULL;
        uint64_t bytes;
        if (wire_receive(DEVICE_CONTROL, 0, &type, &body, &bytes, NULL))
            break; /* grade has
                                                                                 * ended */
        int over = type != FRAME_REQUEST || request_serve(process, body, bytes);
        free(body);
        if (over) break;
    }
    if (process->engine && process->engine->close) process->engine->close(process->engine);
    shared_close(&process->shared);
    free(process);
    return 0;
}
