/* client.h - the connections: bytes that come become frames, answers become bytes that go.
 *
 * Nobody is waited for.  A client that sends half a frame has half a frame here; one that leaves
 * more than CLIENT_UNREAD bytes of answers unread is closed. */
#ifndef CONVLAB_SERVE_CLIENT_H
#define CONVLAB_SERVE_CLIENT_H

#include <stddef.h>

#include "common/base/error.h"
#include "common/apps/serve/batches/frame.h"

enum { CLIENT_UNREAD = 4 << 20 };

typedef struct Client Client;

typedef struct Clients {
    /* A whole frame has come; `bytes` are those behind its head, for as long as the call. */
    void (*take)(void *context, Client *client, const Frame *frame, const unsigned char *bytes);
    void (*left)(void *context, Client *client); /* it is gone, and not to be used any more */
    void *context;
    uint32_t frame_most; /* bytes behind a head */
    struct event_base *base;
    Client *first;
    int count, most;
    unsigned char *input; /* what was read last, of whichever client */
} Clients;

/* take, left, context, frame_most, base and most are set.  -1 with error: out of memory. */
int clients_open(Clients *clients, Error *error);
void clients_close(Clients *clients);

/* One more, or -1: there are as many as may be, or there is no memory; `descriptor` is closed
 * then. */
int clients_add(Clients *clients, int descriptor);

/* Adds an answer to what goes to the client.  It goes when its own bytes were taken, or with
 * clients_flush. */
void client_answer(Client *client, const Frame *answer, const void *bytes);
void clients_flush(Clients *clients);
/* Everything that was answered has gone. */
int clients_written(const Clients *clients);

#endif
