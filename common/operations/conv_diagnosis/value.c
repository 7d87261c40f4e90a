/* value.c - properties of the wrong values: another output's value, a multiple of the correct one,
 * whole numbers, a single term.
 *
 * A factor, integers and permutations are found by value_pattern.h.  Another property must hold
 * for all wrong samples except one in twenty (for half of them, if each has another output's
 * value), and must not be a coincidence (EVIDENCE_BITS). */
#include "common/operations/conv_diagnosis/explain_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/operations/operation/value_index.h"
#include "common/operations/operation/value_pattern.h"

enum { OUTPUTS_SORTED = 1 << 22, AXES = 4 };

static double tolerance_at(const Diagnosis *d, size_t index)
{
    return diagnosis_tolerance(d, d->magnitude[index], d->terms[index]);
}

static int are_enough(const Diagnosis *d, int fitting, double evidence)
{
    return fitting > 0 && fitting * 20 >= d->samples.wrong * 19 && evidence >= EVIDENCE_BITS;
}

/* ---- functions of the expected value ----------------------------------------------------- */

typedef double (*ValueOf)(double expected);

static double value_zero(double expected)
{
    (void)expected;
    return 0;
}

static double value_positive(double expected)
{
    return expected > 0 ? expected : 0;
}

static double value_absolute(double expected)
{
    return fabs(expected);
}

static int value_fits(const Diagnosis *d, ValueOf value)
{
    double evidence = 0;
    int fitting = 0;
    for (int i = 0; i < d->samples.wrong; i++) {
        size_t index = d->samples.index[i];
        double allowed = tolerance_at(d, index), expected = d->expected[index];
        if (!(fabs(d->output[index] - value(expected)) <= allowed)) continue;
        evidence += log2(fabs(d->output[index] - expected) / allowed);
        fitting++;
    }
    return are_enough(d, fitting, evidence);
}

static int find_function(const Diagnosis *d, Finding *finding)
{
    static const struct {
        ValueOf value;
        const char *text;
    } known[] = {
        {value_positive,
         "Outputs below zero are 0, all others are correct: this is the convolution alone, without "
         "an activation (max with 0) after it. Possibly a maximum or an unsigned number is used."},
        {value_zero, "Each wrong output is 0, all others are correct: their multiplications are "
                     "skipped, or their sum is not stored."},
        {value_absolute, "Outputs below zero have lost their sign, all others are correct."},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        /* A few expected values that are all negative may be a coincidence. */
        if (known[i].value == value_positive && d->samples.wrong < EVIDENCE_BITS) continue;
        if (!value_fits(d, known[i].value)) continue;
        finding->fault = FAULT_EVERYWHERE;
        finding_say(finding, "%s", known[i].text);
        return 1;
    }
    return 0;
}

/* The error of the wrong output with the smallest tolerance. */
static double offset_of(const Diagnosis *d)
{
    size_t best = d->samples.index[0];
    for (int i = 1; i < d->samples.wrong; i++)
        if (tolerance_at(d, d->samples.index[i]) < tolerance_at(d, best))
            best = d->samples.index[i];
    return d->output[best] - d->expected[best];
}

/* The same error everywhere: a sum that does not start with 0. */
static int find_offset(const Diagnosis *d, Finding *finding)
{
    double evidence = 0, amount = d->samples.wrong > 2 ? offset_of(d) : 0;
    int fitting = 0;
    for (int i = 0; i < d->samples.wrong; i++) {
        size_t index = d->samples.index[i];
        double allowed = tolerance_at(d, index), over = d->output[index] - d->expected[index];
        if (!(fabs(over - amount) <= 2 * allowed)) continue;
        evidence += i ? log2(fabs(over) / allowed) : 0;
        fitting++;
    }
    if (!are_enough(d, fitting, evidence)) return 0;
    finding->fault = FAULT_EVERYWHERE;
    finding_say(finding,
                "Each wrong output is off by the same %+.4g: check that the sum starts at 0, and "
                "that nothing else is added to it.",
                amount);
    return 1;
}

/* The sum of the weights of an output's filter whose taps are outside of x. */
static double weight_outside(const Diagnosis *d, size_t index)
{
    const ConvProblem *v = &d->conv;
    OutputAt at = output_at(v, index);
    const float *w = d->tensor[1] + (size_t)at.k * v->C * v->R * v->S;
    double sum = 0;
    for (int c = 0; c < v->C; c++)
        for (int r = 0; r < v->R; r++)
            for (int s = 0; s < v->S; s++, w++) {
                int h = at.p * v->stride_h + r - v->pad_top;
                int i = at.q * v->stride_w + s - v->pad_left;
                if (h < 0 || h >= v->H || i < 0 || i >= v->W) sum += *w;
            }
    return sum;
}

/* The padding has one constant value other than 0. */
static int find_filled(const Diagnosis *d, Finding *finding)
{
    double outside[SAMPLES_WRONG], evidence = 0, best = 0, value = 0;
    int fitting = 0;
    for (int i = 0; i < d->samples.wrong; i++) {
        size_t index = d->samples.index[i];
        outside[i] = weight_outside(d, index);
        double clear = fabs(outside[i]) / tolerance_at(d, index);
        if (!(clear > best)) continue;
        best = clear;
        value = (d->output[index] - d->expected[index]) / outside[i];
    }
    for (int i = 0; i < d->samples.wrong && best > 0; i++) {
        size_t index = d->samples.index[i];
        double allowed = 2 * tolerance_at(d, index), over = d->output[index] - d->expected[index];
        if (!(fabs(over - value * outside[i]) <= allowed)) continue;
        evidence += log2(fabs(over) / allowed);
        fitting++;
    }
    /* The output from which the value was computed is no evidence. */
    if (fitting < 3 || !are_enough(d, fitting, evidence * (fitting - 1) / fitting)) return 0;
    finding->fault = FAULT_PADDING_EDGE;
    finding_say(finding,
                "The padding is taken for %.4g where it is 0: the value for a pixel outside of x, "
                "in a tile for example, must be 0.",
                value);
    return 1;
}

/* ---- a single term ------------------------------------------------------------------------ */

/* Whether `value` equals one of the terms, within fp32's rounding. */
static int is_product(const double *product, size_t count, double value)
{
    for (size_t i = 0; i < count; i++)
        if (fabs(value - product[i]) <= 4 * UNIT_FP32 * fabs(product[i])) return product[i] != 0;
    return 0;
}

/* Each output is a single term. */
static int find_product(const Diagnosis *d, Finding *finding)
{
    size_t most = (size_t)d->conv.C * d->conv.R * d->conv.S;
    double *product = most > 3 ? malloc(most * sizeof *product) : NULL;
    int alone = 0;
    if (!product) return 0;
    for (int i = 0; i < d->samples.wrong; i++) {
        size_t index = d->samples.index[i], others = 0;
        output_terms(d, index, product);
        for (size_t j = 0; j < most; j++)
            others += product[j] != 0;
        alone += others > 3 && is_product(product, most, d->output[index]);
    }
    free(product);
    /* By chance a value equals one of m terms with a probability of about m * 2^-20. */
    if (!are_enough(d, alone, alone * (20 - log2((double)most)))) return 0;
    finding->fault = FAULT_EVERYWHERE;
    finding_say(finding, "Each wrong output is a single term, not the sum of its terms. "
                         "Possibly the sum is stored with = in a loop instead of +=.");
    return 1;
}

/* ---- another output's value -------------------------------------------------------------- */

/* Values of correct outputs, and expected values of wrong ones.  Inputs of 11 bits leave such a
 * tolerance that many outputs would match. */
static ValueIndex *sort_by_value(const Diagnosis *d, size_t *owners)
{
    ValueIndex *right = d->total <= OUTPUTS_SORTED ? malloc(d->total * sizeof *right) : NULL;
    size_t count = 0;
    if (!right) return NULL;
    for (size_t i = 0; i < d->total; i++)
        if (d->mark[i] == MARK_RIGHT)
            right[count++] = (ValueIndex){d->output[i], i};
        else if (d->precision == PRECISION_FP32)
            right[count++] = (ValueIndex){d->expected[i], i};
    value_index_sort(right, count);
    *owners = count;
    return right;
}

/* Tolerance for equal sums in fp32: a twentieth of their bound if there are many terms, so that
 * fewer unrelated values match. */
static double same_sum(const Diagnosis *d, size_t index)
{
    if (d->precision != PRECISION_FP32) return 0;
    return UNIT_FP32 * sqrt(d->terms[index]) * d->magnitude[index];
}

/* Finds for each wrong sample the only output whose value it has; `total` if there is none, or
 * several. Returns the number found. */
static int find_by_value(const Diagnosis *d, size_t sorted[SAMPLES_WRONG], double *evidence)
{
    size_t rights = 0;
    ValueIndex *right = sort_by_value(d, &rights);
    int found = 0;
    *evidence = 0;
    for (int i = 0; right && i < d->samples.wrong; i++) {
        size_t index = d->samples.index[i], first;
        double got = d->output[index], allowed = same_sum(d, index);
        sorted[i] = d->total;
        if (!isfinite(got) || got == 0) continue;
        if (value_index_find(right, rights, got, allowed, &first) != 1) continue;
        sorted[i] = right[first].index;
        found++;
        /* An unrelated value would match one of all outputs with about this probability. */
        double least = fmax(allowed, UNIT_FP32 * fabs(got));
        double spread = fmax(d->magnitude[index], fabs(got)) / least / (double)d->total;
        *evidence += spread > 2 ? log2(spread) : 0;
    }
    free(right);
    return found;
}

/* The axes on which the samples differ from their values' owners. */
static unsigned axes_that_differ(const Diagnosis *d, const size_t sorted[SAMPLES_WRONG])
{
    unsigned axes = 0;
    for (int i = 0; i < d->samples.wrong; i++) {
        if (sorted[i] == d->total) continue;
        OutputAt here = output_at(&d->conv, d->samples.index[i]);
        OutputAt there = output_at(&d->conv, sorted[i]);
        axes |= (here.n != there.n) | (here.k != there.k) << 1 | (here.p != there.p) << 2 |
                (here.q != there.q) << 3;
    }
    return axes;
}

/* The distance between each sample and its value's owner along the only axis on which they differ;
 * 0: it varies, or there are several axes. */
static int common_distance(const Diagnosis *d, const size_t sorted[SAMPLES_WRONG], unsigned differ)
{
    int distance = 0;
    for (int i = 0; i < d->samples.wrong; i++) {
        if (sorted[i] == d->total) continue;
        OutputAt here = output_at(&d->conv, d->samples.index[i]);
        OutputAt there = output_at(&d->conv, sorted[i]);
        int next = differ == 1   ? there.n - here.n
                   : differ == 2 ? there.k - here.k
                   : differ == 4 ? there.p - here.p
                   : differ == 8 ? there.q - here.q
                                 : 0;
        if (!next || (distance && abs(next) != distance)) return 0;
        distance = abs(next);
    }
    return distance;
}

static int find_moved(const Diagnosis *d, Finding *finding)
{
    size_t sorted[SAMPLES_WRONG];
    double evidence;
    char axes[32];
    int found = find_by_value(d, sorted, &evidence), first = 0;
    /* If all match, a few are enough: a coincidence has a probability of 2^-16. */
    if (found < d->samples.wrong && (found * 2 < d->samples.wrong || evidence < 4 * EVIDENCE_BITS))
        return 0;
    if (!found || evidence < EVIDENCE_BITS) return 0;
    while (sorted[first] == d->total)
        first++;
    unsigned differ = axes_that_differ(d, sorted);
    OutputAt here = output_at(&d->conv, d->samples.index[first]);
    OutputAt there = output_at(&d->conv, sorted[first]);
    axes_name(differ, "nkpq", axes, sizeof axes);
    finding->fault = differ == 1   ? FAULT_ONE_IMAGE
                     : differ == 2 ? FAULT_ONE_FILTER
                                   : FAULT_EVERYWHERE;
    finding_say(finding,
                "%she wrong outputs contain correct values of other outputs: (n,k,p,q) = "
                "(%d,%d,%d,%d) has that of (%d,%d,%d,%d), and so on; they differ in %s.",
                found == d->samples.wrong ? "T" : "Most of t", here.n, here.k, here.p, here.q,
                there.n, there.k, there.p, there.q, axes);
    const int distance = common_distance(d, sorted, differ);
    if (distance)
        finding_say(finding,
                    "It is always the value %d places away: possibly parts of a tile with that "
                    "size are exchanged, or one is used twice.",
                    distance);
    finding_say(finding,
                "So %s %s wrong in one index, that of the loads%s or that of the store{, or two "
                "threads or blocks calculate the same outputs. Check that each block and thread "
                "index has the meaning that the grid gives it.|.}",
                axes, strstr(axes, "and") ? "are" : "is",
                differ == 2  ? " of weights"
                : differ & 2 ? ""
                             : " of pixels");
    return 1;
}

int value_find(const Diagnosis *d, Finding *finding)
{
    return find_function(d, finding) || find_integers(d->judged, finding) ||
           find_offset(d, finding) || find_filled(d, finding) || find_product(d, finding) ||
           find_permuted(d->judged, finding) || find_moved(d, finding);
}

int value_scaled(const Diagnosis *d, Finding *finding)
{
    return find_factor(d->judged, finding);
}
