#include "common/operations/operation/verify.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/parallel.h"

/* Minimum numbers of outputs for a judgement of the root mean square.  The limit for rounded inputs
 * is relative to the outputs themselves, which cancellation can make small.  With 8 outputs of 12
 * terms one map in 400 would be rejected wrongly, with 128 none in a million. */
enum { RMS_LEAST_OUTPUTS = 8, RMS_LEAST_ROUNDED = 128 };

/* Fixed number of parts, independent of the machine's cores, so that the partial sums of squares
 * are the same on every machine. */
enum { PARTS = 64 };
static const double PART_LEAST = 1 << 14; /* minimum number of outputs per thread */

static Mark mark_of(float got, double error, double bound)
{
    uint32_t bits;
    memcpy(&bits, &got, sizeof bits);
    if (bits == OUTPUT_POISON) return MARK_POISON;
    if (!isfinite(got)) return MARK_NAN;
    return !(error <= bound) ? MARK_WRONG : MARK_RIGHT;
}

/* error / bound, with 0/0 = 0. */
static double ratio_of(double error, double bound)
{
    return error == 0 ? 0 : error / bound;
}

/* ---- parallel judgement --------------------------------------------------------------------- */

/* Results of one part of the outputs. */
typedef struct Part {
    double squares, worst;
    size_t counted, count[MARKS];
} Part;

typedef struct Parts {
    Judgement *judged;
    const double *value; /* values whose squares are summed; NULL: outputs are judged */
    size_t total;
    int shares;
    Part part[PARTS];
} Parts;

static void tiles_part(const double *value, size_t first, size_t last, Part *part)
{
    double squares = 0;
    for (size_t i = first; i < last; i++)
        squares += value[i] * value[i];
    part->squares = squares;
}

static void judge_part(Judgement *judged, size_t first, size_t last, Part *part);

static void parts_share(void *context, int share)
{
    Parts *all = context;
    for (int p = share; p < PARTS; p += all->shares) {
        size_t first = all->total * (size_t)p / PARTS, last = all->total * ((size_t)p + 1) / PARTS;
        if (all->value)
            tiles_part(all->value, first, last, &all->part[p]);
        else
            judge_part(all->judged, first, last, &all->part[p]);
    }
}

static void parts_run(Parts *all)
{
    all->shares = parallel_shares((double)all->total, PART_LEAST);
    parallel_run(all->shares, parts_share, all);
}

static double rms_of(const double *value, size_t count)
{
    Parts all = {.value = value, .total = count};
    double squares = 0;
    parts_run(&all);
    for (int p = 0; p < PARTS; p++)
        squares += all.part[p].squares;
    return count ? sqrt(squares / (double)count) : 0;
}

/* ---- the outputs ------------------------------------------------------------------------- */

static double error_at(const Judgement *judged, size_t i)
{
    return fabs((double)judged->view.output[i] - judged->expected[i]);
}

/* Scale of the error of output i (verdict.h). */
static double reach_at(const Judgement *judged, size_t i)
{
    if (judged->precision != PRECISION_FP32 || judged->operation->own_reach)
        return judged->magnitude[i];
    return fmax(judged->magnitude[i], judged->typical);
}

static double bound_at(const Judgement *judged, size_t i)
{
    const double least = verdict_least_terms(judged->observed.algorithm);
    return verdict_bound(judged->precision, reach_at(judged, i), fmax(judged->terms[i], least));
}

/* Bound of the error of output i in the map's root mean square; 0: it has none.  An
 * operation whose magnitudes carry the size of the errors has a narrow bound of each output. */
static double rms_bound_at(const Judgement *judged, size_t i)
{
    if (judged->operation->carries_error) return 0;
    if (judged->precision != PRECISION_FP32) return 2 * UNIT_ELEVEN_BITS * judged->rms;
    return verdict_rms_bound(judged->observed.algorithm, reach_at(judged, i), judged->terms[i]);
}

/* Compares each output with its own bound, and sums the squares of the errors relative to the root
 * mean square's bound. */
static void judge_part(Judgement *judged, size_t first, size_t last, Part *part)
{
    for (size_t i = first; i < last; i++) {
        double error = error_at(judged, i), bound = bound_at(judged, i);
        Mark mark = mark_of(judged->view.output[i], error, bound);
        judged->mark[i] = (unsigned char)mark;
        part->count[mark]++;
        if (!isnan(error)) part->worst = fmax(part->worst, ratio_of(error, bound));
        double allowed = rms_bound_at(judged, i);
        if (allowed > 0) {
            part->squares += error / allowed * (error / allowed);
            part->counted++;
        }
    }
}

static void judge_each(Judgement *judged, double *squares, size_t *counted)
{
    Verdict *verdict = &judged->verdict;
    Parts all = {.judged = judged, .total = verdict->total};
    parts_run(&all);
    for (int p = 0; p < PARTS; p++) {
        const Part *part = &all.part[p];
        *squares += part->squares;
        *counted += part->counted;
        verdict->worst = fmax(verdict->worst, part->worst);
        for (int mark = 0; mark < MARKS; mark++)
            judged->count[mark] += part->count[mark];
    }
    verdict->wrong = verdict->total - judged->count[MARK_RIGHT];
}

/* Each output is within its bound: judges all of them together by their root mean square. */
static void judge_together(Judgement *judged, double squares, size_t counted)
{
    int rounded = judged->precision != PRECISION_FP32;
    if (judged->verdict.wrong || counted < (rounded ? RMS_LEAST_ROUNDED : RMS_LEAST_OUTPUTS))
        return;
    if (squares <= (double)counted) return;
    judged->faint = 1;
    for (size_t i = 0; i < judged->verdict.total; i++) {
        if (!(error_at(judged, i) > rms_bound_at(judged, i))) continue;
        judged->mark[i] = MARK_WRONG;
        judged->count[MARK_RIGHT]--;
        judged->count[MARK_WRONG]++;
        judged->verdict.wrong++;
    }
}

/* ---- first wrong output ------------------------------------------------------------------ */

static void describe_first(Judgement *judged, const TensorShape *shape)
{
    Verdict *verdict = &judged->verdict;
    size_t first = 0;
    if (!verdict->wrong) return;
    while (first < verdict->total && judged->mark[first] == MARK_RIGHT)
        first++;
    verdict->first = first;
    verdict->got = judged->view.output[first];
    verdict->expected = judged->expected[first];
    verdict->bound = bound_at(judged, first);
    if (fabs(verdict->got - verdict->expected) <= verdict->bound)
        verdict->bound = rms_bound_at(judged, first);
    tensor_place(shape, first, verdict->where, sizeof verdict->where);
}

/* ---- default layout ---------------------------------------------------------------------- */

static void view_close(PlainView *view)
{
    for (int i = 0; i < OPERATION_TENSORS; i++) {
        free(view->copy[i]);
        view->copy[i] = NULL;
    }
}

static int view_open(Judgement *judged, Error *error)
{
    PlainView *view = &judged->view;
    TensorShape shape[OPERATION_TENSORS];
    int count = judged->operation->tensors(&judged->problem, shape);
    view->problem = judged->problem;
    view->output = judged->observed.output;
    for (int i = 0; i < count; i++)
        view->tensor[i] = shape[i].role == TENSOR_OUTPUT ? view->output : judged->tensor[i];
    if (!judged->operation->rearrange) return 0;
    if (!judged->operation->rearrange(&judged->problem, view, error)) return 0;
    view_close(view);
    return -1;
}

/* ---- entry points ------------------------------------------------------------------------ */

int oracle_room(size_t total, double **expected, double **magnitude, double **terms)
{
    *expected = calloc(total, 3 * sizeof **expected);
    if (!*expected) return -1;
    *magnitude = *expected + total;
    *terms = *magnitude + total;
    return 0;
}

static int judgement_make(Judgement *judged, Error *error)
{
    size_t total = judged->verdict.total;
    judged->mark = calloc(total, 1);
    if (!oracle_room(total, &judged->expected, &judged->magnitude, &judged->terms) && judged->mark)
        return 0;
    judgement_free(judged);
    return error_set(error, "no memory to check an output of %zu floats", total);
}

void judgement_free(Judgement *judged)
{
    free(judged->expected); /* with magnitude and terms */
    free(judged->mark);
    view_close(&judged->view);
}

/* Marks, counts and the verdict, after the expected values were computed. */
static void judge_all(Judgement *judged)
{
    const Observed *observed = &judged->observed;
    double squares = 0;
    size_t counted = 0;
    judged->rms = rms_of(judged->expected, judged->verdict.total);
    judged->typical = rms_of(judged->magnitude, judged->verdict.total);
    judge_each(judged, &squares, &counted);
    judge_together(judged, squares, counted);
    judged->verdict.correct =
        !judged->verdict.wrong && !observed->band_broken && !observed->input_changed;
}

int verify_expect(const Operation *operation, const Problem *problem, Precision precision,
                  const float *const *tensor, Judgement *judged, Error *error)
{
    TensorShape shape;
    *judged = (Judgement){
        .operation = operation, .precision = precision, .problem = *problem, .tensor = tensor};
    if (view_open(judged, error)) return -1;
    output_shape(operation, &judged->view.problem, &shape);
    judged->verdict.total = tensor_count(&shape);
    if (judgement_make(judged, error)) return -1;
    operation->oracle(&judged->view.problem, judged->view.tensor, judged->expected,
                      judged->magnitude, judged->terms);
    return 0;
}

int verify_observed(Judgement *judged, const Observed *observed, Error *error)
{
    TensorShape shape;
    judged->observed = *observed;
    judged->verdict = (Verdict){.total = judged->verdict.total};
    judged->faint = 0;
    memset(judged->count, 0, sizeof judged->count);
    view_close(&judged->view);
    if (view_open(judged, error)) return -1;
    output_shape(judged->operation, &judged->view.problem, &shape);
    judge_all(judged);
    describe_first(judged, &shape);
    return 0;
}

int verify_output(const Operation *operation, const Problem *problem, Precision precision,
                  const float *const *tensor, const Observed *observed, Judgement *judged,
                  Error *error)
{
    if (verify_expect(operation, problem, precision, tensor, judged, error)) return -1;
    if (!verify_observed(judged, observed, error)) return 0;
    judgement_free(judged);
    return -1;
}

/* ---- a sample of elements -------------------------------------------------------------------- */

/* Elements in the form of an output of that size. */
typedef struct Sample {
    Judgement *judged;
    const float *output;
    size_t index[VERIFY_SAMPLE];
    float got[VERIFY_SAMPLE];
    int shares;
} Sample;

static void sample_share(void *context, int share)
{
    Sample *sample = context;
    Judgement *judged = sample->judged;
    const PlainView *view = &judged->view;
    for (size_t i = (size_t)share; i < VERIFY_SAMPLE; i += (size_t)sample->shares) {
        double value[3];
        judged->operation->oracle_element(&view->problem, view->tensor, sample->index[i], value);
        judged->expected[i] = value[0];
        judged->magnitude[i] = value[1];
        judged->terms[i] = value[2];
        sample->got[i] = sample->output[sample->index[i]];
    }
}

/* Judges elements drawn at random. */
static int elements_judge(Judgement *judged, Random *random, size_t outputs, Error *error)
{
    Sample *sample = malloc(sizeof *sample);
    judged->verdict.total = VERIFY_SAMPLE;
    if (!sample) {
        judgement_free(judged);
        return error_set(error, "no memory to check %d floats", VERIFY_SAMPLE);
    }
    if (judgement_make(judged, error)) {
        free(sample);
        return -1;
    }
    sample->judged = judged;
    sample->output = judged->view.output;
    for (size_t i = 0; i < VERIFY_SAMPLE; i++)
        sample->index[i] = (size_t)random_range(random, 0, (int)outputs - 1);
    double terms = judged->operation->flops(&judged->problem) / 2 / (double)outputs;
    sample->shares = parallel_shares(terms * VERIFY_SAMPLE, 1e5);
    parallel_run(sample->shares, sample_share, sample);
    judged->view.output = sample->got;
    judge_all(judged);
    free(sample);
    return 0;
}

/* ---- a sample of images ---------------------------------------------------------------------- */

/* Number of images to judge, of `images`: 0 if samples do not consist of images. */
static size_t sample_images(const Operation *operation, const Problem *problem, size_t images)
{
    if (!operation->of_images) return 0;
    double paid = VERIFY_TERMS * (double)images / (operation->flops(problem) / 2);
    double some = fmax(floor(paid), VERIFY_IMAGES);
    return some < (double)images / 2 ? (size_t)some : images;
}

/* `some` different numbers below `images`; NULL: out of memory. */
static size_t *images_draw(Random *random, size_t images, size_t some)
{
    size_t *number = malloc(images * sizeof *number);
    for (size_t i = 0; number && i < images; i++)
        number[i] = i;
    for (size_t i = 0; number && i < some; i++) {
        size_t j = (size_t)random_range(random, (int)i, (int)images - 1), kept = number[j];
        number[j] = number[i];
        number[i] = kept;
    }
    return number;
}

/* Reduces the view's problem to one of these images.  -1: out of memory. */
static int view_reduce(PlainView *view, const Operation *operation, const size_t *image,
                       size_t some)
{
    TensorShape shape[OPERATION_TENSORS];
    int count = operation->tensors(&view->problem, shape);
    for (int i = 0; i < count; i++) {
        if (strcmp(shape[i].axes[0], "n") != 0) continue;
        const float *all = view->tensor[i];
        size_t each = tensor_count(&shape[i]) / shape[i].dim[0];
        float *copy = malloc(some * each * sizeof *copy);
        if (!copy) return -1;
        for (size_t j = 0; j < some; j++)
            memcpy(copy + j * each, all + image[j] * each, each * sizeof *copy);
        free(view->copy[i]);
        view->tensor[i] = view->copy[i] = copy;
        if (shape[i].role == TENSOR_OUTPUT) view->output = copy;
    }
    Problem whole = view->problem;
    operation->of_images(&whole, (int)some, &view->problem);
    return 0;
}

/* Judges images drawn at random. */
static int images_judge(Judgement *judged, Random *random, size_t images, size_t some, Error *error)
{
    TensorShape shape;
    PlainView *view = &judged->view;
    size_t *image = images_draw(random, images, some);
    int failed = !image || view_reduce(view, judged->operation, image, some);
    free(image);
    if (failed) {
        judgement_free(judged);
        return error_set(error, "no memory to check %zu images", some);
    }
    output_shape(judged->operation, &view->problem, &shape);
    judged->verdict.total = tensor_count(&shape);
    if (judgement_make(judged, error)) return -1;
    judged->operation->oracle(&view->problem, view->tensor, judged->expected, judged->magnitude,
                              judged->terms);
    judge_all(judged);
    return 0;
}

/* ---- a sample -------------------------------------------------------------------------------- */

int verify_sample(const Operation *operation, const Problem *problem, Precision precision,
                  const float *const *tensor, const Observed *observed, Random *random, int *right,
                  Error *error)
{
    Judgement judged = {.operation = operation,
                        .precision = precision,
                        .problem = *problem,
                        .tensor = tensor,
                        .observed = *observed};
    TensorShape shape;
    int status = view_open(&judged, error);
    if (status) return -1;
    output_shape(operation, &judged.view.problem, &shape);
    size_t outputs = tensor_count(&shape), images = shape.dim[0];
    size_t some = sample_images(operation, problem, images);
    if (operation->oracle_element && outputs >= VERIFY_WHOLE) {
        status = elements_judge(&judged, random, outputs, error);
    } else if (some && some < images) {
        status = images_judge(&judged, random, images, some, error);
    } else {
        view_close(&judged.view);
        status = verify_output(operation, problem, precision, tensor, observed, &judged, error);
    }
    if (status) return -1;
    *right = judged.verdict.correct;
    judgement_free(&judged);
    return 0;
}
