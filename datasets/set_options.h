/* set_options.h - command line of the programs that generate a set: DIRECTORY SEED TRAIN TEST. */
#ifndef CONVLAB_DATASETS_SET_OPTIONS_H
#define CONVLAB_DATASETS_SET_OPTIONS_H

#include <stdint.h>

#include "common/base/error.h"

typedef struct SetOptions {
    const char *directory;
    uint64_t seed;
    int train, test; /* numbers of training and test examples */
} SetOptions;

/* Both sizes must be in `least` to `most`.  0, or -1 after printing the error. */
int set_options_read(int argc, char **argv, int least, int most, SetOptions *asked, Error *error);

#endif
