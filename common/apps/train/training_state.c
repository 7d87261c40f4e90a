#include "common/apps/train/training_state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "datasets/array.h"

int training_state_open(TrainingState *state, const Plan *plan, Error *error)
{
    *state = (TrainingState){.plan = plan};
    state->epoch = calloc((size_t)plan->epochs, sizeof *state->epoch);
    state->values = calloc(2 * (size_t)plan->step.parameters, sizeof *state->values);
    state->read = calloc((size_t)plan->test.count, 1);
    if (state->epoch && state->values && state->read) return 0;
    training_state_close(state);
    return error_set(error, "out of memory");
}

void training_state_close(TrainingState *state)
{
    free(state->epoch);
    free(state->values);
    free(state->read);
}

double training_state_accuracy(const TrainingState *state)
{
    int right = 0;
    for (int i = 0; i < state->plan->test.count; i++)
        right += state->read[i] == state->plan->test.label[i];
    return (double)right / state->plan->test.count;
}

/* ---- checkpoints ------------------------------------------------------------------------- */

/* Fields that must be equal for training to continue. */
typedef struct Heading {
    char kind[16], set[32];
    TrainProblem step;
    int32_t epochs, train, test, done;
    uint64_t seed;
    float setting[6];
} Heading;

static void heading_make(const TrainingState *state, Heading *heading)
{
    const Plan *plan = state->plan;
    memset(heading, 0, sizeof *heading);
    snprintf(heading->kind, sizeof heading->kind, "convlab train 1");
    snprintf(heading->set, sizeof heading->set, "%s", plan->set);
    heading->step = plan->step;
    heading->epochs = plan->epochs;
    heading->train = plan->train.count;
    heading->test = plan->test.count;
    heading->seed = plan->seed;
    const float setting[6] = {plan->rate,  plan->momentum, plan->decay,
                              plan->shift, plan->rotation, plan->stretch};
    memcpy(heading->setting, setting, sizeof setting);
}

/* Reads or writes everything after the heading. */
static int body_pass(size_t pass(void *, size_t, size_t, FILE *), const TrainingState *state,
                     FILE *file)
{
    size_t values = 2 * (size_t)state->plan->step.parameters,
           tests = (size_t)state->plan->test.count;
    size_t epochs = (size_t)state->plan->epochs;
    return pass(state->epoch, sizeof *state->epoch, epochs, file) == epochs &&
           pass(state->values, sizeof *state->values, values, file) == values &&
           pass(state->read, 1, tests, file) == tests;
}

static size_t write_pass(void *data, size_t bytes, size_t count, FILE *file)
{
    return fwrite(data, bytes, count, file);
}

int training_state_save(const TrainingState *state, const char *path, Error *error)
{
    char part[1200];
    Heading heading;
    heading_make(state, &heading);
    heading.done = state->done;
    snprintf(part, sizeof part, "%s.part", path);
    FILE *file = fopen(part, "wb");
    if (!file) return error_set(error, "%s: %s", part, strerror(errno));
    int whole =
        fwrite(&heading, sizeof heading, 1, file) == 1 && body_pass(write_pass, state, file);
    if (fclose(file) || !whole || rename(part, path)) {
        remove(part);
        return error_set(error, "%s cannot be written: is the disk full?", path);
    }
    return 0;
}

int training_state_load(TrainingState *state, const char *path, Error *error)
{
    Heading mine, heading;
    FILE *file = fopen(path, "rb");
    if (!file) return error_set(error, "there is no checkpoint %s: start without RESUME=1", path);
    heading_make(state, &mine);
    int whole = fread(&heading, sizeof heading, 1, file) == 1;
    if (whole) mine.done = heading.done;
    int same = whole && !memcmp(&mine, &heading, sizeof mine) && heading.done >= 0 &&
               heading.done <= heading.epochs;
    whole = same && body_pass(fread, state, file) && fgetc(file) == EOF;
    fclose(file);
    if (!same)
        return error_set(error,
                         "%s belongs to another training: give the DATA, EPOCHS and SEED that it "
                         "was started with, or start again without RESUME=1",
                         path);
    if (!whole) return error_set(error, "%s is damaged: start again without RESUME=1", path);
    state->done = heading.done;
    return 0;
}

/* ---- output for plots -------------------------------------------------------------------- */

static FILE *table_open(const char *folder, const char *name, Error *error)
{
    char path[1200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    if (!file) error_set(error, "%s: %s", path, strerror(errno));
    return file;
}

static int write_curves(const TrainingState *state, const char *folder, Error *error)
{
    FILE *file = table_open(folder, "curves.tsv", error);
    if (!file) return -1;
    fprintf(file, "epoch\tloss\ttest\tseconds\n");
    for (int i = 0; i < state->done; i++)
        fprintf(file, "%d\t%.6g\t%.6g\t%.3f\n", i + 1, state->epoch[i].loss, state->epoch[i].right,
                state->epoch[i].seconds);
    return fclose(file) ? error_set(error, "%s/curves.tsv: %s", folder, strerror(errno)) : 0;
}

/* One row per true class, one column per predicted class. */
static int write_confusion(const TrainingState *state, const char *folder, Error *error)
{
    int classes = state->plan->step.layer[TRAIN_OUT].K;
    FILE *file = table_open(folder, "confusion.tsv", error);
    if (!file) return -1;
    for (int shown = 0; shown < classes; shown++)
        for (int read = 0; read < classes; read++) {
            int count = 0;
            for (int i = 0; i < state->plan->test.count; i++)
                count += state->plan->test.label[i] == shown && state->read[i] == read;
            fprintf(file, "%d%c", count, read + 1 < classes ? '\t' : '\n');
        }
    return fclose(file) ? error_set(error, "%s/confusion.tsv: %s", folder, strerror(errno)) : 0;
}

static int write_misread(const TrainingState *state, const char *folder, Error *error)
{
    const Plan *plan = state->plan;
    size_t pixels = (size_t)plan->rows * plan->columns;
    char path[1200];
    Array image = {.type = ARRAY_U8,
                   .dimensions = 3,
                   .size = {MISREAD, (uint64_t)plan->rows, (uint64_t)plan->columns},
                   .count = MISREAD * pixels,
                   .value = calloc(MISREAD, pixels)};
    FILE *file = image.value ? table_open(folder, "misread.tsv", error) : NULL;
    if (!file) {
        array_close(&image);
        return -1;
    }
    int count = 0;
    for (int i = 0; i < plan->test.count && count < MISREAD; i++) {
        if (state->read[i] == plan->test.label[i]) continue;
        memcpy((uint8_t *)image.value + count * pixels, plan->test.image + i * pixels, pixels);
        fprintf(file, "%d\t%d\t%d\t%d\n", count++, i, plan->test.label[i], state->read[i]);
    }
    fclose(file);
    snprintf(path, sizeof path, "%s/misread.idx", folder);
    int status = array_write_idx(path, &image, error);
    array_close(&image);
    return status;
}

static int write_weights(const TrainingState *state, const char *folder, Error *error)
{
    char path[1200];
    Array weights = {.type = ARRAY_F32,
                     .dimensions = 1,
                     .size = {(uint64_t)state->plan->step.parameters},
                     .count = (uint64_t)state->plan->step.parameters,
                     .value = state->values};
    snprintf(path, sizeof path, "%s/weights.npy", folder);
    return array_write_npy(path, &weights, error);
}

int training_state_write(const TrainingState *state, const char *folder, Error *error)
{
    if (write_curves(state, folder, error) || write_confusion(state, folder, error)) return -1;
    return write_misread(state, folder, error) || write_weights(state, folder, error) ? -1 : 0;
}
