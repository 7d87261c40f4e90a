/* probe.c - running the submission again on inputs that tell one explanation from another. */
#include "common/conv/diagnosis/explain_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/conv/conv_problem.h"

/* Probes that need several runs, or fresh inputs, stay below this, so that a simulated GPU answers
 * at once. */
static const double probe_macs = 5e6;
/* One run on a single pixel is no more work than the one that was judged, but for the oracle. */
static const double impulse_macs = 5e8;
enum { PROBE_CHANNELS = 6 };

/* One run on inputs of the probe's own choice. */
typedef struct Probe {
    Problem problem;
    ConvProblem conv;
    size_t x_count, w_count, y_count;
    float *x, *w, *y;
    double *expected, *magnitude, *products;
} Probe;

static void probe_free(Probe *probe)
{
    free(probe->x);
    free(probe->w);
    free(probe->y);
    free(probe->expected);
    free(probe->magnitude);
    free(probe->products);
}

static int probe_make(Probe *probe, const ConvProblem *conv)
{
    *probe = (Probe){.conv = *conv};
    conv_pack(conv, &probe->problem);
    probe->x_count = (size_t)conv->N * conv->C * conv->H * conv->W;
    probe->w_count = (size_t)conv->K * conv->C * conv->R * conv->S;
    probe->y_count = (size_t)conv->N * conv->K * conv->P * conv->Q;
    probe->x = malloc(probe->x_count * sizeof(float));
    probe->w = malloc(probe->w_count * sizeof(float));
    probe->y = malloc(probe->y_count * sizeof(float));
    probe->expected = malloc(probe->y_count * sizeof(double));
    probe->magnitude = malloc(probe->y_count * sizeof(double));
    probe->products = malloc(probe->y_count * sizeof(double));
    if (probe->x && probe->w && probe->y && probe->expected && probe->magnitude && probe->products)
        return 0;
    probe_free(probe);
    return -1;
}

/* Runs and counts the outputs that are out of their bound; -1 when it could not run. */
static long long probe_wrong(const Diagnosis *d, Probe *probe)
{
    const float *tensor[] = {probe->x, probe->w, probe->y};
    memset(probe->y, 0, probe->y_count * sizeof(float));
    if (d->run(d->context, &probe->problem, tensor, probe->y)) return -1;
    d->operation->oracle(&probe->problem, tensor, probe->expected, probe->magnitude,
                         probe->products);
    long long wrong = 0;
    for (size_t i = 0; i < probe->y_count; i++)
        wrong += !(fabs(probe->y[i] - probe->expected[i]) <=
                   verdict_bound(d->precision, probe->magnitude[i], probe->products[i]));
    return wrong;
}

/* ---- stride 1 ---------------------------------------------------------------------------- */

/* Is the code right on this problem, with fresh inputs?  -1: it could not be asked. */
static int is_right_on(const Diagnosis *d, ConvProblem conv)
{
    Probe probe;
    if (conv_derive(&conv, NULL) || conv_macs(&conv) > 4 * probe_macs || probe_make(&probe, &conv))
        return -1;
    Random random;
    random_seed(&random, 1);
    d->operation->generate(&probe.problem, &random, (float *[]){probe.x, probe.w, probe.y});
    long long wrong = probe_wrong(d, &probe);
    probe_free(&probe);
    return wrong < 0 ? -1 : wrong == 0;
}

/* The same outputs at stride 1, of an input as large as that takes.  Other outputs may be made by
 * another path of the code: of the stride they would say nothing. */
static ConvProblem same_outputs(const ConvProblem *conv)
{
    ConvProblem same = *conv;
    same.stride_h = same.stride_w = 1;
    same.H = conv->P - 1 + conv->R - conv->pad_top - conv->pad_bottom;
    same.W = conv->Q - 1 + conv->S - conv->pad_left - conv->pad_right;
    return same;
}

int probe_stride(const Diagnosis *d, Finding *finding)
{
    if (!d->run || (d->conv.stride_h == 1 && d->conv.stride_w == 1)) return 0;
    ConvProblem same = same_outputs(&d->conv);
    if (same.H < 1 || same.W < 1 || is_right_on(d, same) != 1) return 0;
    finding->fault = FAULT_STRIDE;
    snprintf(finding->text, sizeof finding->text,
             "With stride 1 the same code gives as many outputs right; with stride %d,%d it does "
             "not. The window of output (p,q) begins at row p*stride_h - pad_top, column "
             "q*stride_w - pad_left; a tile of T outputs needs (T-1)*stride + R inputs.",
             d->conv.stride_h, d->conv.stride_w);
    return 1;
}

/* ---- one channel at a time --------------------------------------------------------------- */

/* Keeps channel c of x and sets all others to zero. */
static void keep_channel(const Diagnosis *d, Probe *probe, int keep)
{
    size_t plane = (size_t)probe->conv.H * probe->conv.W;
    memcpy(probe->x, d->tensor[0], probe->x_count * sizeof(float));
    memcpy(probe->w, d->tensor[1], probe->w_count * sizeof(float));
    for (int n = 0; n < probe->conv.N; n++)
        for (int c = 0; c < probe->conv.C; c++)
            if (c != keep)
                memset(probe->x + ((size_t)n * probe->conv.C + c) * plane, 0,
                       plane * sizeof(float));
}

int probe_channels(const Diagnosis *d, Finding *finding)
{
    int C = d->conv.C, tries = C < PROBE_CHANNELS ? C : PROBE_CHANNELS;
    Probe probe;
    if (!d->run || C == 1 || conv_macs(&d->conv) > probe_macs || probe_make(&probe, &d->conv))
        return 0;
    char wrong[64] = "", right[64] = "";
    for (int i = 0; i < tries; i++) {
        int c = i * (C - 1) / (tries - 1);
        keep_channel(d, &probe, c);
        long long bad = probe_wrong(d, &probe);
        if (bad < 0) break;
        char *list = bad ? wrong : right;
        snprintf(list + strlen(list), sizeof wrong - strlen(list), "%s%d", *list ? ", " : "", c);
    }
    probe_free(&probe);
    if (!*wrong || !*right) return 0;
    finding->fault = FAULT_ONE_CHANNEL;
    snprintf(finding->text, sizeof finding->text,
             "Not every input channel is treated alike: with all channels but one set to zero the "
             "output is right for c = %s and wrong "
             "for c = %s. Check the loop over c, and what the first and later rounds of it do "
             "differently.",
             right, wrong);
    return 1;
}

/* ---- one pixel --------------------------------------------------------------------------- */

/* An element of w. */
typedef struct Tap {
    int k, c, r, s;
} Tap;

static int is_value(const Diagnosis *d, double weight, double value)
{
    double off = d->precision == PRECISION_FP32 ? 0 : 2 * UNIT_ELEVEN_BITS * fabs(weight);
    return fabs(weight - value) <= off;
}

/* Which element of w has this value?  One of filter k is preferred. */
static int tap_find(const Diagnosis *d, const Probe *probe, int k, double value, Tap *tap)
{
    const ConvProblem *v = &probe->conv;
    size_t taps = (size_t)v->R * v->S, count = taps * v->C;
    for (int i = -1; i < v->K; i++) {
        int filter = i < 0 ? k : i;
        for (size_t j = 0; j < count; j++)
            if (is_value(d, probe->w[filter * count + j], value)) {
                *tap = (Tap){filter, (int)(j / taps), (int)(j / v->S % v->R), (int)(j % v->S)};
                return 1;
            }
    }
    return 0;
}

static void tap_name(const Tap *tap, char *text, size_t bytes)
{
    snprintf(text, bytes, "w[%d][%d][%d][%d]", tap->k, tap->c, tap->r, tap->s);
}

/* What the two weights that met the pixel, or the one that did not, tell. */
static const char *impulse_advice(const Tap *want, const Tap *got, double value)
{
    if (want && !got && value == 0)
        return "Either that product was never made (is that pixel loaded, is that weight, is the "
               "sum stored?), or one of its two factors comes from elsewhere: another row or "
               "channel, by a wrong pitch, or another tensor. Follow both indices.";
    if (!want || !got) return "Follow that one pixel through your index arithmetic.";
    if (want->k != got->k)
        return "A weight of another filter: check k in the index of w, where a tile or fragment of "
               "weights keeps it, and in the index of the store.";
    if (want->c != got->c)
        return "A weight of another channel: check c in the index of w and of x, and where tiles "
               "or fragments keep it.";
    return "Another tap of the same filter: check r and s in the index of w and of x, where tiles "
           "or fragments keep them, and p and q in the index of the store.";
}

static void impulse_describe(const Diagnosis *d, const Probe *probe, size_t index, int n, int c,
                             Finding *finding)
{
    const ConvProblem *v = &probe->conv;
    OutputAt at = output_at(v, index);
    Tap want, got;
    char wanted[96] = "0", gotten[96], name[64];
    double expected = probe->expected[index], value = probe->y[index];
    int known = expected != 0 && tap_find(d, probe, at.k, expected, &want);
    int found = value != 0 && tap_find(d, probe, at.k, value, &got);
    if (known) {
        tap_name(&want, name, sizeof name);
        snprintf(wanted, sizeof wanted, "%s = %g", name, expected);
    }
    if (found)
        tap_name(&got, gotten, sizeof gotten);
    else
        snprintf(gotten, sizeof gotten, "%g", value);
    finding->fault = FAULT_EVERYWHERE;
    snprintf(finding->text, sizeof finding->text,
             "With x all zero but x[%d][%d][%d][%d] = 1, output (n,k,p,q) = (%d,%d,%d,%d) should "
             "be %s; yours is %s. %s",
             n, c, v->H / 2, v->W / 2, at.n, at.k, at.p, at.q, wanted, gotten,
             impulse_advice(known ? &want : NULL, found ? &got : NULL, value));
}

int probe_impulse(const Diagnosis *d, Finding *finding)
{
    Probe probe;
    if (!d->run || conv_macs(&d->conv) > impulse_macs || probe_make(&probe, &d->conv)) return 0;
    const ConvProblem *v = &d->conv;
    memcpy(probe.w, d->tensor[1], probe.w_count * sizeof(float));
    int found = 0;
    for (int last = 0; last < 2 && !found; last++) {
        int n = last ? v->N - 1 : 0, c = last ? v->C - 1 : 0;
        memset(probe.x, 0, probe.x_count * sizeof(float));
        probe.x[(((size_t)n * v->C + c) * v->H + v->H / 2) * v->W + v->W / 2] = 1;
        if (probe_wrong(d, &probe) <= 0) continue;
        size_t i = 0;
        while (fabs(probe.y[i] - probe.expected[i]) <=
               verdict_bound(d->precision, probe.magnitude[i], probe.products[i]))
            i++;
        impulse_describe(d, &probe, i, n, c, finding);
        found = 1;
    }
    probe_free(&probe);
    return found;
}
