/* profile.h - distribution of a launch's cycles, as text for a terminal and as files for plots.
 *
 * Module: profiles of source lines and phases.
 * Callers: run.
 * May use: text, cuda, simt/core. */
#ifndef CONVLAB_AUTOGRADER_PROFILE_PROFILE_H
#define CONVLAB_AUTOGRADER_PROFILE_PROFILE_H

#include <stdio.h>

#include "autograder/profile/profile_launches.h"
#include "common/base/error.h"
#include "common/cuda/device.h"
#include "common/simulator/machine/machine.h"
#include "common/simulator/core/profile.h"

typedef struct ProfilePage {
    const SimtProfile *profile;
    const DeviceCost *cost; /* cost of the whole call */
    const SimtMachine *machine;
    const char *source; /* path of the file that the student edits */
    double flops;       /* the problem's FLOP by its definition, 2 per multiply-add; 0: unknown */
    int ptx;            /* Boolean: list the PTX under each hot line */
    int is_selected;    /* Boolean: KERNEL or LAUNCH selected the launch; otherwise the longest */
    ProfileLaunches launches; /* all launches of the program; 0: not known */
} ProfilePage;

/* Prints the launches, and of one launch its configuration, bottleneck, hot lines with their main
 * stall reason, phases, a timeline of one SM, floating-point operations by pipe, and the roofline's
 * two numbers. */
void profile_print(FILE *stream, const ProfilePage *page);

/* Writes files to `directory`, which exists.  Tables: profile.tsv (one row per PTX instruction),
 * lines.tsv, phases.tsv, stalls.tsv, pipes.tsv, launches.tsv, timeline.tsv and roofline.tsv.
 * Scripts: timeline.gp and roofline.gp.  Pages: timeline.html and trace.json.  -1 with error. */
int profile_write(const char *directory, const ProfilePage *page, Error *error);

/* Write the Chrome trace, or the page of timelines, to another file.  -1 with error. */
int profile_write_html(const char *path, const ProfilePage *page, Error *error);
int profile_write_trace(const char *path, const ProfilePage *page, Error *error);

#endif
