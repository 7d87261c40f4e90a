/* listen.h - a Unix socket with one owner, which becomes free if the owner is killed. */
#ifndef CONVLAB_SERVE_LISTEN_H
#define CONVLAB_SERVE_LISTEN_H

#include "common/base/error.h"

typedef struct Listen {
    int socket, lock; /* -1: none */
    char path[128];
} Listen;

/* Listens at `path`, with access for this user only.  The owner locks `path`.lock, and the lock
 * ends with its process; a socket file without a lock was left by a killed server and is replaced.
 * -1 with error: another server uses it, or it is another file. */
int listen_open(const char *path, Listen *listening, Error *error);
/* Accepts no more connections; the lock remains. */
void listen_end(Listen *listening);
void listen_close(Listen *listening);

#endif
