/* touch.c - which words of device memory a launch touched, for the order between streams.  Accesses
 * of less than a word are not noted. */
#include "common/simulator/checks/touch.h"

#include "common/simulator/checks/race_early.h"

void touch_note(Warp *warp, const Ins *ins, const uint64_t *address, uint32_t mask, uint32_t bytes,
                SimtTouchKind kind)
{
    const SimtLaunch *launch = warp->worker->launch->launch;
    const SimtTouch *touch = launch->touch;
    if (launch->early && warp->worker->racecheck) race_early(warp, ins, address, mask, bytes, kind);
    if (!touch || bytes < 4) return;
    for (uint32_t m = mask; m; m &= m - 1) {
        uint64_t first = (address[__builtin_ctz(m)] - DEVICE_BASE) / 4;
        for (uint64_t word = first; word < first + bytes / 4; word++) {
            uint64_t bit = 1ull << word % 64;
            if (word / 64 >= touch->groups) continue;
            uint64_t *group = &touch->bits[kind][word / 64];
            if (!(__atomic_load_n(group, __ATOMIC_RELAXED) & bit))
                __atomic_fetch_or(group, bit, __ATOMIC_RELAXED);
        }
    }
}
