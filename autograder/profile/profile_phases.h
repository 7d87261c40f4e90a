/* profile_phases.h - a profile added up by phase: by the comments `// phase: NAME` of the source,
 * and where it has none by its TODO regions.  Two programs of a lab have the same ones, so they
 * can stand side by side. */
#ifndef CONVLAB_AUTOGRADER_PROFILE_PROFILE_PHASES_H
#define CONVLAB_AUTOGRADER_PROFILE_PROFILE_PHASES_H

#include <stdio.h>

#include "autograder/profile/profile_lines.h"
#include "common/base/error.h"

enum { PROFILE_PHASES = 16 };

typedef struct ProfilePhase {
    char name[48];         /* "other": outside of all */
    double cycles;         /* of the launch's: by the phase's share of what its warps did */
    uint64_t instructions; /* of warps */
    uint32_t line;         /* its first */
} ProfilePhase;

typedef struct ProfilePhases {
    ProfilePhase phase[PROFILE_PHASES]; /* in the order of their lines */
    size_t phases;
} ProfilePhases;

void profile_phases_find(const ProfileLines *lines, double launch_cycles, ProfilePhases *phases);

/* The same of a launch; `source` is the program's file.  -1: out of memory. */
int profile_phases_of(const SimtProfile *profile, const char *source, ProfilePhases *phases);

/* As a file that another process reads: a line a phase.  -1 with error. */
int profile_phases_write(const char *path, const ProfilePhases *phases, Error *error);
int profile_phases_read(const char *path, ProfilePhases *phases, Error *error);

/* Both side by side; of a slower one also a sentence, where most of its surplus is.  Nothing where
 * the two have fewer than two phases in common.  `called`: "reference". */
void profile_phases_print(FILE *stream, const ProfilePhases *mine, const ProfilePhases *other,
                          const char *called);

#endif
