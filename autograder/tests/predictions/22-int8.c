/* Lab 22: 8-bit integers. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "autograder/tests/predictions/derive.h"
#include "convlab/int8.h"

enum { TILE_PIXELS = 64, TILE_FILTERS = 64, CHUNK = 16, CHUNKS = 8, STAGES = 3 };
enum { FRAGMENT_PIXELS = 16, FRAGMENT_FILTERS = 8, MMA_CHANNELS = 32 };

static Int8Problem problem_of(const Given *given)
{
    Int8Problem p;
    memcpy(&p, given->problem->data, sizeof p);
    return p;
}

/* Counts steps up to the middle between two integers. */
static double steps(const Given *given)
{
    (void)given;
    const double step = 0.635 / 127;
    int count = 0;
    while ((count + 0.5) * step < 0.2034)
        count++;
    return count;
}

/* Multiplies the largest bytes of one more channel while the sum is an int. */
static double terms(const Given *given)
{
    Int8Problem p = problem_of(given);
    int64_t sum = 0, channels = 0;
    for (;;) {
        for (int tap = 0; tap < p.R * p.S; tap++)
            sum += (int64_t)INT8_MIN * -INT8_MAX;
        if (sum > INT32_MAX) return (double)channels;
        channels++;
    }
}

static double dp4a(const Given *given)
{
    Int8Problem p = problem_of(given);
    int count = 0;
    for (int r = 0; r < p.R; r++)
        for (int s = 0; s < p.S; s++)
            for (int c = 0; c < p.C; c += 4)
                count++;
    return count;
}

static double blocks(const Given *given)
{
    Int8Problem p = problem_of(given);
    int count = 0;
    for (int pixel = 0; pixel < p.N * p.P * p.Q; pixel += TILE_PIXELS)
        for (int k = 0; k < p.K; k += TILE_FILTERS)
            count++;
    return count;
}

static double shared(const Given *given)
{
    (void)given;
    int bytes = 0;
    for (int stage = 0; stage < STAGES; stage++)
        for (int row = 0; row < TILE_PIXELS + TILE_FILTERS; row++)
            bytes += CHUNKS * CHUNK;
    return bytes;
}

/* The depth is padded to whole tiles, and pixels and filters to whole tiles of a warp. */
static double mma(const Given *given)
{
    Int8Problem p = problem_of(given);
    double count = 0;
    int depth = 0;
    while (depth < p.R * p.S * p.C)
        depth += CHUNKS * CHUNK;
    for (int tile = 0; tile < blocks(given); tile++)
        for (int pixel = 0; pixel < TILE_PIXELS; pixel += FRAGMENT_PIXELS)
            for (int k = 0; k < TILE_FILTERS; k += FRAGMENT_FILTERS)
                count += (double)depth / MMA_CHANNELS;
    return count;
}

/* The root mean square of a million errors, equally spaced from -1/2 to 1/2. */
static double noise(const Given *given)
{
    (void)given;
    enum { COUNT = 1000000 };
    double squares = 0;
    for (int i = 0; i < COUNT; i++) {
        double error = (i + 0.5) / COUNT - 0.5;
        squares += error * error;
    }
    return sqrt(squares / COUNT);
}

const LabDerivations derive_22 = {"22-int8",
                                  {{"steps", steps},
                                   {"terms", terms},
                                   {"dp4a", dp4a},
                                   {"blocks", blocks},
                                   {"shared", shared},
                                   {"mma", mma},
                                   {"noise", noise},
                                   {0}}};
