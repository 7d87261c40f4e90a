/* device_serve.c - one call of an entry point: the request, the runner's CUDA calls, its answer. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "autograder/session/device_parts.h"
#include "common/cuda/wire.h"

void reply_set(ControlReply *reply, RunStatus status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reply->message, sizeof reply->message, format, arguments);
    va_end(arguments);
    reply->status = status;
}

/* Reports why no frame was received: the socket is closed, or the frame is malformed. */
static void reply_wire(ControlReply *reply, int fd, const Error *error)
{
    char byte;
    ssize_t got = recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    int gone = got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
    reply_set(reply, gone ? RUN_EXITED : RUN_PROTOCOL, "%s", error->text);
}

void serve_ready(Slot *slot, ControlReply *reply)
{
    FrameType type;
    void *body = NULL;
    uint64_t bytes;
    Error error;
    if (slot->ready) return;
    if (wire_receive(slot->socket, 0, &type, &body, &bytes, &error)) {
        reply_wire(reply, slot->socket, &error);
        return;
    }
    free(body);
    if (type == FRAME_READY && bytes == 0)
        slot->ready = 1;
    else
        reply_set(reply, RUN_PROTOCOL, "a frame of type %d before any request", (int)type);
}

/* ---- device labs -------------------------------------------------------------------------- */

/* Queries, for which a negative answer is not a failure. */
static int is_question(uint32_t kind)
{
    return kind == CALL_OCCUPANCY || kind == CALL_FUNCTION_ATTRIBUTE || kind == CALL_POINTER ||
           kind == CALL_STREAM_QUERY || kind == CALL_EVENT_QUERY || kind == CALL_MEM_INFO;
}

/* Keeps the first failure and the first finding; later ones are mostly consequences. */
static void answer_note(uint32_t kind, const DeviceReply *answer, ControlReply *reply)
{
    const char *text = answer->message[0] ? answer->message : device_status_text(answer->status);
    if (device_status_sticky(answer->status)) reply->device_lost = 1;
    if (answer->status == DEVICE_SUCCESS) {
        if (!answer->message[0]) return;
        if (!reply->findings++ && reply->status == RUN_OK)
            snprintf(reply->message, sizeof reply->message, "%s", answer->message);
        return;
    }
    if (answer->status == DEVICE_NOT_READY || is_question(kind) || reply->status != RUN_OK) return;
    reply->cuda_status = answer->status;
    reply_set(reply, RUN_DEVICE_ERROR, "%s: %s", device_status_name(answer->status), text);
}

/* Above the capacity of a recording, because queries and allocations are added.  A loop of queries
 * costs this process more than the runner, whose CPU time grade meters. */
enum { CALLS_MAX = 2 * RECORDING_CALLS };

/* One FRAME_CALL.  -1 with the reply set at the end of the conversation. */
static int call_serve(Slot *slot, Device *recorder, const void *body, uint64_t bytes,
                      ControlReply *reply)
{
    DeviceCall call;
    DeviceReply answer = {0};
    Error error;
    if (++slot->calls > CALLS_MAX) {
        reply_set(reply, RUN_LIMIT,
                  "more than %d CUDA calls were made in one call: possibly a loop around them does "
                  "not end",
                  CALLS_MAX);
        return -1;
    }
    if (wire_decode_call(body, bytes, &call, &error)) {
        reply_set(reply, RUN_PROTOCOL, "%s", error.text);
        return -1;
    }
    if (gatekeeper_execute(slot->gatekeeper, recorder, &call, &answer)) {
        reply_set(reply, RUN_BROKEN, "the engine is gone");
        reply->device_lost = 1;
        return -1;
    }
    answer_note(call.kind, &answer, reply);
    if (answer.status == DEVICE_LAUNCH_TIMEOUT) return -1; /* else it would launch forever */
    if (wire_send_reply(slot->socket, &answer, &error)) {
        if (reply->status == RUN_OK) reply_wire(reply, slot->socket, &error);
        return -1;
    }
    return 0;
}

/* The runner's own report is used only if the device saw no error. */
static void return_note(const void *body, uint64_t bytes, ControlReply *reply)
{
    CallReturn answer;
    if (bytes != sizeof answer) {
        reply_set(reply, RUN_PROTOCOL, "an answer of %llu bytes", (unsigned long long)bytes);
        return;
    }
    memcpy(&answer, body, sizeof answer);
    answer.message[sizeof answer.message - 1] = 0;
    reply->habits = answer.habits;
    if (!answer.status || answer.status == DEVICE_NOT_READY || reply->status != RUN_OK) return;
    reply->cuda_status = answer.status;
    reply_set(reply, RUN_DEVICE_ERROR, "%s: %s", device_status_name(answer.status),
              answer.message[0] ? answer.message : device_status_text(answer.status));
}

static void conversation(DeviceProcess *process, Slot *slot, Device *recorder, ControlReply *reply)
{
    WirePiece piece = {&process->call, sizeof process->call};
    Error error;
    if (wire_send(slot->socket, FRAME_REQUEST, &piece, 1, &error)) {
        reply_wire(reply, slot->socket, &error);
        return;
    }
    for (int over = 0; !over;) {
        FrameType type;
        void *body = NULL;
        uint64_t bytes;
        if (wire_receive(slot->socket, 0, &type, &body, &bytes, &error)) {
            /* A failed kernel explains why the runner gave up afterwards. */
            if (reply->status == RUN_OK) reply_wire(reply, slot->socket, &error);
            return;
        }
        if (type == FRAME_CALL) {
            over = call_serve(slot, recorder, body, bytes, reply);
        } else {
            if (type == FRAME_RETURN)
                return_note(body, bytes, reply);
            else
                reply_set(reply, RUN_PROTOCOL, "a frame of type %d", (int)type);
            over = 1;
        }
        free(body);
    }
}

/* Waits for the work on all streams, so that it is counted and asynchronous errors are reported. */
static void device_settle(DeviceProcess *process, ControlReply *reply)
{
    DeviceCall call = {.kind = CALL_SYNC};
    DeviceReply answer = {0};
    if (process->engine->execute(process->engine, &call, &answer)) {
        reply_set(reply, RUN_BROKEN, "the engine is gone");
        reply->device_lost = 1;
        return;
    }
    answer_note(CALL_SYNC, &answer, reply);
    if (process->engine->take_cost) process->engine->take_cost(process->engine, &reply->cost);
}

const float *const *serve_inputs(const DeviceProcess *process)
{
    static const float *const none[OPERATION_TENSORS];
    return process->given ? (const float *const *)process->shared.input : none;
}

void recording_drop(DeviceProcess *process, Slot *slot)
{
    recording_clear(&slot->recording, process->engine);
    if (slot->gatekeeper) gatekeeper_settle(slot->gatekeeper);
    slot->recorded = 0;
}

void serve_device(DeviceProcess *process, Slot *slot, ControlReply *reply)
{
    DeviceCost before;
    recording_drop(process, slot);
    slot->calls = 0;
    Device *recorder = recorder_open(process->engine, &slot->recording);
    if (!recorder) {
        reply_set(reply, RUN_BROKEN, "the device process is out of memory");
        return;
    }
    if (process->engine->take_cost) process->engine->take_cost(process->engine, &before);
    conversation(process, slot, recorder, reply);
    if (!(reply->status == RUN_BROKEN)) device_settle(process, reply);
    recorder->close(recorder);
    slot->recorded = reply->status == RUN_OK;
}

/* ---- host labs ---------------------------------------------------------------------------- */

static void host_answer(DeviceProcess *process, const void *body, uint64_t bytes,
                        ControlReply *reply)
{
    CallReturn answer;
    uint64_t floats = call_floats(&process->call, TENSOR_OUTPUT);
    if (bytes != sizeof answer + floats * sizeof(float)) {
        reply_set(reply, RUN_PROTOCOL, "an answer of %llu bytes", (unsigned long long)bytes);
        return;
    }
    memcpy(&answer, body, sizeof answer);
    memcpy(process->shared.output, (const char *)body + sizeof answer, floats * sizeof(float));
    reply->damage = answer.damage;
}

void serve_host(DeviceProcess *process, Slot *slot, ControlReply *reply)
{
    WirePiece piece[1 + OPERATION_TENSORS] = {{&process->call, sizeof process->call}};
    int pieces = 1;
    FrameType type;
    void *body = NULL;
    uint64_t bytes;
    Error error;
    for (uint32_t i = 0; i < process->call.tensors; i++)
        if (process->call.role[i] == TENSOR_INPUT)
            piece[pieces++] =
                (WirePiece){process->shared.input[i], process->call.count[i] * sizeof(float)};
    double start = wire_now();
    if (wire_send(slot->socket, FRAME_REQUEST, piece, pieces, &error) ||
        wire_receive(slot->socket, 0, &type, &body, &bytes, &error)) {
        reply_wire(reply, slot->socket, &error);
        return;
    }
    reply->cost.seconds = wire_now() - start;
    if (type == FRAME_RETURN)
        host_answer(process, body, bytes, reply);
    else
        reply_set(reply, RUN_PROTOCOL, "%s",
                  type == FRAME_CALL ? "a CUDA call in a host lab" : "an odd frame");
    free(body);
}
