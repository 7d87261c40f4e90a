/* run.c - the debugger's side of the hook: stops, steps, and execution from a checkpoint. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/debugger/debugger_state.h"
#include "common/simulator/core/ops.h"

static Debugger *debugger_of(DebugHook *hook)
{
    return (Debugger *)hook;
}

static LaunchRecord *record_of(Debugger *d)
{
    return &d->history.launch[d->run];
}

static int is_last(const Debugger *d)
{
    return d->run + 1 == d->history.launches;
}

static uint32_t scope_frames(const Warp *warp)
{
    return warp->calls.count;
}

static uint32_t depth_of(const Debugger *d, const Warp *warp, const Ins *ins)
{
    return spot_of(d->map, ins)->depth + scope_frames(warp);
}

/* ---- a stop ---- */

static uint32_t lane_near(uint32_t mask, uint32_t lane)
{
    if (mask >> lane & 1) return lane;
    return mask ? (uint32_t)__builtin_ctz(mask) : lane;
}

static void focus_set(Debugger *d, const Warp *warp, uint32_t lane)
{
    d->focus = (Focus){.block = warp->block->number, .warp = warp->index, .lane = lane};
}

static void plan_begin(Debugger *d)
{
    int every = d->plan.kind == PLAN_STEP;
    d->hook.until = every || d->interrupted ? 0 : UINT64_MAX;
    LaunchRecord *record = record_of(d);
    if (!every && d->hook.is_silent && d->hook.until > record->furthest)
        d->hook.until = record->furthest;
    if (d->next_change < record->changes && record->change[d->next_change].moment < d->hook.until)
        d->hook.until = record->change[d->next_change].moment;
}

/* Shows the stop and waits for what to do.  1: this execution of the launch ends. */
static int stop_here(Debugger *d, const Stop *stop)
{
    LaunchRecord *record = record_of(d);
    if (d->hook.moment > record->furthest) record->furthest = d->hook.moment;
    if (stop->kind != STOP_INTERRUPT) d->plan.advance_line = 0;
    d->plan.interrupted = d->plan.kind;
    d->plan.kind = PLAN_NONE;
    d->is_stopped = 1;
    marks_set(d);
    d->ui->stopped(d, stop);
    d->is_stopped = 0;
    if (d->plan.kind == PLAN_TRAVEL || d->plan.kind == PLAN_KILL) {
        d->travel.aborted = 1;
        return 1;
    }
    marks_set(d);
    plan_begin(d);
    return 0;
}

/* The same while an instruction executes; where the execution is to end, the next stop ends it. */
static void stop_inside(Debugger *d, const Stop *stop)
{
    d->is_inside = 1;
    if (stop_here(d, stop)) d->hook.until = 0;
    d->is_inside = 0;
}

static int step_is_done(Debugger *d, const Warp *warp, const Ins *ins)
{
    const Spot *spot = spot_of(d->map, ins);
    uint32_t depth;
    if (warp->block->number != d->plan.step_focus.block || warp->index != d->plan.step_focus.warp ||
        !(warp->mask >> d->plan.step_focus.lane & 1) || ins->op == OP_JOIN)
        return 0;
    depth = depth_of(d, warp, ins);
    if (d->plan.step == STEP_INSTRUCTION) return 1;
    if (d->plan.step == STEP_INSTRUCTION_OVER) return depth <= d->plan.step_depth;
    if (spot->is_toolkit) return 0;
    if (depth < d->plan.step_depth) return 1;
    if (d->plan.step == STEP_FINISH) return 0;
    int is_other = spot->line != d->plan.step_line || spot->file != d->plan.step_file;
    if (d->plan.step == STEP_LINE) return is_other || depth != d->plan.step_depth;
    if (depth != d->plan.step_depth) return 0;
    return d->plan.step == STEP_UNTIL ? spot->line > d->plan.step_line : is_other;
}

static void step_again(Debugger *d, const Warp *warp, const Ins *ins)
{
    const Spot *spot = spot_of(d->map, ins);
    d->plan.step_line = spot->line, d->plan.step_file = spot->file,
    d->plan.step_depth = depth_of(d, warp, ins);
}

/* The thread that steps has ended: its warp, its lane or its block. */
static int step_has_ended(const Debugger *d)
{
    const Worker *worker = debugger_worker(d, d->plan.step_focus.block);
    if (!worker) return 1;
    const Warp *warp = &worker->warp[d->plan.step_focus.warp];
    return warp->state == WARP_DONE || !(warp->alive >> d->plan.step_focus.lane & 1);
}

static void changes_repeat(Debugger *d, Warp *warp)
{
    LaunchRecord *record = record_of(d);
    while (d->next_change < record->changes &&
           record->change[d->next_change].moment <= d->hook.moment) {
        const Change *change = &record->change[d->next_change++];
        char why[VALUE_WHY];
        const Worker *worker = warp->worker;
        Warp *owner = &worker->warp[change->warp < worker->block.warps ? change->warp : 0];
        if (change->slot != NO_SLOT) {
            memcpy(owner->file + change->slot, &change->value, change->bytes);
            continue;
        }
        unsigned char *at =
            lane_memory(owner, change->lane, change->address, change->bytes, why, sizeof why);
        if (at) memcpy(at, &change->value, change->bytes);
    }
}

/* At the user's current place, for breakpoints of `until` and `advance`. */
static int is_advance_place(const Debugger *d, const Warp *warp, const Ins *ins)
{
    if (!d->plan.advance_line) return 0;
    const Spot *spot = spot_of(d->map, ins);
    const char *file = file_of(d->map, spot->file);
    return spot->line == d->plan.advance_line && file &&
           !strcmp(file_base(file), file_base(d->plan.advance_file)) && warp->mask;
}

static int live_stop(Debugger *d, Warp *warp, const Ins *ins)
{
    Stop stop = {0};
    uint32_t lane = 0, index = (uint32_t)(ins - d->map->kernel->code);
    LaunchRecord *record = record_of(d);
    if (d->hook.moment >= record->furthest) {
        d->hook.is_silent = 0;
        if (d->mark[index] & MARK_WRITE) writes_note(record, warp, ins);
    }
    d->has_access = d->mark[index] & MARK_ACCESS && access_of(warp, ins, &d->access);
    if (d->interrupted) {
        d->interrupted = 0;
        stop.kind = STOP_INTERRUPT;
        focus_set(d, warp, lane_near(warp->mask, 0));
        return stop_here(d, &stop);
    }
    if (d->mark[index] & MARK_BREAK) {
        Breakpoint *b = breakpoint_hit(d, warp, ins, 1, &lane, stop.text, sizeof stop.text);
        if (b && b->is_quiet) {
            focus_set(d, warp, lane);
            d->ui->say(d, b->log);
            b = NULL;
        }
        if (b) {
            stop.kind = STOP_BREAKPOINT, stop.number = b->number;
            stop.is_temporary = b->is_temporary;
            if (d->plan.kind == PLAN_STEP && d->plan.step_focus.block == warp->block->number &&
                d->plan.step_focus.warp == warp->index &&
                warp->mask >> d->plan.step_focus.lane & 1 && !b->condition)
                lane = d->plan.step_focus.lane;
            focus_set(d, warp, lane);
            if (b->is_temporary) breakpoint_remove(d, b);
            return stop_here(d, &stop);
        }
        if (is_advance_place(d, warp, ins)) {
            stop.kind = STOP_STEP;
            focus_set(d, warp, lane_near(warp->mask, d->plan.step_focus.lane));
            return stop_here(d, &stop);
        }
    }
    Breakpoint *watch = watch_before(d, warp, &lane);
    if (watch) {
        stop.kind = STOP_WATCH, stop.number = watch->number;
        snprintf(stop.text, sizeof stop.text, "Hardware %s watchpoint %d: %s",
                 watch->watches == WATCH_READ ? "read" : "access (read/write)", watch->number,
                 watch->expression);
        focus_set(d, warp, lane);
        return stop_here(d, &stop);
    }
    if (d->plan.kind == PLAN_STEP) {
        if (step_is_done(d, warp, ins)) {
            if (d->plan.step_count > 1) {
                d->plan.step_count--;
                step_again(d, warp, ins);
                return 0;
            }
            stop.kind = STOP_STEP;
            focus_set(d, warp, d->plan.step_focus.lane);
            return stop_here(d, &stop);
        }
        if (step_has_ended(d)) {
            stop.kind = STOP_STEP;
            snprintf(stop.text, sizeof stop.text, "The thread has ended.");
            focus_set(d, warp, lane_near(warp->mask, 0));
            return stop_here(d, &stop);
        }
    }
    return 0;
}

/* ---- the past ---- */

static void search_hit(Debugger *d, const Warp *warp, uint32_t lane, uint64_t moment)
{
    d->search.hit.found = 1;
    d->search.hit.when = (Moment){d->run, moment};
    d->search.hit.focus = (Focus){
        .block = warp->block->number, .warp = warp->index, .lane = lane_near(warp->mask, lane)};
}

/* Lines that the thread in focus went through: where each began, and the one before it. */
static void lines_look(Debugger *d, const Warp *warp, const Ins *ins)
{
    const Spot *spot = spot_of(d->map, ins);
    uint32_t depth;
    if (warp->block->number != d->plan.step_focus.block || warp->index != d->plan.step_focus.warp ||
        !(warp->mask >> d->plan.step_focus.lane & 1) || ins->op == OP_JOIN)
        return;
    depth = depth_of(d, warp, ins);
    if (d->search.kind == SEARCH_INSTRUCTION) {
        search_hit(d, warp, d->plan.step_focus.lane, d->hook.moment);
        return;
    }
    if (d->search.kind == SEARCH_CALLER) {
        if (depth < d->plan.step_depth)
            search_hit(d, warp, d->plan.step_focus.lane, d->hook.moment);
        return;
    }
    if (spot->is_toolkit || (d->search.kind == SEARCH_OVER && depth > d->plan.step_depth)) return;
    int is_same = d->search.lines.has_run && d->search.lines.line == spot->line &&
                  d->search.lines.file == spot->file && d->search.lines.depth == depth;
    if (is_same) return;
    d->search.lines.has_before = d->search.lines.has_run,
    d->search.lines.before = d->search.lines.begin;
    d->search.lines.has_run = 1, d->search.lines.begin = d->hook.moment;
    d->search.lines.line = spot->line, d->search.lines.file = spot->file,
    d->search.lines.depth = depth;
    search_hit(d, warp, d->plan.step_focus.lane, d->hook.moment);
}

static int search_stop(Debugger *d, Warp *warp, const Ins *ins)
{
    uint32_t lane;
    int writer;
    uint32_t index = (uint32_t)(ins - d->map->kernel->code);
    if (d->hook.moment >= d->search.segment_end || d->interrupted) {
        d->travel.aborted = 1;
        return 1;
    }
    d->has_access = d->mark[index] & MARK_ACCESS && access_of(warp, ins, &d->access);
    switch (d->search.kind) {
    case SEARCH_BREAKPOINT: {
        Breakpoint *b = d->mark[index] & MARK_BREAK
                            ? breakpoint_hit(d, warp, ins, 0, &lane, d->search.hit.text,
                                             sizeof d->search.hit.text)
                            : NULL;
        if (!b && d->has_access) b = watch_before(d, warp, &lane);
        if (!b || b->is_quiet) break;
        search_hit(d, warp, lane, d->hook.moment);
        d->search.hit.number = b->number;
        break;
    }
    case SEARCH_WRITER:
        writer = writer_before(d, warp);
        if (writer >= 0) search_hit(d, warp, (uint32_t)writer, d->hook.moment);
        break;
    default:
        lines_look(d, warp, ins);
    }
    return 0;
}

static int overlaps(uint64_t a, uint64_t a_bytes, uint64_t b, uint64_t b_bytes)
{
    return a < b + b_bytes && b < a + a_bytes;
}

static void survey_look(Debugger *d, const Warp *warp, const Ins *ins)
{
    Survey *survey = d->survey;
    if (!d->has_access || !d->access.is_exact ||
        !((survey->reads && d->access.reads) || (survey->writes && d->access.writes)))
        return;
    if (survey->is_block && warp->block->number != survey->block) return;
    for (uint32_t m = d->access.mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        uint64_t address = d->access.address[lane];
        if (!overlaps(address, d->access.bytes, survey->address, survey->bytes)) continue;
        Party party = {.when = {d->run, d->hook.moment},
                       .block = warp->block->number,
                       .warp = warp->index,
                       .lane = lane,
                       .from = ins->from,
                       .count = 1,
                       .writes = d->access.writes,
                       .epoch = warp->worker->epoch};
        thread_of(warp, lane, party.thread);
        survey->all++;
        if (survey->word) {
            for (uint64_t at = address & ~3ull; at < address + d->access.bytes; at += 4)
                if (at >= survey->address && at < survey->address + survey->bytes)
                    survey->word[(at - survey->address) / 4] = party;
            continue;
        }
        uint32_t k = 0;
        while (k < survey->parties &&
               (survey->party[k].block != party.block || survey->party[k].warp != party.warp ||
                survey->party[k].lane != party.lane || survey->party[k].from != party.from))
            k++;
        if (k < survey->parties)
            survey->party[k].count++, survey->party[k].when = party.when;
        else if (k < PARTIES)
            survey->party[survey->parties++] = party;
    }
}

static int goto_stop(Debugger *d, Warp *warp, const Ins *ins)
{
    uint32_t index = (uint32_t)(ins - d->map->kernel->code);
    if (d->hook.moment < d->travel.target.moment) {
        d->has_access = d->mark[index] & MARK_ACCESS && access_of(warp, ins, &d->access);
        if (d->survey) survey_look(d, warp, ins);
        return 0;
    }
    d->travel.mode = MODE_LIVE;
    d->survey = NULL;
    d->repeated += d->hook.moment - d->run_start;
    d->hook.is_silent = d->hook.moment < record_of(d)->furthest;
    d->focus = d->travel.target_focus;
    if (d->travel.follows_warp) focus_set(d, warp, lane_near(warp->mask, 0));
    d->travel.follows_warp = 0;
    watches_load(d);
    Stop stop = d->travel.arrival;
    return stop_here(d, &stop);
}

static void goto_until(Debugger *d)
{
    const LaunchRecord *record = record_of(d);
    d->hook.until = d->travel.target.moment;
    if (d->next_change < record->changes && record->change[d->next_change].moment < d->hook.until)
        d->hook.until = record->change[d->next_change].moment;
}

static int on_stop(DebugHook *hook, Warp *warp, const Ins *ins)
{
    Debugger *d = debugger_of(hook);
    if (d->travel.aborted) return 1;
    d->warp = warp, d->ins = ins;
    if (d->next_change < record_of(d)->changes) changes_repeat(d, warp);
    int ends = d->travel.mode == MODE_GOTO     ? goto_stop(d, warp, ins)
               : d->travel.mode == MODE_SEARCH ? search_stop(d, warp, ins)
                                               : live_stop(d, warp, ins);
    if (ends || hook->until > hook->moment) return ends;
    if (d->travel.mode == MODE_LIVE && d->plan.kind != PLAN_STEP) plan_begin(d);
    if (d->travel.mode == MODE_GOTO) goto_until(d);
    return 0;
}

/* ---- after an instruction ---- */

static void on_after(DebugHook *hook, Warp *warp, const Ins *ins)
{
    Debugger *d = debugger_of(hook);
    uint32_t lane;
    Stop stop = {.kind = STOP_WATCH};
    if (!(d->mark[ins - d->map->kernel->code] & MARK_ACCESS)) return;
    if (d->travel.mode == MODE_SEARCH && d->search.kind == SEARCH_WRITER && writer_after(d, warp))
        search_hit(d, warp, 0, hook->moment - 1);
    if (d->travel.mode == MODE_GOTO || !is_watching(d)) return;
    Breakpoint *b = watch_after(d, warp, &lane, stop.text, sizeof stop.text);
    if (!b) return;
    if (b->condition) {
        char why[VALUE_WHY];
        Frame frame[FRAMES_MOST];
        uint32_t lanes;
        frames_at(d->map, ins, frame);
        Scene scene = {.warp = warp, .map = d->map, .frame = frame[0], .mask = 1u << lane};
        if (expression_true(b->condition, &scene, &lanes, why, sizeof why) == 0 && !lanes) return;
    }
    if (d->travel.mode == MODE_SEARCH) {
        if (d->search.kind != SEARCH_BREAKPOINT) return;
        search_hit(d, warp, lane, hook->moment - 1);
        d->search.hit.number = b->number;
        snprintf(d->search.hit.text, sizeof d->search.hit.text, "%s", stop.text);
        return;
    }
    b->hits++;
    if (b->ignore > 0) {
        b->ignore--;
        return;
    }
    d->warp = warp, d->ins = ins;
    stop.number = b->number;
    focus_set(d, warp, lane);
    stop_inside(d, &stop);
}

static CatchKind catch_of(SimtCheck check)
{
    switch (check) {
    case SIMT_RACECHECK:
        return CATCH_RACE;
    case SIMT_INITCHECK:
        return CATCH_UNINITIALIZED;
    case SIMT_SYNCCHECK:
        return CATCH_BARRIER;
    default:
        return CATCH_FAULT;
    }
}

static void on_found(DebugHook *hook, Warp *warp, const Ins *ins, const SimtReport *report)
{
    Debugger *d = debugger_of(hook);
    CatchKind kind = catch_of(report->check);
    int is_fault = kind == CATCH_FAULT || kind == CATCH_BARRIER;
    if (!d->map) return;
    history_found(record_of(d), hook->moment, report);
    if (d->travel.mode != MODE_LIVE || d->travel.aborted ||
        (!is_fault && !(d->catches & (int)kind)))
        return;
    Stop stop = {.kind = STOP_FINDING, .check = report->check};
    for (const Breakpoint *b = d->breakpoint; b; b = b->next)
        if (b->kind == BREAK_CATCH && b->catches & kind) stop.number = b->number;
    snprintf(stop.text, sizeof stop.text, "%s", report->text);
    const uint32_t *block = warp->worker->launch->launch->block;
    uint32_t thread =
        report->thread[0] + block[0] * (report->thread[1] + block[1] * report->thread[2]);
    d->warp = warp, d->ins = hook->use ? hook->use : ins;
    focus_set(d, warp, thread / LANES == warp->index ? thread % LANES : lane_near(warp->mask, 0));
    stop_inside(d, &stop);
}

/* ---- a launch ---- */

/* Do blocks run one after another, so that a launch can begin again with any of them? */
static int runs_in_order(const Debugger *d, const Worker *worker)
{
    const KernelTraits *traits = &worker->kernel->traits;
    return !traits->has_polling && !traits->allocates && !worker->launch->cluster_blocks &&
           !worker->launch->launch->cooperative && !d->history.launch[d->run].changes;
}

static void on_block(DebugHook *hook, Worker *worker)
{
    Debugger *d = debugger_of(hook);
    LaunchRecord *record = record_of(d);
    d->block_moment = hook->moment;
    uint32_t i = 0;
    while (i < d->workers && d->worker[i] != worker)
        i++;
    if (i == d->workers && d->workers < WORKERS_MOST) d->worker[d->workers++] = worker;
    int in_order = runs_in_order(d, worker);
    if (!in_order) d->block_moment = 0;
    if (in_order && d->travel.mode == MODE_LIVE)
        history_checkpoint(&d->history, record, hook->moment, worker->block.number);
}

static void on_begin(DebugHook *hook, Launch *launch)
{
    Debugger *d = debugger_of(hook);
    LaunchRecord *record = record_of(d);
    const Checkpoint *start = d->search.segment_checkpoint < record->checkpoints
                                  ? &record->checkpoint[d->search.segment_checkpoint]
                                  : NULL;
    d->launch = launch;
    launch->limit = UINT64_MAX;
    if (start && start->block) launch->next = start->block;
}

/* A kernel is about to execute: should the user be informed? */
static int launch_prepare(Debugger *d)
{
    LaunchRecord *record = record_of(d);
    uint32_t count;
    d->map = kernel_map(record->kernel);
    if (!d->map) return -1;
    count = record->kernel->count + 1;
    if (count > d->mark_room) {
        uint8_t *more = realloc(d->mark, count);
        if (!more) return -1;
        d->mark = more, d->mark_room = count;
    }
    d->hook.mark = d->mark;
    marks_set(d);
    watches_load(d);
    d->workers = 0, d->warp = NULL, d->ins = NULL, d->travel.aborted = 0;
    return 0;
}

/* Start of the execution: at the checkpoint, or (none) with memory as it is. */
static void launch_start(Debugger *d, const Checkpoint *checkpoint)
{
    LaunchRecord *record = record_of(d);
    d->hook.moment = 0;
    d->search.segment_checkpoint = UINT32_MAX;
    if (checkpoint) {
        history_restore(&d->history, checkpoint);
        d->hook.moment = checkpoint->moment;
        d->search.segment_checkpoint = (uint32_t)(checkpoint - record->checkpoint);
    }
    d->run_start = d->hook.moment;
    d->hook.is_silent = d->hook.moment < record->furthest || d->travel.mode != MODE_LIVE;
    d->next_change = 0;
    while (d->next_change < record->changes &&
           record->change[d->next_change].moment < d->hook.moment)
        d->next_change++;
    if (d->travel.mode == MODE_SEARCH)
        d->hook.until = d->search.kind == SEARCH_BREAKPOINT || d->search.kind == SEARCH_WRITER
                            ? d->search.segment_end
                            : 0;
    else if (d->travel.mode == MODE_GOTO)
        d->hook.until = d->travel.target.moment;
    else
        plan_begin(d);
    /* Changes of the past are carried out at their moments. */
    if (d->next_change < record->changes && record->change[d->next_change].moment < d->hook.until)
        d->hook.until = record->change[d->next_change].moment;
}

static void arrive(Debugger *d, Moment when, const Focus *focus)
{
    d->travel.mode = MODE_GOTO;
    d->travel.target = when, d->travel.target_focus = *focus, d->travel.follows_warp = 0;
    d->run = when.launch;
}

/* Does the search continue in the launch before?  Registers and shared memory last one launch. */
static int is_in_earlier_launch(const Debugger *d)
{
    if (d->run == 0) return 0;
    return d->search.kind == SEARCH_BREAKPOINT ||
           (d->search.kind == SEARCH_WRITER && writes_space(d->search.address) == WRITES_GLOBAL);
}

/* The segment of the history before the one that was searched. 0: it was the first. */
static int segment_before(Debugger *d)
{
    const Checkpoint *start;
    do {
        d->search.segment_end = d->search.segment_begin;
        if (d->search.segment_end <= d->search.earliest) {
            if (!is_in_earlier_launch(d)) return 0;
            d->run--;
            d->search.segment_end = d->history.launch[d->run].total;
        }
        start =
            d->search.segment_end ? history_before(record_of(d), d->search.segment_end - 1) : NULL;
        if (!start) return 0;
        d->search.segment_begin = start->moment;
    } while (!writer_may_be_in(d, start));
    memset(&d->search.lines, 0, sizeof d->search.lines);
    d->search.hit.found = d->search.has_old = 0;
    return 1;
}

/* The target of a search for lines: the start of the run of the previous line. */
static void search_arrive(Debugger *d)
{
    Moment when = d->search.hit.when;
    memset(&d->travel.arrival, 0, sizeof d->travel.arrival);
    d->travel.arrival.kind = STOP_ARRIVED, d->travel.arrival.number = d->search.hit.number;
    if (d->search.kind == SEARCH_BREAKPOINT) {
        const Breakpoint *b = debugger_breakpoint(d, d->search.hit.number);
        d->travel.arrival.kind = b && b->kind == BREAK_WATCH ? STOP_WATCH : STOP_BREAKPOINT;
        snprintf(d->travel.arrival.text, sizeof d->travel.arrival.text, "%s", d->search.hit.text);
    } else if (d->search.kind == SEARCH_WRITER) {
        snprintf(d->travel.arrival.text, sizeof d->travel.arrival.text,
                 "%s was last written here:", d->search.name);
    }
    arrive(d, when, &d->search.hit.focus);
}

static void search_fail(Debugger *d)
{
    memset(&d->travel.arrival, 0, sizeof d->travel.arrival);
    if (d->search.kind == SEARCH_WRITER) {
        d->travel.arrival.kind = STOP_ARRIVED;
        snprintf(d->travel.arrival.text, sizeof d->travel.arrival.text,
                 "No thread wrote %s in the launches that the history has: it was written by the "
                 "host (cudaMemcpy, cudaMemset), or not at all.",
                 d->search.name);
        arrive(d, d->travel.origin, &d->plan.step_focus);
        return;
    }
    d->travel.arrival.kind = STOP_HISTORY_END;
    snprintf(d->travel.arrival.text, sizeof d->travel.arrival.text,
             "No more reverse-execution history: this is the beginning of %s.",
             d->search.kind == SEARCH_BREAKPOINT ? "the first launch" : "the thread's execution");
    Focus first = {0};
    if (d->search.kind != SEARCH_BREAKPOINT) {
        arrive(d, d->travel.origin, &d->plan.step_focus);
        return;
    }
    d->run = 0;
    arrive(d, (Moment){0, 0}, &first);
}

static const Checkpoint *start_of(Debugger *d)
{
    const LaunchRecord *record = record_of(d);
    if (d->travel.mode == MODE_SEARCH) return history_before(record, d->search.segment_begin);
    int is_whole = d->survey && !d->survey->is_block; /* all accesses of the launch */
    if (d->travel.mode == MODE_GOTO)
        return history_before(record, is_whole ? 0 : d->travel.target.moment);
    return history_before(record, 0);
}

/* After an execution that ended early: what comes next.  0: nothing. */
static int travel_next(Debugger *d)
{
    if (d->plan.kind == PLAN_KILL) return 0;
    if (d->interrupted && d->travel.mode == MODE_SEARCH) {
        d->interrupted = 0;
        memset(&d->travel.arrival, 0, sizeof d->travel.arrival);
        d->travel.arrival.kind = STOP_INTERRUPT;
        arrive(d, d->travel.origin, &d->plan.step_focus);
        return 1;
    }
    if (d->plan.kind == PLAN_TRAVEL) {
        /* Requested just now. */
        d->plan.kind = PLAN_NONE;
        if (d->travel.mode == MODE_SEARCH && !writer_may_be_in(d, start_of(d)) &&
            !segment_before(d))
            search_fail(d);
        return 1;
    }
    if (d->travel.mode == MODE_SEARCH) {
        if (d->search.hit.found)
            search_arrive(d);
        else if (!segment_before(d))
            search_fail(d);
    }
    return 1;
}

static void found_merge(const LaunchRecord *record, SimtResult *result)
{
    if (result->findings || !record->founds) return;
    result->findings = record->founds;
    result->report = record->found[0].report;
}

/* At the end of a launch, for `catch end`, for races between blocks, and where a search that began
 * here has found nothing. */
static int end_stop(Debugger *d, const SimtResult *result, int is_arriving)
{
    Stop stop = {.kind = STOP_LAUNCH_END, .check = result->report.check};
    int race = result->report.check == SIMT_RACECHECK && d->catches & CATCH_RACE;
    for (uint32_t i = 0; i < record_of(d)->founds; i++)
        race &= record_of(d)->found[i].report.check != SIMT_RACECHECK;
    if (!race && !(d->catches & CATCH_END) && !is_arriving) return 0;
    for (const Breakpoint *b = d->breakpoint; b; b = b->next)
        if (b->kind == BREAK_CATCH && b->catches & (race ? CATCH_RACE : CATCH_END))
            stop.number = b->number;
    if (race) snprintf(stop.text, sizeof stop.text, "%s", result->report.text);
    if (is_arriving) stop = d->travel.arrival;
    d->warp = NULL, d->ins = NULL, d->workers = 0;
    d->plan.kind = PLAN_NONE;
    d->is_stopped = 1;
    d->ui->stopped(d, &stop);
    d->is_stopped = 0;
    return d->plan.kind == PLAN_TRAVEL || d->plan.kind == PLAN_KILL;
}

static int run_all(Debugger *d, SimtResult *result, DebugRun *run)
{
    const Checkpoint *start = NULL;
    for (;;) {
        LaunchRecord *record = record_of(d);
        SimtResult other;
        SimtResult *mine = is_last(d) ? result : &other;
        if (launch_prepare(d) != 0) return run(d->gpu, record->kernel, &record->request, result);
        launch_start(d, start);
        d->gpu->launches = record->before;
        int status = run(d->gpu, record->kernel, &record->request, mine);
        d->launch = NULL;
        record = record_of(d);
        if (d->travel.mode != MODE_LIVE && !d->is_stopped && d->plan.kind != PLAN_TRAVEL)
            d->repeated += d->hook.moment - d->run_start;
        if (d->travel.aborted) {
            if (!travel_next(d)) {
                d->is_killed = 1;
                return status;
            }
            start = start_of(d);
            continue;
        }
        if (status == 0) record->total = d->hook.moment;
        if (d->hook.moment > record->furthest) record->furthest = d->hook.moment;
        if (d->travel.mode == MODE_SEARCH) { /* up to the end of an earlier launch */
            travel_next(d);
            start = start_of(d);
            continue;
        }
        int is_arriving = d->travel.mode == MODE_GOTO; /* its end was requested */
        if (is_arriving) {
            d->travel.mode = MODE_LIVE;
            d->survey = NULL;
        }
        found_merge(record, mine);
        if (status == 0 && end_stop(d, mine, is_arriving)) {
            if (!travel_next(d)) {
                d->is_killed = 1;
                return status;
            }
            start = start_of(d);
            continue;
        }
        if (is_last(d)) return status;
        d->run++;
        start = history_before(record_of(d), 0);
    }
}

static int on_launch(DebugHook *hook, SimtGpu *gpu, SimtKernel *kernel, const SimtLaunch *request,
                     SimtResult *result, DebugRun *run)
{
    Debugger *d = debugger_of(hook);
    if (d->is_killed || history_launch(&d->history, kernel, request) != 0) {
        SimtLaunch none = *request;
        hook->until = UINT64_MAX;
        gpu->debug = NULL;
        int status = run(gpu, kernel, &none, result);
        gpu->debug = hook;
        return status;
    }
    d->launches++;
    d->run = d->history.launches - 1;
    d->travel.mode = MODE_LIVE;
    if (d->plan.kind != PLAN_STEP) d->plan.kind = PLAN_CONTINUE;
    if (d->catches & CATCH_LAUNCH) d->interrupted = 0;
    int status = run_all(d, result, run);
    d->warp = NULL, d->ins = NULL, d->launch = NULL, d->map = NULL, d->workers = 0;
    return status;
}

void hooks_set(Debugger *d)
{
    d->hook.launch = on_launch, d->hook.begin = on_begin, d->hook.block = on_block;
    d->hook.stop = on_stop, d->hook.after = on_after, d->hook.found = on_found;
    d->hook.until = UINT64_MAX;
}
