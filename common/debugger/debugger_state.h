/* debugger_state.h - shared declarations of the debugger's sources; private to this folder. */
#ifndef CONVLAB_DEBUGGER_STATE_H
#define CONVLAB_DEBUGGER_STATE_H

#include "common/debugger/debugger.h"

/* Bits of DebugHook.mark. */
enum { MARK_BREAK = 1, MARK_ACCESS = 2, MARK_WRITE = 4 /* may write device memory */ };

/* ---- breakpoint.c ---- */
/* Marks the instructions of the current launch at which a stop is requested. */
void marks_set(Debugger *debugger);
/* The breakpoint that stops here; NULL: none does.  *lane: the first lane of those that it is
 * for. */
Breakpoint *breakpoint_hit(Debugger *debugger, Warp *warp, const Ins *ins, int counts,
                           uint32_t *lane, char *text, size_t room);
/* Watchpoints that this access or this change of a value concerns, and what to say. */
Breakpoint *watch_before(Debugger *debugger, const Warp *warp, uint32_t *lane);
Breakpoint *watch_after(Debugger *debugger, const Warp *warp, uint32_t *lane, char *text,
                        size_t room);
void watches_load(Debugger *debugger);
void breakpoint_remove(Debugger *debugger, Breakpoint *breakpoint);
int is_watching(const Debugger *debugger);

/* ---- writer.c ---- */
/* Lists the device memory that the instruction is about to write. */
void writes_note(LaunchRecord *record, const Warp *warp, const Ins *ins);
/* May the search find something between this checkpoint and the next? */
int writer_may_be_in(const Debugger *debugger, const Checkpoint *start);
/* Before each marked instruction of a searched segment: the lane that writes the searched bytes, or
 * -1. */
int writer_before(Debugger *debugger, const Warp *warp);
/* After it: have they changed?  Instructions whose bytes are not known before need this. */
int writer_after(Debugger *debugger, const Warp *warp);

/* ---- run.c ---- */
void hooks_set(Debugger *debugger);

#endif
