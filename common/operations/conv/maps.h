/* maps.h - feature maps as a ReLU leaves them: non-negative, with zeros that cling together. */
#ifndef CONVLAB_CONV_MAPS_H
#define CONVLAB_CONV_MAPS_H

#include <stddef.h>

#include "common/operations/operation/random.h"

/* Makes `zeros` percent (0 to 100) of the `planes` maps of height x width at `x` zero and the
 * others positive; how many exactly is rounded, but where zeros < 100 at least one stays.  Which
 * ones: a smooth random field, one for each plane and with a level of its own, is cut off below, so
 * that zeros form patches a few pixels wide and some maps are emptier than others. */
void maps_rectify(float *x, size_t planes, int height, int width, int zeros, Random *random);

#endif
