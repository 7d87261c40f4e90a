/* debug_hook.h - the points at which a debugger stops a launch and looks at its state.
 *
 * A GPU without a debugger has SimtGpu.debug NULL and runs the usual loops: the hook costs one
 * comparison each time a warp is scheduled. With a debugger, one host thread executes all blocks,
 * so that the order of the instructions, and each moment, is the same in every run. */
#ifndef CONVLAB_SIMT_CORE_DEBUG_HOOK_H
#define CONVLAB_SIMT_CORE_DEBUG_HOOK_H

#include "common/simulator/core/core.h"

/* One execution of a launch, from its first block to its result. */
typedef int DebugRun(SimtGpu *gpu, SimtKernel *kernel, const SimtLaunch *request,
                     SimtResult *result);

struct DebugHook {
    uint64_t moment;     /* warp instructions that the launch has executed */
    uint64_t until;      /* moment at which `stop` is called next, whatever the instruction */
    const uint8_t *mark; /* per instruction of the kernel: nonzero calls `stop` before it */
    int is_silent;       /* a part that was shown before runs again: no output of printf */
    int calls_after;     /* calls `after` for marked instructions */
    const Ins *use;      /* the instruction whose use of undefined registers is checked; or NULL */
    uint8_t *runs_alone; /* per warp of the block in hand: 0 holds it; NULL: none is held */

    /* In place of simt_launch; calls `run` once or several times. */
    int (*launch)(DebugHook *hook, SimtGpu *gpu, SimtKernel *kernel, const SimtLaunch *request,
                  SimtResult *result, DebugRun *run);
    /* Before the first block; may move launch->next to a later one. */
    void (*begin)(DebugHook *hook, Launch *launch);
    /* A block begins: its memories and registers are set up. */
    void (*block)(DebugHook *hook, Worker *worker);
    /* Before an instruction.  Nonzero: the launch ends here. */
    int (*stop)(DebugHook *hook, Warp *warp, const Ins *ins);
    /* After a marked instruction. */
    void (*after)(DebugHook *hook, Warp *warp, const Ins *ins);
    /* A check has found something in this instruction.  If it is an undefined register, `ins`
     * made the value, and `use` is executed. */
    void (*found)(DebugHook *hook, Warp *warp, const Ins *ins, const SimtReport *report);
};

#endif
