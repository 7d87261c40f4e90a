/* profile.h - distribution of a launch's cycles, as text for a terminal and as files for plots.
 *
 * Module: profiles of source lines and phases.
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
    const DeviceCost *cost; /* cost of the whole call */
    const SimtMachine *machine;
    const char *source; /* path of the file that the student edits */
    double flops;       /* the problem's FLOP, 2 per multiply-add; 0: unknown, no roofline */
    int ptx;            /* Boolean: list the PTX under each hot line */
} ProfilePage;

/* Prints launch, bottleneck, hot lines with their main stall reason, phases, a timeline of one SM,
 * and the roofline's two numbers. */
void profile_print(FILE *stream, const ProfilePage *page);

/* Writes profile.tsv (one row per PTX instruction), lines.tsv, phases.tsv, timeline.tsv,
 * roofline.tsv and the scripts timeline.gp and roofline.gp to `directory`, which exists.  -1 with
 * error. */
int profile_write(const char *directory, const ProfilePage *page, Error *error);

#endif
