#include "common/operations/conv/maps.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    CELL = 4,
    LEVELS = 1 << 16
}; /* pixels between nodes of the random field; number of its
                                      * levels */
static const double SMOOTH = 0.6, LEVEL = 0.25, FINE = 0.15; /* weights of the components of a
                                                              * pixel's value */

/* Node (i, j) of a plane's field, in [0,1): a hash, so no table is needed. */
static double node_of(uint64_t seed, int i, int j)
{
    uint64_t z = seed + 0x9e3779b97f4a7c15u * (uint64_t)(i * 65537 + j + 1);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

/* The value of pixel (h, w), 0 to LEVELS-1: interpolated between four nodes, plus the plane's
 * offset, plus noise. */
static unsigned height_of(uint64_t seed, int h, int w)
{
    int i = h / CELL, j = w / CELL;
    double down = (double)(h % CELL) / CELL, right = (double)(w % CELL) / CELL;
    double upper = node_of(seed, i, j) * (1 - right) + node_of(seed, i, j + 1) * right;
    double lower = node_of(seed, i + 1, j) * (1 - right) + node_of(seed, i + 1, j + 1) * right;
    double height = SMOOTH * (upper * (1 - down) + lower * down) + LEVEL * node_of(seed, -1, -1) +
                    FINE * node_of(~seed, h, w);
    return (unsigned)(height * LEVELS);
}

void maps_rectify(float *x, size_t planes, int height, int width, int zeros, Random *random)
{
    const size_t pixels = (size_t)height * width, count = planes * pixels;
    size_t *histogram = calloc(LEVELS, sizeof *histogram);
    uint64_t base = random_next(random);
    size_t keep = (size_t)llround((double)count * (100 - zeros) / 100);
    if (!keep && zeros < 100) keep = 1;
    if (!histogram) { /* out of memory: no patches, but the correct number of zeros */
        for (size_t i = 0; i < count; i++)
            x[i] = i < keep ? fabsf(x[i]) : 0;
        return;
    }
    for (size_t i = 0; i < count; i++)
        histogram[height_of(base + i / pixels, (int)(i % pixels / width), (int)(i % width))]++;
    /* All pixels above `level` stay positive, and the first `some` at that level. */
    unsigned level = LEVELS;
    size_t above = 0;
    while (level > 0 && above + histogram[level - 1] <= keep)
        above += histogram[--level];
    size_t some = keep - above;
    for (size_t i = 0; i < count; i++) {
        unsigned at = height_of(base + i / pixels, (int)(i % pixels / width), (int)(i % width));
        int stays = at >= level;
        if (level > 0 && at == level - 1 && some > 0) stays = 1, some--;
        x[i] = stays ? fabsf(x[i]) : 0;
    }
    free(histogram);
}
