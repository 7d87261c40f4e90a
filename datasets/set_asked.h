/* set_asked.h - the command line of what makes a set: DIRECTORY SEED TRAIN TEST. */
#ifndef CONVLAB_DATASETS_SET_ASKED_H
#define CONVLAB_DATASETS_SET_ASKED_H

#include <stdint.h>

#include "common/base/error.h"

typedef struct SetAsked {
    const char *directory;
    uint64_t seed;
    int train, test; /* how many to learn from, and how many others */
} SetAsked;

/* Both sizes are from `least` to `most`.  0, or -1 with a line that says what is wrong. */
int set_asked(int argc, char **argv, int least, int most, SetAsked *asked, Error *error);

#endif
