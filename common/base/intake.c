#include "common/base/intake.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PATH_BYTES = 4096, TAKE = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC };

/* ---- opening ------------------------------------------------------------------------------- */

/* Opens part by part, for kernels without openat2 (before 5.6, or in some containers). */
static int open_parts(int folder, const char *name)
{
    char part[256];
    int at = dup(folder);
    for (const char *rest = name; at >= 0;) {
        size_t length = strcspn(rest, "/");
        int last = !rest[length], next = -1;
        if (!length || length >= sizeof part || (length == 2 && !strncmp(rest, "..", 2))) {
            errno = EXDEV;
        } else {
            snprintf(part, sizeof part, "%.*s", (int)length, rest);
            next = openat(at, part, last ? TAKE : O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
            /* O_NOFOLLOW reports "not a directory" for a link, which would be misleading. */
            struct stat status;
            if (next < 0 && errno == ENOTDIR && !fstatat(at, part, &status, AT_SYMLINK_NOFOLLOW))
                errno = S_ISLNK(status.st_mode) ? ELOOP : ENOTDIR;
        }
        int why = errno;
        close(at);
        errno = why;
        if (next < 0 || last) return next;
        at = next;
        rest += length + 1;
    }
    return -1;
}

static int open_beneath(int folder, const char *name)
{
    struct open_how how = {
        .flags = TAKE, .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
    int fd = (int)syscall(SYS_openat2, folder, name, &how, sizeof how);
    return fd < 0 && (errno == ENOSYS || errno == EPERM) ? open_parts(folder, name) : fd;
}

/* Opens the folder that the user named, and finds the path below it. */
static int folder_open(const char *folder, const char **name, char path[PATH_BYTES])
{
    const char *slash = strrchr(*name, '/');
    if (folder) {
        snprintf(path, PATH_BYTES, "%s", folder);
    } else {
        size_t length = slash ? (size_t)(slash - *name) : 0;
        snprintf(path, PATH_BYTES, "%.*s", (int)length, *name);
        if (!slash) strcpy(path, ".");
        if (slash == *name) strcpy(path, "/");
        if (slash) *name = slash + 1;
    }
    return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* ---- reading ------------------------------------------------------------------------------- */

static int refuse(const char *name, int why, Error *error)
{
    switch (why) {
    case ENOENT:
        return error_set(error, "%.300s is missing", name);
    case ELOOP:
    case EXDEV:
        return error_set(
            error, "%.300s is a symbolic link, or is in a linked folder: submit the file itself",
            name);
    case EACCES:
        return error_set(error, "%.300s cannot be read: check its permissions", name);
    default:
        return error_set(error, "%.300s: %s", name, strerror(why));
    }
}

/* The reported size may be outdated, so the bytes that are read decide. */
static char *bytes_read(int fd, const char *name, size_t most, size_t *bytes, Error *error)
{
    struct stat status;
    char *text = NULL;
    ssize_t got = 1;
    *bytes = 0;
    if (fstat(fd, &status) || !S_ISREG(status.st_mode)) {
        error_set(error, "%.300s is not a regular file: submit the file itself", name);
        return NULL;
    }
    if (status.st_size <= (off_t)most) text = malloc(most + 2);
    while (text && *bytes <= most && got) {
        got = read(fd, text + *bytes, most + 1 - *bytes);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) break;
        *bytes += (size_t)got;
    }
    if (text && got >= 0 && *bytes <= most && !memchr(text, 0, *bytes)) {
        text[*bytes] = 0;
        return text;
    }
    if (got < 0)
        refuse(name, errno, error);
    else if (text && *bytes <= most)
        error_set(error, "%.300s contains a NUL byte, so it is not text: save it as UTF-8", name);
    else
        error_set(error, "%.300s is larger than %zu KiB, the limit for this file", name,
                  most >> 10);
    free(text);
    return NULL;
}

char *intake_read(const char *folder, const char *name, size_t most, size_t *bytes, Error *error)
{
    char path[PATH_BYTES];
    const char *beneath = name;
    int at = folder_open(folder, &beneath, path);
    int fd = at < 0 ? -1 : open_beneath(at, beneath), why = errno;
    if (at >= 0) close(at);
    if (fd < 0) {
        refuse(name, why, error);
        errno = why;
        return NULL;
    }
    char *text = bytes_read(fd, name, most, bytes, error);
    close(fd);
    errno = 0;
    return text;
}

int intake_exists(const char *folder, const char *name)
{
    char path[PATH_BYTES];
    struct stat status;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return !lstat(path, &status);
}

/* ---- display ------------------------------------------------------------------------------- */

/* Length of the character at `at`, 0 if it must not be displayed. */
static size_t shown_bytes(const unsigned char *at)
{
    if (*at < 0x80) return *at == '\n' || *at == '\t' || (*at >= 0x20 && *at != 0x7f);
    size_t length = *at >= 0xf0 && *at < 0xf5 ? 4 : *at >= 0xe0 ? 3 : *at >= 0xc2 ? 2 : 0;
    if (*at >= 0xf5 || !length) return 0;
    uint32_t value = *at & (0xffu >> (length + 1));
    for (size_t i = 1; i < length; i++) {
        if ((at[i] & 0xc0) != 0x80) return 0;
        value = value << 6 | (at[i] & 0x3f);
    }
    static const uint32_t least[] = {0, 0, 0xa0, 0x800, 0x10000}; /* below 0xa0: control
                                                                   * characters */
    /* Characters that are not shown, or that change the order in which others are shown. */
    int turns = (value >= 0x200b && value <= 0x200f) || (value >= 0x2028 && value <= 0x202e) ||
                (value >= 0x2060 && value <= 0x206f) || value == 0xfeff || value == 0x61c ||
                (value >= 0xfff9 && value <= 0xfffb) || (value >= 0xe0000 && value <= 0xe0fff);
    int surrogate = value >= 0xd800 && value <= 0xdfff;
    return value < least[length] || value > 0x10ffff || turns || surrogate ? 0 : length;
}

void intake_clean(char *text)
{
    for (unsigned char *at = (unsigned char *)text; *at;) {
        size_t length = shown_bytes(at);
        if (!length) *at = '?';
        at += length ? length : 1;
    }
}
