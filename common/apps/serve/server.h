/* server.h - one model for the clients of a Unix socket.
 *
 * Module: `make serve` and `make load`: connections, the device's side, counts; the load generator.
 * Callers: the two programs alone.
 * May use: serve/batches, engine, operations, operations/calls, datasets. */
#ifndef CONVLAB_SERVE_SERVER_H
#define CONVLAB_SERVE_SERVER_H

#include "common/apps/serve/batches/batcher.h"
#include "common/apps/serve/card.h"

typedef struct ServerOptions {
    const char *path;               /* of the socket */
    int metrics_port;               /* of 127.0.0.1; 0: none */
    int largest, most;              /* requests of a batch, and that wait */
    uint64_t limit, window, margin; /* nanoseconds */
} ServerOptions;

typedef struct Server Server;

/* Takes `path`: a socket file that no server listens at any more is removed.  `cost` has been
 * begun.  NULL with error. */
Server *server_open(const ServerOptions *options, const Model *model, Card *card, const Cost *cost,
                    Error *error);
/* Until SIGTERM or SIGINT; then those who wait are answered.  -1 with error: a batch failed, or
 * does not end. */
int server_run(Server *server, Error *error);
void server_close(Server *server);

#endif
