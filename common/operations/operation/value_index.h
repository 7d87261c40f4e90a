/* value_index.h - search for the output whose expected value a wrong output contains. */
#ifndef CONVLAB_OPERATION_VALUE_INDEX_H
#define CONVLAB_OPERATION_VALUE_INDEX_H

#include <stddef.h>

/* An output: its index in the tensor, and its expected value. */
typedef struct ValueIndex {
    double value;
    size_t index;
} ValueIndex;

/* Sorts by value, smallest first. */
void value_index_sort(ValueIndex *sorted, size_t count);

/* Number of the `count` sorted outputs whose expected value is within `allowed` of `value`: 0, 1,
 * or 2 for more than one.  The lowest of them is owner[*first]. */
size_t value_index_find(const ValueIndex *sorted, size_t count, double value, double allowed,
                        size_t *first);

#endif
