/* map_input.h - input of a run from a file of feature maps. */
#ifndef CONVLAB_DATASETS_MAP_INPUT_H
#define CONVLAB_DATASETS_MAP_INPUT_H

#include "common/operations/operation/operation.h"

/* Reads `path`, a layer of a data set (feature_maps.h).  Its maps determine the problem's N=1 C H W
 * and zeros, `shape` the other keys.  Returns x, to be freed by the caller, with the size of the
 * problem's first tensor, NCHW; NULL with error. */
float *map_input_open(const char *path, const char *shape, const Operation *operation,
                      Problem *problem, Error *error);

#endif
