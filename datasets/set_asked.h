/* set_asked.h - command line of the programs that generate a set: DIRECTORY SEED TRAIN TEST. */
#ifndef CONVLAB_DATASETS_SET_ASKED_H
#define CONVLAB_DATASETS_SET_ASKED_H

#include <stdint.h>

#include "common/base/error.h"

typedef struct SetAsked {
    const char *directory;
    uint64_t seed;
    int train, test; /* numbers of training and test examples */
} SetAsked;

/* Both sizes must be in `least` to `most`.  0, or -1 after printing the error. */
int set_asked(int argc, char **argv, int least, int most, SetAsked *asked, Error *error);

#endif
