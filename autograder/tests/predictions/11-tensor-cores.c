/* Lab 11: tensor cores. */
#include <math.h>

#include "autograder/tests/predictions/derive.h"

enum { HALF = 2, CHUNK = 8, CHUNKS = 8, TILE = 128, STAGES = 3 };

/* Channels are assigned to chunks until none remains. */
static int channels_padded(const Given *given)
{
    int padded = 0;
    while (padded < given->p.C)
        padded += CHUNK;
    return padded;
}

/* Counts the multiplications of one tap; only those with an existing channel are needed. */
static double padded(const Given *given)
{
    double all = 0, real = 0;
    for (int c = 0; c < channels_padded(given); c++) {
        all++;
        real += c < given->p.C;
    }
    return all / real;
}

static double workspace(const Given *given)
{
    const ConvProblem *p = &given->p;
    double bytes = 0;
    for (int pixel = 0; pixel < p->N * p->H * p->W; pixel++)
        bytes += HALF * channels_padded(given);
    for (int tap = 0; tap < p->K * p->R * p->S; tap++)
        bytes += HALF * channels_padded(given);
    return bytes;
}

/* Rounds to the 11 significant bits of fp16, to nearest, ties to even. */
static double fp16(double value)
{
    int exponent;
    double mantissa = frexp(value, &exponent);
    return ldexp(nearbyint(ldexp(mantissa, 11)), exponent - 11);
}

static double ones(const Given *given)
{
    (void)given;
    double sum = 0;
    while (fp16(sum + 1) > sum)
        sum = fp16(sum + 1);
    return sum;
}

/* Adds the rows of the tiles: eight chunks of a filter's or a column's values. */
static double shared(const Given *given)
{
    (void)given;
    double bytes = 0;
    for (int stage = 0; stage < STAGES; stage++)
        for (int row = 0; row < TILE + TILE; row++)
            for (int chunk = 0; chunk < CHUNKS; chunk++)
                bytes += CHUNK * HALF;
    return bytes;
}

/* 64x64 accumulators with mma.m16n8k16: operand words per lane, and how often they are loaded. */
static double words(const Given *given)
{
    (void)given;
    enum { LANES = 32, OF_A = 4, OF_B = 2 };
    double words = 0, products = 0;
    for (int filters = 0; filters < 64; filters += 16)
        words += LANES * OF_A;
    for (int columns = 0; columns < 64; columns += 8)
        words += LANES * OF_B;
    for (int filters = 0; filters < 64; filters += 16)
        for (int columns = 0; columns < 64; columns += 8)
            products += 16 * 8 * 16;
    return words / products;
}

enum { PIECES = 7 };

/* Assigns the accumulators to blocks by filters and columns; each slice of the rows needs the same
 * number of blocks. */
static double pieces(const Given *given)
{
    const ConvProblem *p = &given->p;
    double blocks = 0;
    for (int piece = 0; piece < PIECES; piece++)
        for (int k = 0; k < p->K; k += TILE)
            for (int column = 0; column < p->N * p->P * p->Q; column += TILE)
                blocks++;
    return blocks;
}

/* Each output is the sum of one float per slice. */
static double copies(const Given *given)
{
    const ConvProblem *p = &given->p;
    double bytes = 0;
    for (int piece = 0; piece < PIECES; piece++)
        for (int output = 0; output < p->N * p->K * p->P * p->Q; output++)
            bytes += sizeof(float);
    return bytes;
}

const LabDerivations derive_11 = {"11-tensor-cores",
                                  {{"padded", padded},
                                   {"workspace", workspace},
                                   {"ones", ones},
                                   {"shared", shared},
                                   {"words", words},
                                   {"pieces", pieces},
                                   {"copies", copies},
                                   {0}}};
