/* profile_phases.h - sums of a profile by phase: phases are given by the comments `// phase: NAME`
 * of the source, or, without these, by its TODO regions.  All programs of a lab have the same
 * phases, so they can be compared. */
#ifndef CONVLAB_AUTOGRADER_PROFILE_PROFILE_PHASES_H
#define CONVLAB_AUTOGRADER_PROFILE_PROFILE_PHASES_H

#include <stdio.h>

#include "autograder/profile/profile_lines.h"
#include "common/base/error.h"

enum { PROFILE_PHASES = 16 };

typedef struct ProfilePhase {
    char name[48];         /* "other": outside of all */
    double cycles;         /* share of the launch, divided among phases by the cycles of their
                            * warps */
    uint64_t instructions; /* warp instructions */
    uint32_t line;         /* its first source line */
} ProfilePhase;

typedef struct ProfilePhases {
    ProfilePhase phase[PROFILE_PHASES]; /* sorted by line */
    size_t phases;
} ProfilePhases;

void profile_phases_find(const ProfileLines *lines, double launch_cycles, ProfilePhases *phases);

/* The same for one launch; `source` is the program's file.  -1: out of memory. */
int profile_phases_of(const SimtProfile *profile, const char *source, ProfilePhases *phases);

/* Writes a file for another process: one line per phase.  -1 with error. */
int profile_phases_write(const char *path, const ProfilePhases *phases, Error *error);
int profile_phases_read(const char *path, ProfilePhases *phases, Error *error);

/* Prints both next to each other, and for a slower program the phase with most of its additional
 * cycles.  Prints nothing if the two have fewer than two phases in common.  `called`:
 * "reference". */
void profile_phases_print(FILE *stream, const ProfilePhases *mine, const ProfilePhases *other,
                          const char *called);

#endif
