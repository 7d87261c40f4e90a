/* see.h - what a warp's accesses did, as one page for a browser: `make see`.
 *
 * Module: the page, and what of a profile it shows.
 * Callers: run.
 * May use: text, simt/core. */
#ifndef CONVLAB_AUTOGRADER_SEE_SEE_H
#define CONVLAB_AUTOGRADER_SEE_SEE_H

#include "common/base/error.h"
#include "common/simulator/core/profile.h"

typedef struct SeePage {
    const SimtProfile *profile;
    const char *lab, *about; /* "04-tiled"; the case and its shape in words */
    const char *gpu;         /* the described machine */
    const char *source;      /* path of the file that the student edits */
    int line;                /* of it: where the page opens; 0: at the line with most sights */
    const char *frame;       /* path of page.html, which draws */
} SeePage;

/* One HTML file that needs nothing else, whole or not at all.  -1 with error. */
int see_write(const char *path, const SeePage *page, Error *error);

/* Whether the page has an access, or a branch, of `line` to open at. */
int see_has_line(const SeePage *page, int line);

#endif
