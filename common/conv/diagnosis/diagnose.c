#include "common/conv/diagnosis/diagnose_parts.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/conv/conv_problem.h"

OutputAt output_at(const ConvProblem *conv, size_t index)
{
    OutputAt at;
    at.q = (int)(index % (size_t)conv->Q);
    index /= (size_t)conv->Q;
    at.p = (int)(index % (size_t)conv->P);
    index /= (size_t)conv->P;
    at.k = (int)(index % (size_t)conv->K);
    at.n = (int)(index / (size_t)conv->K);
    return at;
}

double diagnosis_tolerance(const Diagnosis *d, double magnitude, double products)
{
    if (d->faint) return 4 * UNIT_FP32 * sqrt(products) * magnitude;
    return verdict_bound(d->precision, magnitude, products);
}

/* Adds a sentence if there is room for all of it. */
static void text_add(Finding *finding, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void text_add(Finding *finding, const char *format, ...)
{
    char sentence[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    size_t used = strlen(finding->text);
    if (used + strlen(sentence) + 2 > sizeof finding->text) return;
    snprintf(finding->text + used, sizeof finding->text - used, "%s%s", used ? " " : "", sentence);
}

/* Outputs that still hold the poison.  Where they lie says why. */
static void find_unwritten(const Diagnosis *d, Finding *finding)
{
    Finding where = {0};
    finding->fault = FAULT_UNWRITTEN;
    if (d->count[MARK_POISON] == d->total) {
        text_add(
            finding,
            "No output was written: every element of y still holds what it held before the call. "
            "Is the kernel launched, over a grid that is not empty, and does it store into y? "
            "(y += ... leaves the same trace: y arrives unwritten, so store with =.)");
        return;
    }
    text_add(finding, "%zu of %zu outputs were never written.", d->count[MARK_POISON], d->total);
    if (signature_find(d, 1u << MARK_POISON, &where)) {
        text_add(finding, "%s", where.text);
    }
    text_add(finding, "Does the grid cover every output? Round the number of blocks up: "
                      "(size + tile - 1) / tile, and guard the store instead.");
}

static void find_nan(const Diagnosis *d, Finding *finding)
{
    Finding where = {0};
    unsigned bad = 1u << MARK_NAN | 1u << MARK_WRONG;
    int found = signature_find(d, bad, &where);
    if (found && where.fault == FAULT_PADDING_EDGE) {
        *finding = where;
        return;
    }
    finding->fault = FAULT_NAN;
    if (d->count[MARK_NAN] == d->total)
        text_add(finding, "Every output is NaN or infinite.");
    else
        text_add(finding, "%zu of %zu outputs are NaN or infinite.", d->count[MARK_NAN], d->total);
    text_add(
        finding,
        "The inputs are all finite, so the sum took in memory that nobody set: a register or "
        "shared "
        "array without an initial value, an index outside of x or w (their surroundings hold NaN), "
        "or y itself, which arrives unwritten (store with =, not +=).");
    if (found) text_add(finding, "%s", where.text);
}

/* Are even the outputs that pass farther off than fp32 sums can be, taken together? */
static int right_ones_are_off(const Diagnosis *d)
{
    double squares = 0, counted = 0;
    for (size_t i = 0; i < d->total; i++) {
        double unit = UNIT_FP32 * sqrt(d->products[i]) * d->magnitude[i];
        if (d->mark[i] != MARK_RIGHT || unit == 0) continue;
        double error = (d->output[i] - d->expected[i]) / unit;
        squares += error * error;
        counted++;
    }
    return counted >= 16 ? squares > 2 * 2 * counted : d->count[MARK_WRONG] > d->total / 2;
}

/* Are all errors small?  2^-6 of the products' magnitudes is what bf16 inputs, or fp16 sums of some
 * dozens of products, leave behind at most.  In deep sums of both signs that is more than the sums
 * themselves; there bf16 leaves 1/300 of them in the root mean square, and what is beyond 1/16 was
 * not merely rounded. */
static int errors_are_small(const Diagnosis *d)
{
    double errors = 0, outputs = 0;
    for (size_t i = 0; i < d->total; i++) {
        double error = d->output[i] - d->expected[i];
        if (fabs(error) > 0x1p-6 * d->magnitude[i]) return 0;
        errors += error * error;
        outputs += d->expected[i] * d->expected[i];
    }
    return errors <= outputs / (16.0 * 16.0);
}

/* No explanation matched: errors that are small, but larger than the lab's precision makes. */
static int find_small_errors(const Diagnosis *d, Finding *finding)
{
    const int fp32 = d->precision == PRECISION_FP32;
    if (!d->faint && !(fp32 && right_ones_are_off(d))) return 0;
    if (!errors_are_small(d)) return 0;
    finding->fault = FAULT_PRECISION;
    text_add(finding,
             "Every output is near the right value, but the errors are larger than %s can "
             "make: somewhere values are kept in a lower precision (%s). This lab asks for %s.",
             fp32 ? "fp32 sums" : "inputs of 11 bits",
             fp32 ? "half, bfloat16, tf32, or a fast approximation" : "bfloat16, or sums in half",
             fp32 ? "fp32 throughout" : "inputs rounded to tf32 or half and sums in fp32");
    return 1;
}

/* A pattern in the error map, and, where it can be told, what goes wrong inside it. */
static int find_pattern(const Diagnosis *d, Finding *finding)
{
    if (!signature_find(d, 1u << MARK_WRONG | 1u << MARK_NAN, finding)) return 0;
    Finding inside = {0};
    /* A tile that is too small for the stride draws the same pattern as one without its halo. */
    if (finding->fault == FAULT_TILE_EDGE || finding->fault == FAULT_PADDING_EDGE ||
        finding->fault == FAULT_EVERYWHERE)
        if (probe_stride(d, &inside)) {
            *finding = inside;
            return 1;
        }
    if (d->count[MARK_RIGHT] && (lost_find(d, 0, &inside) || variant_find(d, 0, &inside)))
        text_add(finding, "In those outputs: %s", inside.text);
    return 1;
}

/* Pooling hides which of the outputs was wrong: what is left is whether all were written, to
 * numbers. */
static void find_pooled(const Diagnosis *d, Finding *finding)
{
    if (d->count[MARK_POISON]) {
        find_unwritten(d, finding);
    } else if (d->count[MARK_NAN]) {
        find_nan(d, finding);
    } else {
        finding->fault = FAULT_EVERYWHERE;
        text_add(
            finding,
            "%zu of %zu pooled outputs are wrong. Is the same shape right without pool=%d? Then "
            "it is the pooling: y is N*K*(P/%d)*(Q/%d), the largest of each %dx%d outputs, and "
            "what is left over at the end is dropped.",
            d->count[MARK_WRONG], d->total, d->conv.pool, d->conv.pool, d->conv.pool, d->conv.pool,
            d->conv.pool);
    }
}

static void find_explanation(const Diagnosis *d, Finding *finding)
{
    if (d->conv.pool) {
        find_pooled(d, finding);
        return;
    }
    if (d->count[MARK_POISON] || d->count[MARK_NAN] == d->total)
        if (probe_accumulates(d, finding)) return;
    if (d->count[MARK_POISON]) {
        find_unwritten(d, finding);
        return;
    }
    if (variant_find(d, 1, finding) || lost_find(d, 1, finding)) return;
    if (probe_race(d, finding)) return;
    if (d->count[MARK_NAN]) {
        find_nan(d, finding);
        return;
    }
    if (find_small_errors(d, finding) || find_pattern(d, finding)) return;
    if (probe_stride(d, finding) || probe_channels(d, finding)) return;
    finding->fault = FAULT_EVERYWHERE;
    text_add(finding, "%zu of %zu outputs are wrong, and their places follow no pattern.",
             d->count[MARK_WRONG], d->total);
    Finding impulse = {0};
    if (probe_impulse(d, &impulse))
        text_add(finding, "%s", impulse.text);
    else
        text_add(finding, "Work the first wrong output out by hand on the smallest case, and print "
                          "the index into x and w "
                          "at each step.");
}

/* ---- writes outside of the output -------------------------------------------------------- */

static void find_written_outside(const char *name, long offset, Finding *finding)
{
    char place[80];
    finding->fault = FAULT_GUARD_BAND;
    if (offset < 0)
        snprintf(place, sizeof place, "%ld floats before the start of %.20s", -offset, name);
    else if (offset == 0)
        snprintf(place, sizeof place, "right past the end of %.20s", name);
    else
        snprintf(place, sizeof place, "%ld floats past the end of %.20s", offset, name);
    text_add(finding,
             "Your code wrote outside of %s: first %s. Threads that stand beyond the output's edge "
             "must not store: guard the store with the output's own sizes (k < K, p < P, q < Q), "
             "and check the index that it is made of.",
             name, place);
}

static void find_written_input(const Judgement *judged, const char *name, Finding *finding)
{
    TensorShape shape[OPERATION_TENSORS];
    const char *output = "";
    int count = judged->operation->tensors(&judged->view.problem, shape);
    for (int i = 0; i < count; i++)
        if (shape[i].role == TENSOR_OUTPUT) output = shape[i].name;
    finding->fault = FAULT_INPUT_CHANGED;
    text_add(finding,
             "Your code wrote into its input %s. Inputs are read-only: look for a store whose "
             "pointer is %s and not %s, and for casts that drop const.",
             name, name, output);
}

/* ---- the front door ---------------------------------------------------------------------- */

static void find_in_map(const Judgement *judged, ProbeRun run, void *context, Finding *finding)
{
    Diagnosis d = {.operation = judged->operation,
                   .problem = &judged->view.problem,
                   .conv = conv_unpack(&judged->view.problem),
                   .precision = judged->precision,
                   .tensor = judged->view.tensor,
                   .output = judged->view.output,
                   .expected = judged->expected,
                   .magnitude = judged->magnitude,
                   .products = judged->products,
                   .mark = judged->mark,
                   .total = judged->verdict.total,
                   .faint = judged->faint,
                   .run = run,
                   .context = context};
    if (d.conv.pool) { /* the map that there is to look at */
        d.conv.P /= d.conv.pool;
        d.conv.Q /= d.conv.pool;
    }
    for (size_t i = 0; i < d.total; i++)
        d.count[d.mark[i]]++;
    samples_choose(d.mark, d.total, judged->verdict.wrong, &d.samples);
    find_explanation(&d, finding);
}

void diagnose(const Judgement *judged, ProbeRun run, void *context, Finding *finding)
{
    const LayoutView *view = &judged->view;
    const Observed *observed = &judged->observed;
    int rearranged = view->output != view->raw_output;
    OrderRun order = {.view = view, .run = run, .context = context};
    *finding = (Finding){.fault = FAULT_NONE};
    if (judged->verdict.correct) return;
    if (rearranged && judged->verdict.wrong &&
        order_find(view, judged->operation, judged->precision, finding))
        return;
    if (observed->band_broken)
        find_written_outside(observed->band_broken, observed->band_offset, finding);
    else if (observed->input_changed)
        find_written_input(judged, observed->input_changed, finding);
    else if (rearranged)
        find_in_map(judged, run ? order_run : NULL, &order, finding);
    else
        find_in_map(judged, run, context, finding);
}
