#include "common/apps/train/plan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/operations/operation/operation.h"
#include "common/operations/operation/random.h"
#include "common/operations/catalog/operations.h"
#include "datasets/array.h"

/* ---- data sets --------------------------------------------------------------------------- */

typedef struct SetPlan {
    const char *name, *network;
    int ink, epochs, test; /* test: number of test images at the end of the only file; 0: a separate
                            * file */
    float rate, decay, shift, rotation, stretch;
} SetPlan;

/* LeNet-5 for 28x28 pixels in a frame of 32x32, and a network of its form for 8x8 in 14x14. */
static const SetPlan sets[] = {
    {"digits", "N=64 H=32 W=32 R=5 c1=6 c3=16 c5=120 f6=84 classes=10", 255, 5, 0, 0.05f, 5e-4f, 0,
     0, 0},
    {"mnist", "N=64 H=32 W=32 R=5 c1=6 c3=16 c5=120 f6=84 classes=10", 255, 12, 0, 0.05f, 5e-4f, 0,
     0, 0},
    {"fashion-mnist", "N=64 H=32 W=32 R=5 c1=6 c3=16 c5=120 f6=84 classes=10", 255, 12, 0, 0.05f,
     5e-4f, 0, 0, 0},
    {"digits-8x8", "N=16 H=14 W=14 R=3 c1=16 c3=32 c5=64 f6=32 classes=10", 16, 60, 360, 0.05f,
     5e-4f, 0.7f, 0.2f, 0.15f},
};

static const SetPlan *set_find(const char *name, Error *error)
{
    char names[200] = "";
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        if (!strcmp(sets[i].name, name)) return &sets[i];
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i ? ", " : "",
                 sets[i].name);
    }
    error_set(error, "there is no set '%.40s'; DATA= is one of: %s", name, names);
    return NULL;
}

/* ---- files of a set ---------------------------------------------------------------------- */

static int file_read(const char *path, int dimensions, Array *array, Error *error)
{
    if (array_read(path, array, error)) return -1;
    if (array->type == ARRAY_U8 && array->dimensions == dimensions) return 0;
    array_close(array);
    return error_set(error, "%s: %d sizes of bytes are expected", path, dimensions);
}

/* Moves the images to the plan; their size has to fit in the network's frame. */
static int digits_take(Plan *plan, const char *path, const Array *image, const Array *label,
                       Digits *digits, Error *error)
{
    const TrainLayer *frame = &plan->step.layer[TRAIN_C1];
    int classes = plan->step.layer[TRAIN_OUT].K;
    if (image->size[0] != label->size[0] || image->size[0] < (uint64_t)plan->step.N ||
        image->size[0] > INT32_MAX)
        return error_set(error, "%s: %llu images and %llu labels", path,
                         (unsigned long long)image->size[0], (unsigned long long)label->size[0]);
    if (image->size[1] > (uint64_t)frame->H || image->size[2] > (uint64_t)frame->W)
        return error_set(error, "%s: its images are larger than %dx%d", path, frame->H, frame->W);
    for (uint64_t i = 0; i < label->size[0]; i++)
        if (((const uint8_t *)label->value)[i] >= classes)
            return error_set(error, "%s: label %llu is %d; there are %d digits", path,
                             (unsigned long long)i, ((const uint8_t *)label->value)[i], classes);
    plan->rows = (int)image->size[1];
    plan->columns = (int)image->size[2];
    *digits = (Digits){(int)image->size[0], image->value, label->value};
    return 0;
}

static int digits_read(Plan *plan, const char *folder, const char *part, Digits *digits,
                       Error *error)
{
    char path[1200];
    Array image, label;
    snprintf(path, sizeof path, "%s/%simages-idx3-ubyte", folder, part);
    if (file_read(path, 3, &image, error)) return -1;
    snprintf(path, sizeof path, "%s/%slabels-idx1-ubyte", folder, part);
    if (file_read(path, 1, &label, error)) {
        array_close(&image);
        return -1;
    }
    int status = digits_take(plan, path, &image, &label, digits, error);
    if (status) {
        array_close(&image);
        array_close(&label);
    }
    return status;
}

/* Moves the last `count` images to a set of their own. */
static int digits_part(const Plan *plan, int count, Digits *from, Digits *to, Error *error)
{
    size_t pixels = (size_t)plan->rows * plan->columns, first = (size_t)(from->count - count);
    to->image = malloc(count * pixels);
    to->label = malloc((size_t)count);
    if (!to->image || !to->label) return error_set(error, "no memory for %d images", count);
    memcpy(to->image, from->image + first * pixels, count * pixels);
    memcpy(to->label, from->label + first, (size_t)count);
    to->count = count;
    from->count -= count;
    return 0;
}

static int files_read(Plan *plan, const SetPlan *set, const char *root, const char *datasets,
                      Error *error)
{
    char folder[1000];
    if (set->test) {
        snprintf(folder, sizeof folder, "%s/datasets/%s", root, set->name);
        if (digits_read(plan, folder, "", &plan->train, error)) return -1;
        return digits_part(plan, set->test, &plan->train, &plan->test, error);
    }
    snprintf(folder, sizeof folder, "%s/%s", datasets, set->name);
    if (digits_read(plan, folder, "train-", &plan->train, error)) return -1;
    return digits_read(plan, folder, "t10k-", &plan->test, error);
}

int plan_open(Plan *plan, const char *root, const char *datasets, const char *set, int epochs,
              uint64_t seed, Error *error)
{
    const SetPlan *chosen = set_find(set, error);
    Problem problem;
    *plan = (Plan){.seed = seed};
    if (!chosen || operation_find("train_step")->parse(chosen->network, &problem, error)) return -1;
    memcpy(&plan->step, problem.data, sizeof plan->step);
    plan->set = chosen->name;
    plan->scale = 1.0f / (float)chosen->ink;
    plan->epochs = epochs ? epochs : chosen->epochs;
    plan->rate = chosen->rate;
    plan->momentum = 0.9f;
    plan->decay = chosen->decay;
    plan->shift = chosen->shift;
    plan->rotation = chosen->rotation;
    plan->stretch = chosen->stretch;
    if (files_read(plan, chosen, root, datasets, error)) {
        plan_close(plan);
        return -1;
    }
    plan->steps = plan->train.count / plan->step.N;
    return 0;
}

void plan_close(Plan *plan)
{
    free(plan->train.image);
    free(plan->train.label);
    free(plan->test.image);
    free(plan->test.label);
    plan->train = plan->test = (Digits){0};
}

/* ---- random choices ---------------------------------------------------------------------- */

/* A generator for one purpose, independent of other draws. */
static void chance(const Plan *plan, const char *purpose, Random *random)
{
    Random parent;
    random_seed(&parent, plan->seed);
    random_child(&parent, purpose, random);
}

static float between(Random *random, double most)
{
    return (float)(most * (2 * random_unit(random) - 1));
}

void plan_first_parameters(const Plan *plan, float *parameter)
{
    Random random;
    chance(plan, "parameters", &random);
    memset(parameter, 0, (size_t)plan->step.parameters * sizeof *parameter);
    for (int i = 0; i < TRAIN_LAYERS; i++) {
        const TrainLayer *layer = &plan->step.layer[i];
        double most = sqrt(6.0 / ((double)layer->C * layer->R * layer->S));
        for (int j = layer->weights; j < TRAIN_BIASES(*layer); j++)
            parameter[j] = between(&random, most);
    }
}

/* Random rotation, shear, scaling and shift about the middle of the frame, as a map onto the set's
 * image. Second-order approximation without sines, so that it is the same on every machine. */
static void augmentation_draw(const Plan *plan, Random *random, float augmentation[6])
{
    const TrainLayer *frame = &plan->step.layer[TRAIN_C1];
    float rotation = between(random, plan->rotation), slant = between(random, plan->rotation);
    float high = 1 + between(random, plan->stretch), wide = 1 + between(random, plan->stretch);
    float straight = 1 - rotation * rotation / 2;
    float row = (float)(frame->H - 1) / 2, column = (float)(frame->W - 1) / 2;
    augmentation[0] = high * straight;
    augmentation[1] = wide * rotation;
    augmentation[3] = slant - high * rotation;
    augmentation[4] = wide * straight;
    augmentation[2] = (float)(plan->rows - 1) / 2 - augmentation[0] * row -
                      augmentation[1] * column + between(random, plan->shift);
    augmentation[5] = (float)(plan->columns - 1) / 2 - augmentation[3] * row -
                      augmentation[4] * column + between(random, plan->shift);
}

void plan_epoch(const Plan *plan, int epoch, int *order, float *augmentation)
{
    int count = plan->train.count, wanted = plan->steps * plan->step.N;
    char name[40];
    Random random;
    int *all = malloc((size_t)count * sizeof *all);
    snprintf(name, sizeof name, "epoch %d", epoch);
    chance(plan, name, &random);
    for (int i = 0; all && i < count; i++)
        all[i] = i;
    for (int i = 0; i < wanted; i++) { /* Fisher and Yates */
        int j = random_range(&random, i, count - 1), kept = all ? all[i] : i;
        order[i] = all ? all[j] : j;
        if (all) all[j] = kept;
    }
    free(all);
    for (int i = 0; i < wanted; i++)
        augmentation_draw(plan, &random, augmentation + 6 * (size_t)i);
}

float plan_rate(const Plan *plan, long step)
{
    double part = (double)step / ((double)plan->epochs * plan->steps);
    return (float)(plan->rate * 0.5 * (1 + cos(3.14159265358979 * part)));
}
