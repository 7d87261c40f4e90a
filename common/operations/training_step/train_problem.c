#include "common/operations/training_step/train_problem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(TrainProblem) <= PROBLEM_BYTES, "a TrainProblem must fit in a Problem");

void train_pack(const TrainProblem *train, Problem *problem)
{
    memset(problem, 0, sizeof *problem);
    problem->bytes = sizeof *train;
    memcpy(problem->data, train, sizeof *train);
}

TrainProblem train_unpack(const Problem *problem)
{
    TrainProblem train;
    memcpy(&train, problem->data, sizeof train);
    return train;
}

void train_expect(const TrainProblem *train, const float *const *tensor, TrainSlip slip,
                  Near *result)
{
    size_t count = (size_t)train->parameters;
    Near *start = malloc(2 * count * sizeof *start);
    for (size_t i = 0; start && i < count; i++) {
        start[i] = (Near){tensor[TRAIN_PARAMETER][i], 0};
        start[count + i] = (Near){tensor[TRAIN_VELOCITY][i], 0};
    }
    int short_of = !start || train_oracle(train, tensor[TRAIN_X], tensor[TRAIN_LABEL], start,
                                          start + count, tensor[TRAIN_SETTING], slip, result);
    for (size_t i = 0; short_of && i <= 2 * count; i++)
        result[i] = (Near){NAN, 0}; /* then nothing is judged as correct */
    free(start);
}
