#include "common/apps/serve/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/operations/catalog/operations.h"
#include "datasets/tensor_file.h"

/* `shape` with another number of images; -1: it has none. */
static int with_images(const char *shape, int images, char *text, size_t bytes)
{
    const char *at = shape;
    while (at && strncmp(at, "N=", 2))
        at = (at = strchr(at, ' ')) ? at + strspn(at, " ") : NULL;
    if (!at) return -1;
    snprintf(text, bytes, "%.*sN=%d%s", (int)(at - shape), shape, images, at + strcspn(at, " "));
    return 0;
}

int model_batch(const Model *model, int images, Problem *problem, Error *error)
{
    char text[MODEL_TEXT];
    if (with_images(model->shape, images, text, sizeof text))
        return error_set(error, "%s has no N", model->operation->name);
    return model->operation->parse(text, problem, error);
}

/* With two images x and y have two rows, all other tensors are unchanged. */
static int find_rows(Model *model, Error *error)
{
    Problem one, two;
    TensorShape single[OPERATION_TENSORS], both[OPERATION_TENSORS];
    if (model_batch(model, 1, &one, error) || model_batch(model, 2, &two, error)) return -1;
    model->tensors = model->operation->tensors(&one, single);
    model->operation->tensors(&two, both);
    model->x = model->y = -1;
    for (int i = 0; i < model->tensors; i++) {
        int output = single[i].role == TENSOR_OUTPUT, *which = output ? &model->y : &model->x;
        size_t count = model->count[i] = tensor_count(&single[i]);
        if (!output && tensor_count(&both[i]) == count) continue;
        if (*which >= 0 || strcmp(single[i].axes[0], "n") || tensor_count(&both[i]) != 2 * count)
            break;
        *which = i;
    }
    if (model->x >= 0 && model->y >= 0) return 0;
    return error_set(error,
                     "%s with %s cannot be served: one input and the output must have one row per "
                     "image, and the rest must be the same for all images",
                     model->operation->name, model->shape);
}

static int make_weights(Model *model, Error *error)
{
    Problem one;
    Random random;
    if (model_batch(model, 1, &one, error)) return -1;
    for (int i = 0; i < model->tensors; i++) {
        if (i == model->y) continue;
        model->weight[i] = malloc(model->count[i] * sizeof(float));
        if (!model->weight[i]) return error_set(error, "out of memory for the weights");
    }
    random_seed(&random, model->seed);
    model->operation->generate(&one, &random, model->weight);
    int status = *model->weights ? tensor_read(model->weights, "w", model->operation, &one,
                                               model->weight, error)
                                 : 0;
    free(model->weight[model->x]);
    model->weight[model->x] = NULL;
    return status;
}

int model_open(const char *operation, const char *shape, uint64_t seed, const char *weights,
               Model *model, Error *error)
{
    Problem problem;
    char text[MODEL_TEXT];
    *model = (Model){.operation = operation_find(operation), .seed = seed, .weights = weights};
    if (!model->operation)
        return error_set(error, "there is no operation '%.60s'; there are: %s", operation,
                         operation_names());
    if (model->operation->parse(shape, &problem, error)) return -1;
    model->operation->print(&problem, text, sizeof text);
    if (with_images(text, 1, model->shape, sizeof model->shape))
        return error_set(error, "%s has no N", operation);
    if (!find_rows(model, error) && !make_weights(model, error)) return 0;
    model_close(model);
    return -1;
}

void model_close(Model *model)
{
    for (int i = 0; i < OPERATION_TENSORS; i++)
        free(model->weight[i]);
    *model = (Model){0};
}
