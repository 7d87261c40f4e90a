/* fuzz_wire.c - libFuzzer target for the wire: the input is everything that the other side sends.
 *
 * It is read twice: as a hostile runner's messages to the device process (frames with calls), and
 * as a hostile device's reply to a call of the runtime. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/cuda/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SENT_MAX = 64 << 10 }; /* fits into a socket's buffer, so one thread can be both sides */

/* Two ends of a socket; fd[0] has sent the input and sends no more. */
static int pair_open(const uint8_t *data, size_t size, int fd[2])
{
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd) != 0) return -1;
    if (size && send(fd[0], data, size, MSG_DONTWAIT) != (ssize_t)size) abort();
    return shutdown(fd[0], SHUT_WR);
}

static unsigned bytes_sum(const unsigned char *data, uint64_t bytes)
{
    unsigned sum = 0;
    for (uint64_t i = 0; i < bytes; i++)
        sum += data[i];
    return sum;
}

/* Reads frames until the input ends or is invalid. */
static void frames_read(int fd)
{
    static volatile unsigned sink; /* every byte is read */
    Error error = {""};
    FrameType type;
    void *body;
    uint64_t bytes;
    while (wire_receive(fd, wire_now() + 10, &type, &body, &bytes, &error) == 0) {
        DeviceCall call;
        if (type < FRAME_CALL || type > FRAME_READY || !body) abort();
        if (wire_decode_call(body, bytes, &call, &error) == 0) {
            if (call.kind >= CALL_KINDS || !call.data != !call.data_bytes) abort();
            sink += bytes_sum(call.data, call.data_bytes);
        }
        free(body);
    }
    if (!error.text[0] || strchr(error.text, '\n') || body) abort();
}

/* Makes calls until the device is lost. */
static void replies_read(int fd)
{
    static volatile unsigned sink;
    Device *device = device_open_wire(fd);
    DeviceReply reply;
    DeviceCall call = {.kind = CALL_SYNC};
    while (device && device->execute(device, &call, &reply) == 0) {
        if (!memchr(reply.message, 0, sizeof reply.message)) abort();
        sink += bytes_sum(reply.data, reply.data_bytes);
    }
    if (device) device->close(device);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int fd[2];
    if (size > SENT_MAX || pair_open(data, size, fd) != 0) return 0;
    frames_read(fd[1]);
    close(fd[0]), close(fd[1]);
    if (pair_open(data, size, fd) != 0) return 0;
    replies_read(fd[1]); /* and closes it */
    close(fd[0]);
    return 0;
}
