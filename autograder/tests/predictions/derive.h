/* derive.h - every prediction's answer, worked out a second time.
 *
 * Module: the derivations, one file per lab.
 * Callers: its own test.
 * May use: lab.
 *
 * lab.ini says what the truth of a prediction is: a metric that the simulator counts, or a formula.
 * solutions/NN/predict.ini answers it.  Here one file per lab derives the same number another way:
 * it counts in loops what the formula multiplies, or asks the compiler.  test_predictions compares
 * them. */
#ifndef CONVLAB_AUTOGRADER_TESTS_PREDICTIONS_DERIVE_H
#define CONVLAB_AUTOGRADER_TESTS_PREDICTIONS_DERIVE_H

#include <stdint.h>

#include "autograder/lab/catalog.h"
#include "convlab/conv.h"

/* The lab, problem and machine of a prediction. */
typedef struct Given {
    const Lab *lab;
    const Problem *problem; /* the prediction's case */
    ConvProblem p;          /* the same, where it is a convolution, either way */
    SimtMachine machine;
} Given;

/* The answer.  NAN where it cannot be worked out, which fails the test. */
typedef double Derive(const Given *given);

typedef struct Derivation {
    const char *prediction; /* the name in lab.ini; NULL ends the list */
    Derive *derive;
} Derivation;

typedef struct LabDerivations {
    const char *lab; /* "02-naive" */
    Derivation derivation[LAB_PREDICTIONS + 1];
} LabDerivations;

/* One per file of this module: derive_01 ..., as labs.def lists them. */
#define LAB(number) extern const LabDerivations derive_##number;
#include "autograder/tests/predictions/labs.def"
#undef LAB

/* Number of different 32-byte sectors that a warp's access touches; -1: an inactive lane. */
int sectors_touched(const int64_t byte[MACHINE_WARP_SIZE]);

/* Registers that ptxas gives a thread of the solution's kernel, compiled for the machine code that
 * is graded.  `kernel` is a part of its mangled name. */
double registers_compiled(const Given *given, const char *kernel);

#endif
