#include "common/serve/cost.h"

static int class_of(int size)
{
    int at = 0;
    while (at < COST_CLASSES - 1 && 1 << at < size)
        at++;
    return at;
}

static uint64_t second_longest(const uint64_t *took, int count)
{
    uint64_t longest = 0, second = 0;
    for (int i = 0; i < count; i++) {
        if (took[i] > longest)
            second = longest, longest = took[i];
        else if (took[i] > second)
            second = took[i];
    }
    return count > 1 ? second : longest;
}

static uint64_t of_recent(const uint64_t *took, int ever)
{
    return second_longest(took, ever < COST_RECENT ? ever : COST_RECENT);
}

void cost_begin(Cost *cost, int size, uint64_t took)
{
    CostClass *class = &cost->size[class_of(size)];
    class->first[class->firsts++ % COST_RECENT] = took;
    class->at_first = class->now = of_recent(class->first, class->firsts);
}

/* A few recent batches do not yet speak for the class: then the first ones do as well. */
void cost_note(Cost *cost, int size, uint64_t took, uint64_t now)
{
    CostClass *class = &cost->size[class_of(size)];
    if (now - class->last > COST_MEMORY) class->recents = 0;
    class->recent[class->recents++ % COST_RECENT] = took;
    class->last = now;
    class->now = of_recent(class->recent, class->recents);
    if (class->recents < COST_RECENT && class->now < class->at_first) class->now = class->at_first;
}

/* A larger batch takes no less time. */
uint64_t cost_of(const Cost *cost, int size, uint64_t now)
{
    uint64_t longest = 0;
    for (int i = 0; i <= class_of(size); i++) {
        const CostClass *class = &cost->size[i];
        uint64_t took = now - class->last > COST_MEMORY ? class->at_first : class->now;
        if (took > longest) longest = took;
    }
    return longest;
}
