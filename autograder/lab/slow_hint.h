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
} SlowHintSituation;

/* The hint for the causes `cause`, of which the first is the most important, or NULL.  Hints that
 * name only regions which are already written come after all others, and a hint that an earlier
 * case shows is not repeated. */
const char *slow_hint_choose(const LabIni *lab, const SlowCause *cause, int causes,
                             const SlowHintSituation *situation);

#endif
