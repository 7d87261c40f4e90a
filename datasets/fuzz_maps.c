/* fuzz_maps.c - libFuzzer target for a directory of feature maps: the bytes up to the first zero
 * are file_list, those up to the second conv_shape, the rest is the file "layer". */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "datasets/feature_maps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A layer may claim 2^30 values; their allocation is not the subject of this test. */
static const size_t MOST_VALUES = 1u << 20;

static size_t part_write(const char *folder, const char *name, const uint8_t *data, size_t size,
                         int last)
{
    char path[128];
    const uint8_t *zero = last ? NULL : memchr(data, 0, size);
    size_t part = zero ? (size_t)(zero - data) : size;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    if (!file) abort();
    fwrite(data, 1, part, file);
    fclose(file);
    return zero ? part + 1 : size;
}

static void refusal_check(const Error *error)
{
    if (!error->text[0] || strchr(error->text, '\n')) abort();
}

static void layer_check(const FeatureMaps *maps, int index)
{
    Error error = {""};
    size_t count = (size_t)maps->layer[index].C * maps->layer[index].H * maps->layer[index].W;
    if (count > MOST_VALUES) return;
    float *value = feature_maps_read(maps, index, &error);
    if (!value) refusal_check(&error);
    for (size_t i = 0; value && i < count; i++)
        if (!isfinite(value[i])) abort();
    free(value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char folder[64];
    FeatureMaps maps;
    Error error = {""};
    if (!folder[0]) {
        snprintf(folder, sizeof folder, "/tmp/convlab-fuzz-maps-%d", (int)getpid());
        mkdir(folder, 0700);
    }
    size_t at = part_write(folder, "file_list", data, size, 0);
    at += part_write(folder, "conv_shape", data + at, size - at, 0);
    part_write(folder, "layer", data + at, size - at, 1);
    if (feature_maps_open(folder, &maps, &error)) {
        refusal_check(&error);
        return 0;
    }
    if (maps.layers < 1 || maps.layers > MAPS_LAYERS) abort();
    for (int i = 0; i < maps.layers; i++)
        layer_check(&maps, i);
    return 0;
}
