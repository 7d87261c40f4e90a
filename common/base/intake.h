/* intake.h - taking in what somebody else wrote: one regular file, bounded, read once. */
#ifndef CONVLAB_BASE_INTAKE_H
#define CONVLAB_BASE_INTAKE_H

#include <stddef.h>

#include "common/base/error.h"

/* The bytes of folder/name with a NUL behind them, malloc'd, and their number in *bytes.  The way
 * to `folder` is the user's own and may have links; `name`, with all that lies beneath the folder,
 * may not, nor leave it.  A folder of NULL: all of `name` but its last part is the folder.
 *
 * NULL with error, one line that names the file, and with errno ENOENT where there is none: what
 * is a link, a FIFO, a directory or a device, has more than `most` bytes or holds a NUL (it is no
 * text) is not taken. */
char *intake_read(const char *folder, const char *name, size_t most, size_t *bytes, Error *error);

/* Whether folder/name is there, whatever it is. */
int intake_exists(const char *folder, const char *name);

/* Text that others chose, made harmless for a terminal, in place: '?' for control characters but
 * line ends and tabs, for bytes that are no UTF-8, for what turns the writing's direction. */
void intake_clean(char *text);

#endif
