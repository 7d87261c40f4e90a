/* train - lab 18's training step on a set of digits: started by common/apps/train/train.sh. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/apps/train/check.h"
#include "common/apps/train/learner.h"
#include "common/apps/train/screen.h"
#include "common/apps/train/training_state.h"

static const char USAGE[] =
    "usage: train ROOT DATASETS OUT SET EPOCHS SEED RESUME STOP CHECK   (make train)\n";

typedef struct Train {
    const char *out;
    int resume, stop, checked; /* stop: number of epochs before a simulated interruption; checked:
                                * number of steps */
    Plan plan;
    TrainingState state;
    Screen screen;
    Check check;
    Learner *learner;
    int *order;
    float *augmentation, *rate, *loss;
} Train;

static volatile sig_atomic_t interrupted;

static void interrupt(int number)
{
    (void)number;
    interrupted = 1;
}

/* Steps between two outputs of the loss: a few outputs per second, and the whole epoch without a
 * terminal. */
static int steps_at_once(const Train *train)
{
    int part = train->plan.steps / 10;
    return !train->screen.live ? train->plan.steps : part > 1 ? part : 1;
}

/* Runs the first steps one by one, compared with fp64. */
static int checked_steps(Train *train, int *done, Error *error)
{
    Check *check = &train->check;
    while (check->steps < train->checked && *done < train->plan.steps) {
        if (check_step(check, train->learner, (*done)++, error)) return -1;
        engine_trust();
    }
    if (check->steps && check->steps == train->checked) {
        printf("  the first %d steps are those of fp64: %.2g of what fp32 may be off in one step, "
               "their "
               "losses %.2g of it after all steps before\n",
               check->steps, check->worst_step, check->worst_loss);
        train->checked = 0;
    }
    return 0;
}

static double mean(const float *value, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += value[i];
    return sum / count;
}

static int epoch_steps(Train *train, Error *error)
{
    Plan *plan = &train->plan;
    int done = 0, chunk = steps_at_once(train);
    long first = (long)train->state.done * plan->steps;
    plan_epoch(plan, train->state.done, train->order, train->augmentation);
    for (int i = 0; i < plan->steps; i++)
        train->rate[i] = plan_rate(plan, first + i);
    if (learner_begin(train->learner, train->order, train->augmentation, train->rate, error) ||
        checked_steps(train, &done, error))
        return -1;
    while (done < plan->steps && !interrupted) {
        int now = done + chunk < plan->steps ? chunk : plan->steps - done;
        if (!train->state.done && !done) now = 1; /* one step with the simulator's checks */
        if (learner_steps(train->learner, now, error) ||
            learner_losses(train->learner, done, now, train->loss + done, error))
            return -1;
        engine_trust();
        done += now;
        screen_steps(&train->screen, &train->state, done, mean(train->loss + done - now, now));
    }
    return learner_losses(train->learner, 0, done, train->loss, error);
}

static int epoch(Train *train, Error *error)
{
    TrainingState *state = &train->state;
    char path[1200];
    if (epoch_steps(train, error)) return -1;
    if (interrupted) return 0;
    if (learner_get_state(train->learner, state->values, error) ||
        learner_read(train->learner, state->read, error))
        return -1;
    state->epoch[state->done++] = (EpochResult){.loss = mean(train->loss, train->plan.steps),
                                                .right = training_state_accuracy(state),
                                                .seconds = screen_clock() - train->screen.started};
    screen_epoch(&train->screen, state);
    snprintf(path, sizeof path, "%s/checkpoint", train->out);
    return training_state_save(state, path, error) || training_state_write(state, train->out, error)
               ? -1
               : 0;
}

static int begin(Train *train, Error *error)
{
    TrainingState *state = &train->state;
    char path[1200];
    snprintf(path, sizeof path, "%s/checkpoint", train->out);
    if (train->resume && training_state_load(state, path, error)) return -1;
    if (!train->resume) plan_first_parameters(&train->plan, state->values);
    if (train->checked && check_open(&train->check, &train->plan, state->values, error)) return -1;
    train->learner = learner_open(&train->plan, error);
    if (!train->learner || learner_set_state(train->learner, state->values, error)) return -1;
    screen_open(&train->screen, state);
    if (state->done) printf("  epoch %d and what came before are done already\n", state->done);
    return 0;
}

static int run(Train *train, Error *error)
{
    const Plan *plan = &train->plan;
    printf(
        "train: %d images of %s in batches of %d, %d parameters,\n       %d epoch%s, seed %llu, on "
        "%s\n",
        plan->train.count, plan->set, plan->step.N, plan->step.parameters, plan->epochs,
        plan->epochs == 1 ? "" : "s", (unsigned long long)plan->seed, engine_words());
    fflush(stdout);
    if (begin(train, error)) return -1;
    while (train->state.done < plan->epochs && !interrupted &&
           (!train->stop || train->state.done < train->stop))
        if (epoch(train, error)) return -1;
    if (train->state.done < plan->epochs) {
        printf("%s  stopped after %d epochs; RESUME=1 resumes from there\n",
               train->screen.live ? "\n" : "", train->state.done);
        return 0;
    }
    screen_end(&train->state);
    return 0;
}

static int train_open(Train *train, char **argv, Error *error)
{
    *train = (Train){
        .out = argv[3], .resume = atoi(argv[7]), .stop = atoi(argv[8]), .checked = atoi(argv[9])};
    if (plan_open(&train->plan, argv[1], argv[2], argv[4], atoi(argv[5]),
                  strtoull(argv[6], NULL, 10), error))
        return -1;
    size_t steps = (size_t)train->plan.steps, images = steps * (size_t)train->plan.step.N;
    train->order = calloc(images, sizeof *train->order);
    train->augmentation = calloc(6 * images + 2 * steps, sizeof *train->augmentation);
    if (!train->order || !train->augmentation) return error_set(error, "out of memory");
    train->rate = train->augmentation + 6 * images;
    train->loss = train->rate + steps;
    return training_state_open(&train->state, &train->plan, error);
}

static void train_close(Train *train)
{
    if (train->learner) learner_close(train->learner);
    check_close(&train->check);
    training_state_close(&train->state);
    plan_close(&train->plan);
    free(train->order);
    free(train->augmentation);
}

int main(int argc, char **argv)
{
    Train train;
    Error error = {""};
    if (argc != 10) {
        fputs(USAGE, stderr);
        return 2;
    }
    signal(SIGINT, interrupt);
    int status = train_open(&train, argv, &error) || run(&train, &error);
    train_close(&train);
    if (!status) return interrupted ? 130 : 0;
    fprintf(stderr, "train: %s\n", error.text);
    return 1;
}
