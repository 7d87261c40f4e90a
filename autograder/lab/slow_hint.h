/* slow_hint.h - the choice of a hint for a slow case.  Called by the grader.  Uses lab.ini and the
 * TODO regions of the submission. */
#ifndef CONVLAB_AUTOGRADER_LAB_SLOW_HINT_H
#define CONVLAB_AUTOGRADER_LAB_SLOW_HINT_H

#include "autograder/lab/lab_ini.h"
#include "autograder/lab/slow.h"

/* Inputs of the choice other than the causes. */
typedef struct SlowHintSituation {
    const char *source, *skeleton; /* the submission's text and the lab's; NULL: unknown */
    const char *const *shown;      /* hints that earlier cases show already */
    int shown_count;
    int first_region, last_region; /* TODO regions on which the case's speed depends; 0: unknown */
} SlowHintSituation;

/* Sets the regions on which a case of that stage depends: those of its stage, and of the stages
 * after it that have no cases of their own. */
void slow_hint_regions(const LabIni *lab, int stage, SlowHintSituation *situation);

/* The hint for the causes `cause`, of which the first is the most important, or NULL.  Hints about
 * the case's regions come first; among equals, hints that name only regions which are already
 * written come last.  A hint that an earlier case shows is not repeated. */
const char *slow_hint_choose(const LabIni *lab, const SlowCause *cause, int causes,
                             const SlowHintSituation *situation);

#endif
