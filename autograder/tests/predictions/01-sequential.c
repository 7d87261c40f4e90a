/* Lab 01: counts by running the seven loops. */
#include "autograder/tests/predictions/derive.h"

/* FLOP: two per tap, also for taps in the padding. */
static double flops(const Given *given)
{
    const ConvProblem *p = &given->p;
    double count = 0;
    for (int n = 0; n < p->N; n++)
        for (int k = 0; k < p->K; k++)
            for (int op = 0; op < p->P; op++)
                for (int oq = 0; oq < p->Q; oq++)
                    for (int c = 0; c < p->C; c++)
                        for (int tap = 0; tap < p->R * p->S; tap++)
                            count += 2;
    return count;
}

/* 4 bytes per element of x, w and y. */
static double least_bytes(const Given *given)
{
    const ConvProblem *p = &given->p;
    double floats = 0;
    for (int image = 0; image < p->N; image++) {
        for (int pixel = 0; pixel < p->C * p->H * p->W; pixel++)
            floats++;
        for (int output = 0; output < p->K * p->P * p->Q; output++)
            floats++;
    }
    for (int weight = 0; weight < p->K * p->C * p->R * p->S; weight++)
        floats++;
    return 4 * floats;
}

const LabDerivations derive_01 = {"01-sequential",
                                  {
                                      {"flops", flops},
                                      {"least-bytes", least_bytes},
                                      {"flops-electrode", flops},
                                      {"least-bytes-electrode", least_bytes},
                                      {0},
                                  }};
