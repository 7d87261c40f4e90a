/* debugger.h - breakpoints, stepping, watchpoints, and travel through the history of launches.
 *
 * A stop calls DebugUi.stopped on the thread that executes the kernel. The user interface inspects
 * the state there, requests one of the actions below, and returns; then execution continues. */
#ifndef CONVLAB_DEBUGGER_DEBUGGER_H
#define CONVLAB_DEBUGGER_DEBUGGER_H

#include <signal.h>

#include "common/debugger/expression.h"
#include "common/debugger/history.h"
#include "common/simulator/core/debug_hook.h"

enum { STOP_TEXT = 1600, WATCH_BYTES = 64, WORKERS_MOST = 1 << 13 };

typedef enum StopKind {
    STOP_BREAKPOINT,
    STOP_STEP,
    STOP_WATCH,
    STOP_FINDING,
    STOP_INTERRUPT,
    STOP_ARRIVED,     /* at a requested moment */
    STOP_HISTORY_END, /* there is nothing before */
    STOP_LAUNCH_END
} StopKind;

typedef struct Stop {
    StopKind kind;
    int number; /* number of the breakpoint or watchpoint; 0: none */
    SimtCheck check;
    int is_temporary;
    char text[STOP_TEXT]; /* message for the user, or "" */
} Stop;

typedef enum BreakKind {
    BREAK_LINE,
    BREAK_FUNCTION,
    BREAK_PTX,
    BREAK_WATCH,
    BREAK_CATCH
} BreakKind;
typedef enum WatchKind { WATCH_WRITE = 1, WATCH_READ = 2, WATCH_ACCESS = 3 } WatchKind;
typedef enum CatchKind {
    CATCH_FAULT = 1,
    CATCH_RACE = 2,
    CATCH_UNINITIALIZED = 4,
    CATCH_BARRIER = 8,
    CATCH_LAUNCH = 16,
    CATCH_END = 32
} CatchKind;

typedef struct Breakpoint {
    int number, is_temporary, is_enabled, is_quiet; /* quiet: a log point of DAP */
    BreakKind kind;
    char file[256], function[SYMBOL_NAME];
    uint32_t line, asked_line;
    uint32_t ptx; /* line of the PTX text */
    char condition_text[256], log[256];
    Expression *condition;
    int64_t ignore;
    uint64_t hits, wanted_hits; /* wanted: stops from this hit on; 0: at each */
    CatchKind catches;
    WatchKind watches;
    char expression[200];           /* expression of a watchpoint */
    uint64_t address, bytes, block; /* watched range; block and thread: for shared and local
                                     * memory */
    uint32_t warp, lane;
    const Type *type;
    unsigned char old[WATCH_BYTES];
    int reaches_launch; /* it watches in the launch of this number, from 1; 0: in all */
    struct Breakpoint *next;
} Breakpoint;

/* A thread, by numbers that stay the same when a launch is executed again. */
typedef struct Focus {
    uint64_t block;
    uint32_t warp, lane, frame;
} Focus;

typedef enum StepKind {
    STEP_LINE,
    STEP_OVER,
    STEP_INSTRUCTION,
    STEP_INSTRUCTION_OVER,
    STEP_FINISH,
    STEP_UNTIL
} StepKind;

typedef enum PlanKind { PLAN_NONE, PLAN_CONTINUE, PLAN_STEP, PLAN_TRAVEL, PLAN_KILL } PlanKind;

typedef struct Moment {
    uint32_t launch; /* from 0 among those of the history */
    uint64_t moment;
} Moment;

typedef enum SearchKind {
    SEARCH_BREAKPOINT, /* reverse-continue */
    SEARCH_LINE,       /* reverse-step */
    SEARCH_OVER,       /* reverse-next */
    SEARCH_INSTRUCTION,
    SEARCH_CALLER, /* reverse-finish */
    SEARCH_WRITER
} SearchKind;

/* The action that the user requested. */
typedef struct Plan {
    PlanKind kind, interrupted; /* interrupted: by the stop, and resumed after it */
    StepKind step;
    uint32_t step_count, step_file, step_line, step_depth, step_frames;
    Focus step_focus;
    uint64_t advance_line; /* a temporary stop of `until` and `advance`; 0: none */
    char advance_file[256];
} Plan;

/* Execution of earlier launches again, to a moment or through a segment that is searched. */
typedef struct Travel {
    enum { MODE_LIVE, MODE_GOTO, MODE_SEARCH } mode;
    int aborted, is_arriving;
    Moment origin, target;
    Focus target_focus;
    int follows_warp; /* Boolean: the focus is the thread that executes at the target */
    Stop arrival;     /* the stop that is reported at the target */
} Travel;

/* The last stop of the searched segment. */
typedef struct SearchHit {
    int found;
    Moment when;
    Focus focus;
    int number;
    char text[STOP_TEXT];
} SearchHit;

/* The source lines of the thread whose step is searched. */
typedef struct SearchLines {
    uint32_t line, file, depth, frames;
    uint64_t begin, before, call;
    int has_run, has_before, has_call;
    Focus before_focus;
} SearchLines;

/* The target of a search by reverse execution, between two moments of one launch. */
typedef struct Search {
    SearchKind kind;
    uint64_t segment_begin, segment_end;
    uint32_t segment_checkpoint;
    SearchHit hit;
    SearchLines lines;
    uint64_t earliest; /* moment before which nothing is searched */
    /* of SEARCH_WRITER */
    uint64_t address, bytes, block;
    uint32_t warp, lane;
    unsigned char old[WATCH_BYTES]; /* value before an instruction whose bytes are not known */
    int has_old;
    char name[200];
} Search;

typedef struct Access {
    uint64_t address[LANES];
    uint32_t mask, bytes;
    int reads, writes, is_exact; /* not exact: the addresses are not known before */
} Access;

/* A thread that read or wrote a place. */
typedef struct Party {
    Moment when;
    uint64_t block, count;
    uint32_t thread[3], warp, lane, from;
    int writes;
    uint64_t epoch;
} Party;

enum { PARTIES = 64 };

/* Observes a range of memory while execution is repeated up to the present moment. */
typedef struct Survey {
    uint64_t address, bytes, block;
    int is_block; /* only the memory of one block */
    int reads, writes;
    Party *word; /* per 4 bytes the last writer; NULL: parties are listed */
    Party party[PARTIES];
    uint32_t parties;
    uint64_t all;
} Survey;

typedef struct Debugger Debugger;

typedef struct DebugUi {
    void (*stopped)(Debugger *debugger, const Stop *stop);
    void (*say)(Debugger *debugger, const char *text); /* prints one line immediately */
    void *context;
} DebugUi;

struct Debugger {
    DebugHook hook;   /* first */
    SimtGpu *gpu;     /* the program's; NULL before it opens one */
    SimtGpu *scratch; /* holds the modules before that, so that their lines are known */
    DebugUi *ui;
    Breakpoint *breakpoint;
    int last_number;
    int is_tracked; /* stops at writes, or looks at accesses */
    int catches;    /* CatchKind */
    ValueHistory values;
    History history;
    volatile sig_atomic_t interrupted;
    int is_killed;

    /* The launch that executes, and where it is. */
    uint32_t run; /* its number in the history */
    Launch *launch;
    KernelMap *map;
    uint8_t *mark;
    uint32_t mark_room;
    Warp *warp; /* NULL: between launches */
    const Ins *ins;
    Worker **worker;
    uint32_t workers;
    uint32_t launches; /* launches of the whole program */
    Access access;     /* access of the instruction that is about to execute */
    int has_access;
    uint32_t next_change;
    uint64_t run_start;    /* moment at which this execution began */
    uint64_t repeated;     /* warp instructions that the last command executed again */
    uint64_t block_moment; /* start of the current block; 0: blocks run side by side */

    Focus focus;
    int is_stopped;
    int is_inside; /* stopped in an instruction that the moment has counted already */

    Plan plan;
    Travel travel;
    Search search;
    Survey *survey;
};

void debugger_open(Debugger *debugger, DebugUi *ui);
/* Modules of the program, before it runs: their kernels are known from then on. */
int debugger_image(Debugger *debugger, const void *image, size_t bytes, Error *error);
/* The simulated GPU that a program has opened. */
void debugger_attach(Debugger *debugger, SimtGpu *gpu);
/* Every kernel of the loaded modules; maps are made as they are needed. */
typedef int KernelVisit(void *context, KernelMap *map);
int debugger_kernels(Debugger *debugger, KernelVisit *visit, void *context);

/* ---- breakpoints ---- */
/* "conv.cu:12", "12", "kernel" or "*88" (a line of the PTX). NULL with error. If no module is
 * loaded yet, the breakpoint waits for one. */
Breakpoint *debugger_break(Debugger *debugger, const char *place, const char *condition,
                           int is_temporary, Error *error);
Breakpoint *debugger_watch(Debugger *debugger, const char *expression, WatchKind kind,
                           const char *condition, Error *error);
Breakpoint *debugger_catch(Debugger *debugger, CatchKind kind);
Breakpoint *debugger_breakpoint(Debugger *debugger, int number);
int debugger_delete(Debugger *debugger, int number); /* -1: none */
int debugger_condition(Debugger *debugger, Breakpoint *breakpoint, const char *text, Error *error);
void breakpoint_describe(const Debugger *debugger, const Breakpoint *breakpoint, char *text,
                         size_t bytes);

/* ---- actions, at a stop ---- */
void debugger_continue(Debugger *debugger);
void debugger_step(Debugger *debugger, StepKind kind, uint32_t count);
/* Until the line, or the function's return.  -1 with error. */
int debugger_advance(Debugger *debugger, const char *place, int until, Error *error);
int debugger_reverse(Debugger *debugger, SearchKind kind, Error *error);
/* Back to the instruction that last wrote these bytes. */
int debugger_writer(Debugger *debugger, const char *name, uint64_t address, uint64_t bytes,
                    Error *error);
/* Executes the launch again up to here, and observes each access. The result is available when the
 * same stop is reached again. */
int debugger_survey(Debugger *debugger, Survey *survey, Error *error);
void debugger_kill(Debugger *debugger);
void debugger_interrupt(Debugger *debugger); /* may be called by a signal's handler */

/* ---- at a stop ---- */
/* The focus: its warp, NULL where no kernel executes, and its instruction. */
Warp *debugger_warp(const Debugger *debugger);
const Ins *debugger_ins(const Debugger *debugger, const Warp *warp);
Worker *debugger_worker(const Debugger *debugger, uint64_t block);
int debugger_frame(Debugger *debugger, Frame *frame);
/* -1: there is no warp to evaluate in. */
int debugger_scene(Debugger *debugger, uint32_t mask, Scene *scene, Error *error);
/* Why debugger_scene fails: the launch has ended, or the program does not run. */
const char *debugger_why_no_thread(const Debugger *debugger);
int debugger_assign(Debugger *debugger, const char *expression, Value *value, Error *error);
void thread_of(const Warp *warp, uint32_t lane, uint32_t thread[3]);
uint32_t lanes_of(const Warp *warp); /* lanes that exist in the block */
/* Address of "y[n=0,k=1,p=2,q=3]", or of an expression. -1 with error. */
int debugger_locate(Debugger *debugger, const char *text, uint64_t *address, uint64_t *bytes,
                    const Type **type, Error *error);
/* An address in words: tensor and index, or allocation and offset. */
void debugger_describe(Debugger *debugger, uint64_t address, char *text, size_t bytes);
int access_of(const Warp *warp, const Ins *ins, Access *access);

#endif
