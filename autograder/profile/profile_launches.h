/* profile_launches.h - the launches of a program, as a table and as a file. */
#ifndef CONVLAB_AUTOGRADER_PROFILE_PROFILE_LAUNCHES_H
#define CONVLAB_AUTOGRADER_PROFILE_PROFILE_LAUNCHES_H

#include <stdio.h>

#include "common/cuda/device.h"

/* The launches of a program, in the order of their calls. */
typedef struct ProfileLaunches {
    const DeviceLaunch *launch;
    uint32_t launches;
    double clock_mhz; /* clock in which cycles are counted */
} ProfileLaunches;

/* Prints a row per launch, or, if there are many, a row per kernel.  Prints nothing for one
 * launch. */
void profile_launches_print(FILE *stream, const ProfileLaunches *launches);
/* Writes launches.tsv: a row per launch. */
void profile_launches_write(FILE *file, const ProfileLaunches *launches);

#endif
