/* build_cache.c - build cache: build/cache/<digest>/ has a program or an object, the compiler's
 * output, and the digest of the GPU code; entries are atomic.
 *
 * A build works in a private directory below the cache and renames its result into place.  So
 * parallel graders, a full disk or a killed grader leave no incomplete entry; a later build removes
 * a killed grader's directory. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "autograder/build/build_parts.h"

enum {
    STALE_WORK_SECONDS = 600,
    STALE_ENTRY_SECONDS = 30 * 24 * 3600,
    ENTRY_PATH = BUILD_PATH + 300
};

static int file_remove(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status;
    (void)kind;
    (void)place;
    remove(path);
    return 0;
}

static void tree_remove(const char *path)
{
    nftw(path, file_remove, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

static void cache_sweep(const char *cache)
{
    char path[ENTRY_PATH];
    struct stat status;
    DIR *list = opendir(cache);
    for (struct dirent *entry; list && (entry = readdir(list));) {
        if (entry->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/%s", cache, entry->d_name);
        time_t limit =
            strncmp(entry->d_name, "work-", 5) ? STALE_ENTRY_SECONDS : STALE_WORK_SECONDS;
        if (!stat(path, &status) && time(NULL) - status.st_mtime > limit) tree_remove(path);
    }
    if (list) closedir(list);
}

static int disk_error(const char *path, Error *error)
{
    if (errno == ENOSPC || errno == EDQUOT)
        return error_set(
            error,
            "%s: the disk is full; free some space (`make clean` empties the build directory)",
            path);
    return error_set(error, "%s: %s", path, strerror(errno));
}

int build_cache_open(BuildJob *job, Error *error)
{
    if (snprintf(job->cache, sizeof job->cache, "%s/cache", job->toolchain->build) >=
        (int)sizeof job->cache)
        return error_set(error, "the build directory's path is too long");
    if (mkdir(job->cache, 0755) && errno != EEXIST) return disk_error(job->cache, error);
    return 0;
}

static char *text_read(const char *path)
{
    char *text = calloc(1, BUILD_LOG_MAX);
    FILE *file = text ? fopen(path, "r") : NULL;
    if (file) {
        size_t got = fread(text, 1, BUILD_LOG_MAX - 1, file);
        text[got] = 0;
        fclose(file);
    }
    return text;
}

int build_cache_code(BuildJob *job, const char *digest)
{
    char path[ENTRY_PATH];
    snprintf(path, sizeof path, "%s/%s/code", job->cache, digest);
    char *text = text_read(path);
    if (text) snprintf(job->code, sizeof job->code, "%s", text);
    free(text);
    return text ? 0 : -1;
}

char *build_cache_find(BuildJob *job, const char *digest, const char *name, char *path,
                       size_t bytes)
{
    char entry[ENTRY_PATH], log[ENTRY_PATH + 16];
    snprintf(entry, sizeof entry, "%s/%s", job->cache, digest);
    if (snprintf(path, bytes, "%s/%s", entry, name) >= (int)bytes || access(path, R_OK))
        return NULL;
    snprintf(log, sizeof log, "%s/log", entry);
    utimensat(AT_FDCWD, entry, NULL, 0); /* recently used, so not stale */
    return build_cache_code(job, digest) ? NULL : text_read(log);
}

static int bytes_write(const char *path, const void *data, size_t bytes, Error *error)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd < 0) return disk_error(path, error);
    for (size_t done = 0; done < bytes;) {
        ssize_t wrote = write(fd, (const char *)data + done, bytes - done);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote < 0) {
            disk_error(path, error);
            close(fd);
            return -1;
        }
        done += (size_t)wrote;
    }
    return close(fd) ? disk_error(path, error) : 0;
}

int build_cache_add(const BuildJob *job, const char *name, const void *data, size_t bytes,
                    Error *error)
{
    char path[ENTRY_PATH];
    snprintf(path, sizeof path, "%s/%s", job->directory, name);
    return bytes_write(path, data, bytes, error);
}

int build_cache_copy(const BuildJob *job, const char *from, const char *name, Error *error)
{
    char to[ENTRY_PATH];
    struct stat status = {0};
    ssize_t copied = -1;
    snprintf(to, sizeof to, "%s/%s", job->directory, name);
    int in = open(from, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    int regular = in >= 0 && !fstat(in, &status) && S_ISREG(status.st_mode);
    int out = regular ? open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644) : -1;
    while (out >= 0 && (copied = copy_file_range(in, NULL, out, NULL, BUILD_FILE_BYTES, 0)) > 0)
        continue;
    int failed = copied ? disk_error(to, error) : 0;
    if (out >= 0 && failed) unlink(to);
    if (out >= 0) close(out);
    if (in >= 0) close(in);
    return failed;
}

int build_cache_begin(BuildJob *job, Error *error)
{
    cache_sweep(job->cache);
    snprintf(job->directory, sizeof job->directory, "%s/work-XXXXXX", job->cache);
    if (!mkdtemp(job->directory)) {
        job->directory[0] = 0;
        return disk_error(job->cache, error);
    }
    build_cleanup_start(job);
    return build_cache_add(job, job->name, job->source, job->source_bytes, error);
}

int build_cache_publish(const BuildJob *job, const char *digest, const char *name, const char *log,
                        Error *error)
{
    char from[ENTRY_PATH], made[ENTRY_PATH], to[2 * ENTRY_PATH], entry[ENTRY_PATH];
    struct stat status;
    snprintf(from, sizeof from, "%s/%s", job->directory, name);
    if (lstat(from, &status) || !S_ISREG(status.st_mode))
        return error_set(error, "the compiler left no %s in %s", name, job->directory);
    snprintf(made, sizeof made, "%s/entry-%s", job->directory, name);
    if (mkdir(made, 0755)) return disk_error(made, error);
    snprintf(to, sizeof to, "%s/%s", made, name);
    if (rename(from, to)) return disk_error(to, error);
    snprintf(to, sizeof to, "%s/log", made);
    if (bytes_write(to, log, strlen(log), error)) return -1;
    snprintf(to, sizeof to, "%s/code", made);
    if (bytes_write(to, job->code, strlen(job->code), error)) return -1;
    snprintf(entry, sizeof entry, "%s/%s", job->cache, digest);
    /* Another grader may have been faster; its entry is the same. */
    if (rename(made, entry) && errno != EEXIST && errno != ENOTEMPTY)
        return disk_error(entry, error);
    return 0;
}

void build_cache_end(BuildJob *job)
{
    if (job->directory[0]) tree_remove(job->directory);
    build_cleanup_end(job);
    job->directory[0] = 0;
}
