/* Lab @NUMBER@: one thread per output, in blocks of 128. */
#include "autograder/tests/predictions/derive.h"

enum { THREADS = 128 };

/* Outputs are assigned to threads one by one; every 128th starts a block. */
static double blocks(const Given *given)
{
    const ConvProblem *p = &given->p;
    double count = 0;
    int dealt = 0;
    for (int map = 0; map < p->N * p->K; map++)
        for (int pixel = 0; pixel < p->P * p->Q; pixel++)
            count += dealt++ % THREADS == 0;
    return count;
}

const LabDerivations derive_@NUMBER@ = {"@LAB@", {{"blocks", blocks}, {0}}};
