/* Lab 21: a tile of 4 x 4 outputs per thread, loaded in rows of four floats. */
#include <string.h>

#include "autograder/tests/predictions/derive.h"
#include "convlab/depthwise.h"

enum { THREADS = 128, TILE = 4 };

static GroupedProblem problem_of(const Given *given)
{
    GroupedProblem p;
    memcpy(&p, given->problem->data, sizeof p);
    return p;
}

/* One thread for every output whose row and column are multiples of the tile. */
static double blocks(const Given *given)
{
    GroupedProblem p = problem_of(given);
    int threads = 0, count = 0;
    for (int map = 0; map < p.N * p.K; map++)
        for (int op = 0; op < p.P; op += TILE)
            for (int oq = 0; oq < p.Q; oq += TILE)
                threads++;
    for (; threads > 0; threads -= THREADS)
        count++;
    return count;
}

/* The weights of each filter, one channel of its group after the other. */
static double weights(const Given *given)
{
    GroupedProblem p = problem_of(given);
    double count = 0;
    for (int k = 0; k < p.K; k++)
        for (int c = 0; c < p.C; c++)
            if (c * p.groups / p.C == k * p.groups / p.K) count += p.R * p.S;
    return count;
}

/* Two operations for each tap of each output; every element of the three tensors is moved once. */
static double intensity(const Given *given)
{
    GroupedProblem p = problem_of(given);
    double operations = 0, floats = 0;
    for (int map = 0; map < p.N * p.K; map++) {
        operations += 2.0 * p.P * p.Q * p.R * p.S;
        floats += p.P * p.Q;
    }
    for (int map = 0; map < p.N * p.C; map++)
        floats += p.H * p.W;
    return operations / (4 * (floats + p.K * p.R * p.S));
}

/* Each tile's inputs inside the map, and its taps. */
static double bytes(const Given *given)
{
    GroupedProblem p = problem_of(given);
    double floats = 0;
    for (int op = 0; op < p.P; op += TILE)
        for (int oq = 0; oq < p.Q; oq += TILE) {
            floats += p.R * p.S;
            for (int h = op - p.pad_top; h < op - p.pad_top + TILE - 1 + p.R; h++)
                for (int w = oq - p.pad_left; w < oq - p.pad_left + TILE - 1 + p.S; w++)
                    floats += h >= 0 && h < p.H && w >= 0 && w < p.W;
        }
    return 4 * floats * p.N * p.K;
}

static SeparableProblem separable_of(const Given *given)
{
    SeparableProblem p;
    memcpy(&p, given->problem->data, sizeof p);
    return p;
}

/* One block for every 64 filters that are left. */
static double recomputed(const Given *given)
{
    double count = 0;
    for (int left = separable_of(given).K; left > 0; left -= 64)
        count++;
    return count;
}

/* One store and one load for each pixel of each map between the convolutions. */
static double saved(const Given *given)
{
    SeparableProblem p = separable_of(given);
    double all = 0;
    for (int map = 0; map < p.N * p.C; map++)
        for (int pixel = 0; pixel < p.P * p.Q; pixel++)
            all += 2 * sizeof(float);
    return all;
}

const LabDerivations derive_21 = {"21-depthwise",
                                  {
                                      {"weights", weights},
                                      {"intensity", intensity},
                                      {"intensity-stride", intensity},
                                      {"blocks", blocks},
                                      {"bytes", bytes},
                                      {"recomputed", recomputed},
                                      {"saved", saved},
                                      {0},
                                  }};
