/* tool_maps.c - command line tool for feature maps: contents of a data set, a set like VGG-19's,
 * and the savings by skipping zeros. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/operations/conv/conv_problem.h"
#include "common/operations/conv/maps.h"
#include "datasets/feature_maps.h"
#include "datasets/row_density.h"
#include "datasets/vgg19.h"
#include "common/operations/catalog/operations.h"

static const char USAGE[] =
    "usage: maps list DIRECTORY        size, sparsity and theta of every layer of a data set\n"
    "       maps write DIRECTORY SEED  generates a data set like VGG-19's\n"
    "       maps layers STRIDE         VGG-19's layers as shapes\n"
    "       maps kept SEED SHAPE       percent of zeros in a shape's x, and of rows of X_unroll\n"
    "                                  that have a value in patches of 1, 2x2 and 4x4 outputs\n"
    "       maps memory SEED           bytes that VGG-19's layers need in several formats\n";

/* Inputs of a problem as in the grader: x, to be freed; NULL if memory is exhausted. */
static float *input_of(const Problem *problem, uint64_t seed, Error *error)
{
    const Operation *operation = operation_find("conv_forward");
    TensorShape shape[OPERATION_TENSORS];
    float *tensor[OPERATION_TENSORS] = {0};
    Random random;
    operation->tensors(problem, shape);
    for (int i = 0; i < 2; i++)
        tensor[i] = malloc(tensor_count(&shape[i]) * sizeof(float));
    if (tensor[0] && tensor[1]) {
        random_seed(&random, seed);
        operation->generate(problem, &random, tensor);
    } else {
        error_set(error, "no memory for the inputs");
        free(tensor[0]);
        tensor[0] = NULL;
    }
    free(tensor[1]);
    return tensor[0];
}

static int vgg19_shape(int layer, int stride, char *text, size_t bytes)
{
    const Vgg19Layer *v = &vgg19_layer[layer];
    return snprintf(text, bytes, "N=1 C=%d H=%d W=%d K=%d R=3 S=3 pad=1 stride=%d zeros=%d", v->C,
                    v->size, v->size, v->K, stride, v->zeros);
}

/* ---- the commands ---- */

static int list(const char *directory, Error *error)
{
    FeatureMaps maps;
    if (feature_maps_open(directory, &maps, error)) return -1;
    printf("file\tC\tH\tW\tsparsity\ttheta\n");
    for (int i = 0; i < maps.layers; i++) {
        const struct FeatureLayer *layer = &maps.layer[i];
        float *value = feature_maps_read(&maps, i, error);
        if (!value) return -1;
        double sparsity = feature_maps_sparsity(value, (size_t)layer->C * layer->H * layer->W);
        printf("%s\t%d\t%d\t%d\t%.4f\t%.3g\n", layer->file, layer->C, layer->H, layer->W, sparsity,
               feature_maps_theta(sparsity, layer->H, layer->W));
        free(value);
    }
    return 0;
}

static int generate(const char *directory, uint64_t seed, Error *error)
{
    FeatureMaps maps = {.layers = VGG19_LAYERS};
    float *value[VGG19_LAYERS] = {0};
    int status = 0;
    Random random;
    if (strlen(directory) >= sizeof maps.directory)
        return error_set(error, "the directory's name is too long");
    strcpy(maps.directory, directory);
    random_seed(&random, seed);
    for (int i = 0; i < maps.layers && !status; i++) {
        const Vgg19Layer *from = &vgg19_layer[i];
        struct FeatureLayer *layer = &maps.layer[i];
        size_t count = (size_t)from->C * from->size * from->size;
        snprintf(layer->file, sizeof layer->file, "%s.txt", from->name);
        layer->C = from->C, layer->H = layer->W = from->size;
        value[i] = malloc(count * sizeof(float));
        if (!value[i]) status = error_set(error, "no memory for %zu values", count);
        for (size_t j = 0; j < count && value[i]; j++)
            value[i][j] = random_wide(&random);
        if (value[i]) maps_rectify(value[i], layer->C, layer->H, layer->W, from->zeros, &random);
    }
    if (!status) status = feature_maps_write(&maps, (const float *const *)value, error);
    for (int i = 0; i < maps.layers; i++)
        free(value[i]);
    return status;
}

static void layers(int stride)
{
    char shape[128];
    for (int i = 0; i < VGG19_LAYERS; i++) {
        vgg19_shape(i, stride, shape, sizeof shape);
        printf("%s\t%s\n", vgg19_layer[i].name, shape);
    }
}

static int density(uint64_t seed, const char *shape, Error *error)
{
    Problem problem;
    if (conv_parse(shape, &problem, error)) return -1;
    ConvProblem p = conv_unpack(&problem);
    float *x = input_of(&problem, seed, error);
    if (!x) return -1;
    printf("zeros\t1\t2x2\t4x4\n%.1f",
           100 * feature_maps_sparsity(x, (size_t)p.N * p.C * p.H * p.W));
    for (int side = 1; side <= 4; side *= 2)
        printf("\t%.1f", 100 * row_density(&p, x, side));
    putchar('\n');
    free(x);
    return 0;
}

/* Sizes in bytes: x; X_unroll; algorithm 1's F_data, K_data and ptr of one filter with space for
 * every tap, as in its index computation; the same without unused space.  The last one is that of
 * the weights transposed and padded to 128 filters, which is all that lab 13 stores. */
static int memory(uint64_t seed, Error *error)
{
    printf("layer\tzeros\tinput\tunrolled\tprinted\tpacked\ttransposed\n");
    for (int i = 0; i < VGG19_LAYERS; i++) {
        char shape[128];
        Problem problem;
        vgg19_shape(i, 1, shape, sizeof shape);
        if (conv_parse(shape, &problem, error)) return -1;
        ConvProblem p = conv_unpack(&problem);
        float *x = input_of(&problem, seed, error);
        if (!x) return -1;
        double windows = (double)p.C * p.P * p.Q, places = windows * p.R * p.S;
        double values = places * row_density(&p, x, 1);
        printf("%s\t%d\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\n", vgg19_layer[i].name, p.zeros,
               4.0 * p.C * p.H * p.W, 4 * places, 4 * (2 * places + windows),
               4 * (2 * values + windows), 4.0 * p.C * p.R * p.S * ((p.K + 127) / 128 * 128));
        free(x);
    }
    return 0;
}

int main(int argc, char **argv)
{
    Error error;
    int status = 0;
    const char *command = argc > 2 ? argv[1] : "", *seed = argc > 2 ? argv[argc == 4 ? 3 : 2] : "";
    if (argc == 3 && !strcmp(command, "list"))
        status = list(argv[2], &error);
    else if (argc == 4 && !strcmp(command, "write"))
        status = generate(argv[2], strtoull(seed, NULL, 10), &error);
    else if (argc == 3 && !strcmp(command, "layers"))
        layers(atoi(argv[2]));
    else if (argc == 4 && !strcmp(command, "kept"))
        status = density(strtoull(argv[2], NULL, 10), argv[3], &error);
    else if (argc == 3 && !strcmp(command, "memory"))
        status = memory(strtoull(seed, NULL, 10), &error);
    else
        return fputs(USAGE, stderr), 2;
    if (status) fprintf(stderr, "maps: %s\n", error.text);
    return status ? 1 : 0;
}
