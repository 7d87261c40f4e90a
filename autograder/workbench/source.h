/* source.h - the files of a lab that the page edits, and their digests.
 *
 * The file on disk is authoritative.  A save names the digest of the text on which it is based.  If
 * another editor has changed the file since then, nothing is written over it. */
#ifndef CONVLAB_AUTOGRADER_WORKBENCH_SOURCE_H
#define CONVLAB_AUTOGRADER_WORKBENCH_SOURCE_H

#include <stddef.h>

#include "common/base/error.h"

enum { SOURCE_BYTES = 1 << 20, DIGEST_CHARACTERS = 16 };

/* The text of folder/name, a regular file of at most SOURCE_BYTES bytes of UTF-8, malloc'd, and its
 * digest.  NULL with an error: the file is missing, a link, in a linked folder below `folder`, too
 * large, or binary. */
char *source_read(const char *folder, const char *name, char digest[DIGEST_CHARACTERS + 1],
                  Error *error);

typedef enum SourceSaved {
    SOURCE_SAVED,    /* `digest` is that of the new text */
    SOURCE_CONFLICT, /* the file has another digest than `base`; it is unchanged */
    SOURCE_FAILED    /* with an error; the file is unchanged */
} SourceSaved;

/* Replaces the file by `text` if its digest is still `base`; with a `base` of "" the file may be
 * missing.  The new text is written to a temporary file, so that a full disk loses nothing.  Then
 * the two files are exchanged, and exchanged back if the replaced one is not `base`: another
 * editor may have saved it in the meantime. */
SourceSaved source_save(const char *folder, const char *name, const char *base, const char *text,
                        char digest[DIGEST_CHARACTERS + 1], Error *error);

#endif
