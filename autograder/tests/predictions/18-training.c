/* Lab 18: a step of training. */
#include <string.h>

#include "autograder/tests/predictions/derive.h"
#include "convlab/train.h"

static TrainProblem train_of(const Given *given)
{
    TrainProblem train;
    memcpy(&train, given->problem->data, sizeof train);
    return train;
}

/* Every connection that has a weight of its own, counted layer by layer, and a bias a unit. */
static double parameters_in(const TrainProblem *train, int first, int last)
{
    double count = 0;
    for (int i = first; i <= last; i++)
        for (int k = 0; k < train->layer[i].K; k++) {
            count++;
            for (int c = 0; c < train->layer[i].C; c++)
                for (int tap = 0; tap < train->layer[i].R * train->layer[i].S; tap++)
                    count++;
        }
    return count;
}

static double parameters(const Given *given)
{
    TrainProblem train = train_of(given);
    return parameters_in(&train, TRAIN_C1, TRAIN_OUT);
}

static double in_c5(const Given *given)
{
    TrainProblem train = train_of(given);
    return 100 * parameters_in(&train, TRAIN_C5, TRAIN_C5) / parameters(given);
}

/* Multiplications of each output of each layer.  Each has one counterpart in the gradient of the
 * weights and, except in the first layer, one in the gradient of the input. */
static double back(const Given *given)
{
    TrainProblem train = train_of(given);
    double forward = 0, all = 0;
    for (int i = 0; i < TRAIN_LAYERS; i++) {
        const TrainLayer *layer = &train.layer[i];
        for (int output = 0; output < layer->K * layer->P * layer->Q; output++) {
            double products = layer->C * layer->R * layer->S;
            forward += products;
            all += i == TRAIN_C1 ? 2 * products : 3 * products;
        }
    }
    return all / forward;
}

/* Input (h, w) of C3 contributes to output (h - r, w - s): counts all positions that are read, and
 * those inside of d. */
static double border(const Given *given)
{
    TrainProblem train = train_of(given);
    const TrainLayer *layer = &train.layer[TRAIN_C3];
    int least = 0, most = 0, inside = 0;
    for (int h = 0; h < layer->H; h++)
        for (int r = 0; r < layer->R; r++) {
            least = h - r < least ? h - r : least;
            most = h - r > most ? h - r : most;
        }
    for (int p = least; p <= most; p++)
        inside += p >= 0 && p < layer->P;
    return (double)(most - least + 1) * (most - least + 1) / ((double)inside * inside);
}

/* One kernel each: forward, loss, backward except for the first layer, gradients, update. */
static double launches(const Given *given)
{
    TrainProblem train = train_of(given);
    double count = 1 + 1;
    for (int i = 0; i < TRAIN_LAYERS; i++)
        count += (train.layer[i].K > 0) + (i > 0) + 1;
    return count;
}

/* Part after part, as long as there are rows left. */
static double blocks(const Given *given)
{
    TrainProblem train = train_of(given);
    double count = 0;
    for (int row = 0; row < train.N * train.layer[TRAIN_C1].P; row += 5)
        count++;
    return count;
}

const LabDerivations derive_18 = {"18-training",
                                  {
                                      {"parameters", parameters},
                                      {"in-c5", in_c5},
                                      {"back", back},
                                      {"border", border},
                                      {"launches", launches},
                                      {"blocks", blocks},
                                      {0},
                                  }};
