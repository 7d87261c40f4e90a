/* conv_backward_explain.c - diagnosis of a wrong gradient, as a sentence that names the mistake.
 *
 * A slip (conv_backward_slip.h) that predicts every sampled output within the bound is the
 * submission's mistake.  Incomplete sums are tried next, then the positions of the wrong
 * outputs. */
#include "common/operations/conv_diagnosis/conv_backward_explain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/operations/conv_diagnosis/conv_backward_slip.h"
#include "common/operations/operation/product_probe.h"
#include "common/operations/operation/value_pattern.h"

static int find_slip(Backward *b, int everywhere, Finding *finding)
{
    for (int i = 0; i < b->slips; i++) {
        if (!slip_fits(b, &b->slip[i], everywhere)) continue;
        finding->fault = b->slip[i].fault;
        finding_say(finding, "%s", b->slip[i].text);
        return 1;
    }
    return 0;
}

/* ---- incomplete sums --------------------------------------------------------------------- */

static int cut_fits(Backward *b, const Slip *right, size_t from, size_t to)
{
    double evidence = 0;
    for (int i = 0; i < b->wrong + b->right; i++) {
        slip_terms(b, right, b->sample[i]);
        if (!sum_fits(b, b->sample[i], from, to, 1, &evidence)) return 0;
    }
    return evidence >= EVIDENCE_BITS;
}

/* The sum ends after `to` rows, or starts at row `from`: found in one wrong output, then compared
 * with all samples. */
static int find_cut(Backward *b, Finding *finding)
{
    enum { TRIES = 64 };
    Slip right = slip_right(b);
    size_t index = b->sample[0], tried = 0;
    double got = b->judged->view.output[index], all = b->judged->expected[index], sum = 0;
    double near = sum_tolerance(b->judged, b->judged->magnitude[index], b->judged->terms[index]);
    for (size_t i = 0; i < b->rows && tried < TRIES; i++) {
        slip_terms(b, &right, index);
        int ends = fabs(got - sum) <= near;
        int begins = fabs(got - (all - sum)) <= near;
        sum += b->product[i];
        for (int late = 0; late < 2; late++) {
            if (!(late ? begins : ends)) continue;
            tried++;
            if (!cut_fits(b, &right, late ? i : 0, late ? b->rows : i)) continue;
            finding->fault = b->filter ? FAULT_ONE_IMAGE : FAULT_ONE_FILTER;
            finding_say(finding,
                        late ? "The sum lacks its first %zu of %zu rows (%s)."
                             : "The sum ends after %zu of %zu rows (%s).",
                        i, b->rows, b->filter ? "n, p, q" : "k, r, s");
            finding_say(finding, "Check each slice's first and last row, that all slices are "
                                 "added, and that the last, shorter tile is included.");
            return 1;
        }
    }
    return 0;
}

/* ---- the same problem at stride 1 -------------------------------------------------------- */

/* Runs the submission on a problem with the same dy, filters and padding, and strides of 1. 1 if it
 * is correct there. */
static int right_without_steps(const Backward *b, ProbeRun run, void *context)
{
    const Operation *operation = b->judged->operation;
    ConvProblem v = b->v;
    Problem problem;
    Random random;
    TensorShape shape[OPERATION_TENSORS];
    float *tensor[OPERATION_TENSORS] = {0};
    v.stride_h = v.stride_w = 1;
    v.H = v.P - 1 + v.R - v.pad_top - v.pad_bottom;
    v.W = v.Q - 1 + v.S - v.pad_left - v.pad_right;
    if (!run || v.H < 1 || v.W < 1) return 0;
    conv_pack(&v, &problem);
    int count = operation->tensors(&problem, shape), right = 1;
    for (int i = 0; i < count; i++)
        right &= (tensor[i] = calloc(tensor_count(&shape[i]), sizeof(float))) != NULL;
    if (right) {
        random_seed(&random, 1);
        operation->generate(&problem, &random, tensor);
        right = !run(context, &problem, (const float *const *)tensor, tensor[count - 1]);
    }
    for (size_t i = 0; right && i < tensor_count(&shape[count - 1]); i++) {
        double value[3];
        operation->oracle_element(&problem, (const float *const *)tensor, i, value);
        right = fabs(tensor[count - 1][i] - value[0]) <=
                verdict_bound(b->judged->precision, value[1], value[2]);
    }
    for (int i = 0; i < count; i++)
        free(tensor[i]);
    return right;
}

static int find_steps(const Backward *b, ProbeRun run, void *context, Finding *finding)
{
    if (b->v.stride_h == 1 && b->v.stride_w == 1) return 0;
    if (!right_without_steps(b, run, context)) return 0;
    finding->fault = FAULT_STRIDE;
    finding_say(finding, "With strides of 1 and the same filters and padding it is correct. %s",
                slip_window(b));
    return 1;
}

/* ---- entry point ------------------------------------------------------------------------- */

/* Samples spread over all wrong and over all correct outputs. */
static void samples_take(Backward *b)
{
    const Judgement *j = b->judged;
    size_t wrong = j->verdict.total - j->count[MARK_RIGHT], right = j->count[MARK_RIGHT];
    size_t wrong_seen = 0, right_seen = 0;
    size_t wrong_step = wrong / WRONG_ONES + 1, right_step = right / RIGHT_ONES + 1;
    size_t wrongs[WRONG_ONES], rights[RIGHT_ONES];
    for (size_t i = 0; i < j->verdict.total; i++)
        if (j->mark[i] == MARK_WRONG && wrong_seen++ % wrong_step == 0 && b->wrong < WRONG_ONES)
            wrongs[b->wrong++] = i;
        else if (j->mark[i] == MARK_RIGHT && right_seen++ % right_step == 0 &&
                 b->right < RIGHT_ONES)
            rights[b->right++] = i;
    memcpy(b->sample, wrongs, (size_t)b->wrong * sizeof *wrongs);
    memcpy(b->sample + b->wrong, rights, (size_t)b->right * sizeof *rights);
}

static int find_zeros(const Backward *b, Finding *finding)
{
    for (size_t i = 0; i < b->judged->verdict.total; i++)
        if (b->judged->view.output[i] != 0) return 0;
    finding->fault = FAULT_EVERYWHERE;
    finding_say(finding,
                "Every gradient is 0. The store is executed, but not with the sum: check that the "
                "loop runs, and that every term is added to the stored value.");
    return 1;
}

static void find_explanation(Backward *b, ProbeRun run, void *context, Finding *finding)
{
    const Judgement *j = b->judged;
    Finding where = {0};
    if (find_written_outside(j, finding)) return;
    if ((j->count[MARK_POISON] || j->count[MARK_NAN] == j->verdict.total) &&
        find_accumulated(j, run, context, finding))
        return;
    if (find_untouched(b, finding)) return;
    find_place(b, &where);
    if (find_unwritten(j, where.text, finding)) return;
    if (!j->faint && b->wrong && !j->count[MARK_NAN] &&
        (find_zeros(b, finding) || find_slip(b, 1, finding) || find_cut(b, finding)))
        return;
    if (find_race(j, run, context, finding) || find_nan(j, where.text, finding) ||
        find_small_errors(j, finding))
        return;
    if (!where.fault && find_steps(b, run, context, finding)) return;
    *finding = where;
    if (!where.fault) finding->fault = FAULT_EVERYWHERE;
    Finding inside = {0};
    if (b->wrong &&
        (find_integers(j, &inside) || find_factor(j, &inside) || find_permuted(j, &inside))) {
        if (!where.fault) finding->fault = inside.fault;
        finding_say(finding, "%s", inside.text);
    } else if (b->wrong && j->count[MARK_RIGHT] && find_slip(b, 0, &inside)) {
        if (!where.fault) finding->fault = inside.fault;
        finding_say(finding, "In those outputs: %s", inside.text);
    } else if (b->wrong && find_product(j, run, context, &inside)) {
        finding_say(finding, "%s", inside.text);
    } else if (!where.fault) {
        finding_say(finding,
                    "%s Calculate the first one by hand on the smallest case, and print the "
                    "indices that your code uses for it.",
                    slip_window(b));
    }
}

void conv_backward_explain(int filter, const Judgement *judged, ProbeRun run, void *context,
                           Finding *finding)
{
    Backward *b = calloc(1, sizeof *b);
    if (!b) return;
    b->judged = judged;
    b->v = conv_unpack(&judged->view.problem);
    b->filter = filter;
    b->dy = judged->view.tensor[filter ? 1 : 0];
    b->in = judged->view.tensor[filter ? 0 : 1];
    b->rows = filter ? (size_t)b->v.N * b->v.P * b->v.Q : (size_t)b->v.K * b->v.R * b->v.S;
    b->product = malloc(b->rows * sizeof *b->product);
    if (b->product) {
        samples_take(b);
        slips_list(b);
        find_explanation(b, run, context, finding);
    }
    free(b->product);
    free(b);
}
