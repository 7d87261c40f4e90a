/* profile_timeline.h - a launch over time: warps by stall reason, blocks on an SM, and the launches
 * of the program, as an HTML page with SVG and as a Chrome trace. */
#ifndef CONVLAB_AUTOGRADER_PROFILE_PROFILE_TIMELINE_H
#define CONVLAB_AUTOGRADER_PROFILE_PROFILE_TIMELINE_H

#include <stdio.h>

#include "autograder/profile/profile.h"

/* Consecutive bins of a warp with the same main stall. */
typedef struct WarpRun {
    SimtStall stall;
    uint64_t begin, end;  /* cycles of the launch, from the start of its blocks */
    uint64_t cycles;      /* cycles with this stall between them */
    uint32_t instruction; /* number in SimtProfile.instruction of the longest stall */
} WarpRun;

/* Fills `run`, which has TIMELINE_BINS entries, and returns their number. */
uint32_t warp_runs_find(const SimtProfile *profile, uint32_t block, uint32_t warp, WarpRun *run);

/* Role of a warp of a kernel with copies into shared memory and matrix products: "producer",
 * "consumer", or "" if it does both, neither, or if the roles are not separate. */
const char *warp_role(const SimtProfile *profile, uint32_t block, uint32_t warp);

/* A page that needs no other file and no script. */
void timeline_html(FILE *file, const ProfilePage *page);
/* The Trace Event Format, which chrome://tracing and ui.perfetto.dev show.  Times are simulated
 * microseconds. */
void timeline_trace(FILE *file, const ProfilePage *page);

#endif
