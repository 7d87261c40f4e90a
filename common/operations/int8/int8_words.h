/* int8_words.h - words of four bytes in tensors of floats (convlab/int8.h).
 *
 * The tensors of an operation are floats.  A tensor of words, ints or bytes has their bits. */
#ifndef CONVLAB_OPERATIONS_INT8_INT8_WORDS_H
#define CONVLAB_OPERATIONS_INT8_INT8_WORDS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "common/operations/operation/verdict.h"
#include "convlab/int8.h"

static inline int32_t word_of(float element)
{
    int32_t word;
    memcpy(&word, &element, sizeof word);
    return word;
}

/* Stores four bytes as floats.  A word that was never written remains so in each of them. */
static inline void word_unpack(float element, float byte[4])
{
    int8_t value[4];
    memcpy(value, &element, sizeof value);
    for (int i = 0; i < 4; i++)
        byte[i] = word_of(element) == OUTPUT_POISON ? element : value[i];
}

/* Conversions of a number to an integer, in the order of the messages about them. */
typedef enum Rounding { ROUND_NEAREST_EVEN, ROUND_TRUNCATE, ROUND_FLOOR, ROUND_AWAY } Rounding;

static inline float round_as(Rounding rounding, float value)
{
    switch (rounding) {
    case ROUND_TRUNCATE:
        return truncf(value);
    case ROUND_FLOOR:
        return floorf(value);
    case ROUND_AWAY:
        return roundf(value);
    default:
        return rintf(value);
    }
}

#endif
