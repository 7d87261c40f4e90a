/* Lab 13: sparse convolution. */
#include "autograder/tests/predictions/derive.h"

enum { WINDOWS = 32, TAPS = 64 };                                   /* kernel for one channel */
enum { FILTERS = 128, ROWS = 128, WARPS = 8, WARPS_OF_AN_SM = 32 }; /* kernel for many channels */

/* Probability, in percent, that `together` values are all zero, if each is zero with probability
 * zeros/100 independently of the others. */
static double percent_all_zero(int zeros, int together)
{
    double left = 100;
    for (int i = 0; i < together; i++)
        left -= left * (100 - zeros) / 100;
    return left;
}

static double empty(const Given *given)
{
    return percent_all_zero(given->p.zeros, given->p.R * given->p.S);
}

static double together(const Given *given)
{
    return percent_all_zero(given->p.zeros, 2 * 2);
}

/* Adds the bytes per window and tap. */
static double format(const Given *given)
{
    const ConvProblem *p = &given->p;
    double bytes = 0;
    for (int h = 0; h + p->R <= p->H + p->pad_top + p->pad_bottom; h += p->stride_h)
        for (int w = 0; w + p->S <= p->W + p->pad_left + p->pad_right; w += p->stride_w) {
            for (int tap = 0; tap < p->R * p->S; tap++)
                bytes += sizeof(float) + sizeof(float); /* F_data, K_data */
            bytes += sizeof(int);                       /* ptr */
        }
    return bytes;
}

/* Adds blocks to an SM until the next one does not fit. */
static double lists(const Given *given)
{
    long block = 2L * WINDOWS * TAPS * sizeof(float) + WINDOWS * sizeof(int) + 1024;
    long room = 228L * 1024, blocks = 0;
    (void)given;
    while (room >= block) {
        room -= block;
        blocks++;
    }
    return blocks;
}

/* Counts 2x2 output tiles; the number of slices doubles while the GPU is not full. */
static double blocks(const Given *given)
{
    const ConvProblem *p = &given->p;
    int patches = 0, filter_groups = 0, shares = 1;
    for (int n = 0; n < p->N; n++)
        for (int op = 0; op < p->P; op += 2)
            for (int oq = 0; oq < p->Q; oq += 2)
                patches++;
    for (int k = 0; k < p->K; k += FILTERS)
        filter_groups++;
    while (shares < WARPS && 2 * shares * ROWS <= p->C * p->R * p->S &&
           patches * filter_groups * shares < WARPS_OF_AN_SM * (int)given->machine.sms)
        shares *= 2;
    int warps = patches * shares, across = 0;
    for (; warps > 0; warps -= WARPS)
        across++;
    return across * filter_groups;
}

const LabDerivations derive_13 = {"13-sparse",
                                  {{"empty", empty},
                                   {"together", together},
                                   {"format", format},
                                   {"lists", lists},
                                   {"blocks", blocks},
                                   {0}}};
