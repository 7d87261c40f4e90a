/* feature_maps.h - a directory of feature maps as text, in the format of Xu, Fan et al.'s data set.
 *
 * `file_list` names the files, one per line.  Line i of `conv_shape` is the size of the i-th: two
 * to four integers, H W, C H W or N C H W (N is 1), with any of "( ) [ ] ," between them.  A file
 * holds the inputs of one convolution layer, C*H*W numbers in that order, separated by blanks, line
 * ends or commas.
 *
 * Their paper describes the data set in section V-A but not the files; the parser is tolerant, and
 * reports anything inconsistent with file and line. */
#ifndef CONVLAB_DATASETS_FEATURE_MAPS_H
#define CONVLAB_DATASETS_FEATURE_MAPS_H

#include <stddef.h>

#include "common/base/error.h"

enum { MAPS_LAYERS = 64, MAPS_NAME = 128 };

typedef struct FeatureMaps {
    char directory[512];
    int layers;
    struct FeatureLayer {
        char file[MAPS_NAME];
        int C, H, W;
    } layer[MAPS_LAYERS];
} FeatureMaps;

/* Reads file_list and conv_shape of `directory`.  -1 with error. */
int feature_maps_open(const char *directory, FeatureMaps *maps, Error *error);

/* Opens the directory that contains `path`, a layer's file, and finds the layer by the file's name.
 * Its index, or -1 with error. */
int feature_maps_find(const char *path, FeatureMaps *maps, Error *error);

/* Reads layer `index`: C*H*W floats, to be freed by the caller; NULL with error: missing or
 * additional numbers, or text that is not a finite number. */
float *feature_maps_read(const FeatureMaps *maps, int index, Error *error);

/* Writes maps->layers layers, values[i] being those of layer i, and both lists; each file is
 * written atomically. */
int feature_maps_write(const FeatureMaps *maps, const float *const *values, Error *error);

/* The share of zeros among `count` values, 0 to 1; and Xu's theta, that share divided by the size
 * of a map, H*W (section V-C).  "Size" must be the area there, otherwise figure 8 would not
 * decrease as it does. */
double feature_maps_sparsity(const float *value, size_t count);
double feature_maps_theta(double sparsity, int H, int W);

#endif
