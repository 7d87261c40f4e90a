/* calls.c - calls of recursive functions (Routine): saved registers, frames in local memory, and
 * the stack size that a GPU would need.
 *
 * A frame belongs to the lanes that called together. The lanes may return one after the other, and
 * calls of several groups of lanes may be active at once: a lane's call is the latest frame that
 * contains the lane. */
#include <stdlib.h>
#include <string.h>

#include "common/simulator/checks/report.h"
#include "common/simulator/exec/exec_parts.h"

enum { FRAMES_BYTES = LANES * 8, MOST_PATHS = 1 << 20 };
/* Limits on the saved registers of pending calls, in bytes: of one warp, and of all warps of a
 * launch. */
static const size_t MOST_SAVED = 256u << 20, MOST_SAVED_IN_ALL = 2048u << 20;

int paths_grow(Warp *warp)
{
    uint32_t room = warp->stack_room * 2;
    if (!warp->worker->kernel->calls.routines || room > MOST_PATHS) return -1;
    Path *old = warp->stack == warp->own_stack ? NULL : warp->stack,
         *stack = realloc(old, room * sizeof *stack);
    if (!stack) return -1;
    if (!old) memcpy(stack, warp->own_stack, sizeof warp->own_stack);
    warp->stack = stack, warp->stack_room = room;
    return 0;
}

void calls_close(Warp *warp)
{
    if (warp->stack != warp->own_stack) free(warp->stack);
    free(warp->calls.frame), free(warp->calls.saved);
}

static uint64_t *frames_of(const Warp *warp)
{
    return (uint64_t *)(void *)(warp->file + warp->worker->kernel->calls.frame_slot);
}

uint32_t stack_used(const Warp *warp, uint32_t lanes)
{
    uint32_t used = 0;
    for (uint32_t k = warp->calls.count; k-- > 0 && lanes; lanes &= ~warp->calls.frame[k].mask)
        if (warp->calls.frame[k].mask & lanes && warp->calls.frame[k].stack > used)
            used = warp->calls.frame[k].stack;
    return used;
}

static int frames_grow(Warp *warp, size_t bytes)
{
    if (warp->calls.count == warp->calls.room) {
        uint32_t room = warp->calls.room ? 2 * warp->calls.room : 16;
        CallFrame *frame = realloc(warp->calls.frame, room * sizeof *frame);
        if (!frame) return -1;
        warp->calls.frame = frame, warp->calls.room = room;
    }
    if (warp->calls.saved_bytes + bytes <= warp->calls.saved_room) return 0;
    size_t room = 2 * warp->calls.saved_room + bytes, more = room - warp->calls.saved_room;
    size_t all = __atomic_add_fetch(&warp->worker->launch->saved_bytes, more, __ATOMIC_RELAXED);
    if (room > 2 * MOST_SAVED || all > MOST_SAVED_IN_ALL) return -1;
    char *saved = realloc(warp->calls.saved, room);
    if (!saved) return -1;
    warp->calls.saved = saved, warp->calls.saved_room = room;
    return 0;
}

/* Before the new frames are known: registers, and where the caller's frames are. */
static CallFrame *frame_push(Warp *warp, const Ins *ins, const Routine *callee, uint32_t stack)
{
    size_t registers = callee->end_slot - callee->first_slot;
    if (frames_grow(warp, registers + FRAMES_BYTES) != 0) {
        fault_at(warp, ins, SIMT_UNSUPPORTED, (uint32_t)__builtin_ctz(warp->mask), 0, 0,
                 "out of host memory for %u calls of %s at once", warp->calls.count + 1,
                 callee->function->name);
        return NULL;
    }
    CallFrame *frame = &warp->calls.frame[warp->calls.count++];
    *frame = (CallFrame){
        .call = ins, .mask = warp->mask, .stack = stack, .saved = warp->calls.saved_bytes};
    memcpy(warp->calls.saved + frame->saved, frames_of(warp), FRAMES_BYTES);
    memcpy(warp->calls.saved + frame->saved + FRAMES_BYTES, warp->file + callee->first_slot,
           registers);
    warp->calls.saved_bytes += registers + FRAMES_BYTES;
    return frame;
}

/* Between the caller's frame, or the kernel's variables, and the callee's. */
static void values_hand(Warp *warp, const CallFrame *frame, uint32_t lanes, int result)
{
    const SimtKernel *kernel = warp->worker->kernel;
    const CallSite *site = &kernel->calls.call[frame->call->aux];
    const uint64_t *callers = (const uint64_t *)(const void *)(warp->calls.saved + frame->saved);
    size_t stride = warp->worker->launch->local_bytes;
    for (; lanes; lanes &= lanes - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(lanes);
        unsigned char *local = warp->local + lane * stride;
        unsigned char *caller = local + (site->caller == NO_ROUTINE ? 0 : callers[lane]);
        unsigned char *callee = local + frames_of(warp)[lane];
        for (uint32_t i = 0; i < site->copies; i++) {
            const CallCopy *copy = &kernel->calls.copy[site->copy + i];
            if (copy->result != result) continue;
            if (result)
                memcpy(caller + copy->caller, callee + copy->callee, copy->bytes);
            else
                memcpy(callee + copy->callee, caller + copy->caller, copy->bytes);
        }
    }
}

int call_enter(Warp *warp, const Ins *ins)
{
    const SimtKernel *kernel = warp->worker->kernel;
    const CallSite *site = &kernel->calls.call[ins->aux];
    const Routine *callee = &kernel->calls.routine[site->routine];
    uint64_t limit = warp->worker->gpu->stack_limit, *frames = frames_of(warp);
    uint32_t stack = stack_used(warp, warp->mask) + callee->stack_bytes;
    if (stack > limit) {
        fault_at(warp, ins, SIMT_MEMCHECK, (uint32_t)__builtin_ctz(warp->mask), 0, 0,
                 "Stack overflow: %u %s %u bytes of this thread's stack, which has %llu "
                 "(cudaDeviceSetLimit, cudaLimitStackSize)",
                 warp->calls.count + 1,
                 warp->calls.count ? "calls that have not returned take"
                                   : "call that has not returned takes",
                 stack, (unsigned long long)limit);
        return -1;
    }
    CallFrame *frame = frame_push(warp, ins, callee, stack);
    if (!frame) return -1;
    for (uint32_t lanes = warp->mask; lanes; lanes &= lanes - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(lanes);
        frames[lane] = site->caller == NO_ROUTINE
                           ? kernel->local_bytes
                           : frames[lane] + kernel->calls.routine[site->caller].frame_bytes;
        memset(warp->local + lane * (size_t)warp->worker->launch->local_bytes + frames[lane], 0xff,
               callee->frame_bytes);
    }
    warp_charge(warp, cleared_charge((uint64_t)callee->frame_bytes * LANES));
    values_hand(warp, frame, warp->mask, 0);
    return 0;
}

/* Bits of predicates, words or pairs of words of some lanes. */
static void row_restore(char *to, const char *from, uint32_t width, uint32_t part, uint32_t lanes)
{
    for (uint32_t i = 0; i < ROW_BYTES / (width ? width : 4); i++) {
        if (width) {
            uint32_t lane = width == 8 ? i + part * LANES / 2 : i;
            if (lanes >> lane & 1) memcpy(to + i * width, from + i * width, width);
            continue;
        }
        uint32_t now, then;
        memcpy(&now, to + i * 4, 4), memcpy(&then, from + i * 4, 4);
        now = (now & ~lanes) | (then & lanes);
        memcpy(to + i * 4, &now, 4);
    }
}

static void registers_restore(Warp *warp, const CallFrame *frame, uint32_t lanes)
{
    const Routine *callee = &warp->worker->kernel->calls.routine[frame->call->v[0]];
    const char *from = warp->calls.saved + frame->saved + FRAMES_BYTES;
    char *to = warp->file + callee->first_slot;
    uint32_t bytes = callee->end_slot - callee->first_slot, part = 0;
    if (lanes == FULL_MASK) {
        memcpy(to, from, bytes);
        return;
    }
    for (uint32_t at = 0; at < bytes; at += ROW_BYTES) {
        uint32_t width = callee->width[at / ROW_BYTES];
        row_restore(to + at, from + at, width, part, lanes);
        part = width == 8 ? !part : 0;
    }
}

uint32_t call_leave(Warp *warp, uint32_t left, uint32_t *back)
{
    uint32_t k = warp->calls.count - 1;
    while (!(warp->calls.frame[k].mask & left))
        k--;
    CallFrame *frame = &warp->calls.frame[k];
    uint32_t lanes = frame->mask & left;
    *back = (uint32_t)(frame->call - warp->code) + 1;
    values_hand(warp, frame, lanes, 1);
    registers_restore(warp, frame, lanes);
    uint64_t *frames = frames_of(warp);
    for (uint32_t m = lanes; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        memcpy(&frames[lane], warp->calls.saved + frame->saved + lane * sizeof *frames,
               sizeof *frames);
    }
    frame->mask &= ~lanes;
    while (warp->calls.count && !(warp->calls.frame[warp->calls.count - 1].mask & warp->alive))
        warp->calls.saved_bytes = warp->calls.frame[--warp->calls.count].saved;
    return lanes;
}

/* ---- alloca -------------------------------------------------------------------------------- */
/* Memory of a thread's own, from the end of its local memory downwards, up to the stack size. */

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
