/* known_mistake.c - comparison of wrong outputs with those of an operation's known mistakes.
 *
 * In a small case the outputs of different mistakes coincide, above all if they are integers, or
 * infinite.  So a mistake has to predict the outputs for other inputs, too. */
#include "common/operations/operation/known_mistake.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Further runs on other inputs, and the limit of a problem's operations for them. */
enum { TRIALS = 3 };
static const double trial_flops = 2e7;

/* Whether these values equal the observed outputs.  NaN and infinities count as equal.  A value
 * near 0 has the rounding error of the terms whose difference it is.  *deciding: the number of
 * finite outputs that differ from the expected ones. */
static int is_seen(const Judgement *judged, const double *value, size_t *deciding)
{
    const double same = 1e-5;
    size_t differs = 0;
    *deciding = 0;
    for (size_t i = 0; i < judged->verdict.total; i++) {
        double got = judged->view.output[i], error = fabs(got - value[i]);
        double slack = fmax(output_bound(judged, i), same * fmax(fabs(value[i]), judged->rms));
        const int other = !(fabs(value[i] - judged->expected[i]) <= 4 * slack);
        differs += other;
        if (!isfinite(got) && !isfinite(value[i])) continue;
        if (!(error <= slack)) return 0;
        *deciding += other;
    }
    return differs > 0;
}

/* ---- the same mistake with other inputs ----------------------------------------------------- */

/* The problem with other inputs, as a judgement whose output is that of a run. */
typedef struct Trial {
    Judgement judged;
    float *tensor[OPERATION_TENSORS];
    int tensors;
} Trial;

static void trial_free(Trial *trial)
{
    for (int i = 0; i < trial->tensors; i++)
        free(trial->tensor[i]);
    free(trial->judged.expected); /* with magnitude and terms */
}

/* Fills the trial: 0; -1: out of memory, or the run failed. */
static int trial_make(Trial *trial, const Judgement *judged, int number, ProbeRun run,
                      void *context)
{
    const Operation *operation = judged->operation;
    const Problem *problem = &judged->view.problem;
    const size_t total = judged->verdict.total;
    TensorShape shape[OPERATION_TENSORS];
    Random random;
    int complete = 1;
    *trial = (Trial){.judged = *judged, .tensors = operation->tensors(problem, shape)};
    Judgement *j = &trial->judged;
    for (int i = 0; i < trial->tensors; i++) {
        trial->tensor[i] = calloc(tensor_count(&shape[i]), sizeof(float));
        complete = complete && trial->tensor[i];
        j->view.tensor[i] = trial->tensor[i];
    }
    if (oracle_room(total, &j->expected, &j->magnitude, &j->terms) || !complete) return -1;
    random_seed(&random, (uint64_t)number + 1);
    operation->generate(problem, &random, trial->tensor);
    float *output = trial->tensor[trial->tensors - 1];
    j->view.output = output;
    if (run(context, problem, (const float *const *)trial->tensor, output)) return -1;
    operation->oracle(problem, (const float *const *)trial->tensor, j->expected, j->magnitude,
                      j->terms);
    return 0;
}

/* Whether the trial's outputs are those of the mistake; the expected ones if it changes none. */
static int trial_agrees(const Trial *trial, int which, MistakenValues *values, double *value)
{
    const Judgement *j = &trial->judged;
    size_t deciding;
    if (!values(j, which, value))
        memcpy(value, j->expected, j->verdict.total * sizeof *value);
    else if (is_seen(j, value, &deciding))
        return 1;
    for (size_t i = 0; i < j->verdict.total; i++)
        if (!(fabs(j->view.output[i] - value[i]) <= output_bound(j, i))) return 0;
    return 1;
}

typedef struct Trials {
    Trial trial[TRIALS];
    int count; /* number of trials whose run succeeded */
} Trials;

static void trials_make(Trials *trials, const Judgement *judged, ProbeRun run, void *context)
{
    const Operation *operation = judged->operation;
    trials->count = 0;
    if (!run || operation->flops(&judged->view.problem) > trial_flops) return;
    while (trials->count < TRIALS) {
        Trial *trial = &trials->trial[trials->count];
        if (trial_make(trial, judged, trials->count, run, context)) {
            trial_free(trial);
            return;
        }
        trials->count++;
    }
}

static int trials_agree(const Trials *trials, int which, MistakenValues *values, double *value)
{
    for (int i = 0; i < trials->count; i++)
        if (!trial_agrees(&trials->trial[i], which, values, value)) return 0;
    return 1;
}

/* ---- the list of mistakes ------------------------------------------------------------------- */

typedef struct MistakeList {
    const Mistake *mistake;
    int count;
    MistakenValues *values;
} MistakeList;

/* The next mistake from `which` on whose outputs are the observed ones; `count`: none. */
static int mistake_next(const Judgement *judged, const Trials *trials, const MistakeList *list,
                        int which, double *value, size_t *deciding)
{
    while (which < list->count &&
           !(list->mistake[which].text && list->values(judged, which, value) &&
             is_seen(judged, value, deciding) && trials_agree(trials, which, list->values, value)))
        which++;
    return which;
}

int find_mistake(const Judgement *judged, ProbeRun run, void *context, const Mistake *mistake,
                 int mistakes, MistakenValues *values, Finding *finding)
{
    enum { SMALL = 64, TINY = 8 };
    const size_t total = judged->verdict.total;
    const Trials none = {.count = 0};
    const MistakeList list = {mistake, mistakes, values};
    size_t deciding = 0, others = 0;
    double *value = mistakes ? malloc(total * sizeof *value) : NULL;
    if (!value) return 0;
    if (mistake_next(judged, &none, &list, 0, value, &deciding) == mistakes) {
        free(value);
        return 0;
    }
    Trials trials;
    trials_make(&trials, judged, run, context);
    const int first = mistake_next(judged, &trials, &list, 0, value, &deciding);
    const int other = total <= SMALL && first < mistakes
                          ? mistake_next(judged, &trials, &list, first + 1, value, &others)
                          : mistakes;
    for (int i = 0; i < trials.count; i++)
        trial_free(&trials.trial[i]);
    free(value);
    if (first == mistakes) return 0;
    finding->fault = mistake[first].fault;
    const int is_few = !trials.count && total < TINY && output_bound(judged, 0) == 0;
    const int is_vague = other < mistakes || is_few || !deciding;
    finding_say(finding, "%s%s", is_vague ? "Possibly: " : "", mistake[first].text);
    if (other < mistakes) finding_say(finding, "Or: %s", mistake[other].text);
    return 1;
}
