/* digits.h - handwritten-like digits, drawn from strokes: a set to train on without a network.
 *
 * A digit is one of its ways of being written (a 7 with or without a bar, an open or a closed 4)
 * as smooth strokes through a few points.  Each image moves the points, slants, turns, stretches
 * and shifts the whole, draws it with a pen of some width, and adds noise; so that a linear
 * classifier does not get far (docs: datasets/README.md has the measured numbers).  Only + - * /
 * and square roots are used: the same images from the same seed on every machine. */
#ifndef CONVLAB_DATASETS_DIGITS_H
#define CONVLAB_DATASETS_DIGITS_H

#include <stdint.h>

#include "common/operations/operation/random.h"

enum { DIGIT_SIDE = 28, DIGIT_PIXELS = DIGIT_SIDE * DIGIT_SIDE, DIGIT_CLASSES = 10 };

/* Draws one: image[row * 28 + column], 0 paper to 255 ink.  `digit`: 0 to 9. */
void digit_draw(int digit, Random *random, uint8_t image[DIGIT_PIXELS]);

/* `count` of them and what they are, each digit equally likely: image is count x 28 x 28. */
void digits_generate(uint64_t count, Random *random, uint8_t *image, uint8_t *label);

#endif
