/* client.h - connections: input bytes become frames, answers become output bytes.
 *
 * The server never waits for a client.  An incomplete frame is stored; a client with more than
 * CLIENT_UNREAD bytes of unread answers is disconnected. */
#ifndef CONVLAB_SERVE_CLIENT_H
#define CONVLAB_SERVE_CLIENT_H

#include <stddef.h>

#include "common/base/error.h"
#include "common/apps/serve/batches/frame.h"

enum { CLIENT_UNREAD = 4 << 20 };

typedef struct Client Client;

typedef struct Clients {
    /* Called for a complete frame; `bytes` is its body, valid during the call. */
    void (*take)(void *context, Client *client, const Frame *frame, const unsigned char *bytes);
    void (*left)(void *context, Client *client); /* called when the client has disconnected; it must
                                                  * not be used afterwards */
    void *context;
    uint32_t frame_most; /* maximum size of a body */
    struct event_base *base;
    Client *first;
    int count, most;
    unsigned char *input; /* buffer of the last read, for any client */
} Clients;

/* take, left, context, frame_most, base and most must be set.  -1 with error: out of memory. */
int clients_open(Clients *clients, Error *error);
void clients_close(Clients *clients);

/* Adds a client, or -1: the maximum is reached, or memory is exhausted; then `descriptor` is
 * closed. */
int clients_add(Clients *clients, int descriptor);

/* Adds an answer to the client's output.  It is sent after the client's input was handled, or by
 * clients_flush. */
void client_answer(Client *client, const Frame *answer, const void *bytes);
void clients_flush(Clients *clients);
/* Whether all answers were sent. */
int clients_written(const Clients *clients);

#endif
