#include "autograder/text/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "autograder/text/text.h"

static char half_written[1100]; /* name of the temporary file while it exists */

void file_abandon(void)
{
    if (half_written[0]) unlink(half_written);
}

int file_exists(const char *path)
{
    struct stat status;
    return !stat(path, &status) && S_ISREG(status.st_mode);
}

static ssize_t read_all(int fd, char *text, size_t bytes)
{
    size_t have = 0;
    while (have < bytes) {
        ssize_t n = read(fd, text + have, bytes - have);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return -1;
        if (n == 0) break;
        have += (size_t)n;
    }
    return (ssize_t)have;
}

char *file_bytes(const char *path, size_t *bytes, Error *error)
{
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &status)) {
        error_set(error, "%s: %m", path);
        if (fd >= 0) close(fd);
        return NULL;
    }
    char *text = NULL;
    if (!S_ISREG(status.st_mode)) {
        error_set(error, "%s: not a regular file", path);
    } else if (status.st_size > FILE_BYTES_MAX) {
        error_set(error, "%s: larger than %d MiB", path, FILE_BYTES_MAX >> 20);
    } else if ((text = malloc((size_t)status.st_size + 1)) == NULL) {
        error_set(error, "%s: out of memory", path);
    } else {
        ssize_t have = read_all(fd, text, (size_t)status.st_size);
        if (have < 0) error_set(error, "%s: %m", path);
        *bytes = have < 0 ? 0 : (size_t)have;
        text[*bytes] = 0;
    }
    close(fd);
    return text;
}

char *file_text(const char *path, Error *error)
{
    size_t bytes;
    return file_bytes(path, &bytes, error);
}

int directory_make(const char *path)
{
    char part[1024];
    text_set(part, sizeof part, "%s", path);
    for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        if (mkdir(part, 0777) && errno != EEXIST) return -1;
        *slash = '/';
    }
    return mkdir(part, 0777) && errno != EEXIST ? -1 : 0;
}

/* Flushes to the disk, so that a full disk is detected before the rename.  A link under the
 * temporary name leads elsewhere and is not followed. */
static int write_all(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666), why = 0;
    if (fd < 0) return -1;
    for (size_t left = strlen(text); left && !why;) {
        ssize_t n = write(fd, text, left);
        if (n < 0 && errno != EINTR) why = errno;
        if (n <= 0) continue;
        text += n;
        left -= (size_t)n;
    }
    if (!why && fsync(fd) && errno != EINVAL) why = errno;
    if (close(fd) && !why) why = errno;
    errno = why;
    return why ? -1 : 0;
}

int file_write(const char *path, const char *text, Error *error)
{
    char directory[1024];
    text_set(directory, sizeof directory, "%s", path);
    char *slash = strrchr(directory, '/');
    if (slash && slash != directory) {
        *slash = 0;
        if (directory_make(directory)) return error_set(error, "%s: %m", directory);
    }
    text_set(half_written, sizeof half_written, "%s.tmp", path);
    int status = write_all(half_written, text);
    if (!status) status = rename(half_written, path);
    if (status) {
        error_set(error, "%s: %m", path);
        unlink(half_written);
    }
    half_written[0] = 0;
    return status;
}

uint64_t digest_bytes(uint64_t digest, const void *data, size_t bytes)
{
    for (const unsigned char *at = data, *end = at + bytes; at < end; at++)
        digest = (digest ^ *at) * 0x100000001b3ull;
    return digest;
}

uint64_t digest_file(uint64_t digest, const char *path)
{
    static const size_t PIECE = 1 << 16;
    char *piece = malloc(PIECE);
    FILE *stream = fopen(path, "re");
    for (size_t n; piece && stream && (n = fread(piece, 1, PIECE, stream)) > 0;)
        digest = digest_bytes(digest, piece, n);
    if (stream) fclose(stream);
    free(piece);
    return digest;
}
