/* race_early.c - racecheck between a launch and the one before it on its stream, which let it begin
 * before its own end (griddepcontrol.launch_dependents, programmatic stream serialization).
 *
 * Launches are executed one after another here, so a launch without the required wait finds all
 * results. The accesses of the earlier launch are known for each word. Until a warp has waited
 * (griddepcontrol.wait), it may not access such a word if either access is a write. The wait of
 * another warp of the block takes effect at the next barrier. In kernels whose blocks order each
 * other, one wait counts for all: this may miss a race, but reports no false one. */
#include "common/simulator/checks/race_early.h"

#include "common/simulator/checks/report.h"

void race_early_over(Warp *warp)
{
    Block *block = warp->block;
    warp->early_over = 1;
    if (!block->early_over) block->early_over = warp->worker->epoch;
    if (warp->worker->kernel->traits.has_fences)
        __atomic_store_n(&warp->worker->launch->early_over, 1, __ATOMIC_RELAXED);
}

int race_early_waited(const Warp *warp)
{
    uint64_t waited = warp->block->early_over;
    return warp->early_over || (waited && warp->worker->epoch > waited) ||
           __atomic_load_n(&warp->worker->launch->early_over, __ATOMIC_RELAXED);
}

/* The conflicting access of the previous launch to the word; NULL: none. */
static const char *conflict(const SimtTouch *before, uint64_t word, SimtTouchKind kind)
{
    if (word / 64 >= before->groups) return NULL;
    uint64_t at = word / 64, bit = 1ull << word % 64;
    if (before->bits[SIMT_TOUCH_WRITE][at] & bit) return "writes";
    if (kind != SIMT_TOUCH_ATOMIC && before->bits[SIMT_TOUCH_ATOMIC][at] & bit) return "changes";
    return kind != SIMT_TOUCH_READ && before->bits[SIMT_TOUCH_READ][at] & bit ? "reads" : NULL;
}

void race_early(Warp *warp, const Ins *ins, const uint64_t *address, uint32_t mask, uint32_t bytes,
                SimtTouchKind kind)
{
    static const char *const KIND[] = {
        [SIMT_TOUCH_READ] = "Read", [SIMT_TOUCH_WRITE] = "Write", [SIMT_TOUCH_ATOMIC] = "Atomic"};
    const Launch *launch = warp->worker->launch;
    if (race_early_waited(warp)) return;
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        for (uint64_t at = address[lane] & ~3ull; at < address[lane] + bytes; at += 4) {
            const char *does = conflict(launch->launch->early, (at - DEVICE_BASE) / 4, kind);
            if (!does) continue;
            char element[160];
            memory_element(&launch->gpu->memory, at, element, sizeof element);
            finding_add(warp, ins, SIMT_RACECHECK, lane, at, bytes,
                        "Race between launches: %s access to __global__ memory%s, which kernel "
                        "%.100s %s: it lets this launch begin before its own end "
                        "(griddepcontrol.launch_dependents), and this thread has not waited for "
                        "that; cudaGridDependencySynchronize() or griddepcontrol.wait comes first",
                        KIND[kind], element, launch->launch->early_name, does);
            return;
        }
    }
}
