/* known_mistake.h - comparison of wrong outputs with those of an operation's known mistakes. */
#ifndef CONVLAB_OPERATION_KNOWN_MISTAKE_H
#define CONVLAB_OPERATION_KNOWN_MISTAKE_H

#include "common/operations/operation/diagnose.h"

/* Reports the first mistake that gives the observed outputs and, if `run` is not NULL, those of
 * further runs on other inputs of the same problem.  "Possibly" precedes the text if no further
 * run was possible and the outputs are few, or if another mistake fits, too.  Returns 1 with a
 * finding, or 0. */
int find_mistake(const Judgement *judged, ProbeRun run, void *context, const Mistake *mistake,
                 int mistakes, MistakenValues *values, Finding *finding);

#endif
