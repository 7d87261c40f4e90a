/* retries.c - cost of compare-and-swap loops on shared memory when warps contend for the same
 * words.
 *
 * An iteration of such a loop loads the lanes' words, adds, and swaps if the words are unchanged.
 * All warps are assumed to start together, after a barrier, and to do nothing else in between. The
 * effect of other work is small, because warps that have contended once remain staggered. The time
 * from load to swap is two fifths of an iteration. If n warps contend continuously for one word,
 * there are 0.4 n failed iterations per success (docs/data/h200/retries.tsv). */
#include "common/simulator/traffic/retries.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_NOTED = 1 << 14, MOST_WARPS = 64, WORDS = 1 << 16 };

/* Thousandths of an iteration: time to the swap; additional time if all lanes succeed; maximum
 * random additional time; delay between the starts of warps. */
enum { TURN = 1000, SWAP = 400, MORE = 100, CHANCE = 200, BEHIND = 20 };

/* One warp in its list of atomics. */
typedef struct Trying {
    const Retry *at, *end;
    uint32_t rest; /* lanes that are not done */
    int swaps;     /* it has loaded */
    uint64_t next, loaded;
} Trying;

static uint64_t chance(Retried *retried)
{
    enum { MULTIPLIER = 1664525, INCREMENT = 1013904223 };
    retried->chance = retried->chance * MULTIPLIER + INCREMENT;
    return (uint64_t)(retried->chance >> 8) * CHANCE >> 24;
}

void retry_note(Retried *retried, uint32_t warp, const uint32_t *offset, uint32_t mask,
                uint32_t changing, uint32_t bytes, const AtomicPasses *alone)
{
    if (retried->count && retried->one[retried->count - 1].warp > warp) retries_play(retried);
    if (retried->count == MOST_NOTED || warp >= MOST_WARPS) return;
    if (retried->count == retried->room) {
        uint32_t room = retried->room ? 2 * retried->room : 64;
        Retry *more = realloc(retried->one, room * sizeof *more);
        if (!more) return;
        retried->one = more, retried->room = room;
    }
    Retry *one = &retried->one[retried->count++];
    *one = (Retry){.warp = warp, .mask = mask, .changing = changing & mask, .bytes = bytes};
    memcpy(one->offset, offset, sizeof one->offset);
    retried->alone.rounds += alone->rounds, retried->alone.loads += alone->loads;
    retried->alone.swaps += alone->own, retried->alone.needed += alone->needed;
}

/* The next unfinished warp; NULL: all are done. */
static Trying *next_of(Trying *warp)
{
    Trying *next = NULL;
    for (Trying *w = warp; w < warp + MOST_WARPS; w++)
        if (w->at != w->end && (!next || w->next < next->next)) next = w;
    return next;
}

/* The warp swaps: its lanes whose words are unchanged are done. */
static void turn_end(Retried *retried, Trying *warp, RetrySums *sums)
{
    const Retry *one = warp->at;
    AtomicPasses passes = {0};
    uint32_t changing = warp->rest & one->changing,
             served = atomic_round(one->offset, warp->rest, changing, one->bytes, &passes),
             done = 0;
    sums->rounds++, sums->loads += passes.loads;
    sums->swaps += passes.own, sums->needed += passes.needed;
    for (uint32_t m = served; m; m &= m - 1) {
        uint64_t *changed = &retried->changed[one->offset[__builtin_ctz(m)] / 4 % WORDS];
        if (*changed <= warp->loaded) done |= m & -m;
    }
    for (uint32_t m = done; m; m &= m - 1)
        retried->changed[one->offset[__builtin_ctz(m)] / 4 % WORDS] = warp->next;
    warp->rest = changing & ~done;
    warp->swaps = 0;
    warp->next += TURN - SWAP + chance(retried);
    if (warp->rest) return;
    warp->next += MORE;
    if (++warp->at != warp->end) warp->rest = warp->at->mask;
}

void retries_play(Retried *retried)
{
    Trying trying[MOST_WARPS] = {{0}}, *warp;
    RetrySums sums = {0};
    retried->chance = 1; /* independent of earlier replays on this host thread */
    if (!retried->changed) retried->changed = calloc(WORDS, sizeof *retried->changed);
    for (uint32_t i = 0; i < retried->count && retried->changed; i++) {
        const Retry *one = &retried->one[i];
        warp = &trying[one->warp];
        if (!warp->at) {
            *warp = (Trying){.at = one, .rest = one->mask};
            warp->next = retried->clock + one->warp * BEHIND;
        }
        warp->end = one + 1;
    }
    while (retried->changed && (warp = next_of(trying))) {
        retried->clock = warp->next;
        if (warp->swaps) {
            turn_end(retried, warp, &sums);
        } else {
            warp->loaded = warp->next, warp->swaps = 1;
            warp->next += SWAP + chance(retried);
        }
    }
    retried->clock += 2 * TURN;
    if (retried->changed) {
        retried->failed.rounds += sums.rounds - retried->alone.rounds;
        retried->failed.loads += sums.loads - retried->alone.loads;
        retried->failed.swaps += sums.swaps - retried->alone.swaps;
        retried->failed.needed += sums.needed - retried->alone.needed;
    }
    retried->count = 0, retried->alone = (RetrySums){0};
}

void retries_close(Retried *retried)
{
    free(retried->one), free(retried->changed);
}
