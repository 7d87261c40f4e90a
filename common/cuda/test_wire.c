/* The wire between a hostile process and a trusted one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/cuda/wire.h"

/* The header's layout, declared a second time, so that a change of it must be intended. */
typedef struct RawHeader {
    uint32_t magic, type;
    uint64_t bytes;
} RawHeader;

enum { MAGIC = 0x574c4331, CALL_BYTES = 14 * 4 + 4 * 8 };

static void open_pair(int fd[2])
{
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
}

static void put(int fd, const void *data, size_t bytes)
{
    assert_int_equal(write(fd, data, bytes), bytes);
}

/* Receives at one end the bytes written to the other, which is then closed; returns wire_receive's
 * result. */
static int receive_raw(const void *data, size_t bytes, Error *error)
{
    int fd[2];
    open_pair(fd);
    put(fd[0], data, bytes);
    close(fd[0]);
    FrameType type;
    void *body;
    uint64_t length;
    int result = wire_receive(fd[1], wire_now() + 5, &type, &body, &length, error);
    assert_true(result == 0 || body == NULL);
    free(body);
    close(fd[1]);
    return result;
}

static void a_frame_arrives_as_it_was_sent(void **state)
{
    (void)state;
    int fd[2];
    open_pair(fd);
    Error error;
    WirePiece piece[3] = {{"abc", 3}, {NULL, 0}, {"defg", 4}};
    assert_int_equal(wire_send(fd[0], FRAME_REQUEST, piece, 3, &error), 0);
    assert_int_equal(wire_send(fd[0], FRAME_READY, NULL, 0, &error), 0);
    FrameType type;
    void *body;
    uint64_t bytes;
    assert_int_equal(wire_receive(fd[1], 0, &type, &body, &bytes, &error), 0);
    assert_int_equal(type, FRAME_REQUEST);
    assert_int_equal(bytes, 7);
    assert_memory_equal(body, "abcdefg", 7);
    free(body);
    assert_int_equal(wire_receive(fd[1], 0, &type, &body, &bytes, &error), 0);
    assert_int_equal(type, FRAME_READY);
    assert_int_equal(bytes, 0);
    assert_non_null(body);
    free(body);
    close(fd[0]);
    close(fd[1]);
}

static void malformed_headers_are_refused(void **state)
{
    (void)state;
    Error error;
    assert_int_equal(receive_raw("", 0, &error), -1);
    assert_non_null(strstr(error.text, "closed the connection"));
    RawHeader header = {MAGIC, FRAME_CALL, 0};
    assert_int_equal(receive_raw(&header, sizeof header, &error), 0);
    assert_int_equal(receive_raw(&header, 7, &error), -1);
    assert_non_null(strstr(error.text, "inside a message"));
    header.magic++;
    assert_int_equal(receive_raw(&header, sizeof header, &error), -1);
    assert_non_null(strstr(error.text, "malformed"));
    const uint32_t types[] = {0, FRAME_READY + 1, UINT32_MAX};
    for (int i = 0; i < 3; i++) {
        header = (RawHeader){MAGIC, types[i], 0};
        assert_int_equal(receive_raw(&header, sizeof header, &error), -1);
    }
    const uint64_t lengths[] = {WIRE_BYTES_MAX + 1, UINT64_MAX, 1ull << 63};
    for (int i = 0; i < 3; i++) {
        header = (RawHeader){MAGIC, FRAME_CALL, lengths[i]};
        assert_int_equal(receive_raw(&header, sizeof header, &error), -1);
        assert_non_null(strstr(error.text, "claims"));
    }
}

static void a_forged_length_allocates_no_memory(void **state)
{
    (void)state;
    Error error;
    struct rusage before, after;
    RawHeader header = {MAGIC, FRAME_CALL, WIRE_BYTES_MAX};
    getrusage(RUSAGE_SELF, &before);
    assert_int_equal(receive_raw(&header, sizeof header, &error), -1);
    getrusage(RUSAGE_SELF, &after);
    assert_non_null(strstr(error.text, "inside a message"));
    assert_true(after.ru_maxrss - before.ru_maxrss < 8 << 10);
}

static void waiting_ends_at_the_deadline(void **state)
{
    (void)state;
    int fd[2];
    open_pair(fd);
    Error error;
    FrameType type;
    void *body;
    uint64_t bytes;
    RawHeader header = {MAGIC, FRAME_CALL, 100};
    put(fd[0], &header, sizeof header);
    put(fd[0], "half", 4); /* then nothing, and the connection stays open */
    double begin = wire_now();
    assert_int_equal(wire_receive(fd[1], begin + 0.2, &type, &body, &bytes, &error), -1);
    assert_non_null(strstr(error.text, "out of time"));
    assert_true(wire_now() - begin >= 0.19);
    size_t large = 16 << 20; /* more than a socket can hold, without a reader */
    WirePiece piece = {calloc(1, large), large};
    begin = wire_now();
    assert_int_equal(wire_send_until(fd[1], begin + 0.2, FRAME_CALL, &piece, 1, &error), -1);
    assert_true(wire_now() - begin >= 0.19);
    free((void *)piece.data);
    close(fd[0]);
    close(fd[1]);
}

static void sending_to_a_closed_peer_is_an_error_without_signal(void **state)
{
    (void)state;
    int fd[2];
    open_pair(fd);
    close(fd[1]);
    Error error;
    assert_int_equal(wire_send(fd[0], FRAME_READY, NULL, 0, &error), -1);
    assert_non_null(strstr(error.text, "gone"));
    close(fd[0]);
}

/* Exact-size heap copies, so that a read past the end is seen by the sanitizers. */
static int decode(const unsigned char *bytes, size_t count, DeviceCall *call, Error *error)
{
    unsigned char *copy = malloc(count ? count : 1);
    memcpy(copy, bytes, count);
    int result = wire_decode_call(copy, count, call, error);
    if (result == 0) {
        assert_true(call->kind < CALL_KINDS);
        assert_int_equal(call->data_bytes, count - CALL_BYTES);
        if (call->data_bytes) assert_memory_equal(call->data, bytes + CALL_BYTES, call->data_bytes);
    }
    free(copy);
    return result;
}

static void hostile_calls_are_rejected_completely(void **state)
{
    (void)state;
    srand(3);
    DeviceCall call;
    Error error;
    unsigned char body[CALL_BYTES + 64];
    int accepted = 0;
    for (int round = 0; round < 200000; round++) {
        size_t bytes = (size_t)rand() % sizeof body;
        for (size_t i = 0; i < bytes; i++)
            body[i] = (unsigned char)rand();
        uint32_t kind = (uint32_t)rand() % (CALL_KINDS + 2);
        uint64_t data = bytes > CALL_BYTES ? bytes - CALL_BYTES : 0;
        if (rand() % 2 && bytes >= CALL_BYTES) memcpy(body, &kind, sizeof kind);
        if (rand() % 2 && bytes >= CALL_BYTES) memcpy(body + CALL_BYTES - 8, &data, sizeof data);
        accepted += decode(body, bytes, &call, &error) == 0;
    }
    assert_true(accepted > 1000 && accepted < 100000); /* both results occurred */
    memset(body, 0, sizeof body);
    assert_int_equal(decode(body, CALL_BYTES, &call, &error), 0);
    assert_int_equal(decode(body, CALL_BYTES - 1, &call, &error), -1);
    assert_int_equal(decode(body, CALL_BYTES + 1, &call, &error), -1);
    body[0] = CALL_KINDS;
    assert_int_equal(decode(body, CALL_BYTES, &call, &error), -1);
}

/* ---- both ends ------------------------------------------------------------------------------ */

typedef struct Server {
    int fd;
    DeviceCall seen;
    char seen_data[8];
} Server;

/* Answers calls with their own contents, until the connection closes. */
static void *serve(void *argument)
{
    Server *server = argument;
    Error error;
    FrameType type;
    void *body;
    uint64_t bytes;
    while (wire_receive(server->fd, 0, &type, &body, &bytes, &error) == 0) {
        DeviceCall call;
        static DeviceReply reply;
        assert_int_equal(wire_decode_call(body, bytes, &call, &error), 0);
        server->seen = call;
        if (call.data_bytes <= sizeof server->seen_data && call.data_bytes)
            memcpy(server->seen_data, call.data, call.data_bytes);
        memset(&reply, 0, sizeof reply);
        reply.status = 700;
        reply.value[0] = call.dst;
        reply.value[1] = ~call.src;
        reply.data = (void *)call.data;
        reply.data_bytes = call.data_bytes;
        strcpy(reply.message, "in two\nlines");
        assert_int_equal(wire_send_reply(server->fd, &reply, &error), 0);
        free(body);
    }
    close(server->fd);
    return NULL;
}

static void calls_and_replies_are_received_unchanged(void **state)
{
    (void)state;
    int fd[2];
    open_pair(fd);
    Server server = {.fd = fd[1]};
    pthread_t thread;
    pthread_create(&thread, NULL, serve, &server);
    Device *device = device_open_wire(fd[0]);
    DeviceCall call = {.kind = CALL_LAUNCH,
                       .stream = 1,
                       .event = 2,
                       .event2 = 3,
                       .module = 4,
                       .function = 5,
                       .value = 6,
                       .grid = {7, 8, 9},
                       .block = {10, 11, 12},
                       .shared_bytes = 13,
                       .dst = 1ull << 60,
                       .src = 15,
                       .bytes = 16,
                       .data = "params",
                       .data_bytes = 6};
    DeviceReply reply;
    assert_int_equal(device->execute(device, &call, &reply), 0);
    assert_int_equal(reply.status, 700);
    assert_int_equal(reply.value[0], 1ull << 60);
    assert_int_equal(reply.value[1], ~15ull);
    assert_string_equal(reply.message, "in two\nlines");
    assert_int_equal(reply.data_bytes, 6);
    assert_memory_equal(reply.data, "params", 6);
    assert_memory_equal(server.seen_data, "params", 6);
    call.data = server.seen.data; /* all else must be equal, byte for byte */
    assert_memory_equal(&server.seen, &call, sizeof call);
    size_t large = 20 << 20;
    unsigned char *data = malloc(large);
    for (size_t i = 0; i < large; i++)
        data[i] = (unsigned char)(i * 2654435761u >> 13);
    call.data = data;
    call.data_bytes = large;
    assert_int_equal(device->execute(device, &call, &reply), 0);
    assert_int_equal(reply.data_bytes, large);
    assert_memory_equal(reply.data, data, large);
    free(data);
    device->close(device);
    pthread_join(thread, NULL);
}

static void hostile_replies_end_the_device_process_cleanly(void **state)
{
    (void)state;
    srand(5);
    int answered = 0;
    for (int round = 0; round < 3000; round++) {
        int fd[2];
        open_pair(fd);
        struct {
            RawHeader header;
            int32_t status;
            uint32_t message_bytes;
            uint64_t value[2], data_bytes;
            unsigned char rest[40];
        } raw;
        for (size_t i = 0; i < sizeof raw; i++)
            ((unsigned char *)&raw)[i] = (unsigned char)rand();
        raw.header = (RawHeader){MAGIC, rand() % 4 ? FRAME_REPLY : FRAME_CALL,
                                 rand() % 3 ? 72 : (uint64_t)rand() % 100};
        if (rand() % 3) raw.message_bytes = (uint32_t)rand() % 60;
        if (rand() % 3) raw.data_bytes = 40 - (uint64_t)raw.message_bytes;
        put(fd[1], &raw, rand() % 3 ? sizeof raw : (size_t)rand() % sizeof raw);
        shutdown(fd[1], SHUT_WR);
        Device *device = device_open_wire(fd[0]);
        DeviceCall call = {.kind = CALL_SYNC};
        DeviceReply reply;
        if (device->execute(device, &call, &reply) == 0) {
            answered++;
            assert_true(strlen(reply.message) < sizeof reply.message);
            assert_true(reply.data_bytes <= 40);
        } else {
            assert_int_equal(reply.status, DEVICE_UNAVAILABLE);
            assert_int_equal(device->execute(device, &call, &reply), -1); /* and stays lost */
        }
        device->close(device);
        close(fd[1]);
    }
    assert_true(answered > 100);
}

/* After one malformed reply all later ones are rejected. */
static void a_lost_device_stays_lost(void **state)
{
    (void)state;
    int fd[2];
    open_pair(fd);
    Error error;
    DeviceReply good = {.value = {42}};
    WirePiece nonsense = {"nonsense", 8};
    assert_int_equal(wire_send(fd[1], FRAME_REPLY, &nonsense, 1, &error), 0);
    assert_int_equal(wire_send_reply(fd[1], &good, &error), 0);
    Device *device = device_open_wire(fd[0]);
    DeviceCall call = {.kind = CALL_SYNC};
    DeviceReply reply;
    assert_int_equal(device->execute(device, &call, &reply), -1);
    assert_int_equal(device->execute(device, &call, &reply), -1);
    assert_int_equal(reply.status, DEVICE_UNAVAILABLE);
    device->close(device);
    close(fd[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_frame_arrives_as_it_was_sent),
        cmocka_unit_test(malformed_headers_are_refused),
        cmocka_unit_test(a_forged_length_allocates_no_memory),
        cmocka_unit_test(waiting_ends_at_the_deadline),
        cmocka_unit_test(sending_to_a_closed_peer_is_an_error_without_signal),
        cmocka_unit_test(hostile_calls_are_rejected_completely),
        cmocka_unit_test(calls_and_replies_are_received_unchanged),
        cmocka_unit_test(hostile_replies_end_the_device_process_cleanly),
        cmocka_unit_test(a_lost_device_stays_lost),
    };
    return cmocka_run_group_tests_name("cuda/wire", tests, NULL, NULL);
}
