/* profile_stalls.h - the stall reasons of a launch, as a file and next to those of another run. */
#ifndef CONVLAB_AUTOGRADER_PROFILE_PROFILE_STALLS_H
#define CONVLAB_AUTOGRADER_PROFILE_PROFILE_STALLS_H

#include <stdio.h>

#include "common/base/error.h"
#include "common/simulator/core/profile.h"

typedef struct ProfileStalls {
    char kernel[256];
    uint64_t cycles;             /* duration of the launch */
    uint64_t stall[SIMT_STALLS]; /* cycles of warps of the replayed SM */
} ProfileStalls;

/* "global memory": what a warp with this stall waits for. */
const char *stall_reason(SimtStall stall);
/* A remedy for this stall; "" for STALL_SELECTED. */
const char *stall_remedy(SimtStall stall);

void profile_stalls_find(const SimtProfile *profile, ProfileStalls *stalls);
/* The rows of stalls.tsv. */
void profile_stalls_put(FILE *file, const ProfileStalls *stalls);
/* Writes or reads stalls.tsv.  -1 with error. */
int profile_stalls_write(const char *path, const ProfileStalls *stalls, Error *error);
int profile_stalls_read(const char *path, ProfileStalls *stalls, Error *error);
/* Prints both next to each other, in cycles per warp and as shares.  `called`: "reference". */
void profile_stalls_print(FILE *stream, const ProfileStalls *mine, const ProfileStalls *other,
                          const char *called);

#endif
