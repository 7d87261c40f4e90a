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

/* The stored fields of a cost, one per line.  Reading and writing both use this table. */
static void cost_numbers(DeviceCost *cost, uint64_t **wide, uint32_t **narrow)
{
#define WIDE(field, metric, about) *wide++ = &cost->field;
    *wide++ = &cost->cycles;
    COUNTERS(WIDE)
    for (int i = 0; i < COST_LINES; i++)
        *wide++ = &cost->work.warp_instructions[i];
    *wide = NULL;
    *narrow++ = &cost->occupancy_percent;
    *narrow++ = &cost->registers;
    *narrow++ = &cost->shared_bytes;
    *narrow++ = &cost->resident_blocks;
    for (int i = 0; i < 3; i++)
        *narrow++ = &cost->grid[i], *narrow++ = &cost->block[i];
    for (int i = 0; i < COST_LINES; i++)
        *narrow++ = &cost->work.line[i];
    *narrow = NULL;
}

enum { NUMBERS_MOST = 64 + COST_LINES };

/* The file contains the whole key, so keys with equal digests are distinguished. */
int cycle_cache_find(const char *directory, const CycleCacheKey *key, DeviceCost *cost)
{
    uint64_t *wide[NUMBERS_MOST];
    uint32_t *narrow[NUMBERS_MOST];
    char path[1024], *end;
    Error error;
    key_path(directory, key, path, sizeof path);
    char *text = file_text(path, &error);
    size_t length = strlen(key->text);
    int missing = !text || strncmp(text, key->text, length) != 0;
    *cost = (DeviceCost){0};
    cost_numbers(cost, wide, narrow);
    char *at = missing ? NULL : text + length;
    for (int i = 0; wide[i] && !missing; i++, at = end) {
        *wide[i] = strtoull(at, &end, 10);
        missing = end == at;
    }
    for (int i = 0; narrow[i] && !missing; i++, at = end) {
        *narrow[i] = (uint32_t)strtoul(at, &end, 10);
        missing = end == at;
    }
    free(text);
    return missing || !cost->cycles ? -1 : 0;
}

void cycle_cache_keep(const char *directory, const CycleCacheKey *key, const DeviceCost *cost)
{
    uint64_t *wide[NUMBERS_MOST];
    uint32_t *narrow[NUMBERS_MOST];
    DeviceCost copy = *cost;
    char path[1024], text[sizeof key->text + NUMBERS_MOST * 2 * 24];
    Error error;
    key_path(directory, key, path, sizeof path);
    text_set(text, sizeof text, "%s", key->text);
    cost_numbers(&copy, wide, narrow);
    for (int i = 0; wide[i]; i++)
        text_add(text, sizeof text, "%" PRIu64 "\n", *wide[i]);
    for (int i = 0; narrow[i]; i++)
        text_add(text, sizeof text, "%" PRIu32 "\n", *narrow[i]);
    file_write(path, text, &error);
}
