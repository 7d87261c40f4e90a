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

const LabDerivations derive_21 = {"21-depthwise", {{"blocks", blocks}, {0}}};
