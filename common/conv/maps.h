/* maps.h - feature maps as a ReLU leaves them: non-negative, with zeros that cling together. */
#ifndef CONVLAB_CONV_MAPS_H
#define CONVLAB_CONV_MAPS_H

#include <stddef.h>

#include "common/conv/random.h"

/* Makes `zeros` percent (0 to 100) of the `planes` maps of height x width at `x` zero and the
 * others positive; how many exactly is rounded, but where zeros < 100 at least one stays.  Which
 * ones: a smooth random field, one for each plane and with a level of its own, is cut off below, so
 * that zeros form patches a few pixels wide and some maps are emptier than others. */
void maps_rectify(float *x, size_t planes, int height, int width, int zeros, Random *random);

/* VGG-19's 16 convolution layers: percent of zeros in the input of the `layer`-th (0 to 15).  Xu,
 * Fan et al., figure 2, has no numbers in its text, which says "more than 0.7 in the deep network"
 * and that it grows with depth.  This is a line that does so: none in the image, 40 to 85 behind
 * it. */
enum { MAPS_VGG19_LAYERS = 16 };
int maps_vgg19_zeros(int layer);

#endif
