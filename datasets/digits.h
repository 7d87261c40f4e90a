/* digits.h - synthetic handwritten digits drawn from strokes: a training set that needs no
 * download.
 *
 * Each digit has several variants (a 7 with or without a bar, an open or a closed 4), which are
 * smooth strokes through a few points.  In each image the points are moved; the whole is sheared,
 * rotated, scaled and shifted, drawn with a pen of random width, and noise is added.  So a linear
 * classifier is not accurate (datasets/README.md has the measured numbers).  Only + - * / and
 * square roots are used: the same images from the same seed on every machine. */
#ifndef CONVLAB_DATASETS_DIGITS_H
#define CONVLAB_DATASETS_DIGITS_H

#include <stdint.h>

#include "common/operations/operation/random.h"

enum { DIGIT_SIDE = 28, DIGIT_PIXELS = DIGIT_SIDE * DIGIT_SIDE, DIGIT_CLASSES = 10 };

/* Draws one image: image[row * 28 + column], 0 paper to 255 ink.  `digit`: 0 to 9. */
void digit_draw(int digit, Random *random, uint8_t image[DIGIT_PIXELS]);

/* Draws `count` images and their labels, each digit equally likely: image is count x 28 x 28. */
void digits_generate(uint64_t count, Random *random, uint8_t *image, uint8_t *label);

#endif
