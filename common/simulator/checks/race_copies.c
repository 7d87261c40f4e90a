/* race_copies.c - racecheck among the copies of one group (cp.async): their order of arrival is
 * undefined, so no two may write different bytes to one address. */
#include <stdio.h>
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

static void pending_report(Warp *warp, const AsyncCopy *copy, uint32_t at, uint32_t place)
{
    uint32_t ins = place >> RACE_INS_SHIFT, thread = place_thread(place);
    Warp *reader = &warp->worker->warp[thread / LANES % warp->block->warps];
    RaceEnds ends =
        race_ends(reader, &reader->code[ins], copy->ins, warp->index * LANES + copy->lane);
    race_add(reader, &reader->code[ins], copy->ins, thread % LANES, 0, WORD,
             "Race reported between cp.async at %.100s by thread %s and Read access at %.100s on "
             "__shared__ memory, offset 0x%x: the copy is still in flight. A cp.async.wait_group "
             "before the barrier is missing, or lets too many groups stay in flight",
             ends.where, ends.who, ends.here, at);
}

void race_copies_read(Warp *warp, const AsyncCopy *copy, uint32_t count)
{
    const uint32_t epochs = (1u << RACE_EPOCH_BITS) - 1;
    const RaceWords *words = warp->worker->race.shared;
    uint32_t now = (uint32_t)warp->worker->epoch;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t since = now - copy[i].epoch;
        for (uint32_t at = copy[i].to; since && at < copy[i].to + copy[i].bytes; at += WORD) {
            uint32_t read = words->read[at / WORD];
            if (!read || ((now - (read >> RACE_EPOCH_SHIFT)) & epochs) >= since) continue;
            pending_report(warp, &copy[i], at, words->read_at[at / WORD]);
            return;
        }
    }
}

void race_copy_describe(const Warp *warp, uint32_t offset, char *text, size_t bytes)
{
    const Worker *worker = warp->worker;
    char where[200];
    *text = 0;
    for (uint32_t w = 0; w < warp->block->warps; w++) {
        const AsyncCopies *copies = &worker->warp[w].copies;
        for (uint32_t i = 0; i < copies->count; i++) {
            const AsyncCopy *copy = &copies->copy[i];
            if (offset - copy->to >= copy->bytes) continue;
            source_name(worker->kernel, warp->code[copy->ins].from, where, sizeof where);
            snprintf(text, bytes,
                     ": the cp.async at %.100s that writes it is still in flight; its "
                     "cp.async.wait_group is missing, or comes later",
                     where);
            return;
        }
    }
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
