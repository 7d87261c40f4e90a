/* race_copies.c - racecheck among the copies of one group (cp.async): their order of arrival is
 * undefined, so no two may write different bytes to one address. */
#include <string.h>

#include "common/simulator/checks/race.h"
#include "common/simulator/checks/report.h"

enum { WORD = 4, PART_WORDS = 64, PART = WORD * PART_WORDS };

/* The words of a copy, in its part of shared memory. No copy spans two parts. */
static uint64_t copy_words(const AsyncCopy *copy)
{
    return ((1ull << copy->bytes / WORD) - 1) << copy->to / WORD % PART_WORDS;
}

/* Do both write different bytes to their common addresses? */
static int copies_clash(const AsyncCopy *one, const AsyncCopy *other)
{
    uint32_t from = one->to > other->to ? one->to : other->to, one_end = one->to + one->bytes,
             other_end = other->to + other->bytes, end = one_end < other_end ? one_end : other_end;
    return memcmp(one->data + (from - one->to), other->data + (from - other->to), end - from) != 0;
}

static void clash_report(Warp *warp, const AsyncCopy *copy, const AsyncCopy *before)
{
    RaceEnds ends =
        race_ends(warp, &warp->code[copy->ins], before->ins, warp->index * LANES + before->lane);
    race_add(warp, &warp->code[copy->ins], before->ins, copy->lane, 0, copy->bytes,
             "Race reported between Write access at %.100s by thread %s and Write access at "
             "%.100s: WAW hazard on __shared__ memory, offset 0x%x, because the copies of one "
             "group arrive in any order",
             ends.where, ends.who, ends.here, copy->to);
}

/* The latest copy before that goes where copy `i` goes; there is one. */
static const AsyncCopy *copy_before(const AsyncCopy *copy, uint32_t i)
{
    for (uint32_t k = i - 1;; k--)
        if (copy[k].to / PART == copy[i].to / PART && copy_words(&copy[k]) & copy_words(&copy[i]))
            return &copy[k];
}

static void group_check(Warp *warp, const AsyncCopy *copy, uint32_t count)
{
    uint64_t *taken = warp->worker->race.copied;
    int told = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t words = copy_words(&copy[i]), *part = &taken[copy[i].to / PART];
        const AsyncCopy *before = *part & words && !told ? copy_before(copy, i) : NULL;
        if (before && copies_clash(&copy[i], before))
            clash_report(warp, &copy[i], before), told = 1;
        *part |= words;
    }
    for (uint32_t i = 0; i < count; i++)
        taken[copy[i].to / PART] = 0;
}

void race_copies(Warp *warp, uint32_t group)
{
    const AsyncCopy *copy = warp->copies.copy;
    for (uint32_t i = 0, end; i < warp->copies.count; i = end) {
        for (end = i + 1; end < warp->copies.count && copy[end].group == copy[i].group;)
            end++;
        if ((int32_t)(copy[i].group - group) < 0) group_check(warp, &copy[i], end - i);
    }
}
