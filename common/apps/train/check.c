#include "common/apps/train/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t state_of(const Plan *plan)
{
    return 2 * (size_t)plan->step.parameters;
}

int check_open(Check *check, const Plan *plan, const float *state, Error *error)
{
    size_t count = state_of(plan), N = (size_t)plan->step.N;
    size_t pixels = N * plan->step.layer[0].H * plan->step.layer[0].W;
    *check = (Check){.plan = plan};
    check->own = calloc(3 * count + 1, sizeof *check->own);
    check->before = calloc(2 * count + pixels + N, sizeof *check->before);
    if (!check->own || !check->before) {
        check_close(check);
        return error_set(error, "out of memory");
    }
    check->step = check->own + count;
    check->result = check->step + count;
    check->after = check->before + count;
    check->x = check->after + count;
    check->label = check->x + pixels;
    for (size_t i = 0; i < count; i++)
        check->own[i] = (Near){state[i], 0};
    return 0;
}

void check_close(Check *check)
{
    free(check->own);
    free(check->before);
}

/* The largest |got - expected| of `count` values, divided by the allowed error. */
static double worst_of(const float *got, const Near *expected, size_t count)
{
    double worst = 0;
    for (size_t i = 0; i < count; i++) {
        double part = fabs(got[i] - expected[i].v) / (TRAIN_REACH * expected[i].e + 1e-30);
        worst = part <= worst ? worst : part; /* NaN counts as the largest */
    }
    return worst;
}

static int oracle(const Check *check, const Near *state, const float *setting, Error *error)
{
    const TrainProblem *p = &check->plan->step;
    if (!train_oracle(p, check->x, check->label, state, state + p->parameters, setting, SLIP_NONE,
                      check->result))
        return 0;
    return error_set(error, "out of memory");
}

int check_step(Check *check, Learner *learner, int step, Error *error)
{
    size_t count = state_of(check->plan);
    float setting[TRAIN_SETTINGS], loss;
    if (learner_get_state(learner, check->before, error) || learner_steps(learner, 1, error) ||
        learner_get_state(learner, check->after, error) ||
        learner_losses(learner, step, 1, &loss, error) ||
        learner_batch(learner, check->x, check->label, setting, error))
        return -1;
    for (size_t i = 0; i < count; i++)
        check->step[i] = (Near){check->before[i], 0};
    if (oracle(check, check->step, setting, error)) return -1;
    double worst = fmax(worst_of(check->after, check->result, count),
                        worst_of(&loss, check->result + count, 1));
    if (oracle(check, check->own, setting, error)) return -1;
    memcpy(check->own, check->result, count * sizeof *check->own);
    double own = worst_of(&loss, check->result + count, 1);
    check->worst_step = fmax(check->worst_step, worst);
    check->worst_loss = fmax(check->worst_loss, own);
    check->steps++;
    if (worst <= 1 && own <= 1) return 0;
    return error_set(
        error,
        "step %d is not what fp64 makes of it: %.3g times as far off as fp32 may be, its loss %.3g "
        "times (%.9g instead of %.9g); make grade LAB=18 reports what is wrong",
        step + 1, worst, own, loss, check->result[count].v);
}
