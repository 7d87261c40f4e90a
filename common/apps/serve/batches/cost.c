#include "common/apps/serve/batches/cost.h"

#include <stdlib.h>
#include <string.h>

static int class_of(int size)
{
    int at = 0;
    while (at < COST_CLASSES - 1 && 1 << at < size)
        at++;
    return at;
}

static int by_length(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* The time within which seven eighths of the last batches were finished. */
static uint64_t usual(const uint64_t *took, int ever)
{
    uint64_t sorted[COST_RECENT];
    int count = ever < COST_RECENT ? ever : COST_RECENT;
    memcpy(sorted, took, (size_t)count * sizeof *took);
    qsort(sorted, (size_t)count, sizeof *sorted, by_length);
    return sorted[count - 1 - count / 8];
}

void cost_begin(Cost *cost, int size, uint64_t took)
{
    CostClass *class = &cost->size[class_of(size)];
    class->first[class->firsts++ % COST_RECENT] = took;
    class->at_first = class->now = usual(class->first, class->firsts);
}

/* A few recent batches are not enough for an estimate: then the first ones are used as well. */
void cost_note(Cost *cost, int size, uint64_t took, uint64_t now)
{
    CostClass *class = &cost->size[class_of(size)];
    if (now - class->last > cost->memory) class->recents = 0;
    class->recent[class->recents++ % COST_RECENT] = took;
    class->last = now;
    class->now = usual(class->recent, class->recents);
    if (class->recents < COST_RECENT && class->now < class->at_first) class->now = class->at_first;
}

/* A larger batch takes at least as long. */
uint64_t cost_of(const Cost *cost, int size, uint64_t now)
{
    uint64_t longest = 0;
    for (int i = 0; i <= class_of(size); i++) {
        const CostClass *class = &cost->size[i];
        uint64_t took = now - class->last > cost->memory ? class->at_first : class->now;
        if (took > longest) longest = took;
    }
    return longest;
}
