/* asked.h - a server asked for its words: what it serves, what it counted. */
#ifndef CONVLAB_SERVE_ASKED_H
#define CONVLAB_SERVE_ASKED_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/apps/serve/batches/frame.h"

/* A connected socket; -1 with error. */
int asked_connect(const char *path, Error *error);

/* The text that the server gives to FRAME_MODEL or FRAME_METRICS, the caller's to free; NULL with
 * error. */
char *asked_text(const char *path, FrameKind kind, Error *error);

/* What stands behind `name` and a blank at the beginning of one of the text's lines; -1: no line
 * has that name. */
int asked_word(const char *text, const char *name, char *word, size_t bytes);
uint64_t asked_number(const char *text, const char *name); /* 0 likewise */

#endif
