/* profile.c - a launch's counts and stalls, put together by PTX instruction. */
#include "common/base/demangle.h"
#include "common/simulator/core/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/simulator/core/core.h"
#include "common/simulator/core/ops.h"

const char *simt_stall_name(SimtStall stall)
{
    static const char *const NAME[SIMT_STALLS] = {
        [STALL_SELECTED] = "selected",
        [STALL_NOT_SELECTED] = "not_selected",
        [STALL_WAIT] = "wait",
        [STALL_LONG_SCOREBOARD] = "long_scoreboard",
        [STALL_SHORT_SCOREBOARD] = "short_scoreboard",
        [STALL_MATH_PIPE] = "math_pipe_throttle",
        [STALL_LG_THROTTLE] = "lg_throttle",
        [STALL_MIO_THROTTLE] = "mio_throttle",
        [STALL_BARRIER] = "barrier",
        [STALL_LOCAL] = "long_scoreboard_local",
        [STALL_SPECIAL] = "short_scoreboard_special",
        [STALL_MBARRIER] = "long_scoreboard_mbarrier",
        [STALL_GMMA] = "gmma",
        [STALL_TENSOR_PIPE] = "math_pipe_throttle_tensor",
    };
    return NAME[stall];
}

void profile_watch_free(SimtWatch *watch)
{
    for (uint32_t i = 0; i < watch->arrays; i++)
        free(watch->touched[i].reads), free(watch->touched[i].writes);
    free(watch->touched), free(watch->sight);
}

void simt_profile_free(SimtProfile *profile)
{
    for (uint32_t i = 0; i < profile->watches; i++)
        profile_watch_free(&profile->watch[i]);
    free(profile->watch);
    for (uint32_t i = 0; i < profile->instructions; i++) {
        free((void *)profile->instruction[i].opcode);
        free((void *)profile->instruction[i].text);
    }
    free(profile->instruction), free(profile->span), free(profile->timeline.bin);
    memset(profile, 0, sizeof *profile);
}

/* Is the launch of the kernel, and the one of its launches, that the options select? */
static int profile_is_wanted(Launch *launch)
{
    const SimtOptions *options = &launch->gpu->options;
    char name[256];
    if (!options->profile || !launch->count) return 0;
    if (options->profile_kernel) {
        demangle(launch->kernel->info.name, name, sizeof name);
        name[strcspn(name, "<(")] = '\0';
        if (strcmp(name, options->profile_kernel)) return 0;
    }
    launch->gpu->profile_seen++;
    return !options->profile_launch || options->profile_launch == launch->gpu->profile_seen;
}

static void timeline_open(SimtTimeline *timeline, uint32_t warps)
{
    timeline->warps = warps < TIMELINE_WARPS ? warps : TIMELINE_WARPS;
    timeline->bin_cycles = 1;
    timeline->bin =
        calloc((size_t)TIMELINE_BLOCKS * timeline->warps * TIMELINE_BINS, sizeof *timeline->bin);
}

int profile_open(Launch *launch)
{
    if (!profile_is_wanted(launch)) return 0;
    timeline_open(&launch->profile.timeline, launch->warps_per_block);
    launch->profile.stall =
        calloc((size_t)launch->kernel->count * SIMT_STALLS, sizeof *launch->profile.stall);
    launch->profile.span = calloc(launch->trace.more, sizeof *launch->profile.span);
    return launch->profile.stall && launch->profile.span && launch->profile.timeline.bin ? 0 : -1;
}

void profile_close(Launch *launch)
{
    free(launch->profile.stall), free(launch->profile.span), free(launch->profile.timeline.bin);
}

/* "ld.global.nc.f32"; to be freed. */
static char *opcode_join(const PtxInstruction *in)
{
    char text[128] = "";
    for (uint32_t i = 0; i < in->words; i++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%s", i ? "." : "", in->word[i]);
    }
    return strdup(text);
}

/* Position in a text, with the line number. */
typedef struct Place {
    const char *at, *end;
    uint32_t line;
} Place;

/* Line `number` without the blanks around it, to be freed; lines are mostly requested in ascending
 * order. */
static char *line_copy(const Fatbin *fatbin, Place *place, uint32_t number)
{
    if (!place->at || number < place->line)
        *place = (Place){fatbin->ptx, fatbin->ptx + fatbin->ptx_bytes, 1};
    for (; place->line < number && place->at < place->end; place->line++) {
        const char *next = memchr(place->at, '\n', (size_t)(place->end - place->at));
        place->at = next ? next + 1 : place->end;
    }
    const char *begin = place->at;
    while (begin < place->end && (*begin == ' ' || *begin == '\t'))
        begin++;
    const char *end = memchr(begin, '\n', (size_t)(place->end - begin));
    return strndup(begin, (size_t)((end ? end : place->end) - begin));
}

static void instruction_name(const SimtKernel *kernel, uint32_t from, Place *place,
                             SimtInstruction *to)
{
    const PtxInstruction *in = kernel->origin[from];
    to->ptx_line = in->ptx_line;
    to->file = source_line(kernel, from, &to->line);
    to->caller = source_caller(kernel, from, &to->caller_line);
    to->opcode = opcode_join(in);
    to->text = line_copy(kernel->module->fatbin, place, in->ptx_line);
}

int is_branch(const Ins *ins)
{
    return (ins->op == OP_BRA || ins->op == OP_BRA_P || ins->op == OP_BRX) && !ins->pseudo;
}

static void instruction_add(SimtInstruction *to, const InsCount *count, const Ins *ins,
                            const uint64_t *stall)
{
    if (!ins->pseudo) {
        /* One PTX instruction may be several decoded ones: it ran as often as one of them. */
        to->warp_instructions =
            count->runs > to->warp_instructions ? count->runs : to->warp_instructions;
        to->thread_instructions =
            count->lanes > to->thread_instructions ? count->lanes : to->thread_instructions;
    }
    to->requests += count->requests, to->sectors += count->sectors, to->l1_hits += count->hits;
    to->local_requests += count->local_requests, to->local_sectors += count->local_sectors;
    to->shared_requests += count->shared_requests, to->wavefronts += count->wavefronts;
    if (is_branch(ins)) to->branches += count->runs, to->divergent += count->divergent;
    for (int i = 0; i < SIMT_STALLS; i++)
        to->stall[i] += stall[i];
}

/* ---- lines with the largest counts ----------------------------------------------------------- */

uint32_t source_own_line(const SimtKernel *kernel, uint32_t from)
{
    uint32_t line = 0;
    if (from >= kernel->origins || !kernel->origin[from]) return 0;
    const char *file = source_line(kernel, from, &line), *dot = strrchr(file, '.');
    return dot && !strcmp(dot, ".cu") ? line : 0;
}

/* All of one line together: instructions of a line are not always neighbours, but nearly. */
typedef struct HotLine {
    uint64_t most, now;
    uint32_t line, current;
} HotLine;

static void hot_add(HotLine *hot, uint32_t line, uint64_t amount)
{
    if (!line || !amount) return;
    hot->now = line == hot->current ? hot->now + amount : amount;
    hot->current = line;
    if (hot->now > hot->most) hot->most = hot->now, hot->line = line;
}

void profile_hot_lines(const Launch *launch, const InsCount *count, SimtResult *result)
{
    const SimtKernel *kernel = launch->kernel;
    HotLine local = {0}, load = {0}, conflict = {0};
    for (uint32_t i = 0; i < kernel->count; i++) {
        const InsCount *c = &count[i];
        uint64_t least = 4 * c->requests; /* 32 floats side by side */
        if (!c->local_sectors && !c->requests && !c->shared_requests) continue;
        uint32_t line = source_own_line(kernel, kernel->code[i].from);
        hot_add(&local, line, c->local_sectors);
        hot_add(&load, line, c->sectors > least ? c->sectors - least : 0);
        hot_add(&conflict, line, c->wavefronts - c->shared_requests);
    }
    result->local_line = local.line;
    result->load_line = load.line;
    result->conflict_line = conflict.line;
}

/* One PTX instruction may be several decoded ones: it ran as often as that which ran most. */
void profile_line_work(const Launch *launch, const InsCount *count)
{
    const SimtKernel *kernel = launch->kernel;
    uint64_t *work = launch->launch->line_work, added = 0;
    uint32_t from = UINT32_MAX;
    for (uint32_t i = 0; i < kernel->count && work; i++) {
        if (kernel->code[i].pseudo || !count[i].runs) continue;
        if (kernel->code[i].from != from) added = 0;
        from = kernel->code[i].from;
        if (count[i].runs <= added) continue;
        uint32_t line = source_own_line(kernel, from);
        if (line && line < SIMT_LINES) work[line] += count[i].runs - added;
        added = count[i].runs;
    }
}

void profile_add_runs(const Launch *launch, const InsCount *count)
{
    SimtKernel *kernel = launch->kernel;
    if (!kernel->runs) kernel->runs = calloc(kernel->origins + 1, sizeof *kernel->runs);
    for (uint32_t i = 0; i < kernel->count && kernel->runs; i++)
        if (kernel->code[i].from < kernel->origins && !kernel->code[i].pseudo)
            kernel->runs[kernel->code[i].from] += count[i].runs;
}

int profile_keep(Launch *launch, const InsCount *count, uint64_t cycles)
{
    const SimtKernel *kernel = launch->kernel;
    SimtProfile *profile = &launch->gpu->profile;
    if (profile->instruction && cycles <= profile->cycles) return 0;
    SimtInstruction *instruction = calloc(kernel->origins, sizeof *instruction);
    if (!instruction) return 0;
    simt_profile_free(profile);
    Place place = {0};
    for (uint32_t i = 0; i < kernel->origins; i++)
        if (kernel->origin[i]) instruction_name(kernel, i, &place, &instruction[i]);
    for (uint32_t i = 0; i < kernel->count; i++)
        if (kernel->code[i].from < kernel->origins)
            instruction_add(&instruction[kernel->code[i].from], &count[i], &kernel->code[i],
                            launch->profile.stall + (size_t)i * SIMT_STALLS);
    *profile =
        (SimtProfile){.cycles = cycles,
                      .instruction = instruction,
                      .instructions = kernel->origins,
                      .span = launch->profile.span,
                      .spans = launch->profile.spans,
                      .spilled_bytes = kernel->info.spilled_bytes,
                      .spills = kernel->info.spills,
                      .spill_line = kernel->info.spill_line,
                      .array_bytes = kernel->cubin.arrays_in_registers ? 0 : kernel->local_bytes};
    profile->number = launch->number;
    profile->registers = kernel->info.registers;
    profile->shared_bytes = kernel->info.shared_bytes + launch->launch->dynamic_shared;
    profile->resident_blocks = launch->resident;
    profile->timeline = launch->profile.timeline;
    launch->profile.timeline.bin = NULL;
    memcpy(profile->grid, launch->launch->grid, sizeof profile->grid);
    memcpy(profile->threads, launch->launch->block, sizeof profile->threads);
    for (uint32_t i = 0; i < launch->profile.spans; i++)
        if (launch->profile.span[i].end > profile->replayed_cycles)
            profile->replayed_cycles = launch->profile.span[i].end;
    demangle(kernel->info.name, profile->kernel, sizeof profile->kernel);
    launch->profile.span = NULL;
    return 1;
}
