/* owners.h - search for the output whose expected value a wrong output contains. */
#ifndef CONVLAB_OPERATION_OWNERS_H
#define CONVLAB_OPERATION_OWNERS_H

#include <stddef.h>

/* An output: its index in the tensor, and its expected value. */
typedef struct Owner {
    double value;
    size_t index;
} Owner;

/* Sorts by value, smallest first. */
void owners_sort(Owner *owner, size_t count);

/* Number of the `count` sorted outputs whose expected value is within `allowed` of `value`: 0, 1,
 * or 2 for more than one.  The lowest of them is owner[*first]. */
size_t owners_with(const Owner *owner, size_t count, double value, double allowed, size_t *first);

#endif
