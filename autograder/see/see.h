/* see.h - HTML page of the accesses of a warp: `make see`.
 *
 * Module: the page, and its extract of a profile.
 * Callers: run.
 * May use: text, simt/core. */
#ifndef CONVLAB_AUTOGRADER_SEE_SEE_H
#define CONVLAB_AUTOGRADER_SEE_SEE_H

#include "common/base/error.h"
#include "common/simulator/core/profile.h"

typedef struct SeePage {
    const SimtProfile *profile;
    const char *lab, *about; /* "04-tiled"; the case and its shape in words */
    const char *gpu;         /* the simulated machine */
    const char *source;      /* path of the file that the student edits */
    int line;                /* source line at which the page opens; 0: the line with most sights */
    const char *frame;       /* path of page.html, which draws */
} SeePage;

/* One self-contained HTML file, written atomically.  -1 with error. */
int see_write(const char *path, const SeePage *page, Error *error);

/* Whether the page has an access or a branch of `line` to show first. */
int see_has_line(const SeePage *page, int line);

#endif
