/* listen.h - a Unix socket that has one owner, and is free again when that was killed. */
#ifndef CONVLAB_SERVE_LISTEN_H
#define CONVLAB_SERVE_LISTEN_H

#include "common/base/error.h"

typedef struct Listen {
    int socket, lock; /* -1: none */
    char path[128];
} Listen;

/* Listens at `path`, for this user alone.  The owner holds a lock on `path`.lock, which ends with
 * its process; a socket file without one is what a killed server left, and is replaced.  -1 with
 * error: another server has it, or there is something else. */
int listen_open(const char *path, Listen *listening, Error *error);
/* Nobody else can connect; the lock stays. */
void listen_end(Listen *listening);
void listen_close(Listen *listening);

#endif
