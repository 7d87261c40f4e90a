/* Lab 15: Fourier transforms of tiles.  On the simulated h200 alexnet-2 has tiles of 16x16, and
 * eleven of 32x32. */
#include "autograder/tests/predictions/derive.h"

enum { FILTERS = 32, TILES = 32, CHANNELS = 16, STAGES = 2 };

typedef struct Complex {
    float re, im;
} Complex;

/* Is the circular sum at (p, q) of a side x side tile right: does its window stay inside? */
static int is_right(const ConvProblem *conv, int side, int p, int q)
{
    return p + conv->R <= side && q + conv->S <= side;
}

static double useful_fraction(const Given *given)
{
    int right = 0, all = 0;
    for (int p = 0; p < 16; p++)
        for (int q = 0; q < 16; q++, all++)
            right += is_right(&given->p, 16, p, q);
    return (double)right / all;
}

/* In the transform of a real tile, element (i, j) is the conjugate of (-i, -j): count one of the
 * two. */
static int frequencies_of(int side)
{
    int count = 0;
    for (int i = 0; i < side; i++)
        for (int j = 0; j < side; j++)
            count += i * side + j <= (side - i) % side * side + (side - j) % side;
    return count;
}

static double frequencies(const Given *given)
{
    (void)given;
    return frequencies_of(32);
}

/* Tiles of one map: each begins where the last one's right sums end. */
static int tiles_of(const ConvProblem *conv, int side)
{
    int count = 0, high = 0, wide = 0;
    while (is_right(conv, side, high, 0))
        high++;
    while (is_right(conv, side, 0, wide))
        wide++;
    for (int p = 0; p < conv->P; p += high)
        for (int q = 0; q < conv->Q; q += wide)
            count++;
    return count;
}

static double reduction(const Given *given)
{
    const ConvProblem *conv = &given->p;
    double products = 0, own = 0;
    for (int output = 0; output < conv->P * conv->Q; output++)
        products += conv->R * conv->S;
    for (int tile = 0; tile < tiles_of(conv, 16); tile++)
        own += 4 * frequencies_of(16);
    return products / own;
}

static double blocks(const Given *given)
{
    const ConvProblem *conv = &given->p;
    int count = 0;
    for (int point = 0; point < frequencies_of(16); point++)
        for (int tile = 0; tile < conv->N * tiles_of(conv, 16); tile += TILES)
            for (int k = 0; k < conv->K; k += FILTERS)
                count++;
    return count;
}

/* Size of the arrays in shared memory, by the C compiler. */
static double shared(const Given *given)
{
    (void)given;
    struct Shared {
        Complex us[STAGES][CHANNELS][FILTERS], vs[STAGES][CHANNELS][TILES];
    };
    return sizeof(struct Shared);
}

/* The first three launches fill u, v and m, the last one y. */
static double stored(const Given *given)
{
    const ConvProblem *conv = &given->p;
    int tiles = conv->N * tiles_of(conv, 32), filters = conv->K;
    while (tiles % TILES)
        tiles++;
    while (filters % FILTERS)
        filters++;
    double bytes = 0;
    for (int point = 0; point < frequencies_of(32); point++) {
        for (int c = 0; c < conv->C; c++)
            bytes += (double)(filters + tiles) * sizeof(Complex);
        for (int k = 0; k < filters; k++)
            bytes += (double)tiles * sizeof(Complex);
    }
    for (int map = 0; map < conv->N * conv->K; map++)
        bytes += (double)conv->P * conv->Q * sizeof(float);
    return bytes;
}

const LabDerivations derive_15 = {"15-fft",
                                  {
                                      {"useful-fraction", useful_fraction},
                                      {"reduction", reduction},
                                      {"frequencies", frequencies},
                                      {"blocks", blocks},
                                      {"shared", shared},
                                      {"stored", stored},
                                      {0},
                                  }};
