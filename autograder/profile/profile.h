/* profile.h - where a launch's cycles went, as a page for a terminal and as files for plots.
 *
 * Module: a profile put together for reading, source line by line.
 * Callers: run.
 * May use: text, cuda, simt/core. */
#ifndef CONVLAB_AUTOGRADER_PROFILE_PROFILE_H
#define CONVLAB_AUTOGRADER_PROFILE_PROFILE_H

#include <stdio.h>

#include "common/base/error.h"
#include "common/cuda/device.h"
#include "common/simulator/machine/machine.h"
#include "common/simulator/core/profile.h"

typedef struct ProfilePage {
    const SimtProfile *profile;
    const DeviceCost *cost; /* of the whole call */
    const SimtMachine *machine;
    const char *source; /* path of the file that the student edits */
    double flops;       /* of the problem: 2 per multiply-add; 0: unknown, no roofline */
    int ptx;            /* list the PTX under each hot line */
} ProfilePage;

/* The page: launch, bottleneck, hot lines with the reason why warps waited there, phases, a
 * timeline of one SM, the roofline's two numbers. */
void profile_print(FILE *stream, const ProfilePage *page);

/* profile.tsv (a row for each PTX instruction), lines.tsv, phases.tsv, timeline.tsv, roofline.tsv
 * and the scripts timeline.gp and roofline.gp in `directory`, which exists.  -1 with error. */
int profile_write(const char *directory, const ProfilePage *page, Error *error);

#endif
