/* owners.c - outputs sorted by expected value, with binary search. */
#include "common/operations/operation/owners.h"

#include <stdlib.h>

static int by_value(const void *left, const void *right)
{
    double a = ((const Owner *)left)->value, b = ((const Owner *)right)->value;
    return (a > b) - (a < b);
}

void owners_sort(Owner *owner, size_t count)
{
    qsort(owner, count, sizeof *owner, by_value);
}

size_t owners_with(const Owner *owner, size_t count, double value, double allowed, size_t *first)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (owner[middle].value < value - allowed)
            low = middle + 1;
        else
            high = middle;
    }
    *first = low;
    while (low < count && low - *first < 2 && owner[low].value <= value + allowed)
        low++;
    return low - *first;
}
