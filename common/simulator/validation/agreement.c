#include "common/simulator/validation/agreement.h"

#include <math.h>
#include <stdlib.h>

/* Half the places that equal values share: so ties need no sorting. */
static void ranks_find(const double *value, size_t count, double *rank)
{
    for (size_t i = 0; i < count; i++) {
        double below = 0, same = 0;
        for (size_t k = 0; k < count; k++) {
            below += value[k] < value[i];
            same += value[k] == value[i];
        }
        rank[i] = below + (same + 1) / 2;
    }
}

double rank_correlation(const double *a, const double *b, size_t count)
{
    double mean = ((double)count + 1) / 2, ab = 0, aa = 0, bb = 0;
    double *rank = malloc(2 * count * sizeof *rank + 1);
    if (!rank) return NAN;
    ranks_find(a, count, rank);
    ranks_find(b, count, rank + count);
    for (size_t i = 0; i < count; i++) {
        double da = rank[i] - mean, db = rank[count + i] - mean;
        ab += da * db, aa += da * da, bb += db * db;
    }
    free(rank);
    return aa > 0 && bb > 0 ? ab / sqrt(aa * bb) : 0;
}

double mean_absolute_error(const double *measured, const double *simulated, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += fabs(simulated[i] / measured[i] - 1);
    return count ? sum / (double)count : 0;
}
