#include "autograder/workbench/source.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "autograder/text/files.h"
#include "autograder/text/text.h"
#include "autograder/workbench/token.h"
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

char *source_read(const char *folder, const char *name, char digest[DIGEST_CHARACTERS + 1],
                  Error *error)
{
    size_t bytes;
    char *text = intake_read(folder, name, SOURCE_BYTES, &bytes, error);
    if (text && !is_utf8(text)) {
        error_set(error, "%s/%s: is not UTF-8 text; restore it, for example with make reset",
                  folder, name);
        free(text);
        errno = EINVAL;
        return NULL;
    }
    if (text) digest_of(text, digest);
    return text;
}

static int all_write(int fd, const char *text)
{
    for (size_t left = strlen(text); left;) {
        ssize_t n = write(fd, text, left);
        if (n < 0 && errno != EINTR) return -1;
        if (n <= 0) continue;
        text += n;
        left -= (size_t)n;
    }
    return 0;
}

/* A new file next to `path`, flushed to the disk.  Its random name cannot be prepared as a link. */
static int part_write(const char *path, const char *text, mode_t mode, char *part, size_t bytes)
{
    char random[9];
    token_draw(random, 8);
    text_set(part, bytes, "%s.%s.part", path, random);
    int fd = open(part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd < 0) return -1;
    int why =
        all_write(fd, text) || (mode && fchmod(fd, mode & 07777)) || (fsync(fd) && errno != EINVAL)
            ? errno
            : 0;
    if (close(fd) && !why) why = errno;
    if (why) unlink(part);
    errno = why;
    return why ? -1 : 0;
}

/* Gives the temporary file the name `path`.  If there is such a file, it gets the temporary name,
 * and its digest must be `base`.  The last part of both paths, from byte `below` on, is the name
 * below `folder`. */
static SourceSaved part_exchange(const char *folder, size_t below, const char *path,
                                 const char *part, const char *base, int is_new, char *digest)
{
    int flags = is_new ? RENAME_NOREPLACE : RENAME_EXCHANGE;
    if (renameat2(AT_FDCWD, part, AT_FDCWD, path, flags)) {
        if (errno == EEXIST) {
            free(source_read(folder, path + below, digest, NULL));
            return SOURCE_CONFLICT;
        }
        if (errno != EINVAL && errno != ENOSYS) return SOURCE_FAILED;
        /* a file system without these flags */
        return rename(part, path) ? SOURCE_FAILED : SOURCE_SAVED;
    }
    if (is_new) return SOURCE_SAVED;
    char *replaced = source_read(folder, part + below, digest, NULL);
    int is_base = replaced && !strcmp(digest, base);
    free(replaced);
    if (is_base) return SOURCE_SAVED;
    return renameat2(AT_FDCWD, part, AT_FDCWD, path, RENAME_EXCHANGE) ? SOURCE_FAILED
                                                                      : SOURCE_CONFLICT;
}

SourceSaved source_save(const char *folder, const char *name, const char *base, const char *text,
                        char digest[DIGEST_CHARACTERS + 1], Error *error)
{
    char path[2000], part[2100];
    struct stat status = {0};
    text_set(path, sizeof path, "%s/%s", folder, name);
    if (strlen(text) > SOURCE_BYTES || !is_utf8(text)) {
        error_set(error, "%s: not saved: the text is larger than %d KiB or is not UTF-8", path,
                  SOURCE_BYTES >> 10);
        return SOURCE_FAILED;
    }
    errno = 0;
    char *present = source_read(folder, name, digest, error);
    int is_new = !present && errno == ENOENT; /* not so in a linked folder */
    if (!present && !is_new) return SOURCE_FAILED;
    free(present);
    if (!is_new && strcmp(digest, base) != 0) return SOURCE_CONFLICT;
    if (!is_new && stat(path, &status)) status.st_mode = 0;
    if (part_write(path, text, status.st_mode, part, sizeof part)) {
        error_set(error, "%s: not saved: %m", path);
        return SOURCE_FAILED;
    }
    SourceSaved saved = part_exchange(folder, strlen(folder) + 1, path, part, base, is_new, digest);
    if (saved == SOURCE_FAILED) error_set(error, "%s: not saved: %m", path);
    unlink(part);
    if (saved == SOURCE_SAVED) digest_of(text, digest);
    return saved;
}
