/* intake.h - reading of untrusted files: one regular file, bounded, read once. */
#ifndef CONVLAB_BASE_INTAKE_H
#define CONVLAB_BASE_INTAKE_H

#include <stddef.h>

#include "common/base/error.h"

/* The bytes of folder/name with a NUL at the end, malloc'd, and their number in *bytes.  The path
 * of `folder` is the user's own and may contain links; `name`, with everything below the folder,
 * must not, and must not leave it.  A folder of NULL: all of `name` except its last part is the
 * folder.
 *
 * NULL with error, one line that names the file, and with errno ENOENT if it does not exist.
 * Rejected are links, FIFOs, directories, devices, files of more than `most` bytes, and files that
 * contain a NUL. */
char *intake_read(const char *folder, const char *name, size_t most, size_t *bytes, Error *error);

/* Whether folder/name exists, of any type. */
int intake_exists(const char *folder, const char *name);

/* Cleans untrusted text for a terminal, in place: '?' replaces control characters except line ends
 * and tabs, bytes that are not UTF-8, and characters that change the direction of writing. */
void intake_clean(char *text);

#endif
