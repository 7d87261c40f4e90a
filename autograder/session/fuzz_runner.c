/* fuzz_runner.c - libFuzzer target for a malicious runner: the input is a script of messages, from
 * which a second thread talks to the device process' side of the protocol.
 *
 * A message takes 16 bytes.  Most are legal: CUDA calls with handles and addresses of earlier
 * replies, and answers of the right size.  Others are mutated or come in an illegal order: frames
 * for the other direction, a second start, wrong sizes, a changed call, a wrong header, half a
 * frame.  After each answer the recording is replayed.  The engine is plain memory;
 * common/cuda/sim/fuzz_calls.c tries the simulated one.  Every status is accepted; no other memory
 * may be read or written, and every conversation ends. */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "autograder/session/device_parts.h"
#include "common/cuda/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { EACH = 16, REQUESTS = 3, INPUT = 64, OUTPUT = 96, MEMORY = 1 << 20, WIRE_CALL = 88 };

static const char PTX[] = ".version 7.0";

/* ---- an engine of plain memory ------------------------------------------------------------ */

enum { BASE = 1 << 20 };

typedef struct Engine {
    Device device;
    uint32_t handles;
    uint64_t used;
    unsigned char memory[MEMORY];
} Engine;

/* NULL: not all of it is in the engine's memory. */
static unsigned char *place(Engine *engine, uint64_t address, uint64_t bytes)
{
    if (address < BASE || address - BASE > MEMORY || bytes > MEMORY - (address - BASE)) return NULL;
    return engine->memory + (address - BASE);
}

static void memory_call(Engine *engine, const DeviceCall *call, DeviceReply *reply)
{
    int reads = call->kind == CALL_COPY_TO_HOST;
    uint64_t bytes = call->kind == CALL_COPY_TO_DEVICE ? call->data_bytes : call->bytes;
    unsigned char *at = place(engine, reads ? call->src : call->dst, bytes);
    if (!at)
        reply->status = DEVICE_ILLEGAL_ADDRESS;
    else if (reads)
        reply->data = at, reply->data_bytes = bytes;
    else if (call->kind == CALL_FILL)
        memset(at, (int)call->value, bytes);
    else if (bytes)
        memcpy(at, call->data, bytes);
}

static int engine_execute(Device *device, const DeviceCall *call, DeviceReply *reply)
{
    static FunctionInfo info;
    Engine *engine = (Engine *)device;
    memset(reply, 0, sizeof *reply);
    switch (call->kind) {
    case CALL_ALLOC:
        if (call->bytes > MEMORY - engine->used) return device_fail(reply, 2, "full");
        reply->value[0] = BASE + engine->used;
        engine->used += (call->bytes + 255) / 256 * 256;
        if (engine->used > MEMORY) engine->used = MEMORY;
        return 0;
    case CALL_COPY_TO_DEVICE:
    case CALL_COPY_TO_HOST:
    case CALL_FILL:
        memory_call(engine, call, reply);
        return 0;
    case CALL_MODULE_FUNCTION:
        reply->data = &info, reply->data_bytes = sizeof info;
        reply->value[0] = ++engine->handles;
        return 0;
    case CALL_MODULE_LOAD:
    case CALL_STREAM_CREATE:
    case CALL_EVENT_CREATE:
        reply->value[0] = ++engine->handles;
        return 0;
    default:
        return 0;
    }
}

static int engine_poison(Device *device, uint64_t address, uint64_t bytes, uint32_t word,
                         Error *error)
{
    unsigned char *at = place((Engine *)device, address, bytes);
    if (!at) return error_set(error, "outside");
    for (uint64_t i = 0; i < bytes / sizeof word; i++)
        memcpy(at + i * sizeof word, &word, sizeof word);
    return 0;
}

/* Reads all that was recorded. */
static int engine_replay(Device *device, Recording *recording, int repeats, DeviceCost *cost,
                         Error *error)
{
    DeviceReply reply;
    size_t *before = calloc(recording->count + 1, sizeof *before);
    (void)repeats, (void)error;
    for (size_t i = 0; before && i < recording->count; i++)
        if (recording_is_node(&recording->call[i])) {
            recording_edges(recording, i, before);
            engine_execute(device, &recording->call[i], &reply);
        }
    free(before);
    memset(cost, 0, sizeof *cost);
    return 0;
}

/* ---- the runner ------------------------------------------------------------------------------ */

typedef struct Runner {
    int fd, host;
    const uint8_t *data;
    size_t size;
    uint64_t address[4], room[64]; /* the last addresses; the data of a call */
    uint32_t handle[4];            /* the last handles */
    unsigned next;
    Device *wire;
} Runner;

static DeviceCall call_make(Runner *runner, const uint8_t *b)
{
    static const uint64_t size[] = {0, 1, 4, 64, 256, 512, 4096, MEMORY, 1ull << 40, UINT64_MAX};
    static const char *const name[] = {"k", "table", "", "none"};
    uint64_t at = runner->address[b[2] & 3] + (b[2] > 200 ? b[2] : 0);
    DeviceCall call = {.kind = b[1] % CALL_KINDS,
                       .stream = b[3] & 8 ? runner->handle[b[3] & 3] : 0,
                       .event = runner->handle[b[4] & 3] + (b[4] > 240),
                       .event2 = runner->handle[b[5] & 3],
                       .module = runner->handle[b[6] & 3],
                       .function = runner->handle[b[7] & 3],
                       .value = b[8] < 128 ? b[8] & 3 : b[8],
                       .grid = {b[9] % 5, 1, 1},
                       .block = {b[10] % 80, 1 + b[10] / 220u, 1},
                       .shared_bytes = b[11] * 8u,
                       .dst = at,
                       .src = runner->address[b[12] & 3],
                       .bytes = size[b[13] % 10],
                       .data = runner->room,
                       .data_bytes = b[14] % sizeof runner->room};
    runner->room[0] = at, runner->room[1] = b[15];
    if (call.kind == CALL_MODULE_LOAD && b[14] < 250) call.data = PTX, call.data_bytes = sizeof PTX;
    if (call.kind == CALL_MODULE_FUNCTION || call.kind == CALL_MODULE_VARIABLE)
        call.data = name[b[14] & 3], call.data_bytes = strlen(name[b[14] & 3]) + (b[15] < 220);
    if (call.kind == CALL_LAUNCH && b[14] < 240) call.data_bytes = 12;
    return call;
}

static void legal_call(Runner *runner, const uint8_t *b)
{
    DeviceReply reply;
    DeviceCall call = call_make(runner, b);
    if (runner->wire->execute(runner->wire, &call, &reply) || reply.status) return;
    if (call.kind == CALL_ALLOC || call.kind == CALL_MODULE_VARIABLE)
        runner->address[runner->next++ % 4] = reply.value[0];
    else if (reply.value[0] && reply.value[0] < 1000)
        runner->handle[runner->next++ % 4] = (uint32_t)reply.value[0];
}

static void frame_send(const Runner *runner, FrameType type, const void *data, uint64_t bytes)
{
    WirePiece piece = {data, bytes};
    wire_send_until(runner->fd, wire_now() + 0.2, type, &piece, 1, NULL);
}

/* Reads the request for the next call.  There is none if the device process waits for a legal
 * message, for example for the start. */
static void request_read(Runner *runner)
{
    FrameType type;
    void *body;
    uint64_t bytes;
    if (wire_receive(runner->fd, wire_now() + 0.5, &type, &body, &bytes, NULL)) return;
    CallRequest request;
    if (type == FRAME_REQUEST && bytes >= sizeof request) {
        memcpy(&request, body, sizeof request);
        for (int i = 0; i < 3; i++)
            runner->address[i] = request.address[i];
    }
    free(body);
}

static void answer(Runner *runner, const uint8_t *b, int64_t difference)
{
    struct {
        CallReturn answer;
        float output[OUTPUT + 256];
    } message = {.answer = {.status = b[1] > 200 ? b[1] : 0, .habits = b[2]}};
    memset(message.answer.message, b[3], sizeof message.answer.message);
    memset(&message.answer.damage, b[4], sizeof message.answer.damage);
    int64_t bytes = (int64_t)sizeof message.answer + difference +
                    (runner->host ? OUTPUT * (int64_t)sizeof(float) : 0);
    frame_send(runner, FRAME_RETURN, &message, (uint64_t)bytes);
    if (!difference) request_read(runner);
}

/* A call's bytes with one of them changed. */
static void mutated_call(Runner *runner, const uint8_t *b)
{
    unsigned char body[WIRE_CALL + 64] = {0};
    uint64_t bytes = WIRE_CALL + b[6] % 64u;
    body[0] = b[1] % (CALL_KINDS + 1);
    body[80] = b[7] > 128 ? b[6] % 64u : b[7]; /* data_bytes */
    body[b[2] % sizeof body] ^= b[3];
    body[b[4] % WIRE_CALL] ^= b[5];
    frame_send(runner, FRAME_CALL, body, bytes);
}

static void raw_send(const Runner *runner, const uint8_t *b, size_t bytes)
{
    (void)!send(runner->fd, b, bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void message_send(Runner *runner, const uint8_t *b)
{
    switch (b[0] % 20) {
    case 12:
    case 13:
        answer(runner, b, 0);
        break;
    case 14:
        answer(runner, b, b[5] ? b[5] - 128 : 512);
        break;
    case 15:
        frame_send(runner, FRAME_READY, b, b[1] % EACH);
        break;
    case 16:
        frame_send(runner, b[1] & 1 ? FRAME_REQUEST : FRAME_REPLY, b, b[2] % EACH);
        break;
    case 17:
    case 18:
        mutated_call(runner, b);
        break;
    case 19:
        raw_send(runner, b + 1, b[1] % EACH);
        break;
    default:
        legal_call(runner, b);
    }
}

static void *runner_run(void *context)
{
    Runner *runner = context;
    if (runner->data[0] & 2 || runner->data[0] & 4) frame_send(runner, FRAME_READY, NULL, 0);
    request_read(runner);
    for (size_t at = 1; at + EACH <= runner->size; at += EACH)
        message_send(runner, runner->data + at);
    shutdown(runner->fd, SHUT_RDWR);
    return NULL;
}

/* ---- the device process ---------------------------------------------------------------------- */

static void process_open(DeviceProcess *process, int host)
{
    static const ArrayName name[OPERATION_TENSORS];
    Error error = {""};
    CallRequest *call = &process->call;
    *call = (CallRequest){.operation = "conv_forward",
                          .host = (uint32_t)host,
                          .tensors = 3,
                          .role = {TENSOR_INPUT, TENSOR_INPUT, TENSOR_OUTPUT},
                          .count = {INPUT, INPUT, OUTPUT}};
    process->shared.fd = -1;
    Engine *engine = calloc(1, sizeof *engine);
    if (!engine) abort();
    engine->device =
        (Device){.execute = engine_execute, .poison = engine_poison, .replay = engine_replay};
    process->engine = &engine->device;
    if (shared_open(&process->shared, call, &error)) abort();
    process->given = 1;
    memset(process->shared.memory, 0, process->shared.bytes);
    if (host) return;
    if (guarded_open(&process->tensors, process->engine, call->tensors, call->role, call->count,
                     name, 0, &error))
        abort();
    memcpy(call->address, process->tensors.address, sizeof call->address);
}

static void reply_check(const ControlReply *reply)
{
    if (!memchr(reply->message, 0, sizeof reply->message) || reply->status > RUN_BROKEN) abort();
}

/* One call and a replay of it; 0 if the next one can follow. */
static int request_serve(DeviceProcess *process, Slot *slot)
{
    ControlReply reply = {.damage = DAMAGE_NONE};
    Error error = {""};
    serve_ready(slot, &reply);
    if (reply.status == RUN_OK && process->call.host) {
        serve_host(process, slot, &reply);
    } else if (reply.status == RUN_OK) {
        if (guarded_fill(&process->tensors, serve_inputs(process), &error)) return -1;
        serve_device(process, slot, &reply);
        if (reply.status == RUN_OK) replay_device(process, slot, 1, &reply);
        if (reply.status == RUN_OK && guarded_check(&process->tensors, serve_inputs(process),
                                                    process->shared.output, &reply.damage, &error))
            return -1;
    }
    reply_check(&reply);
    return reply.status == RUN_OK ? 0 : -1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int fd[2];
    pthread_t thread;
    if (!size || socketpair(AF_UNIX, SOCK_STREAM, 0, fd)) return 0;
    Runner runner = {.fd = fd[0], .host = data[0] & 1, .data = data, .size = size};
    DeviceProcess *process = calloc(1, sizeof *process);
    runner.wire = device_open_wire(fd[0]);
    if (!process || !runner.wire) abort();
    process_open(process, runner.host);
    Slot *slot = &process->slot[0];
    *slot = (Slot){.socket = fd[1], .gatekeeper = gatekeeper_open(MEMORY, "")};
    if (!slot->gatekeeper || pthread_create(&thread, NULL, runner_run, &runner)) abort();
    for (int i = 0; i < REQUESTS && !request_serve(process, slot); i++)
        continue;
    shutdown(fd[1], SHUT_RDWR);
    pthread_join(thread, NULL);
    runner.wire->close(runner.wire);
    recording_clear(&slot->recording, process->engine);
    gatekeeper_close(slot->gatekeeper, process->engine);
    close(fd[1]);
    guarded_close(&process->tensors);
    shared_close(&process->shared);
    free(process->engine);
    free(process);
    return 0;
}
