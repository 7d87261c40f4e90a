/* status.h - client queries of a server: its model and its metrics. */
#ifndef CONVLAB_SERVE_STATUS_H
#define CONVLAB_SERVE_STATUS_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/apps/serve/batches/frame.h"

/* A connected socket; -1 with error. */
int status_connect(const char *path, Error *error);

/* The server's text for FRAME_MODEL or FRAME_METRICS, owned by the caller; NULL with error. */
char *status_query(const char *path, FrameKind kind, Error *error);

/* The text after `name` and a blank at the start of a line; -1: no line has that name. */
int status_word(const char *text, const char *name, char *word, size_t bytes);
uint64_t status_number(const char *text, const char *name); /* the same as a number; 0: no such
                                                            * line */

#endif
