/* maps.h - synthetic feature maps like the outputs of a ReLU: non-negative, with clustered
 * zeros. */
#ifndef CONVLAB_CONV_MAPS_H
#define CONVLAB_CONV_MAPS_H

#include <stddef.h>

#include "common/operations/operation/random.h"

/* Sets `zeros` percent (0 to 100) of the `planes` maps of height x width at `x` to zero and makes
 * the others positive.  The number of zeros is exact up to rounding, but if zeros < 100 at least
 * one value is positive.  The zeros are the pixels below a threshold in a smooth random field.
 * Each plane has its own field and offset.  So zeros form patches a few pixels wide, and maps have
 * different numbers of zeros. */
void maps_rectify(float *x, size_t planes, int height, int width, int zeros, Random *random);

#endif
