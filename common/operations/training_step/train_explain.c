#include "common/operations/training_step/train_explain.h"

#include <math.h>
#include <stdlib.h>

#include "common/operations/training_step/train_problem.h"

/* ---- mistake that gives this output ----------------------------------------------------- */

static const struct {
    Fault fault;
    const char *words;
} slip_words[SLIPS] = {
    [SLIP_MEAN_TWICE] = {FAULT_GRADIENT,
                         "The mean is divided by N twice: the softmax's gradient has the 1/N "
                         "already, so the sum over the batch is not divided again."},
    [SLIP_NO_MEAN] = {FAULT_GRADIENT,
                      "The gradient is not divided by N: the loss is the mean over the batch, so "
                      "the softmax's gradient is (p - target) / N."},
    [SLIP_LAST_IMAGE] = {FAULT_GRADIENT,
                         "The sum over the batch is missing: the gradient is that of the last "
                         "image alone. Add the images (+=), with n from 0 to N - 1."},
    [SLIP_FIRST_IMAGE] = {FAULT_GRADIENT, "The sum over the batch is missing: the gradient is that "
                                          "of the first image alone. Loop over n from 0 to N - 1."},
    [SLIP_FORWARD_BIAS] = {FAULT_FORWARD, "The biases are not added in the forward pass."},
    [SLIP_MAPS_BIAS] = {FAULT_FORWARD,
                        "The biases of C1 and C3 are not added in the forward pass."},
    [SLIP_FORWARD_RELU] = {FAULT_FORWARD, "There is no ReLU in the forward pass: negative values "
                                          "become 0 in every layer except the last."},
    [SLIP_POOL_SUM] = {FAULT_FORWARD,
                       "Pooling gives the sum of 2 x 2 values, not their mean: a quarter of it."},
    [SLIP_SLOPE] = {FAULT_GRADIENT, "The ReLU's derivative is missing in the backward pass: if z "
                                    "was not positive, the gradient is 0."},
    [SLIP_MAPS_SLOPE] =
        {FAULT_GRADIENT,
         "The ReLU's derivative is missing in the backward pass of C1 and C3: of the four values "
         "of a mean, those whose z was not positive get no gradient."},
    [SLIP_QUARTER] = {FAULT_GRADIENT, "In the backward pass of the mean of 2 x 2 each value gets a "
                                      "quarter of the gradient, not all of it."},
    [SLIP_LABEL] = {FAULT_GRADIENT,
                    "The label is not in the gradient: it is p minus 1 at the image's own digit, "
                    "and p at the others."},
    [SLIP_LOSS_SUM] = {FAULT_FORWARD, "The loss is the sum over the batch: divide it by N."},
    [SLIP_FLIPPED] =
        {FAULT_GRADIENT,
         "In the backward pass to a convolution's input the filter is flipped and should not be: "
         "input (h, w) is connected to output (h - r, w - s) by tap (r, s)."},
    [SLIP_BIAS_GRADIENT] =
        {FAULT_GRADIENT, "The biases have no gradient: it is the sum of d z over the batch and the "
                         "map, as if their input were 1."},
    [SLIP_BIAS_STILL] = {FAULT_UPDATE,
                         "The biases are not updated: they are parameters like the weights, with "
                         "velocities of their own. (Is their gradient, the sum of d z, there?)"},
    [SLIP_NO_DECAY] = {FAULT_UPDATE,
                       "The weight decay is missing: decay * parameter is added to the gradient."},
    [SLIP_DECAY_SIGN] = {FAULT_UPDATE,
                         "The weight decay has the wrong sign: decay * parameter is added to the "
                         "gradient, so that the step takes the parameter towards 0."},
    [SLIP_BIAS_NO_DECAY] =
        {FAULT_UPDATE, "The biases do not decay: here all parameters decay, including biases."},
    [SLIP_NO_MOMENTUM] = {FAULT_UPDATE, "The momentum is missing: the new velocity is momentum "
                                        "times the old one plus the gradient."},
    [SLIP_MOMENTUM_AFTER] = {FAULT_UPDATE,
                             "The momentum is added after the step: first the new velocity, then "
                             "parameter - rate * velocity, with the new one."},
    [SLIP_OLD_VELOCITY] = {FAULT_UPDATE,
                           "The step uses the old velocity: it should use the new one."},
    [SLIP_RATE_IN_VELOCITY] =
        {FAULT_UPDATE, "The velocity contains the rate already: here it is momentum * velocity + "
                       "gradient + decay * parameter, and the rate is applied in the step."},
    [SLIP_UPHILL] =
        {FAULT_UPDATE,
         "The step has the wrong sign: the update subtracts rate * velocity, it does not add it."},
};

/* Whether a value is within the allowed distance of this value with its error. */
static int is_near(float got, Near near)
{
    return fabs(got - near.v) <= TRAIN_REACH * near.e + 1e-7 * fabs(near.v);
}

static size_t outputs_near(const Judgement *judged, const Near *result)
{
    size_t near = 0;
    for (size_t i = 0; i < judged->verdict.total; i++)
        near += (size_t)is_near(judged->view.output[i], result[i]);
    return near;
}

/* The mistake that explains every output; of several, the first in the list. */
static int find_slip(const Judgement *judged, const TrainProblem *train, Finding *finding)
{
    Near *result = malloc(judged->verdict.total * sizeof *result);
    int found = 0;
    for (int slip = SLIP_NONE + 1; result && !found && slip < SLIPS; slip++) {
        train_expect(train, judged->view.tensor, (TrainSlip)slip, result);
        if (outputs_near(judged, result) < judged->verdict.total) continue;
        finding->fault = slip_words[slip].fault;
        finding_say(finding, "%s", slip_words[slip].words);
        found = 1;
    }
    free(result);
    return found;
}

/* ---- exponential overflow ---------------------------------------------------------------- */

/* Difference between the largest bias of the last layer and the next, which every image's logits
 * share. */
static double bias_lead(const TrainProblem *train, const float *parameter)
{
    const TrainLayer *out = &train->layer[TRAIN_OUT];
    const float *bias = parameter + TRAIN_BIASES(*out);
    double first = -INFINITY, second = -INFINITY;
    for (int k = 0; k < out->K; k++) {
        second = fmax(second, fmin(first, bias[k]));
        first = fmax(first, bias[k]);
    }
    return first - second;
}

static int find_overflow(const Judgement *judged, const TrainProblem *train, Finding *finding)
{
    double lead = bias_lead(train, judged->view.tensor[TRAIN_PARAMETER]);
    if (lead < 88 || judged->mark[2 * (size_t)train->parameters] != MARK_NAN ||
        fault_checked(judged))
        return 0;
    finding->fault = FAULT_OVERFLOW;
    finding_say(finding,
                "The loss is NaN or infinite, in a network in which one digit's logit is larger by "
                "%.0f, and expf(89) is infinite already. Check that the largest of an image's "
                "logits is subtracted before each expf, and that the search looks at all of them, "
                "including the last.",
                lead);
    return 1;
}

/* ---- formula of the update ---------------------------------------------------------------- */

enum { UPDATE_TERMS = 3 };

/* A sum of terms with unknown factors. */
typedef struct UpdateFit {
    const char *name[UPDATE_TERMS];
    double factor[UPDATE_TERMS]; /* fitted */
    double due[UPDATE_TERMS];
} UpdateFit;

/* The terms of value i of the new velocities or, if `step`, of the new parameters. */
static void update_terms(const Judgement *judged, const TrainProblem *train, size_t i, int step,
                         double term[UPDATE_TERMS])
{
    const float *const *tensor = judged->view.tensor, *setting = tensor[TRAIN_SETTING];
    const double parameter = tensor[TRAIN_PARAMETER][i], velocity = tensor[TRAIN_VELOCITY][i];
    const size_t count = (size_t)train->parameters;
    term[0] = step ? parameter : velocity;
    term[1] = step ? judged->view.output[count + i]
                   : judged->expected[count + i] - setting[TRAIN_MOMENTUM] * velocity -
                         setting[TRAIN_DECAY] * parameter;
    term[2] = step ? velocity : parameter;
}

/* Fits the factors by least squares: Cramer's rule.  0: the terms are not independent. */
static int update_fit(const Judgement *judged, const TrainProblem *train, int step, UpdateFit *fit)
{
    double m[UPDATE_TERMS][UPDATE_TERMS] = {{0}}, side[UPDATE_TERMS] = {0}, term[UPDATE_TERMS];
    const size_t count = (size_t)train->parameters;
    for (size_t i = 0; i < count; i++) {
        update_terms(judged, train, i, step, term);
        for (int a = 0; a < UPDATE_TERMS; a++) {
            side[a] += term[a] * judged->view.output[step ? i : count + i];
            for (int b = 0; b < UPDATE_TERMS; b++)
                m[a][b] += term[a] * term[b];
        }
    }
    double whole = 0;
    for (int a = 0; a < UPDATE_TERMS; a++) {
        const int b = (a + 1) % UPDATE_TERMS, c = (a + 2) % UPDATE_TERMS;
        whole += m[0][a] * (m[1][b] * m[2][c] - m[1][c] * m[2][b]);
    }
    if (!(fabs(whole) > 1e-9 * m[0][0] * m[1][1] * m[2][2])) return 0;
    for (int a = 0; a < UPDATE_TERMS; a++) {
        const int b = (a + 1) % UPDATE_TERMS, c = (a + 2) % UPDATE_TERMS;
        fit->factor[a] = 0;
        for (int row = 0; row < UPDATE_TERMS; row++) {
            const int next = (row + 1) % UPDATE_TERMS, last = (row + 2) % UPDATE_TERMS;
            fit->factor[a] += side[row] * (m[next][b] * m[last][c] - m[next][c] * m[last][b]);
        }
        fit->factor[a] /= whole;
    }
    return 1;
}

/* Whether the fitted sum gives every value, which a coincidence does not. */
static int update_fits(const Judgement *judged, const TrainProblem *train, int step,
                       const UpdateFit *fit)
{
    const double near = 1e-3;
    double term[UPDATE_TERMS];
    const size_t count = (size_t)train->parameters;
    if (count < 8 * UPDATE_TERMS) return 0;
    for (size_t i = 0; i < count; i++) {
        double sum = 0, size = 0;
        update_terms(judged, train, i, step, term);
        for (int a = 0; a < UPDATE_TERMS; a++) {
            sum += fit->factor[a] * term[a];
            size += fabs(fit->factor[a] * term[a]);
        }
        const double got = judged->view.output[step ? i : count + i];
        if (!(fabs(got - sum) <= near * size + output_bound(judged, step ? i : count + i)))
            return 0;
    }
    return 1;
}

/* The new velocities, or the new parameters, are one sum of the right terms with other factors,
 * in all layers: the formula of the update is wrong, not the gradient. */
static int find_update(const Judgement *judged, const TrainProblem *train, int step,
                       Finding *finding)
{
    const float *setting = judged->view.tensor[TRAIN_SETTING];
    UpdateFit fit = {.name = {"velocity", "gradient", "parameter"},
                     .due = {setting[TRAIN_MOMENTUM], 1, setting[TRAIN_DECAY]}};
    if (step)
        fit = (UpdateFit){.name = {"parameter", "new velocity", "old velocity"},
                          .due = {1, -setting[TRAIN_RATE], 0}};
    if (!update_fit(judged, train, step, &fit) || !update_fits(judged, train, step, &fit)) return 0;
    int other = 0;
    for (int a = 0; a < UPDATE_TERMS; a++)
        other += fabs(fit.factor[a] - fit.due[a]) > 1e-2 * fmax(fabs(fit.due[a]), 1e-3);
    if (!other) return 0;
    finding->fault = FAULT_UPDATE;
    if (!step && fabs(fit.factor[1]) < 1e-5) {
        finding_say(finding, "The new velocities of all layers lack the gradient: either TODO(7) "
                             "adds up nothing, or TODO(8) omits gradient_of().");
        return 1;
    }
    finding_say(finding,
                "In all layers your new %s is %.4g * %s %+.4g * %s %+.4g * %s; it should be %.4g, "
                "%.4g and %.4g times these. So the gradient is correct, and the formula of the "
                "update is not.",
                step ? "parameter" : "velocity", fit.factor[0], fit.name[0], fit.factor[1],
                fit.name[1], fit.factor[2], fit.name[2], fit.due[0], fit.due[1], fit.due[2]);
    return 1;
}

/* ---- wrong parts ------------------------------------------------------------------------- */

static const char *const layer_name[TRAIN_LAYERS] = {"C1", "C3", "C5", "F6", "the last layer"};

/* The regions that compute d z of each layer. */
static const char *const dz_regions[TRAIN_LAYERS] = {"TODO(3), TODO(2)", "TODO(5), TODO(2)",
                                                     "TODO(5)", "TODO(5)", "TODO(6)"};

typedef struct Wrong {
    size_t weights[TRAIN_LAYERS], biases[TRAIN_LAYERS]; /* numbers of wrong velocities */
    size_t step; /* number of parameters that are wrong although their velocity is correct */
    int loss;
} Wrong;

static Wrong count_wrong(const Judgement *judged, const TrainProblem *train)
{
    size_t count = (size_t)train->parameters;
    Wrong wrong = {.loss = judged->mark[2 * count] != MARK_RIGHT};
    for (size_t i = 0; i < count; i++) {
        int which = train_layer_of(train, i);
        int bias = i >= (size_t)TRAIN_BIASES(train->layer[which]);
        if (judged->mark[count + i] != MARK_RIGHT)
            (bias ? wrong.biases : wrong.weights)[which]++;
        else if (judged->mark[i] != MARK_RIGHT)
            wrong.step++;
    }
    return wrong;
}

/* Gradients are computed from the last layer to the first, so the error is in the last wrong
 * layer. */
static void say_gradient(const TrainProblem *train, const Wrong *wrong, Finding *finding)
{
    int which = TRAIN_OUT;
    while (which > 0 && !wrong->weights[which] && !wrong->biases[which])
        which--;
    const TrainLayer *layer = &train->layer[which];
    size_t weights = (size_t)layer->K * layer->C * layer->R * layer->S;
    finding->fault = FAULT_GRADIENT;
    finding_say(finding, "The loss is correct, so the forward pass is correct.");
    if (which < TRAIN_OUT)
        finding_say(finding, "The velocities of all layers after %s are correct, too.",
                    layer_name[which]);
    if (!wrong->weights[which])
        finding_say(finding,
                    "In %s the biases' velocities are wrong (%zu of %d), its weights' are correct: "
                    "a bias's gradient is the sum of d z over the batch and its map.",
                    layer_name[which], wrong->biases[which], layer->K);
    else if (!wrong->biases[which])
        finding_say(
            finding,
            "In %s the weights' velocities are wrong (%zu of %zu), its biases' are correct: so the "
            "sums of d z are correct there. Either d z is stored in the wrong places (%s), or it "
            "is multiplied by the wrong inputs (TODO(7)).",
            layer_name[which], wrong->weights[which], weights, dz_regions[which]);
    else
        finding_say(finding,
                    "In %s weights (%zu of %zu) and biases (%zu of %d) are wrong: either d z %s "
                    "(%s), or its sum over the batch and the map (TODO(7)).",
                    layer_name[which], wrong->weights[which], weights, wrong->biases[which],
                    layer->K,
                    which == TRAIN_OUT ? "= (p - target) / N of the softmax and the loss"
                                       : "from the next layer",
                    dz_regions[which]);
}

/* A loss that is a known multiple of the right one. */
static void say_loss_factor(const Judgement *judged, const TrainProblem *train, Finding *finding)
{
    const size_t at = 2 * (size_t)train->parameters;
    const double got = judged->view.output[at], expected = judged->expected[at];
    const double near = 1e-4 * fabs(expected);
    if (fabs(got + expected) <= near) finding_say(finding, "It has the wrong sign.");
    if (train->N > 1 && fabs(got * train->N - expected) <= near)
        finding_say(finding, "It is divided by N twice: loss_kernel divides the sum already.");
}

static void say_parts(const Judgement *judged, const TrainProblem *train, Finding *finding)
{
    Wrong wrong = count_wrong(judged, train);
    size_t velocities = 0;
    for (int i = 0; i < TRAIN_LAYERS; i++)
        velocities += wrong.weights[i] + wrong.biases[i];
    if (wrong.loss && judged->view.output[2 * (size_t)train->parameters] == 0) {
        finding->fault = FAULT_FORWARD;
        finding_say(finding, "The loss is 0: the -log p of the images are not added up. The layers "
                             "before it may be right.");
    } else if (wrong.loss && velocities) {
        finding->fault = FAULT_FORWARD;
        finding_say(finding, "The loss is wrong, so check the forward pass first: calculate one "
                             "image by hand, layer by layer.");
    } else if (wrong.loss) {
        finding->fault = FAULT_FORWARD;
        finding_say(finding, "The loss is wrong and every velocity is correct: only the mean of "
                             "-log p at the image's digit is wrong (TODO(6)).");
        say_loss_factor(judged, train, finding);
    } else if (velocities) {
        say_gradient(train, &wrong, finding);
    } else {
        finding->fault = FAULT_UPDATE;
        finding_say(finding,
                    "Loss and velocities are correct, %zu parameters are not: parameter - rate * "
                    "velocity, with the new velocity.",
                    wrong.step);
    }
}

/* ---- entry point ------------------------------------------------------------------------ */

void train_explain(const Judgement *judged, ProbeRun run, void *context, Finding *finding)
{
    TrainProblem train = train_unpack(&judged->view.problem);
    const size_t *count = judged->count;
    if (find_written_outside(judged, finding)) return;
    if ((count[MARK_POISON] || count[MARK_NAN] == judged->verdict.total) &&
        find_accumulated(judged, run, context, finding))
        return;
    if (find_unwritten(judged, "", finding) || find_slip(judged, &train, finding)) return;
    if (find_race(judged, run, context, finding) || find_overflow(judged, &train, finding) ||
        find_nan(judged, "", finding) || find_small_errors(judged, finding))
        return;
    if (judged->mark[2 * (size_t)train.parameters] == MARK_RIGHT &&
        (find_update(judged, &train, 0, finding) || find_update(judged, &train, 1, finding)))
        return;
    say_parts(judged, &train, finding);
}
