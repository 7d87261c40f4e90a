#include "common/conv/verify.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/conv/conv_problem.h"
#include "common/conv/diagnose.h"
#include "common/conv/layout.h"

static const double unit_fp32 = 0x1p-24, unit_input = 0x1p-11; /* tf32 and fp16 keep 11 bits */
enum { RMS_LEAST_OUTPUTS = 64 };
static const double rms_limit = 2;

static double gamma_of(double products, double unit)
{
    double mu = products * unit;
    return mu < 0.5 ? mu / (1 - mu) : 2 * mu;
}

double verify_bound(Precision precision, double magnitude, double products)
{
    double relative = gamma_of(products, unit_fp32);
    double input = precision == PRECISION_FP32 ? 0 : unit_input;
    return VERIFY_SAFETY * (relative + 2 * input + input * input) * magnitude;
}

/* ---- the arrays of one judgement --------------------------------------------------------- */

typedef struct Judged {
    size_t total;
    Precision precision;
    double rms; /* of expected */
    double *expected, *magnitude, *products;
    unsigned char *mark;
} Judged;

static void judged_free(Judged *judged)
{
    free(judged->expected);
    free(judged->magnitude);
    free(judged->products);
    free(judged->mark);
}

static int judged_make(Judged *judged, size_t total, Error *error)
{
    *judged = (Judged){.total = total,
                       .expected = malloc(total * sizeof(double)),
                       .magnitude = malloc(total * sizeof(double)),
                       .products = malloc(total * sizeof(double)),
                       .mark = calloc(total, 1)};
    if (judged->expected && judged->magnitude && judged->products && judged->mark) return 0;
    judged_free(judged);
    return error_set(error, "no memory to check an output of %zu floats", total);
}

/* ---- judgement --------------------------------------------------------------------------- */

static Mark mark_of(float got, double error, double bound)
{
    uint32_t bits;
    memcpy(&bits, &got, sizeof bits);
    if (bits == VERIFY_POISON) return MARK_POISON;
    if (!isfinite(got)) return MARK_NAN;
    return !(error <= bound) ? MARK_WRONG : MARK_RIGHT;
}

/* error / bound, where 0/0 is a perfect 0. */
static double ratio_of(double error, double bound)
{
    return error == 0 ? 0 : error / bound;
}

/* What the error of output i is measured by, for the root mean square over the map. */
static double rms_unit(const Judged *judged, size_t i)
{
    if (judged->precision != PRECISION_FP32) return unit_input * judged->rms;
    return unit_fp32 * sqrt(judged->products[i]) * judged->magnitude[i];
}

static double rms_of(const double *value, size_t count)
{
    double squares = 0;
    for (size_t i = 0; i < count; i++)
        squares += value[i] * value[i];
    return count ? sqrt(squares / (double)count) : 0;
}

/* Returns 1 when only the root mean square is out of bounds. */
static int judge_outputs(Judged *judged, const float *output, Verdict *verdict)
{
    double squares = 0;
    size_t counted = 0;
    judged->rms = rms_of(judged->expected, judged->total);
    for (size_t i = 0; i < judged->total; i++) {
        double error = fabs((double)output[i] - judged->expected[i]);
        double bound = verify_bound(judged->precision, judged->magnitude[i], judged->products[i]);
        judged->mark[i] = (unsigned char)mark_of(output[i], error, bound);
        verdict->wrong += judged->mark[i] != MARK_RIGHT;
        if (!isnan(error)) verdict->worst = fmax(verdict->worst, ratio_of(error, bound));
        double unit = rms_unit(judged, i);
        if (unit > 0) {
            squares += error / unit * (error / unit);
            counted++;
        }
    }
    if (verdict->wrong || counted < RMS_LEAST_OUTPUTS) return 0;
    if (squares <= rms_limit * rms_limit * (double)counted) return 0;
    /* Each output is within its worst case, but all of them together are not what the precision
     * does. */
    for (size_t i = 0; i < judged->total; i++) {
        double error = fabs((double)output[i] - judged->expected[i]);
        if (!(error > rms_limit * rms_unit(judged, i))) continue;
        judged->mark[i] = MARK_WRONG;
        verdict->wrong++;
    }
    return 1;
}

static void describe_first(const Judged *judged, const float *output, const TensorShape *shape,
                           Verdict *verdict)
{
    size_t first = 0;
    while (first < judged->total && judged->mark[first] == MARK_RIGHT)
        first++;
    if (first == judged->total) return;
    verdict->first = first;
    verdict->got = output[first];
    verdict->expected = judged->expected[first];
    verdict->bound =
        verify_bound(judged->precision, judged->magnitude[first], judged->products[first]);
    if (fabs(verdict->got - verdict->expected) <= verdict->bound)
        verdict->bound = rms_limit * rms_unit(judged, first);

    size_t at[TENSOR_RANK], rest = first;
    for (int axis = shape->rank - 1; axis >= 0; axis--) {
        at[axis] = rest % shape->dim[axis];
        rest /= shape->dim[axis];
    }
    char names[32] = "", values[64] = "";
    for (int axis = 0; axis < shape->rank; axis++) {
        size_t used = strlen(names), filled = strlen(values);
        snprintf(names + used, sizeof names - used, "%s%s", axis ? "," : "", shape->axes[axis]);
        snprintf(values + filled, sizeof values - filled, "%s%zu", axis ? "," : "", at[axis]);
    }
    snprintf(verdict->where, sizeof verdict->where, "(%.31s) = (%.55s)", names, values);
}

/* ---- faults that need no error map ------------------------------------------------------- */

static int judge_memory(const Observed *observed, const char *output_name, Verdict *verdict)
{
    if (observed->fence_broken) {
        verdict->fault = FAULT_FENCE;
        long offset = observed->fence_offset;
        const char *name = observed->fence_broken;
        char place[80];
        if (offset < 0)
            snprintf(place, sizeof place, "%ld floats before the start of %.20s", -offset, name);
        else if (offset == 0)
            snprintf(place, sizeof place, "right past the end of %.20s", name);
        else
            snprintf(place, sizeof place, "%ld floats past the end of %.20s", offset, name);
        snprintf(
            verdict->text, sizeof verdict->text,
            "Your code wrote outside of %s: first %s. Threads that stand beyond the output's edge "
            "must not "
            "store: guard the store with the output's own sizes (k < K, p < P, q < Q), and check "
            "the index that it is made of.",
            name, place);
        return 1;
    }
    if (observed->input_changed) {
        verdict->fault = FAULT_INPUT_CHANGED;
        snprintf(verdict->text, sizeof verdict->text,
                 "Your code wrote into its input %s. Inputs are read-only: look for a store whose "
                 "pointer is "
                 "%s and not %s, and for casts that drop const.",
                 observed->input_changed, observed->input_changed, output_name);
        return 1;
    }
    return 0;
}

/* ---- samples ----------------------------------------------------------------------------- */

/* Takes one of each of `take` equal shares of `all` outputs, at a random place in it: an even step
 * would see only every second column where the wrong ones alternate. */
typedef struct Sampler {
    size_t *sample;
    size_t all, seen, next;
    int take, taken;
} Sampler;

static void sampler_aim(Sampler *sampler, Random *random)
{
    double place = (sampler->taken + random_unit(random)) / sampler->take;
    sampler->next = (size_t)(place * (double)sampler->all);
}

static void sampler_offer(Sampler *sampler, Random *random, size_t index)
{
    if (sampler->taken == sampler->take || sampler->seen++ != sampler->next) return;
    sampler->sample[sampler->taken++] = index;
    sampler_aim(sampler, random);
    if (sampler->next < sampler->seen) sampler->next = sampler->seen;
}

static void samples_choose(const Judged *judged, size_t wrong, Samples *samples)
{
    Random random;
    random_seed(&random, 1); /* fixed: the same output gets the same diagnosis */
    size_t right = judged->total - wrong;
    Sampler of_wrong = {.sample = samples->index, .all = wrong};
    of_wrong.take = wrong < SAMPLES_WRONG ? (int)wrong : SAMPLES_WRONG;
    Sampler of_right = {.sample = samples->index + of_wrong.take, .all = right};
    of_right.take = right < SAMPLES_RIGHT ? (int)right : SAMPLES_RIGHT;
    if (of_wrong.take) sampler_aim(&of_wrong, &random);
    if (of_right.take) sampler_aim(&of_right, &random);
    for (size_t i = 0; i < judged->total; i++)
        sampler_offer(judged->mark[i] != MARK_RIGHT ? &of_wrong : &of_right, &random, i);
    samples->wrong = of_wrong.taken;
    samples->right = of_right.taken;
    memmove(samples->index + of_wrong.taken, of_right.sample,
            (size_t)of_right.taken * sizeof *samples->index);
}

/* ---- the front door ---------------------------------------------------------------------- */

static const float *output_shape(const Operation *operation, const Problem *problem,
                                 const Observed *observed, TensorShape *shape)
{
    TensorShape all[OPERATION_TENSORS];
    int count = operation->tensors(problem, all);
    for (int i = 0; i < count; i++)
        if (all[i].role == TENSOR_OUTPUT) *shape = all[i];
    return observed->output;
}

static int verify_plain(const Operation *operation, const Problem *problem, Precision precision,
                        const float *const *tensor, const Observed *observed, ProbeRun run,
                        void *context, Verdict *verdict, Error *error)
{
    TensorShape shape;
    const float *output = output_shape(operation, problem, observed, &shape);
    memset(verdict, 0, sizeof *verdict);
    verdict->total = tensor_count(&shape);

    Judged judged;
    if (judged_make(&judged, verdict->total, error)) return -1;
    operation->oracle(problem, tensor, judged.expected, judged.magnitude, judged.products);
    judged.precision = precision;
    int faint = judge_outputs(&judged, output, verdict);
    describe_first(&judged, output, &shape, verdict);
    verdict->correct = !judge_memory(observed, shape.name, verdict) && verdict->wrong == 0;

    if (!verdict->correct && verdict->fault == FAULT_NONE) {
        Diagnosis diagnosis = {.operation = operation,
                               .problem = problem,
                               .conv = conv_unpack(problem),
                               .precision = precision,
                               .tensor = tensor,
                               .output = output,
                               .expected = judged.expected,
                               .magnitude = judged.magnitude,
                               .products = judged.products,
                               .mark = judged.mark,
                               .total = verdict->total,
                               .faint = faint,
                               .run = run,
                               .context = context};
        if (diagnosis.conv.pool) { /* the map that there is to look at */
            diagnosis.conv.P /= diagnosis.conv.pool;
            diagnosis.conv.Q /= diagnosis.conv.pool;
        }
        for (size_t i = 0; i < verdict->total; i++)
            diagnosis.count[judged.mark[i]]++;
        samples_choose(&judged, verdict->wrong, &diagnosis.samples);
        diagnose(&diagnosis, verdict);
    }
    judged_free(&judged);
    return 0;
}

/* Everything in this room thinks in NCHW: another layout is seen as if it were that. */
int verify_output(const Operation *operation, const Problem *problem, Precision precision,
                  const float *const *tensor, const Observed *observed, ProbeRun run, void *context,
                  Verdict *verdict, Error *error)
{
    if (conv_unpack(problem).layout == CONV_NCHW)
        return verify_plain(operation, problem, precision, tensor, observed, run, context, verdict,
                            error);
    LayoutView view;
    if (layout_view_open(&view, problem, tensor, observed, run, context, error)) return -1;
    int status = verify_plain(operation, &view.problem, precision, view.tensor, &view.observed,
                              run ? layout_view_run : NULL, &view, verdict, error);
    if (!status && !verdict->correct && verdict->wrong)
        layout_explain(&view, operation, precision, verdict);
    layout_view_close(&view);
    return status;
}
