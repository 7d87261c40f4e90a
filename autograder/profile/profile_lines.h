/* profile_lines.h - a profile added up by source line and by phase.  Internal to profile*.c. */
#ifndef CONVLAB_AUTOGRADER_PROFILE_PROFILE_LINES_H
#define CONVLAB_AUTOGRADER_PROFILE_PROFILE_LINES_H

#include "common/simulator/core/profile.h"

typedef struct ProfileLine {
    SimtInstruction sum; /* of the line's PTX; opcode unused */
    uint64_t cycles;     /* all stalls: what warps spent here */
    char text[160];      /* the source line, without the blanks before it; "" unknown */
    char phase[48];      /* profile_phases.h; "" outside of all */
} ProfileLine;

typedef struct ProfileLines {
    ProfileLine *line; /* the costliest first */
    size_t lines;
    uint64_t cycles;
} ProfileLines;

/* `source` is the path of the one file whose text is wanted.  -1: out of memory. */
int profile_lines_make(const SimtProfile *profile, const char *source, ProfileLines *lines);
void profile_lines_free(ProfileLines *lines);

uint64_t instruction_cycles(const SimtInstruction *instruction);
/* The stall that cost most, issuing itself left out. */
SimtStall instruction_stall(const SimtInstruction *instruction);

#endif
