/* server.h - server of one model for the clients of a Unix socket.
 *
 * Module: `make serve` and `make load`: connections, the device's side, counts; the load generator.
 * Callers: the two programs alone.
 * May use: serve/batches, engine, operations, operations/calls, datasets. */
#ifndef CONVLAB_SERVE_SERVER_H
#define CONVLAB_SERVE_SERVER_H

#include "common/apps/serve/batches/batcher.h"
#include "common/apps/serve/executor.h"

typedef struct ServerOptions {
    const char *path;               /* path of the socket */
    int metrics_port;               /* port at 127.0.0.1; 0: none */
    int largest, most;              /* maximum number of requests in a batch, and of waiting
                                     * requests */
    uint64_t limit, window, margin; /* nanoseconds */
} ServerOptions;

typedef struct Server Server;

/* Takes ownership of `path`: replaces a socket file without a listening server.  `cost` has been
 * measured.  NULL with error. */
Server *server_open(const ServerOptions *options, const Model *model, Executor *executor,
                    const Cost *cost, Error *error);
/* Runs until SIGTERM or SIGINT, then answers the waiting requests.  -1 with error: a batch failed,
 * or does not end. */
int server_run(Server *server, Error *error);
void server_close(Server *server);

#endif
