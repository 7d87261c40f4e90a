/* explain_parts.h - what the files of this room share.
 *
 * explain.c     the order in which explanations are tried
 * samples.c     the outputs on which they are tested
 * variant.c     convolutions that are wrong in one known way, in fp64, beside what came out
 * lost.c        sums in which a set of products is missing, or twice
 * value.c       what the wrong values are by themselves: another output's, half, whole numbers
 * points.c      Winograd's squares: the point at which a transform's row is wrong
 * signature.c   where in the output the errors lie
 * probe.c       running the submission again
 * impulse.c     the same with one pixel, or one weight, that is not zero: which two meet
 * order.c       tensors that were taken to lie in another order than they do */
#ifndef CONVLAB_CONV_DIAGNOSIS_EXPLAIN_PARTS_H
#define CONVLAB_CONV_DIAGNOSIS_EXPLAIN_PARTS_H

#include "common/operations/conv_diagnosis/explain.h"
#include "common/operations/conv/conv_problem.h"

enum { SAMPLES_WRONG = 40, SAMPLES_RIGHT = 24 };

/* Some outputs, wrong ones first, on which explanations are tested. */
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
    const double *expected, *magnitude, *products;
    const unsigned char *mark; /* a Mark for each output */
    size_t total, count[MARKS];
    int faint; /* every output is within its worst case; only their root mean square is not */
    Samples samples;
    ProbeRun run;
    void *context;
} Diagnosis;

/* How good an explanation must be: so many bits less likely by chance than one in 2^16. */
enum { EVIDENCE_BITS = 16 };

typedef struct OutputAt {
    int n, k, p, q;
} OutputAt;

OutputAt output_at(const ConvProblem *conv, size_t index);

/* The C*R*S products of an output in [c][r][s] order, 0 where the tap lies outside of x; returns
 * how many lie inside. */
size_t output_products(const Diagnosis *diagnosis, size_t index, double *product);

/* The letters of the axes in the bit set: "k", "p and q". */
void axes_name(unsigned axes, const char *letters, char *text, size_t bytes);

/* How near an explanation must come to an output whose products sum up to `magnitude` in absolute
 * value. */
double diagnosis_tolerance(const Diagnosis *diagnosis, double magnitude, double products);

/* Chooses the outputs on which explanations are tested. */
void samples_choose(const unsigned char *mark, size_t total, size_t wrong, Samples *samples);

/* Each returns 1 with a finding, or 0.  `everywhere`: the explanation must also predict the outputs
 * that are right. */
int variant_find(const Diagnosis *diagnosis, int everywhere, Finding *finding);
int lost_find(const Diagnosis *diagnosis, int everywhere, Finding *finding);

/* What the wrong outputs hold, whatever the right ones do. */
int value_find(const Diagnosis *diagnosis, Finding *finding);

/* Where the outputs lie whose mark is in the bit set `marks`; 0 if they follow no pattern. */
int signature_find(const Diagnosis *diagnosis, unsigned marks, Finding *finding);

/* The coordinates that all of these outputs have: "k >= 16", "p = 3 and q >= 6"; 0: any. */
int signature_set(const Diagnosis *diagnosis, unsigned marks, char *text, size_t bytes);

/* One run on inputs of the probe's own choice. */
typedef struct Probe {
    Problem problem;
    ConvProblem conv;
    size_t x_count, w_count, y_count;
    float *x, *w, *y;
    double *expected, *magnitude, *products;
    double largest; /* magnitude */
} Probe;

/* What needs several runs, or fresh inputs, has at most so many products: a simulated GPU answers
 * at once. */
static const double probe_macs = 5e6;

int probe_make(Probe *probe, const ConvProblem *conv); /* -1: out of memory */
void probe_free(Probe *probe);

/* How far output i of a run may be off.  Plain sums are off by a part of their own magnitude; where
 * the lab allows Winograd's squares or Fourier's tiles, by a part of the map's largest. */
double probe_bound(const Diagnosis *diagnosis, const Probe *probe, size_t i);

/* Runs, and counts the outputs that are out of their bound; -1 when it could not run. */
long long probe_wrong(const Diagnosis *diagnosis, Probe *probe);

/* Is the code right on this problem, with fresh inputs?  -1: it could not be asked. */
int probe_right(const Diagnosis *diagnosis, ConvProblem conv);

int probe_stride(const Diagnosis *diagnosis, Finding *finding);
int probe_channels(const Diagnosis *diagnosis, Finding *finding);
int probe_impulse(const Diagnosis *diagnosis, Finding *finding);

/* Where the lab allows Winograd's squares: the point at which its lines are wrong. */
int points_find(const Diagnosis *diagnosis, Finding *finding);

/* A ProbeRun for tensors in another layout: what comes and goes is NCHW, what `run` sees is in the
 * layout. */
typedef struct OrderRun {
    int layout;
    ProbeRun run;
    void *context;
} OrderRun;

int order_run(void *order_run, const Problem *problem, const float *const *tensor, float *output);

/* Would the output be right if one of the tensors, or all of them, lay in another order? */
int order_find(const Judgement *judged, Finding *finding);

#endif
