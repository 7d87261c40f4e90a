/* fuzz_client.c - libFuzzer target for the server's side of a connection: the input is all that a
 * client sends, in parts whose lengths the input determines.
 *
 * The frames must equal those of the same bytes read at once. */
#include <event2/event.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/apps/serve/client.h"
#include "common/apps/serve/status.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FRAME_MOST = 300, SENT_MOST = 32 << 10 };

typedef struct Taken {
    int frames, left;
    uint64_t sum;
} Taken;

static uint64_t mix(uint64_t sum, const Frame *frame, const unsigned char *bytes)
{
    sum = 31 * sum + frame->id + frame->time + frame->word;
    for (uint32_t i = 0; i < frame->bytes; i++)
        sum = 31 * sum + bytes[i];
    return sum;
}

static void take(void *context, Client *client, const Frame *frame, const unsigned char *bytes)
{
    Taken *taken = context;
    if (frame->bytes > FRAME_MOST) abort();
    taken->frames++;
    taken->sum = mix(taken->sum, frame, bytes);
    if (frame->word == FRAME_INFER)
        client_answer(client, &(Frame){frame->bytes, FRAME_ANSWERED, frame->id, 0}, bytes);
}

static void left(void *context, Client *client)
{
    (void)client;
    ((Taken *)context)->left++;
}

static Taken at_once(const uint8_t *data, size_t size)
{
    Taken taken = {0};
    Frame frame;
    while (frame_next(data, size, FRAME_MOST, &frame) == FRAME_WHOLE) {
        taken.frames++;
        taken.sum = mix(taken.sum, &frame, data + FRAME_BYTES);
        data += FRAME_BYTES + frame.bytes;
        size -= FRAME_BYTES + frame.bytes;
    }
    return taken;
}

/* The first bytes are the lengths of the parts; after each part the answers are read. */
static void send_pieces(struct event_base *base, int descriptor, const uint8_t *data, size_t size)
{
    char answers[4096];
    for (size_t at = 0, step = 0; at < size; at += step) {
        step = 1 + 8u * data[at % 16 % size];
        if (step > size - at) step = size - at;
        if (send(descriptor, data + at, step, MSG_NOSIGNAL) < 0) break;
        event_base_loop(base, EVLOOP_NONBLOCK);
        while (recv(descriptor, answers, sizeof answers, MSG_DONTWAIT) > 0)
            event_base_loop(base, EVLOOP_NONBLOCK);
    }
    shutdown(descriptor, SHUT_WR);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct event_base *base;
    Taken taken = {0}, expected = at_once(data, size);
    Error error;
    int fd[2];
    if (!base) base = event_base_new();
    if (!size || size > SENT_MOST || socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fd))
        return 0;
    Clients clients = {.take = take,
                       .left = left,
                       .context = &taken,
                       .frame_most = FRAME_MOST,
                       .base = base,
                       .most = 1};
    if (clients_open(&clients, &error) || clients_add(&clients, fd[1])) abort();
    send_pieces(base, fd[0], data, size);
    for (int i = 0; i < 4 && !taken.left; i++)
        event_base_loop(base, EVLOOP_NONBLOCK);
    clients_close(&clients);
    close(fd[0]);
    if (taken.left != 1 || taken.frames != expected.frames || taken.sum != expected.sum) abort();
    char *text = strndup((const char *)data, size), word[20];
    if (text) status_word(text, "x", word, sizeof word), status_number(text, "y");
    free(text);
    return 0;
}
