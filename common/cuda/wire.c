/* Frames over a socket: header and parts of a body; deadlines by poll; all input is untrusted. */
#include "common/cuda/wire.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { WIRE_MAGIC = 0x574c4331, WIRE_PIECES = 8, WIRE_FIRST_BUFFER = 64 << 10 };

/* Both ends run on one machine and are built together, so numbers have the machine's byte order. */
typedef struct FrameHeader {
    uint32_t magic, type;
    uint64_t bytes;
} FrameHeader;

/* DeviceCall without its pointer, in fixed sizes; the data follows. */
typedef struct WireCall {
    uint32_t kind, stream, event, event2, module, function, value;
    uint32_t grid[3], block[3], shared_bytes;
    uint64_t dst, src, bytes, data_bytes;
} WireCall;

/* DeviceReply: message_bytes characters follow (no NUL), then the data. */
typedef struct WireReply {
    int32_t status;
    uint32_t message_bytes;
    uint64_t value[2], data_bytes;
} WireReply;

double wire_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Waits until the socket can be read or written; 0, or -1 with error after the deadline. */
static int wait_for(int fd, short events, double deadline, Error *error)
{
    for (;;) {
        int milliseconds = -1;
        if (deadline > 0) {
            double left = deadline - wire_now();
            if (left <= 0) return error_set(error, "out of time");
            milliseconds = left > 1e6 ? 1000000000 : (int)(left * 1e3) + 1;
        }
        struct pollfd one = {.fd = fd, .events = events};
        int ready = poll(&one, 1, milliseconds);
        if (ready > 0) return 0;
        if (ready < 0 && errno != EINTR) return error_set(error, "poll: %s", strerror(errno));
    }
}

/* ---- sending -------------------------------------------------------------------------------- */

static int send_all(int fd, double deadline, struct iovec *vector, int count, Error *error)
{
    while (count > 0) {
        if (vector->iov_len == 0) {
            vector++, count--;
            continue;
        }
        struct msghdr message = {.msg_iov = vector, .msg_iovlen = (size_t)count};
        ssize_t sent = sendmsg(fd, &message, MSG_NOSIGNAL | (deadline > 0 ? MSG_DONTWAIT : 0));
        if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            if (wait_for(fd, POLLOUT, deadline, error) != 0) return -1;
            continue;
        }
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0) return error_set(error, "the other side is gone: %s", strerror(errno));
        while (count > 0 && (size_t)sent >= vector->iov_len) {
            sent -= (ssize_t)vector->iov_len;
            vector++, count--;
        }
        if (count > 0) {
            vector->iov_base = (char *)vector->iov_base + sent;
            vector->iov_len -= (size_t)sent;
        }
    }
    return 0;
}

int wire_send_until(int fd, double deadline, FrameType type, const WirePiece *piece, int pieces,
                    Error *error)
{
    FrameHeader header = {.magic = WIRE_MAGIC, .type = type};
    struct iovec vector[1 + WIRE_PIECES] = {{.iov_base = &header, .iov_len = sizeof header}};
    if (pieces > WIRE_PIECES) return error_set(error, "a frame of %d pieces", pieces);
    for (int i = 0; i < pieces; i++) {
        if (piece[i].bytes > WIRE_BYTES_MAX - header.bytes)
            return error_set(error, "a message of more than %llu MiB", WIRE_BYTES_MAX >> 20);
        header.bytes += piece[i].bytes;
        vector[1 + i] = (struct iovec){(void *)piece[i].data, piece[i].bytes};
    }
    return send_all(fd, deadline, vector, 1 + pieces, error);
}

int wire_send(int fd, FrameType type, const WirePiece *piece, int pieces, Error *error)
{
    return wire_send_until(fd, 0, type, piece, pieces, error);
}

/* ---- receiving ------------------------------------------------------------------------------ */

/* Receives exactly `bytes`; `started` distinguishes a close between frames from one inside a frame.
 *
 * Without a deadline it is a single call, so that a runner's instructions do not depend on the
 * arrival of the bytes and can be counted. */
static int receive_all(int fd, double deadline, void *to, size_t bytes, int started, Error *error)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t got =
            recv(fd, (char *)to + done, bytes - done, deadline > 0 ? MSG_DONTWAIT : MSG_WAITALL);
        if (got > 0) {
            done += (size_t)got;
            continue;
        }
        if (got == 0)
            return error_set(error, started || done ? "the other side closed inside a message"
                                                    : "the other side closed the connection");
        if (errno == EINTR) continue;
        if (errno != EAGAIN && errno != EWOULDBLOCK)
            return error_set(error, "the other side is gone: %s", strerror(errno));
        if (wait_for(fd, POLLIN, deadline, error) != 0) return -1;
    }
    return 0;
}

/* The buffer grows with the received bytes, by doubling: at most twice the sender's own effort. */
static void *receive_body(int fd, double deadline, uint64_t bytes, Error *error)
{
    unsigned char *body = NULL;
    uint64_t capacity = 0, done = 0;
    do {
        uint64_t grown = capacity ? capacity * 2 : WIRE_FIRST_BUFFER;
        capacity = grown < bytes ? grown : bytes;
        unsigned char *larger = realloc(body, capacity + 1); /* + 1: an empty body is not NULL */
        if (!larger) {
            error_set(error, "out of memory for a message of %llu bytes",
                      (unsigned long long)bytes);
            break;
        }
        body = larger;
        if (receive_all(fd, deadline, body + done, capacity - done, 1, error) != 0) break;
        done = capacity;
        if (done == bytes) return body;
    } while (done < bytes);
    free(body);
    return NULL;
}

int wire_receive(int fd, double deadline, FrameType *type, void **body, uint64_t *bytes,
                 Error *error)
{
    FrameHeader header;
    *body = NULL;
    *bytes = 0;
    if (receive_all(fd, deadline, &header, sizeof header, 0, error) != 0) return -1;
    if (header.magic != WIRE_MAGIC)
        return error_set(error, "malformed message: it starts with 0x%08x", header.magic);
    if (header.type < FRAME_CALL || header.type > FRAME_READY)
        return error_set(error, "malformed message: type %u", header.type);
    if (header.bytes > WIRE_BYTES_MAX)
        return error_set(error, "malformed message: it claims %llu bytes",
                         (unsigned long long)header.bytes);
    *body = receive_body(fd, deadline, header.bytes, error);
    if (!*body) return -1;
    *type = (FrameType)header.type;
    *bytes = header.bytes;
    return 0;
}

/* ---- calls and replies ---------------------------------------------------------------------- */

int wire_decode_call(const void *body, uint64_t bytes, DeviceCall *call, Error *error)
{
    WireCall wire;
    if (bytes < sizeof wire)
        return error_set(error, "malformed call: %llu bytes", (unsigned long long)bytes);
    memcpy(&wire, body, sizeof wire);
    if (wire.kind >= CALL_KINDS) return error_set(error, "malformed call: kind %u", wire.kind);
    if (wire.data_bytes != bytes - sizeof wire)
        return error_set(error, "malformed call: %llu bytes of data announced, %llu there",
                         (unsigned long long)wire.data_bytes,
                         (unsigned long long)(bytes - sizeof wire));
    *call = (DeviceCall){
        .kind = wire.kind,
        .stream = wire.stream,
        .event = wire.event,
        .event2 = wire.event2,
        .module = wire.module,
        .function = wire.function,
        .value = wire.value,
        .grid = {wire.grid[0], wire.grid[1], wire.grid[2]},
        .block = {wire.block[0], wire.block[1], wire.block[2]},
        .shared_bytes = wire.shared_bytes,
        .dst = wire.dst,
        .src = wire.src,
        .bytes = wire.bytes,
        .data_bytes = wire.data_bytes,
        .data = wire.data_bytes ? (const unsigned char *)body + sizeof wire : NULL,
    };
    return 0;
}

static int call_send(int fd, const DeviceCall *call, Error *error)
{
    WireCall wire;
    memset(&wire, 0, sizeof wire);
    wire.kind = call->kind;
    wire.stream = call->stream;
    wire.event = call->event;
    wire.event2 = call->event2;
    wire.module = call->module;
    wire.function = call->function;
    wire.value = call->value;
    memcpy(wire.grid, call->grid, sizeof wire.grid);
    memcpy(wire.block, call->block, sizeof wire.block);
    wire.shared_bytes = call->shared_bytes;
    wire.dst = call->dst;
    wire.src = call->src;
    wire.bytes = call->bytes;
    wire.data_bytes = call->data_bytes;
    WirePiece piece[2] = {{&wire, sizeof wire}, {call->data, call->data_bytes}};
    return wire_send(fd, FRAME_CALL, piece, 2, error);
}

int wire_send_reply(int fd, const DeviceReply *reply, Error *error)
{
    WireReply wire;
    memset(&wire, 0, sizeof wire);
    wire.status = reply->status;
    wire.message_bytes = (uint32_t)strnlen(reply->message, sizeof reply->message);
    wire.value[0] = reply->value[0];
    wire.value[1] = reply->value[1];
    wire.data_bytes = reply->data_bytes;
    WirePiece piece[3] = {{&wire, sizeof wire},
                          {reply->message, wire.message_bytes},
                          {reply->data, reply->data_bytes}};
    return wire_send(fd, FRAME_REPLY, piece, 3, error);
}

/* reply->data points into body. */
static int reply_decode(unsigned char *body, uint64_t bytes, DeviceReply *reply, Error *error)
{
    WireReply wire;
    if (bytes < sizeof wire)
        return error_set(error, "malformed reply: %llu bytes", (unsigned long long)bytes);
    memcpy(&wire, body, sizeof wire);
    uint64_t rest = bytes - sizeof wire;
    if (wire.message_bytes >= sizeof reply->message || wire.message_bytes > rest ||
        wire.data_bytes != rest - wire.message_bytes)
        return error_set(error, "malformed reply: its lengths do not add up");
    reply->status = wire.status;
    reply->value[0] = wire.value[0];
    reply->value[1] = wire.value[1];
    memcpy(reply->message, body + sizeof wire, wire.message_bytes);
    reply->message[wire.message_bytes] = '\0';
    reply->data_bytes = wire.data_bytes;
    reply->data = wire.data_bytes ? body + sizeof wire + wire.message_bytes : NULL;
    return 0;
}

/* ---- device at the other end ---------------------------------------------------------------- */

typedef struct WireDevice {
    Device device; /* first member: a Device * of the wire is a WireDevice * */
    int fd, gone;
    void *body; /* body of the last reply, to which the caller's reply points */
} WireDevice;

static int wire_execute(Device *device, const DeviceCall *call, DeviceReply *reply)
{
    WireDevice *wire = (WireDevice *)device;
    Error error = {"it failed before"};
    FrameType type = FRAME_REPLY;
    uint64_t bytes = 0;
    free(wire->body);
    wire->body = NULL;
    memset(reply, 0, offsetof(DeviceReply, message));
    reply->message[0] = '\0';
    if (call->data_bytes > WIRE_BYTES_MAX / 2)
        return device_fail(reply, DEVICE_INVALID_VALUE, "%llu bytes at once are too many",
                           (unsigned long long)call->data_bytes);
    if (!wire->gone && call_send(wire->fd, call, &error) == 0 &&
        wire_receive(wire->fd, 0, &type, &wire->body, &bytes, &error) == 0) {
        if (type != FRAME_REPLY)
            error_set(&error, "expected a reply, got a message of type %d", (int)type);
        else if (reply_decode(wire->body, bytes, reply, &error) == 0)
            return 0;
    }
    wire->gone = 1;
    memset(reply, 0, offsetof(DeviceReply, message));
    device_fail(reply, DEVICE_UNAVAILABLE, "no device process: %s", error.text);
    return -1;
}

static void wire_close(Device *device)
{
    WireDevice *wire = (WireDevice *)device;
    free(wire->body);
    close(wire->fd);
    free(wire);
}

Device *device_open_wire(int fd)
{
    WireDevice *wire = calloc(1, sizeof *wire);
    if (!wire) return NULL;
    wire->device = (Device){.execute = wire_execute, .close = wire_close};
    wire->fd = fd;
    return &wire->device;
}
