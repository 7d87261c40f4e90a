/* stack.c - what alloca gives: memory of a thread's own, from the end of its local memory
 * downwards, as much in all as the stack has. */
#include <string.h>

#include "common/simulator/checks/report.h"
#include "common/simulator/exec/exec_parts.h"

#define SLOT(T, offset) ((T *)(void *)(warp->file + (offset)))

void stack_clear(Warp *warp)
{
    uint64_t *stack = SLOT(uint64_t, warp->worker->kernel->calls.stack_slot);
    for (uint32_t i = 0; i < LANES; i++)
        stack[i] = warp->worker->launch->local_bytes;
}

static int stack_over(Warp *warp, const Ins *ins, uint32_t lane, uint64_t bytes)
{
    fault_at(warp, ins, SIMT_MEMCHECK, lane, 0, 0,
             "Stack overflow: alloca of %llu bytes, together with this thread's earlier ones, "
             "exceeds its stack of %llu bytes (cudaDeviceSetLimit, cudaLimitStackSize)",
             (unsigned long long)bytes, (unsigned long long)warp->worker->gpu->stack_limit);
    return -1;
}

/* Initial contents of a stack are undefined: all ones reads as NaN. */
int stack_take(Warp *warp, const Ins *ins)
{
    const uint64_t all = warp->worker->launch->local_bytes, limit = warp->worker->gpu->stack_limit;
    uint64_t *stack = SLOT(uint64_t, ins->d), cleared = 0;
    for (uint32_t m = warp->mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        uint64_t bytes =
            ins->bytes == 8 ? SLOT(uint64_t, ins->b)[lane] : SLOT(uint32_t, ins->b)[lane];
        uint64_t left = limit - stack_used(warp, 1u << lane), end = stack[lane];
        if (end > all || all - end > limit) {
            fault_at(
                warp, ins, SIMT_MEMCHECK, lane, end, 0,
                "Invalid stack pointer: stackrestore received a value that no stacksave returned");
            return -1;
        }
        if (bytes > left || all - end + bytes > left) return stack_over(warp, ins, lane, bytes);
        uint64_t begin = (end - bytes) & ~(uint64_t)(ins->aux - 1u);
        if (all - begin > left) return stack_over(warp, ins, lane, bytes);
        memset(warp->local + (size_t)lane * all + begin, 0xff, end - begin);
        stack[lane] = begin, cleared += end - begin;
    }
    warp_charge(warp, cleared_charge(cleared));
    return 0;
}
