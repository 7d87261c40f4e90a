#include "autograder/workbench/source.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "autograder/text/files.h"
#include "common/base/intake.h"

static void digest_of(const char *text, char digest[DIGEST_CHARACTERS + 1])
{
    snprintf(digest, DIGEST_CHARACTERS + 1, "%016" PRIx64, digest_bytes(0, text, strlen(text)));
}

/* The length of the UTF-8 sequence at `text`, or 0 if there is none. */
static int sequence_length(const unsigned char *text)
{
    int length = text[0] < 0x80                       ? 1
                 : text[0] >= 0xc2 && text[0] <= 0xdf ? 2
                 : (text[0] & 0xf0) == 0xe0           ? 3
                 : text[0] >= 0xf0 && text[0] <= 0xf4 ? 4
                                                      : 0;
    for (int i = 1; i < length; i++)
        if ((text[i] & 0xc0) != 0x80) return 0;
    return length;
}

static int is_utf8(const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    while (*at) {
        int length = sequence_length(at);
        if (!length) return 0;
        at += length;
    }
    return 1;
}

char *source_read(const char *path, char digest[DIGEST_CHARACTERS + 1], Error *error)
{
    size_t bytes;
    char *text = intake_read(NULL, path, SOURCE_BYTES, &bytes, error);
    if (text && !is_utf8(text)) {
        error_set(error, "%s: is not UTF-8 text; restore it, for example with make reset", path);
        free(text);
        return NULL;
    }
    if (text) digest_of(text, digest);
    return text;
}

SourceSaved source_save(const char *path, const char *base, const char *text,
                        char digest[DIGEST_CHARACTERS + 1], Error *error)
{
    struct stat status;
    if (strlen(text) > SOURCE_BYTES || !is_utf8(text)) {
        error_set(error, "%s: not saved: the text is larger than %d KiB or is not UTF-8", path,
                  SOURCE_BYTES >> 10);
        return SOURCE_FAILED;
    }
    if (lstat(path, &status) == 0 || errno != ENOENT) {
        char *present = source_read(path, digest, error);
        if (!present) return SOURCE_FAILED;
        free(present);
        if (strcmp(digest, base) != 0) return SOURCE_CONFLICT;
    }
    if (file_write(path, text, error)) return SOURCE_FAILED;
    digest_of(text, digest);
    return SOURCE_SAVED;
}
