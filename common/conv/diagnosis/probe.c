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

int probe_stride(const Diagnosis *d, Finding *finding)
{
    ConvProblem conv = d->conv;
    if (!d->run || (conv.stride_h == 1 && conv.stride_w == 1)) return 0;
    conv.stride_h = conv.stride_w = 1;
    Probe probe;
    if (conv_derive(&conv, NULL) || conv_macs(&conv) > 4 * probe_macs || probe_make(&probe, &conv))
        return 0;
    Random random;
    random_seed(&random, 1);
    d->operation->generate(&probe.problem, &random, (float *[]){probe.x, probe.w, probe.y});
    int right = probe_wrong(d, &probe) == 0;
    probe_free(&probe);
    if (!right) return 0;
    finding->fault = FAULT_STRIDE;
    snprintf(finding->text, sizeof finding->text,
             "With stride 1 the same code is right on this shape; with stride %d,%d it is not. The "
             "window of output (p,q) begins at "
             "row p*stride_h - pad_top, column q*stride_w - pad_left; a tile of T outputs needs "
             "(T-1)*stride + R inputs.",
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

/* Which tap of filter k has this value? */
static int tap_find(const Probe *probe, int k, float value, int *c, int *r, int *s)
{
    const ConvProblem *v = &probe->conv;
    size_t count = (size_t)v->C * v->R * v->S;
    for (size_t i = 0; i < count; i++)
        if (probe->w[k * count + i] == value) {
            *c = (int)(i / ((size_t)v->R * v->S));
            *r = (int)(i / (size_t)v->S % (size_t)v->R);
            *s = (int)(i % (size_t)v->S);
            return 1;
        }
    return 0;
}

static void impulse_describe(const Probe *probe, size_t index, int n, int c, Finding *finding)
{
    const ConvProblem *v = &probe->conv;
    OutputAt at = output_at(v, index);
    char got[96], want[96];
    int tap_c, r, s;
    if (tap_find(probe, at.k, (float)probe->expected[index], &tap_c, &r, &s))
        snprintf(want, sizeof want, "w[%d][%d][%d][%d] = %g", at.k, tap_c, r, s,
                 probe->expected[index]);
    else
        snprintf(want, sizeof want, "0");
    if (probe->y[index] != 0 && tap_find(probe, at.k, probe->y[index], &tap_c, &r, &s))
        snprintf(got, sizeof got, "w[%d][%d][%d][%d]", at.k, tap_c, r, s);
    else
        snprintf(got, sizeof got, "%g", probe->y[index]);
    finding->fault = FAULT_EVERYWHERE;
    snprintf(finding->text, sizeof finding->text,
             "With x all zero but x[%d][%d][%d][%d] = 1, output (n,k,p,q) = (%d,%d,%d,%d) should "
             "be %s; yours is %s. Follow that one pixel "
             "through your index arithmetic.",
             n, c, v->H / 2, v->W / 2, at.n, at.k, at.p, at.q, want, got);
}

int probe_impulse(const Diagnosis *d, Finding *finding)
{
    Probe probe;
    if (!d->run || conv_macs(&d->conv) > 4 * probe_macs || probe_make(&probe, &d->conv)) return 0;
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
        impulse_describe(&probe, i, n, c, finding);
        found = 1;
    }
    probe_free(&probe);
    return found;
}
