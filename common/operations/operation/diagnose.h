/* diagnose.h - diagnosis of a wrong output, in sentences for the student.
 *
 * An operation's own `explain` knows the typical mistakes of its mathematics.  This file contains
 * the diagnoses for any operation, which `explain` can call, and which are used for operations
 * without one. */
#ifndef CONVLAB_OPERATION_DIAGNOSE_H
#define CONVLAB_OPERATION_DIAGNOSE_H

#include "common/operations/operation/verify.h"

/* An explanation: its fault, and whole sentences. */
typedef struct Finding {
    Fault fault;
    char text[1024];
} Finding;

/* Explains a judgement; FAULT_NONE and no text if the output is correct.  The finding of an
 * engine's checker takes precedence over any pattern: the caller prints it first, and the text here
 * contains only its consequences, none after a race.  Without a probe (run NULL) the diagnosis uses
 * only the error map. */
void diagnose(const Judgement *judged, ProbeRun run, void *context, Finding *finding);

/* Whether the fault is a race, in any memory or stream. */
int fault_is_race(Fault fault);

/* The fault that corresponds to a checker's message; FAULT_NONE without a message. */
Fault fault_checked(const Judgement *judged);

/* The fault that corresponds to an engine's message when it stopped a run or rejected a launch;
 * FAULT_NONE for any other message. */
Fault fault_stopped(const char *message);

/* The likely cause of an engine's message, from its numbers, in whole sentences: an allocation that
 * is too small, an mbarrier with a wrong count.  Returns 0 with an empty text if there is none. */
int stopped_cause(const char *message, char *text, size_t bytes);

/* The error bound of an output of the default layout. */
double output_bound(const Judgement *judged, size_t i);

/* Adds a sentence if all of it fits.  "{threads or |}loops": the first alternative for a program
 * with kernels, the second for one without; diagnose chooses at the end. */
void finding_say(Finding *finding, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- typical mistakes of an operation -------------------------------------------------------- */

typedef struct Mistake {
    Fault fault;
    const char *text; /* whole sentences: what the code does, and what is required; NULL: excluded,
                       * because earlier runs contradict this mistake */
} Mistake;

/* The outputs that mistake number `which` gives for the judged inputs: every output in `value`,
 * undefined elements as NAN.  Returns 0 if the mistake changes nothing. */
typedef int MistakenValues(const Judgement *judged, int which, double *value);

/* Two parameters of the problem in each other's place, for MistakenValues. */
void mistake_exchange(int *one, int *other);

/* An explain for operations with such a list.  Tries the diagnoses for any operation, in their
 * order.  Before the last of them, reports the first mistake that gives exactly the observed
 * outputs, or the images, maps, rows or columns that contain all wrong outputs. */
void explain_mistakes(const Judgement *judged, ProbeRun run, void *context, const Mistake *mistake,
                      int mistakes, MistakenValues *values, Finding *finding);

/* ---- for an operation's explain: each returns 1 with a finding, or 0 ------------------------- */

/* A guard band or an input has changed. */
int find_written_outside(const Judgement *judged, Finding *finding);

/* Outputs that still contain the poison; outputs that are NaN.  `where`: a sentence about their
 * positions, or "". */
int find_unwritten(const Judgement *judged, const char *where, Finding *finding);
int find_nan(const Judgement *judged, const char *where, Finding *finding);

/* Small errors that exceed the rounding errors of the lab's precision. */
int find_small_errors(const Judgement *judged, Finding *finding);

/* Diagnoses that run the submission again on the view's inputs: `run` takes them in the plain
 * layout. */
int find_accumulated(const Judgement *judged, ProbeRun run, void *context, Finding *finding);
int find_race(const Judgement *judged, ProbeRun run, void *context, Finding *finding);

#endif
