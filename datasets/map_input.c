#include "datasets/map_input.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "datasets/feature_maps.h"

static int map_problem(const struct FeatureLayer *layer, const float *x, const char *shape,
                       const Operation *operation, Problem *problem, Error *error)
{
    char text[512];
    Error inner;
    TensorShape tensor[OPERATION_TENSORS];
    double zeros = feature_maps_sparsity(x, (size_t)layer->C * layer->H * layer->W);
    int length = snprintf(text, sizeof text, "N=1 C=%d H=%d W=%d zeros=%.0f %s", layer->C, layer->H,
                          layer->W, 100 * zeros, shape);
    if (length >= (int)sizeof text) return error_set(error, "the shape is too long");
    if (operation->parse(text, problem, &inner))
        return error_set(error,
                         "%s; the maps say N C H W and zeros, SHAPE says the rest: "
                         "SHAPE='K=64 R=3 S=3 pad=1 stride=1'",
                         inner.text);
    operation->tensors(problem, tensor);
    if (strcmp(tensor[0].axes[1], "c"))
        return error_set(error, "feature maps lie in memory as NCHW: leave layout= out");
    return 0;
}

float *map_input_open(const char *path, const char *shape, const Operation *operation,
                      Problem *problem, Error *error)
{
    FeatureMaps maps;
    int index = feature_maps_find(path, &maps, error);
    float *x = index < 0 ? NULL : feature_maps_read(&maps, index, error);
    if (x && map_problem(&maps.layer[index], x, shape, operation, problem, error)) {
        free(x);
        x = NULL;
    }
    return x;
}
