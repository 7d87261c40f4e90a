/* value_index.c - outputs sorted by expected value, with binary search. */
#include "common/operations/operation/value_index.h"

#include <stdlib.h>

static int by_value(const void *left, const void *right)
{
    double a = ((const ValueIndex *)left)->value, b = ((const ValueIndex *)right)->value;
    return (a > b) - (a < b);
}

void value_index_sort(ValueIndex *sorted, size_t count)
{
    qsort(sorted, count, sizeof *sorted, by_value);
}

size_t value_index_find(const ValueIndex *sorted, size_t count, double value, double allowed,
                        size_t *first)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sorted[middle].value < value - allowed)
            low = middle + 1;
        else
            high = middle;
    }
    *first = low;
    while (low < count && low - *first < 2 && sorted[low].value <= value + allowed)
        low++;
    return low - *first;
}
