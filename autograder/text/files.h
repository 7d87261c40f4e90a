/* files.h - reading and writing of whole small text files; paths. */
#ifndef CONVLAB_AUTOGRADER_TEXT_FILES_H
#define CONVLAB_AUTOGRADER_TEXT_FILES_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"

enum { FILE_BYTES_MAX = 4 << 20 };

/* The text of a regular file, NUL-terminated, malloc'd; NULL with error ("path: No such file or
 * directory").  file_bytes: for a file that may contain NULs, with its length. */
char *file_text(const char *path, Error *error);
char *file_bytes(const char *path, size_t *bytes, Error *error);
/* Writes `text` to a temporary file and renames it; creates the directories above. */
int file_write(const char *path, const char *text, Error *error);
int file_exists(const char *path);
int directory_make(const char *path); /* and those above it; 0 or -1 with errno */

/* A 64-bit FNV-1a digest of a file's bytes, starting from `digest`; a file that cannot be read
 * leaves it unchanged. */
#define DIGEST_START 0xcbf29ce484222325ull
uint64_t digest_bytes(uint64_t digest, const void *data, size_t bytes);
uint64_t digest_file(uint64_t digest, const char *path);

/* Signal handler's cleanup: removes the unfinished temporary file, if any. Async-signal-safe. */
void file_abandon(void);

#endif
