/* sass_trace.c - conversion of a warp's trace to SASS.
 *
 * A trace records the PTX instructions that a warp executed, and the costs of their accesses. When
 * the trace passes through a part of the PTX, the SASS instructions of that part are replayed in
 * SASS order; each access has the cost of its PTX instruction. If ptxas unrolled a loop, one SASS
 * iteration consumes the same number of iterations of the trace. If the loop has more than one
 * part, each iteration replays its own copies. */
#include "common/simulator/sass_map/sass_map.h"

#include <stdlib.h>
#include <string.h>

#include "common/simulator/core/ops.h"

/* A part may become up to MOST_TIMES times longer in SASS, which bounds the memory for hostile
 * code. */
enum { MOST_TIMES = 16, MOST_MORE = 4096, MOST_LOOKS = 256 };

typedef struct Walk {
    const SimtKernel *kernel;
    const SassMap *f;
    const WarpTrace *from;
    WarpTrace *to;
    uint32_t most;   /* steps */
    uint64_t looks;  /* SASS instructions examined that may belong to another iteration */
    uint32_t *place; /* step of each iteration's instructions, from 1; 0: not executed */
    size_t room;
    uint32_t *iteration; /* per loop */
} Walk;

/* Did lanes arrive at a reconvergence point and yield to the lanes that they wait for? All of them
 * then arrive there once more. */
static int makes_way(const SimtKernel *kernel, const WarpTrace *from, uint32_t at)
{
    uint32_t ins = from->step[at].ins;
    return kernel->code[ins].op == OP_JOIN &&
           (at + 1 == from->count || from->step[at + 1].ins != ins + 1);
}

/* Does the step continue in this part, which began before? */
static int goes_on(const Walk *w, uint32_t at, uint32_t part)
{
    if (at >= w->from->count) return 0;
    uint32_t ins = w->from->step[at].ins;
    return w->f->part_of[ins] == part && ins != w->f->part[part].first;
}

/* The end of one pass through a part. After divergence, a pass may go back within the part, and
 * continues after lanes that wait to reconverge. */
static uint32_t pass_end(const Walk *w, uint32_t from)
{
    uint32_t to = from + 1, part = w->f->part_of[w->from->step[from].ins];
    while (goes_on(w, to, part) || (goes_on(w, to + 1, part) && makes_way(w->kernel, w->from, to)))
        to++;
    return to;
}

/* The end of `iterations` iterations of a loop that is one part; `from`: there are fewer. */
static uint32_t iterations_end(const Walk *w, const SassPart *part, uint32_t from,
                               uint32_t iterations)
{
    const TraceStep *step = w->from->step;
    uint32_t to = from;
    for (uint32_t iteration = 0; iteration < iterations; iteration++) {
        if (to == w->from->count || step[to].ins != part->first) return from;
        to = pass_end(w, to);
        if (step[to - 1].ins != part->first + part->count - 1) return from;
    }
    return to;
}

static int places_fill(Walk *w, const SassPart *part, uint32_t from, uint32_t to,
                       uint32_t iterations)
{
    size_t need = (size_t)iterations * part->count;
    if (need > w->room) {
        uint32_t *more = realloc(w->place, need * sizeof *more);
        if (!more) return -1;
        w->place = more, w->room = need;
    }
    memset(w->place, 0, need * sizeof *w->place);
    uint32_t iteration = 0;
    for (uint32_t i = from; i < to; i++) {
        uint32_t ins = w->from->step[i].ins;
        if (ins - part->first >= part->count) continue; /* a lane that waits */
        iteration += i > from && ins == part->first;
        w->place[(size_t)iteration * part->count + ins - part->first] = i + 1;
    }
    return 0;
}

static int trace_grow(WarpTrace *to, uint32_t more)
{
    if (more <= to->room - to->count) return 0;
    uint32_t room = 2 * (to->count + more);
    TraceStep *step = realloc(to->step, (size_t)room * sizeof *step);
    if (!step) return -1;
    to->step = step, to->room = room;
    return 0;
}

/* Adds the part's SASS instructions: those of one copy, or of all `iterations` iterations (ALL). */
enum { ALL = -1 };

static int steps_add(Walk *w, const SassPart *part, int rest, int only)
{
    uint32_t length = part->length[rest];
    if (length > w->most - w->to->count) length = w->most - w->to->count;
    if (only != ALL && length > w->looks) length = (uint32_t)w->looks;
    if (only != ALL) w->looks -= length;
    if (trace_grow(w->to, length) != 0) return -1;
    for (uint32_t k = 0; k < length; k++) {
        uint32_t i = w->f->list[part->list[rest] + k], copy = w->f->copy[i],
                 anchor = w->f->anchor[i];
        if (only != ALL && copy != (uint32_t)only) continue;
        TraceStep step = {0};
        if (anchor != NO_SLOT) {
            size_t iteration = only == ALL ? copy : 0;
            uint32_t found = w->place[iteration * part->count + anchor - part->first];
            if (found) step = w->from->step[found - 1];
        }
        step.ins = w->f->base + i;
        w->to->step[w->to->count++] = step;
    }
    return 0;
}

/* The iteration of the loop that starts or continues at step `from`. If the loop is fully unrolled
 * inside another loop, iterations of the outer loop are counted on. */
static uint32_t iteration_of(Walk *w, const SassPart *part, uint32_t from)
{
    const SassLoop *loop = &w->f->loop[part->loop - 1], *around = loop;
    uint32_t *iteration = &w->iteration[part->loop - 1];
    if (part->first != loop->head) return *iteration;
    while (around->parent)
        around = &w->f->loop[around->parent - 1];
    uint32_t before = from ? w->from->step[from - 1].ins : NO_SLOT;
    *iteration = before >= around->head && before <= around->end ? *iteration + 1 : 0;
    return *iteration;
}

/* The copy of the unrolled loop that is executed. A fully unrolled loop is executed once;
 * iterations beyond its copies have no SASS. */
static int copy_now(Walk *w, const SassPart *part, uint32_t from)
{
    const SassLoop *loop = &w->f->loop[part->loop - 1];
    uint32_t iteration = iteration_of(w, part, from);
    return (int)(loop->home[0] || iteration < loop->copies[0] ? iteration % loop->copies[0]
                                                              : loop->copies[0]);
}

/* If lanes diverged at the end of a part, one path waits for the other. */
static int ways_add(Walk *w, const SassPart *part, uint32_t from, uint32_t to)
{
    uint32_t last = part->first + part->count - 1;
    if (w->kernel->code[last].class != CLASS_BRANCH) return 0;
    for (uint32_t i = from; i < to; i++) {
        if (w->from->step[i].ins != last || !step_is_divergent(&w->from->step[i])) continue;
        if (w->to->count == w->most) return 0;
        if (trace_grow(w->to, 1) != 0) return -1;
        w->to->step[w->to->count++] = (TraceStep){.ins = w->f->way};
    }
    return 0;
}

/* One pass through a part, or several iterations of it, from step `from` on; returns its end, or 0
 * if out of memory.
 */
static uint32_t pass_add(Walk *w, uint32_t from)
{
    const SassPart *part = &w->f->part[w->f->part_of[w->from->step[from].ins]];
    const SassLoop *loop = part->loop ? &w->f->loop[part->loop - 1] : NULL;
    uint32_t copies = loop ? loop->copies[0] : 1, to = pass_end(w, from), iterations = 1;
    int rest = 0, only = ALL;
    if (copies > 1 && part->whole) {
        uint32_t end = iterations_end(w, part, from, copies);
        rest = end == from && loop->home[0] != loop->home[1];
        only = end > from ? ALL : loop->parent ? copy_now(w, part, from) : 0;
        if (end > from) iterations = copies, to = end;
    } else if (copies > 1) {
        only = copy_now(w, part, from);
    }
    if (places_fill(w, part, from, to, iterations) != 0 || steps_add(w, part, rest, only) != 0 ||
        ways_add(w, part, from, to) != 0)
        return 0;
    return to;
}

int sass_trace_warp(const SimtKernel *kernel, const WarpTrace *from, WarpTrace *to)
{
    Walk w = {.kernel = kernel, .f = kernel->costs.sass, .from = from, .to = to};
    uint64_t most = (uint64_t)from->count * MOST_TIMES + MOST_MORE;
    w.most = most < INT32_MAX ? (uint32_t)most : INT32_MAX;
    w.looks = (uint64_t)from->count * MOST_LOOKS + MOST_MORE;
    w.iteration = calloc(w.f->loops + 1, sizeof *w.iteration);
    to->count = 0;
    to->line = from->line, to->lines = from->lines;
    uint32_t at = 0;
    int good = w.iteration != NULL;
    while (good && at < from->count)
        good = (at = makes_way(kernel, from, at) ? at + 1 : pass_add(&w, at)) != 0;
    free(w.iteration), free(w.place);
    return good ? 0 : -1;
}
