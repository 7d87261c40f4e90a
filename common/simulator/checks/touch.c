/* touch.c - which words of device memory a launch touched, for the order between streams.  An
 * access to a part of a word counts as one to the word: this may report a race between two streams
 * that use different halves of a word, and misses none. */
#include "common/simulator/checks/touch.h"

#include "common/simulator/checks/race_early.h"
#include "common/simulator/core/kinds.h"
#include "common/simulator/core/ops.h"

static void bit_set(uint64_t *bits, uint64_t at)
{
    uint64_t bit = 1ull << at % 64;
    if (!(__atomic_load_n(&bits[at / 64], __ATOMIC_RELAXED) & bit))
        __atomic_fetch_or(&bits[at / 64], bit, __ATOMIC_RELAXED);
}

static void word_note(const SimtTouch *touch, uint64_t word, SimtTouchKind kind)
{
    uint64_t page = word / 64 / SIMT_TOUCH_PAGE, pages = touch->groups / SIMT_TOUCH_PAGE;
    if (page < pages) bit_set(touch->bits[kind], word);
    bit_set(touch->pages, page < pages ? page : pages);
}

/* SimtTouch.atomics of an atomic, or of a bulk reduction, which returns no value. */
static uint32_t atomic_bits(const Ins *ins)
{
    const uint32_t bulk = 1u << 15, op = ins->aux & 15;
    if (ins->op != OP_ATOM) return bulk;
    int fetches = ins->order & ORDER_READS || op == ATOM_EXCH || op == ATOM_CAS;
    return 1u << op | (fetches ? SIMT_TOUCH_FETCHES : 0);
}

void touch_note(Warp *warp, const Ins *ins, const uint64_t *address, uint32_t mask, uint32_t bytes,
                SimtTouchKind kind)
{
    const SimtLaunch *launch = warp->worker->launch->launch;
    const SimtTouch *touch = launch->touch;
    if (launch->early && warp->worker->race.is_on)
        race_early(warp, ins, address, mask, bytes, kind);
    if (!touch) return;
    if (kind == SIMT_TOUCH_ATOMIC)
        __atomic_fetch_or(touch->atomics, atomic_bits(ins), __ATOMIC_RELAXED);
    for (uint32_t m = mask; m; m &= m - 1) {
        uint64_t from = address[__builtin_ctz(m)] - DEVICE_BASE;
        for (uint64_t word = from / 4; word <= (from + bytes - 1) / 4; word++)
            word_note(touch, word, kind);
    }
}

void touch_note_read(Warp *warp, const Ins *ins, uint32_t lane, uint64_t address, uint32_t bytes)
{
    uint64_t of_lane[LANES] = {0};
    of_lane[lane] = address;
    if (warp->worker->launch->notes)
        touch_note(warp, ins, of_lane, 1u << lane, bytes, SIMT_TOUCH_READ);
}

void touch_note_heap(Warp *warp)
{
    const SimtTouch *touch = warp->worker->launch->launch->touch;
    if (!touch) return;
    __atomic_fetch_or(touch->atomics, SIMT_TOUCH_FETCHES, __ATOMIC_RELAXED);
    word_note(touch, (warp->worker->gpu->heap.begin - DEVICE_BASE) / 4, SIMT_TOUCH_ATOMIC);
}
