/* tool_recordings.c - writes lab 19's recordings and trained weights as NPY files, and prints the
 * accuracy on test recordings. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/operations/catalog/operations.h"
#include "datasets/array.h"
#include "datasets/recordings.h"
#include "datasets/recordings_network.h"
#include "datasets/set_options.h"

static int write_npy(const char *directory, const char *name, const Array *array, Error *error)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return array_write_npy(path, array, error);
}

static int write_all(const char *directory, const ElectrodeProblem *p, int count, float *x,
                     uint8_t *label, float *w, Error *error)
{
    uint64_t N = (uint64_t)count, parameters = (uint64_t)p->parameters;
    Array recordings = {.type = ARRAY_F32,
                        .dimensions = 3,
                        .size = {N, RECORDING_ELECTRODES, RECORDING_SAMPLES},
                        .count = N * RECORDING_VALUES,
                        .value = x};
    Array labels = {.type = ARRAY_U8, .dimensions = 1, .size = {N}, .count = N, .value = label};
    Array weights = {
        .type = ARRAY_F32, .dimensions = 1, .size = {parameters}, .count = parameters, .value = w};
    return write_npy(directory, "test-recordings.npy", &recordings, error) ||
                   write_npy(directory, "test-labels.npy", &labels, error) ||
                   write_npy(directory, "weights.npy", &weights, error)
               ? -1
               : 0;
}

/* The generator draws the training recordings first, then the test recordings. */
static int make_all(const SetOptions *asked, Error *error)
{
    const int train = asked->train, test = asked->test;
    Problem problem;
    ElectrodeProblem p;
    Random random;
    if (operation_find("electrode_forward")
            ->parse("N=1 H=56 W=100 c=64 f=256 classes=3", &problem, error))
        return -1;
    memcpy(&p, problem.data, sizeof p);
    size_t count = (size_t)train + (size_t)test;
    float *x = malloc(count * RECORDING_VALUES * sizeof *x);
    float *w = malloc((size_t)p.parameters * sizeof *w);
    uint8_t *label = malloc(count);
    int right = -1, status = -1;
    if (x && w && label) {
        float *unseen = x + (size_t)train * RECORDING_VALUES;
        random_seed(&random, asked->seed);
        recordings_generate(train + test, &random, x, label);
        recordings_design(&p, w);
        if (!recordings_learn(&p, train, x, label, w))
            right = recordings_right(&p, test, unseen, label + train, w);
        if (right >= 0)
            status = write_all(asked->directory, &p, test, unseen, label + train, w, error);
    }
    if (right < 0) error_set(error, "no memory for %zu recordings", count);
    if (!status)
        printf("recordings: learnt from %d, reads %d of %d others right (%.1f %%)\n", train, right,
               test, 100.0 * right / test);
    free(label);
    free(w);
    free(x);
    return status;
}

int main(int argc, char **argv)
{
    SetOptions asked;
    Error error;
    if (set_options_read(argc, argv, 1, 50000, &asked, &error)) {
        fprintf(stderr, "recordings: %s\n", error.text);
        return 2;
    }
    if (make_all(&asked, &error)) {
        fprintf(stderr, "recordings: %s\n", error.text);
        return 1;
    }
    return 0;
}
