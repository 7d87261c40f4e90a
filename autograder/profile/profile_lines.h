/* profile_lines.h - sums of a profile by source line and by phase.  Internal to profile*.c. */
#ifndef CONVLAB_AUTOGRADER_PROFILE_PROFILE_LINES_H
#define CONVLAB_AUTOGRADER_PROFILE_PROFILE_LINES_H

#include "common/simulator/core/profile.h"

typedef struct ProfileLine {
    SimtInstruction sum;     /* sums over the line's PTX; opcode unused */
    uint64_t cycles;         /* all stalls, in cycles summed over warps */
    uint64_t inlined_cycles; /* part of `cycles`: functions of other files, inlined here */
    uint64_t inlined_most;
    const char *inlined; /* file of the most expensive of these */
    char text[160];      /* the source line, without the blanks before it; "" unknown */
    char phase[48];      /* phase (profile_phases.h); "" outside of all */
} ProfileLine;

typedef struct ProfileLines {
    ProfileLine *line; /* the most expensive first */
    size_t lines;
    uint64_t cycles;
} ProfileLines;

/* `source` is the path of the only file whose text is needed.  -1: out of memory. */
int profile_lines_make(const SimtProfile *profile, const char *source, ProfileLines *lines);
void profile_lines_free(ProfileLines *lines);

uint64_t instruction_cycles(const SimtInstruction *instruction);
/* The stall with the highest cost, except issuing itself. */
SimtStall instruction_stall(const SimtInstruction *instruction);

#endif
