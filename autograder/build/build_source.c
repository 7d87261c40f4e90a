/* build_source.c - taking a submission's source in: one regular file, plainly named, of a bounded
 * size. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "autograder/build/build_parts.h"

enum { NAME_MAX_BYTES = 64 };

static int ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);
    return length > tail && !strcmp(text + length - tail, end);
}

/* Letters, digits, '.', '_' and '-', not first '.' or '-': no name can be an option or a path. */
static int name_is_plain(const char *name)
{
    if (!*name || *name == '.' || *name == '-' || strlen(name) > NAME_MAX_BYTES) return 0;
    for (const char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && *c != '.' && *c != '_' && *c != '-') return 0;
    return ends_with(name, ".cu") || ends_with(name, ".c");
}

static int file_read(BuildJob *job, int fd, char *message, size_t bytes)
{
    struct stat status;
    if (fstat(fd, &status) || !S_ISREG(status.st_mode)) {
        snprintf(message, bytes, "%s is not a regular file: submit the source itself", job->name);
        return -1;
    }
    job->source = malloc(BUILD_SOURCE_MAX + 1);
    while (job->source && job->source_bytes <= BUILD_SOURCE_MAX) {
        ssize_t got =
            read(fd, job->source + job->source_bytes, BUILD_SOURCE_MAX + 1 - job->source_bytes);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        job->source_bytes += (size_t)got;
    }
    if (!job->source || job->source_bytes > BUILD_SOURCE_MAX) {
        snprintf(message, bytes, "%s is larger than 1 MiB: a lab's source is a few kilobytes",
                 job->name);
        return -1;
    }
    return 0;
}

int build_source_read(BuildJob *job, const char *path, char *message, size_t bytes)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    if (!name_is_plain(name)) {
        snprintf(
            message, bytes,
            "%.80s: a source's name has letters, digits, '_', '-' and '.', and ends in .cu or .c",
            name);
        return -1;
    }
    strcpy(job->name, name);
    job->device = ends_with(name, ".cu");
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        snprintf(message, bytes,
                 errno == ELOOP    ? "%s is a symbolic link: submit the source itself"
                 : errno == ENOENT ? "%s is missing: there is nothing to grade"
                                   : "%s cannot be read: see its permissions",
                 name);
        return -1;
    }
    int rc = file_read(job, fd, message, bytes);
    close(fd);
    return rc;
}
