/* value_pattern.h - patterns in the values of wrong outputs that do not depend on the operation: a
 * constant factor or difference, a limit, integers, and values of other outputs in the same tile.
 *
 * Each pattern must fit all wrong outputs, and must not be a coincidence. */
#ifndef CONVLAB_OPERATION_VALUE_PATTERN_H
#define CONVLAB_OPERATION_VALUE_PATTERN_H

#include "common/operations/operation/diagnose.h"

/* Each returns 1 with a finding, or 0.  None describes outputs that are NaN or were not written. */

/* Integers near the expected values, or integers although the expected values are none. */
int find_integers(const Judgement *judged, Finding *finding);

/* Each wrong output is the expected value times the same factor. */
int find_factor(const Judgement *judged, Finding *finding);

/* The outputs of each tile are permuted along one axis, or the tile is transposed. */
int find_permuted(const Judgement *judged, Finding *finding);

/* Each wrong output is the expected value plus the same number. */
int find_shift(const Judgement *judged, Finding *finding);

/* All wrong outputs have one value, and the expected values are all above it, or all below. */
int find_clamped(const Judgement *judged, Finding *finding);

#endif
