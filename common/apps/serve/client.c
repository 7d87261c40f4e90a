#include "common/apps/serve/client.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    READ_AT_ONCE = 256 << 10
}; /* maximum number of bytes of one client before others are
                                    * served */

struct Client {
    Clients *all;
    Client *next, **link;
    int descriptor;
    struct event *readable, *writable;
    unsigned char *part; /* an incomplete frame; NULL: none */
    size_t parts;        /* number of its bytes */
    struct evbuffer *output;
    int closing; /* Boolean: close after the last answer */
};

int clients_open(Clients *clients, Error *error)
{
    clients->input = malloc(READ_AT_ONCE + FRAME_BYTES + (size_t)clients->frame_most);
    return clients->input ? 0 : error_set(error, "out of memory for frames");
}

static void client_free(Client *client)
{
    if (client->readable) event_free(client->readable);
    if (client->writable) event_free(client->writable);
    if (client->output) evbuffer_free(client->output);
    close(client->descriptor);
    free(client->part);
    free(client);
}

static void client_close(Client *client)
{
    client->all->left(client->all->context, client);
    client->all->count--;
    *client->link = client->next;
    if (client->next) client->next->link = client->link;
    client_free(client);
}

void clients_close(Clients *clients)
{
    while (clients->first)
        client_close(clients->first);
    free(clients->input);
}

/* ---- output ------------------------------------------------------------------------------- */

void client_answer(Client *client, const Frame *answer, const void *bytes)
{
    unsigned char head[FRAME_BYTES];
    frame_write(answer, head);
    evbuffer_add(client->output, head, sizeof head);
    if (answer->bytes) evbuffer_add(client->output, bytes, answer->bytes);
}

/* Sends as much as its socket accepts; the rest later. */
static void flush(Client *client)
{
    while (evbuffer_get_length(client->output)) {
        if (evbuffer_write(client->output, client->descriptor) > 0) continue;
        if (errno == EAGAIN && evbuffer_get_length(client->output) < CLIENT_UNREAD)
            event_add(client->writable, NULL);
        else
            client_close(client);
        return;
    }
    if (client->closing) client_close(client);
}

void clients_flush(Clients *clients)
{
    for (Client *client = clients->first, *next; client; client = next) {
        next = client->next;
        flush(client);
    }
}

static void on_writable(evutil_socket_t descriptor, short what, void *context)
{
    (void)descriptor, (void)what;
    flush(context);
}

int clients_written(const Clients *clients)
{
    for (const Client *client = clients->first; client; client = client->next)
        if (evbuffer_get_length(client->output)) return 0;
    return 1;
}

/* ---- input -------------------------------------------------------------------------------- */

/* After an invalid frame the start of the next one is unknown. */
static void refuse_stream(Client *client)
{
    static const char text[] = "this is no frame of CLS1, or one that is too long\n";
    event_del(client->readable);
    client_answer(client, &(Frame){sizeof text - 1, FRAME_MALFORMED, 0, 0}, text);
    client->closing = 1;
}

/* Stores the start of a frame until the rest arrives.  -1: out of memory. */
static int keep_part(Client *client, const unsigned char *bytes, size_t count)
{
    unsigned char *part = count ? malloc(count) : NULL;
    if (count && !part) return -1;
    if (count) memcpy(part, bytes, count);
    free(client->part);
    client->part = part;
    client->parts = count;
    return 0;
}

/* Handles all complete frames of the input.  -1: the connection must be closed. */
static int take_frames(Client *client, const unsigned char *bytes, size_t count)
{
    Clients *all = client->all;
    Frame frame;
    FrameStep step;
    while ((step = frame_next(bytes, count, all->frame_most, &frame)) == FRAME_WHOLE) {
        all->take(all->context, client, &frame, bytes + FRAME_BYTES);
        bytes += FRAME_BYTES + frame.bytes;
        count -= FRAME_BYTES + frame.bytes;
    }
    if (step == FRAME_BROKEN) refuse_stream(client);
    return keep_part(client, bytes, step == FRAME_BROKEN ? 0 : count);
}

static void on_readable(evutil_socket_t descriptor, short what, void *context)
{
    Client *client = context;
    unsigned char *input = client->all->input;
    (void)what;
    if (client->parts) memcpy(input, client->part, client->parts);
    ssize_t count = recv(descriptor, input + client->parts, READ_AT_ONCE, 0);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count <= 0 || take_frames(client, input, client->parts + (size_t)count))
        client_close(client);
    else
        flush(client);
}

/* ---- connections -------------------------------------------------------------------------- */

int clients_add(Clients *clients, int descriptor)
{
    Client *client = clients->count < clients->most ? calloc(1, sizeof *client) : NULL;
    if (!client) return close(descriptor), -1;
    *client = (Client){.all = clients, .descriptor = descriptor};
    client->readable =
        event_new(clients->base, descriptor, EV_READ | EV_PERSIST, on_readable, client);
    client->writable = event_new(clients->base, descriptor, EV_WRITE, on_writable, client);
    client->output = evbuffer_new();
    if (!client->readable || !client->writable || !client->output ||
        event_add(client->readable, NULL)) {
        client_free(client);
        return -1;
    }
    client->next = clients->first;
    client->link = &clients->first;
    if (client->next) client->next->link = &client->next;
    clients->first = client;
    clients->count++;
    return 0;
}
