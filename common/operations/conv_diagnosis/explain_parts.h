/* explain_parts.h - declarations shared by this module's files.
 *
 * explain.c     the order in which explanations are tried
 * terms.c       terms of an output, tolerance of an explanation
 * samples.c     the outputs on which explanations are tested
 * variant.c     convolutions with one known mistake, in fp64, compared with the output
 * missing_terms.c        sums in which a set of terms is missing, or counted twice
 * value.c       properties of the wrong values: another output's, half, whole numbers
 * points.c      Winograd's tiles: the point at which a transform's row is wrong
 * frequency.c   Fourier transforms: the frequencies that are changed
 * signature.c   positions of the errors in the output
 * probe.c       running the submission again
 * impulse.c     the same with one non-zero pixel or weight: which two are multiplied
 * weight_steps.c  weights that a tile loads from a wrong position
 * order.c       tensors that were read in another order than theirs */
#ifndef CONVLAB_CONV_DIAGNOSIS_EXPLAIN_PARTS_H
#define CONVLAB_CONV_DIAGNOSIS_EXPLAIN_PARTS_H

#include "common/operations/conv_diagnosis/explain.h"
#include "common/operations/conv/conv_problem.h"
#include "common/operations/conv/layout.h"

enum { SAMPLES_WRONG = 40, SAMPLES_RIGHT = 24 };

/* A sample of the outputs, wrong ones first, on which explanations are tested. */
typedef struct Samples {
    size_t index[SAMPLES_WRONG + SAMPLES_RIGHT];
    int wrong, right;
} Samples;

typedef struct Diagnosis {
    const Judgement *judged;
    const Operation *operation;
    const Problem *problem;
    ConvProblem conv;
    Precision precision;
    const float *const *tensor;
    const float *output;
    const double *expected, *magnitude, *terms;
    const unsigned char *mark; /* a Mark for each output */
    size_t total, count[MARKS];
    int faint; /* Boolean: every output is within its bound, but their root mean square is not */
    Samples samples;
    ProbeRun run;
    void *context;
} Diagnosis;

/* Required evidence of an explanation: bits beyond a chance of one in 2^16. */
enum { EVIDENCE_BITS = 16 };

typedef struct OutputAt {
    int n, k, p, q;
} OutputAt;

OutputAt output_at(const ConvProblem *conv, size_t index);

/* The C*R*S terms of an output in [c][r][s] order, 0 if the tap is outside of x; returns the number
 * of taps inside. */
size_t output_terms(const Diagnosis *diagnosis, size_t index, double *product);

/* The letters of the axes in the bit set: "k", "p and q". */
void axes_name(unsigned axes, const char *letters, char *text, size_t bytes);

/* Tolerance of an explanation for an output whose terms have the sum of absolute values
 * `magnitude`. */
double diagnosis_tolerance(const Diagnosis *diagnosis, double magnitude, double terms);

/* Chooses the outputs on which explanations are tested. */
void samples_choose(const unsigned char *mark, size_t total, size_t wrong, Samples *samples);

/* Each returns 1 with a finding, or 0.  `everywhere`: the explanation must also predict the correct
 * outputs. */
int variant_find(const Diagnosis *diagnosis, int everywhere, Finding *finding);
int missing_terms_find(const Diagnosis *diagnosis, int everywhere, Finding *finding);

/* Properties of the wrong outputs' values, independent of the correct ones. */
int value_find(const Diagnosis *diagnosis, Finding *finding);
/* Wrong outputs that are the expected values times a factor.  A race can have the same result. */
int value_scaled(const Diagnosis *diagnosis, Finding *finding);

/* Pattern of the outputs whose mark is in the bit set `marks`; 0: no pattern. */
int signature_find(const Diagnosis *diagnosis, unsigned marks, Finding *finding);

/* Common coordinates of these outputs: "k >= 16", "p = 3 and q >= 6"; 0: none. */
int signature_set(const Diagnosis *diagnosis, unsigned marks, char *text, size_t bytes);

/* One run on inputs that the probe chooses. */
typedef struct Probe {
    Problem problem;
    ConvProblem conv;
    size_t x_count, w_count, y_count;
    float *x, *w, *y;
    double *expected, *magnitude, *terms;
    double largest; /* largest magnitude */
} Probe;

/* Upper limit of multiply-adds for diagnoses with several runs or new inputs, so that a simulated
 * GPU answers immediately. */
static const double probe_macs = 5e6;

int probe_make(Probe *probe, const ConvProblem *conv); /* -1: out of memory */
void probe_free(Probe *probe);

/* Error bound of output i of a run: relative to its own magnitude for plain sums; relative to the
 * map's largest magnitude if the lab allows Winograd's or Fourier tiles. */
double probe_bound(const Diagnosis *diagnosis, const Probe *probe, size_t i);

/* Runs, and counts the outputs outside their bounds; -1: could not run. */
long long probe_wrong(const Diagnosis *diagnosis, Probe *probe);

/* Whether the code is correct on this problem, with new inputs.  -1: could not run. */
int probe_right(const Diagnosis *diagnosis, ConvProblem conv);

int probe_stride(const Diagnosis *diagnosis, Finding *finding);
int probe_channels(const Diagnosis *diagnosis, Finding *finding);
int probe_impulse(const Diagnosis *diagnosis, Finding *finding);
/* Adds to the finding how the weights of filter k advance from tile to tile, if wrongly. */
int weight_steps_find(const Diagnosis *diagnosis, int k, Finding *finding);

/* In labs that allow Winograd's tiles: the point at which the transforms are wrong. */
int points_find(const Diagnosis *diagnosis, Finding *finding);

/* In labs that allow Fourier transforms: the frequencies that they change. */
int frequency_find(const Diagnosis *diagnosis, Finding *finding);

/* A ProbeRun for tensors in another order: converts between NCHW and the order that `run`
 * uses. */
typedef struct OrderRun {
    MemoryOrder order;
    ProbeRun run;
    void *context;
} OrderRun;

int order_run(void *order_run, const Problem *problem, const float *const *tensor, float *output);

/* Whether the output would be correct if one or all of the tensors had another order. */
int order_find(const Judgement *judged, Finding *finding);

#endif
