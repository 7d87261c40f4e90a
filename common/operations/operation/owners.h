/* owners.h - whose value an output holds that is not its own: outputs by their right values. */
#ifndef CONVLAB_OPERATION_OWNERS_H
#define CONVLAB_OPERATION_OWNERS_H

#include <stddef.h>

/* An output, by its place in the tensor, and the value that it should hold. */
typedef struct Owner {
    double value;
    size_t index;
} Owner;

/* The smallest value first. */
void owners_sort(Owner *owner, size_t count);

/* How many of `count` sorted ones should hold `value`, give or take `allowed`: 0, 1, or 2 for all
 * that are more.  The lowest of them is owner[*first]. */
size_t owners_with(const Owner *owner, size_t count, double value, double allowed, size_t *first);

#endif
