/* diagnose.h - what is wrong with an output that was judged wrong, in sentences for the student.
 *
 * An operation's own `explain` knows the mistakes that its mathematics invites; what can be said of
 * any operation stands here, for it to call and for operations that have none. */
#ifndef CONVLAB_OPERATION_DIAGNOSE_H
#define CONVLAB_OPERATION_DIAGNOSE_H

#include "common/operations/operation/verify.h"

/* An explanation that was found: its fault, and whole sentences. */
typedef struct Finding {
    Fault fault;
    char text[1024];
} Finding;

/* Explains a judgement; FAULT_NONE and no text when the output is correct.  What a checker of the
 * engine found stands above any pattern: the caller tells it first, and the text that is left says
 * only what follows from it, nothing after a race.  Without a probe (run NULL) the diagnosis rests
 * on the error map alone. */
void diagnose(const Judgement *judged, ProbeRun run, void *context, Finding *finding);

/* Whether it is a race, whichever memory or stream it is about. */
int fault_is_race(Fault fault);

/* The fault that a checker's words stand for; FAULT_NONE for no words. */
Fault fault_checked(const Judgement *judged);

/* The fault that an engine's words stand for when it stopped a run or refused a launch; FAULT_NONE
 * for any other. */
Fault fault_stopped(const char *message);

/* Adds a sentence if there is room for all of it.  "{threads or |}loops": the first words where
 * the program has kernels, the second where it has none; diagnose chooses at the end. */
void finding_say(Finding *finding, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- mistakes that an operation's mathematics invites ---------------------------------------- */

typedef struct Mistake {
    Fault fault;
    const char *text; /* whole sentences: what the code does, and what is asked */
} Mistake;

/* What mistake number `which` makes of the judged inputs: every output into `value`, an element
 * that it leaves undefined as NAN.  Returns 0 where it changes nothing. */
typedef int MistakenValues(const Judgement *judged, int which, double *value);

/* An explain for operations with such a list: what can be said of any operation, in its order, and
 * before it gives up the first mistake that makes the very outputs that were seen, or the images,
 * maps, rows or columns that all wrong outputs lie in. */
void explain_mistakes(const Judgement *judged, ProbeRun run, void *context, const Mistake *mistake,
                      int mistakes, MistakenValues *values, Finding *finding);

/* ---- for an operation's explain: each returns 1 with a finding, or 0 ------------------------- */

/* A guard band or an input has changed. */
int find_written_outside(const Judgement *judged, Finding *finding);

/* Outputs that hold the poison still; outputs that are NaN.  `where`: a sentence on where they lie,
 * or "". */
int find_unwritten(const Judgement *judged, const char *where, Finding *finding);
int find_nan(const Judgement *judged, const char *where, Finding *finding);

/* Errors that are small, but larger than the lab's precision makes. */
int find_small_errors(const Judgement *judged, Finding *finding);

/* These run the submission again on the view's inputs: `run` takes them in the plain layout. */
int find_accumulated(const Judgement *judged, ProbeRun run, void *context, Finding *finding);
int find_race(const Judgement *judged, ProbeRun run, void *context, Finding *finding);

#endif
