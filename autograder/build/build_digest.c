/* build_digest.c - digest of all inputs of an object or a program, so that each is built only once:
 * BLAKE2b.
 *
 * Own and small files count by their contents; compilers count by path, size and time of change. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "autograder/build/build_parts.h"

typedef crypto_generichash_state Hash;

static void hash_begin(Hash *hash)
{
    (void)!sodium_init(); /* selects the fastest BLAKE2b; if that fails, the default is correct */
    crypto_generichash_init(hash, NULL, 0, crypto_generichash_BYTES);
}

static void hash_end(Hash *hash, char digest[65])
{
    unsigned char sum[crypto_generichash_BYTES];
    crypto_generichash_final(hash, sum, sizeof sum);
    sodium_bin2hex(digest, 65, sum, sizeof sum);
}

/* Length first, so that no two different lists of parts give the same bytes. */
static void part_add(Hash *hash, const void *data, size_t bytes)
{
    unsigned long long length = bytes;
    crypto_generichash_update(hash, (const unsigned char *)&length, sizeof length);
    crypto_generichash_update(hash, data, bytes);
}

static void text_add(Hash *hash, const char *text)
{
    part_add(hash, text, strlen(text));
}

static int file_add(Hash *hash, const char *path, Error *error)
{
    char chunk[65536];
    ssize_t got;
    unsigned long long total = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return error_set(error, "%s: %s; run `make` again", path, strerror(errno));
    while ((got = read(fd, chunk, sizeof chunk)) > 0) {
        crypto_generichash_update(hash, (const unsigned char *)chunk, (size_t)got);
        total += (unsigned long long)got;
    }
    crypto_generichash_update(hash, (const unsigned char *)&total, sizeof total);
    int bad = errno;
    close(fd);
    return got < 0 ? error_set(error, "%s: %s", path, strerror(bad)) : 0;
}

static void compiler_add(Hash *hash, const char *path)
{
    struct stat status;
    text_add(hash, path);
    if (stat(path, &status)) return; /* the build itself reports the error */
    long long mark[3] = {status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
    part_add(hash, mark, sizeof mark);
}

static int header_is(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* Every header in common/include/<folder>. */
static int headers_add(Hash *hash, const char *root, const char *folder, Error *error)
{
    char directory[BUILD_PATH], path[BUILD_PATH + 300];
    struct dirent **entry;
    int rc = 0;
    snprintf(directory, sizeof directory, "%s/common/include/%s", root, folder);
    int count = scandir(directory, &entry, header_is, alphasort);
    if (count < 0) return error_set(error, "%s: %s", directory, strerror(errno));
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/%s", directory, entry[i]->d_name);
        text_add(hash, entry[i]->d_name);
        if (!rc) rc = file_add(hash, path, error);
        free(entry[i]);
    }
    free(entry);
    return rc;
}

int build_digest_object(BuildJob *job, Error *error)
{
    Hash hash;
    hash_begin(&hash);
    text_add(&hash, build_flags_text);
    text_add(&hash, job->kind == BUILD_RUN_DEBUG    ? "with -g"
                    : job->kind == BUILD_RUNNER_PTX ? "PTX only"
                                                    : "");
    part_add(&hash, (const char *)&job->cc, sizeof job->cc);
    text_add(&hash, job->name);
    part_add(&hash, job->source, job->source_bytes);
    if (job->device) compiler_add(&hash, job->toolchain->nvcc);
    compiler_add(&hash, job->toolchain->cc);
    compiler_add(&hash, job->toolchain->cxx);
    text_add(&hash, job->toolchain->lean);
    text_add(&hash, job->toolchain->nvcc_flags);
    if (job->toolchain->steps[0]) {
        char path[BUILD_PATH + 64];
        snprintf(path, sizeof path, "%s/%s", job->toolchain->root, job->toolchain->steps);
        if (file_add(&hash, path, error)) return -1;
    }
    if (headers_add(&hash, job->toolchain->root, "convlab", error) ||
        headers_add(&hash, job->toolchain->root, "lean", error))
        return -1;
    hash_end(&hash, job->object);
    return 0;
}

void build_code_digest(const void *image, size_t bytes, char digest[65])
{
    Hash hash;
    hash_begin(&hash);
    part_add(&hash, image, bytes);
    hash_end(&hash, digest);
}

/* Reads it before the linker runs, and through no link, because both tools work for the
 * submission. */
int build_digest_code(BuildJob *job, Error *error)
{
    char path[BUILD_PATH + 300];
    struct stat status;
    int name = (int)strcspn(job->name, ".");
    snprintf(path, sizeof path, "%s/%.*s.fatbin", job->directory, name, job->name);
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return error_set(error, "nvcc left no %.*s.fatbin: %m", name, job->name);
    int rc = -1;
    void *image = NULL;
    if (fstat(fd, &status) || !S_ISREG(status.st_mode) || status.st_size <= 0 ||
        (uint64_t)status.st_size > BUILD_FILE_BYTES || !(image = malloc((size_t)status.st_size)) ||
        read(fd, image, (size_t)status.st_size) != status.st_size)
        error_set(error, "%s cannot be read", path);
    else
        rc = 0, build_code_digest(image, (size_t)status.st_size, job->code);
    free(image);
    close(fd);
    return rc;
}

int build_digest(BuildJob *job, char digest[65], Error *error)
{
    Hash hash;
    BuildInput input[BUILD_INPUTS];
    int inputs = build_inputs(job, input);
    if (build_digest_object(job, error)) return -1;
    hash_begin(&hash);
    text_add(&hash, job->object);
    text_add(&hash, job->entries);
    text_add(&hash, job->toolchain->linker);
    for (int i = 0; i < inputs; i++)
        if (file_add(&hash, input[i].path, error)) return -1;
    hash_end(&hash, digest);
    return 0;
}
