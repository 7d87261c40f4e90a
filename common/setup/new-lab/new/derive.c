/* Lab @NUMBER@: one thread per output, in blocks of 128. */
#include <string.h>

#include "autograder/tests/predictions/derive.h"
#include "convlab/@OPERATION@.h"

enum { THREADS = 128 };

/* Outputs are assigned to threads one by one; every 128th starts a block. */
static double blocks(const Given *given)
{
    @STRUCT@ p;
    double count = 0;
    int dealt = 0;
    memcpy(&p, given->problem->data, sizeof p);
    for (int n = 0; n < p.N; n++)
        for (int q = 0; q < p.Q; q++)
            count += dealt++ % THREADS == 0;
    return count;
}

const LabDerivations derive_@NUMBER@ = {"@LAB@", {{"blocks", blocks}, {0}}};
