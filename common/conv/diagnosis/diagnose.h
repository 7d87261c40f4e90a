/* diagnose.h - what is wrong with an output that was judged wrong: from the pattern of its errors
 * to a sentence that names the mistake.
 *
 * Room: signatures of error maps, probes, variants of a convolution, and the sentences for them.
 * Callers: autograder/judging.
 * May use: conv, base.
 *
 * The error map's signature comes first, then probes, which run the submission again on inputs
 * chosen to separate the hypotheses. */
#ifndef CONVLAB_CONV_DIAGNOSIS_DIAGNOSE_H
#define CONVLAB_CONV_DIAGNOSIS_DIAGNOSE_H

#include "common/conv/verify.h"

/* Runs the submission on `tensor` inputs of `problem` and fills `output`; 0, or -1 when it cannot
 * run again.  `output` arrives holding zeros: a runner that can start the submission's y from them
 * lets FAULT_ACCUMULATED be told from FAULT_UNWRITTEN; one that poisons y instead is fine. */
typedef int (*ProbeRun)(void *context, const Problem *problem, const float *const *tensor,
                        float *output);

/* An explanation that was found: its fault, and whole sentences for the student. */
typedef struct Finding {
    Fault fault;
    char text[512];
} Finding;

/* Explains a judgement; FAULT_NONE and no text when the output is correct.  Without a probe (run
 * NULL) the diagnosis rests on the error map alone. */
void diagnose(const Judgement *judged, ProbeRun run, void *context, Finding *finding);

#endif
