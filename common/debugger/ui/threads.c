/* threads.c - tables of kernels, blocks, warps, lanes and threads: `info cuda`. */
#include <stdio.h>
#include <string.h>

#include "common/debugger/ui/session.h"

static void thread_text(const Warp *warp, uint32_t lane, char text[48])
{
    uint32_t thread[3];
    thread_of(warp, lane, thread);
    snprintf(text, 48, "(%u,%u,%u)", thread[0], thread[1], thread[2]);
}

static const char *state_text(const Debugger *d, const Warp *warp)
{
    if (warp == d->warp) return "stopped";
    switch (warp->state) {
    case WARP_BARRIER:
        return "at a barrier";
    case WARP_PHASE:
        return "waits for an mbarrier";
    case WARP_CLUSTER:
        return "waits for its cluster";
    case WARP_DONE:
        return "has ended";
    default:
        return warp->pc == warp->code ? "not begun" : "ready";
    }
}

static void place_text(const Debugger *d, const Warp *warp, char *text, size_t bytes)
{
    const Spot *spot = spot_of(d->map, debugger_ins(d, warp));
    const char *file = file_of(d->map, spot->file);
    if (warp->state == WARP_DONE || !file)
        snprintf(text, bytes, "-");
    else
        snprintf(text, bytes, "%s:%u", file_base(file), spot->line);
}

static int info_warps(Session *s)
{
    const Debugger *d = &s->debugger;
    char place[300], thread[48];
    const Warp *focus = debugger_warp(d);
    const Block *block = focus->block;
    say(s, "Block (%u,%u,%u)\n  Warp  Active lanes  First thread  State                  Line\n",
        block->id[0], block->id[1], block->id[2]);
    for (uint32_t w = 0; w < block->warps; w++) {
        const Warp *warp = &focus->worker->warp[w];
        place_text(d, warp, place, sizeof place), thread_text(warp, 0, thread);
        say(s, "%c %4u    0x%08x  %-13s %-22s %s\n", w == d->focus.warp ? '*' : ' ', w,
            warp->state == WARP_DONE ? 0 : warp->mask & warp->alive, thread, state_text(d, warp),
            place);
    }
    return 0;
}

static int info_lanes(Session *s)
{
    const Debugger *d = &s->debugger;
    const Warp *warp = debugger_warp(d);
    char place[300], thread[48];
    place_text(d, warp, place, sizeof place);
    say(s, "Warp %u of block (%u,%u,%u)\n  Lane  State     Thread         Line\n", warp->index,
        warp->block->id[0], warp->block->id[1], warp->block->id[2]);
    for (uint32_t lane = 0; lane < LANES; lane++) {
        int is_there = lanes_of(warp) >> lane & 1, active = warp->mask >> lane & 1;
        if (!is_there) continue;
        thread_text(warp, lane, thread);
        say(s, "%c %4u  %-8s  %-14s %s\n", lane == d->focus.lane ? '*' : ' ', lane,
            active                    ? "active"
            : warp->alive >> lane & 1 ? "inactive"
                                      : "ended",
            thread, active ? place : "-");
    }
    return 0;
}

static int info_threads(Session *s)
{
    const Debugger *d = &s->debugger;
    char place[300], first[48], last[48];
    say(s, "  Block          Threads                   Count  State                  Line\n");
    for (uint32_t i = 0; i < d->workers; i++) {
        const Worker *worker = d->worker[i];
        const uint32_t *id = worker->block.id;
        for (uint32_t w = 0; w < worker->block.warps; w++) {
            const Warp *warp = &worker->warp[w];
            uint32_t all = lanes_of(warp);
            place_text(d, warp, place, sizeof place);
            thread_text(warp, 0, first);
            thread_text(warp, 31 - (uint32_t)__builtin_clz(all), last);
            char block[48], range[100];
            snprintf(block, sizeof block, "(%u,%u,%u)", id[0], id[1], id[2]);
            snprintf(range, sizeof range, "%s to %s", first, last);
            say(s, "%c %-14s %-25s %5d  %-22s %s\n",
                worker->block.number == d->focus.block && w == d->focus.warp ? '*' : ' ', block,
                range, __builtin_popcount(all), state_text(d, warp), place);
        }
    }
    return 0;
}

static int info_kernels(Session *s)
{
    const Debugger *d = &s->debugger;
    for (uint32_t i = 0; i < d->history.launches; i++) {
        char name[256];
        const LaunchRecord *record = &d->history.launch[i];
        const SimtLaunch *launch = &record->request;
        kernel_demangled_name(record->kernel, name, sizeof name);
        if (!i) say(s, "  Kernel  Grid Dim        Block Dim       Instructions  Name\n");
        say(s, "%c %6u  (%u,%u,%u)%*s (%u,%u,%u)%*s %12llu  %s\n", i == d->run ? '*' : ' ', i,
            launch->grid[0], launch->grid[1], launch->grid[2], 4, "", launch->block[0],
            launch->block[1], launch->block[2], 4, "", (unsigned long long)record->furthest, name);
    }
    if (!d->history.launches) say(s, "No kernel has been launched.\n");
    return 0;
}

static int info_blocks(Session *s)
{
    const Debugger *d = &s->debugger;
    uint64_t all = d->launch ? d->launch->blocks : 0;
    say(s, "  Block          State\n");
    for (uint32_t i = 0; i < d->workers; i++) {
        const uint32_t *id = d->worker[i]->block.id;
        say(s, "%c (%u,%u,%u)%*s  executes\n",
            d->worker[i]->block.number == d->focus.block ? '*' : ' ', id[0], id[1], id[2], 4, "");
    }
    say(s, "of %llu in the grid; %llu have begun: the debugger executes blocks in order.\n",
        (unsigned long long)all,
        (unsigned long long)(d->launch && d->launch->next < all ? d->launch->next : all));
    return 0;
}

static int info_sms(Session *s)
{
    const Debugger *d = &s->debugger;
    const Warp *warp = debugger_warp(d);
    say(s, "  SM  Warps\n* %2u  %u of %u\n",
        *(const uint32_t *)(const void *)(warp->file + SR_SMID * LANES * 4), warp->block->warps,
        d->gpu->machine.max_warps_per_sm);
    return 0;
}

int command_info_cuda(Session *s, const char *arguments)
{
    static const struct {
        const char *name;
        int (*run)(Session *s);
        int needs_warp;
    } TABLES[] = {{"kernels", info_kernels, 0}, {"blocks", info_blocks, 1},
                  {"warps", info_warps, 1},     {"lanes", info_lanes, 1},
                  {"threads", info_threads, 1}, {"sms", info_sms, 1}};
    for (size_t i = 0; i < sizeof TABLES / sizeof *TABLES; i++) {
        if (strncmp(arguments, TABLES[i].name, strlen(TABLES[i].name)) != 0) continue;
        if (TABLES[i].needs_warp && !debugger_warp(&s->debugger)) {
            say(s, "No CUDA kernels.\n");
            return 0;
        }
        return TABLES[i].run(s);
    }
    say(s, "info cuda what? kernels, blocks, warps, lanes, threads or sms.\n");
    return 0;
}
