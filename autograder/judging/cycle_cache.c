#include "autograder/judging/cycle_cache.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autograder/text/files.h"
#include "autograder/text/text.h"

CycleCacheKey cycle_cache_key(const char *program_digest, const char *operation,
                              const char *problem, const char *machine, uint64_t simulator)
{
    CycleCacheKey key;
    text_set(key.text, sizeof key.text,
             "program %s\nproblem %s %s\nmachine %s\nsimulator %016" PRIx64 "\n", program_digest,
             operation, problem, machine, simulator);
    return key;
}

static void key_path(const char *directory, const CycleCacheKey *key, char *path, size_t bytes)
{
    uint64_t digest = digest_bytes(DIGEST_START, key->text, strlen(key->text));
    text_set(path, bytes, "%s/%016" PRIx64, directory, digest);
}

/* The file holds the whole key, so that two keys of one digest are told apart. */
uint64_t cycle_cache_find(const char *directory, const CycleCacheKey *key)
{
    char path[1024];
    Error error;
    key_path(directory, key, path, sizeof path);
    char *text = file_text(path, &error);
    uint64_t cycles = 0;
    size_t length = strlen(key->text);
    if (text && !strncmp(text, key->text, length)) {
        if (sscanf(text + length, "cycles %" SCNu64, &cycles) != 1) cycles = 0;
    }
    free(text);
    return cycles;
}

void cycle_cache_keep(const char *directory, const CycleCacheKey *key, uint64_t cycles)
{
    char path[1024], text[1200];
    Error error;
    key_path(directory, key, path, sizeof path);
    text_set(text, sizeof text, "%scycles %" PRIu64 "\n", key->text, cycles);
    file_write(path, text, &error);
}
