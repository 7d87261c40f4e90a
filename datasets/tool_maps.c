/* tool_maps.c - `maps list DIRECTORY`: size, sparsity and theta of every layer of a data set;
 * `maps write DIRECTORY SEED`: one like VGG-19's, generated. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/conv/maps.h"
#include "datasets/feature_maps.h"

/* Input channels and size of VGG-19's convolutions (Simonyan and Zisserman, 2014, configuration
 * E). */
static const int vgg19[MAPS_VGG19_LAYERS][2] = {
    {3, 224},  {64, 224}, {64, 112}, {128, 112}, {128, 56}, {256, 56}, {256, 56}, {256, 56},
    {256, 28}, {512, 28}, {512, 28}, {512, 28},  {512, 14}, {512, 14}, {512, 14}, {512, 14}};
static const char *const vgg19_name[MAPS_VGG19_LAYERS] = {
    "conv1_1", "conv1_2", "conv2_1", "conv2_2", "conv3_1", "conv3_2", "conv3_3", "conv3_4",
    "conv4_1", "conv4_2", "conv4_3", "conv4_4", "conv5_1", "conv5_2", "conv5_3", "conv5_4"};

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
    FeatureMaps maps = {.layers = MAPS_VGG19_LAYERS};
    float *value[MAPS_VGG19_LAYERS] = {0};
    int status = 0;
    Random random;
    if (strlen(directory) >= sizeof maps.directory)
        return error_set(error, "the directory's name is too long");
    strcpy(maps.directory, directory);
    random_seed(&random, seed);
    for (int i = 0; i < maps.layers && !status; i++) {
        struct FeatureLayer *layer = &maps.layer[i];
        size_t count = (size_t)vgg19[i][0] * vgg19[i][1] * vgg19[i][1];
        snprintf(layer->file, sizeof layer->file, "%s.txt", vgg19_name[i]);
        layer->C = vgg19[i][0], layer->H = layer->W = vgg19[i][1];
        value[i] = malloc(count * sizeof(float));
        if (!value[i]) status = error_set(error, "no memory for %zu values", count);
        for (size_t j = 0; j < count && value[i]; j++)
            value[i][j] = random_wide(&random);
        if (value[i])
            maps_rectify(value[i], layer->C, layer->H, layer->W, maps_vgg19_zeros(i), &random);
    }
    if (!status) status = feature_maps_write(&maps, (const float *const *)value, error);
    for (int i = 0; i < maps.layers; i++)
        free(value[i]);
    return status;
}

int main(int argc, char **argv)
{
    Error error;
    int status;
    if (argc == 3 && !strcmp(argv[1], "list"))
        status = list(argv[2], &error);
    else if (argc == 4 && !strcmp(argv[1], "write"))
        status = generate(argv[2], strtoull(argv[3], NULL, 10), &error);
    else
        return fprintf(stderr, "usage: maps list DIRECTORY | maps write DIRECTORY SEED\n"), 2;
    if (status) fprintf(stderr, "maps: %s\n", error.text);
    return status ? 1 : 0;
}
