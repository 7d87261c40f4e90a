/* probe.c - new runs of the submission, on inputs that distinguish explanations. */
#include "common/operations/conv_diagnosis/explain_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/operations/conv/conv_problem.h"

enum { PROBE_CHANNELS = 6 };

void probe_free(Probe *probe)
{
    free(probe->x);
    free(probe->w);
    free(probe->y);
    free(probe->expected); /* with magnitude and terms */
}

int probe_make(Probe *probe, const ConvProblem *conv)
{
    *probe = (Probe){.conv = *conv};
    conv_pack(conv, &probe->problem);
    probe->x_count = (size_t)conv->N * conv->C * conv->H * conv->W;
    probe->w_count = (size_t)conv->K * conv->C * conv->R * conv->S;
    probe->y_count = (size_t)conv->N * conv->K * conv->P * conv->Q;
    probe->x = malloc(probe->x_count * sizeof(float));
    probe->w = malloc(probe->w_count * sizeof(float));
    probe->y = malloc(probe->y_count * sizeof(float));
    if (!oracle_room(probe->y_count, &probe->expected, &probe->magnitude, &probe->terms) &&
        probe->x && probe->w && probe->y)
        return 0;
    probe_free(probe);
    return -1;
}

double probe_bound(const Diagnosis *d, const Probe *probe, size_t i)
{
    double least = verdict_least_terms(d->judged->observed.algorithm);
    return verdict_bound(d->precision, least > 0 ? probe->largest : probe->magnitude[i],
                         fmax(probe->terms[i], least));
}

long long probe_wrong(const Diagnosis *d, Probe *probe)
{
    const float *tensor[] = {probe->x, probe->w, probe->y};
    memset(probe->y, 0, probe->y_count * sizeof(float));
    if (d->run(d->context, &probe->problem, tensor, probe->y)) return -1;
    d->operation->oracle(&probe->problem, tensor, probe->expected, probe->magnitude, probe->terms);
    probe->largest = 0;
    for (size_t i = 0; i < probe->y_count; i++)
        probe->largest = fmax(probe->largest, probe->magnitude[i]);
    long long wrong = 0;
    for (size_t i = 0; i < probe->y_count; i++)
        wrong += !(fabs(probe->y[i] - probe->expected[i]) <= probe_bound(d, probe, i));
    return wrong;
}

/* ---- stride 1 ---------------------------------------------------------------------------- */

int probe_right(const Diagnosis *d, ConvProblem conv)
{
    Probe probe;
    if (!d->run || conv_derive(&conv, NULL) || conv_macs(&conv) > 4 * probe_macs ||
        probe_make(&probe, &conv))
        return -1;
    Random random;
    random_seed(&random, 1);
    d->operation->generate(&probe.problem, &random, (float *[]){probe.x, probe.w, probe.y});
    long long wrong = probe_wrong(d, &probe);
    probe_free(&probe);
    return wrong < 0 ? -1 : wrong == 0;
}

/* The same outputs at stride 1, from a larger input.  The number of outputs is kept, because
 * another one may select another path of the code. */
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
    if (same.H < 1 || same.W < 1 || probe_right(d, same) != 1) return 0;
    finding->fault = FAULT_STRIDE;
    snprintf(finding->text, sizeof finding->text,
             "With stride 1 the same code is correct in these places; with stride %d,%d it is not. "
             "The window of output (p,q) starts at row p*stride_h - pad_top, column q*stride_w - "
             "pad_left; a tile of T outputs needs (T-1)*stride + R inputs.",
             d->conv.stride_h, d->conv.stride_w);
    return 1;
}

/* ---- one channel at a time --------------------------------------------------------------- */

/* Keeps channel c of x and sets all other channels to zero. */
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

static int has_terms(const Probe *probe)
{
    for (size_t i = 0; i < probe->y_count; i++)
        if (probe->magnitude[i] > 0) return 1;
    return 0;
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
        if (!bad && !has_terms(&probe))
            continue; /* an output without non-zero terms proves
                                                      * nothing */
        char *list = bad ? wrong : right;
        snprintf(list + strlen(list), sizeof wrong - strlen(list), "%s%d", *list ? ", " : "", c);
    }
    probe_free(&probe);
    if (!*wrong || !*right) return 0;
    finding->fault = FAULT_ONE_CHANNEL;
    snprintf(finding->text, sizeof finding->text,
             "Not every input channel is treated in the same way: with all channels but one set to "
             "zero the output is right for c = %s and wrong for c = %s. %s",
             right, wrong,
             strcmp(right, "0")
                 ? "Check the loop over c, and how its iterations differ."
                 : "Check the distance from channel to channel in the index of x and of w, and how "
                   "later iterations of the loop over c differ from the first.");
    return 1;
}
