/* focus.c - the command that selects the thread in focus. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/debugger/ui/session.h"

/* "(1,0,2)", "(1,0)" or "7"; the number of coordinates. */
static int coordinates(const char **at, uint32_t value[3])
{
    int count = 0;
    const char *c = *at;
    while (isspace((unsigned char)*c))
        c++;
    int open = *c == '(';
    c += open;
    value[0] = value[1] = value[2] = 0;
    for (;;) {
        char *end;
        while (isspace((unsigned char)*c))
            c++;
        if (!isdigit((unsigned char)*c)) return 0;
        value[count++] = (uint32_t)strtoul(c, &end, 10);
        c = end;
        while (isspace((unsigned char)*c))
            c++;
        if (!open || *c != ',' || count == 3) break;
        c++;
    }
    if (open && *c++ != ')') return 0;
    *at = c;
    return count;
}

static int block_select(Session *s, const uint32_t value[3], int count, Focus *focus)
{
    Debugger *d = &s->debugger;
    const uint32_t *grid = d->launch->launch->grid;
    uint64_t number = count == 1 && value[0] >= grid[0]
                          ? value[0]
                          : value[0] + grid[0] * (value[1] + (uint64_t)grid[1] * value[2]);
    if (count > 1 && (value[0] >= grid[0] || value[1] >= grid[1] || value[2] >= grid[2]))
        number = UINT64_MAX;
    if (number >= d->launch->blocks) {
        say(s, "The grid is (%u,%u,%u): it has no such block.\n", grid[0], grid[1], grid[2]);
        return -1;
    }
    if (!debugger_worker(d, number)) {
        say(s,
            "Block (%u,%u,%u) does not execute now: the debugger executes blocks in order.  Stop "
            "in "
            "it with: break PLACE if blockIdx.x == %u && blockIdx.y == %u\n",
            value[0], value[1], value[2], value[0], value[1]);
        return -1;
    }
    if (number != focus->block) *focus = (Focus){.block = number};
    return 0;
}

static int thread_select(Session *s, const uint32_t value[3], int count, Focus *focus)
{
    Debugger *d = &s->debugger;
    const uint32_t *dim = d->launch->launch->block;
    uint64_t number = value[0] + dim[0] * (value[1] + (uint64_t)dim[1] * value[2]);
    if ((count > 1 && (value[0] >= dim[0] || value[1] >= dim[1] || value[2] >= dim[2])) ||
        number >= d->launch->threads_per_block) {
        say(s, "The block is (%u,%u,%u): it has no such thread.\n", dim[0], dim[1], dim[2]);
        return -1;
    }
    focus->warp = (uint32_t)(number / LANES), focus->lane = (uint32_t)(number % LANES);
    return 0;
}

int command_focus(Session *s, const char *arguments)
{
    Debugger *d = &s->debugger;
    Focus focus = d->focus;
    const char *at = arguments;
    uint32_t value[3], warps = debugger_warp(d)->block->warps;
    focus.frame = 0;
    if (!*at) {
        focus_print(s);
        return 0;
    }
    if (*at == '(' || isdigit((unsigned char)*at)) { /* thread (1,0) */
        int count = coordinates(&at, value);
        if (!count || thread_select(s, value, count, &focus) != 0) return 0;
    }
    while (*at) {
        char word[16] = "";
        size_t length = 0;
        while (isspace((unsigned char)*at) || *at == ',')
            at++;
        while (isalpha((unsigned char)at[length]) && length + 1 < sizeof word)
            length++;
        memcpy(word, at, length);
        at += length;
        int count = coordinates(&at, value), status = 0;
        if (!count) {
            if (*word && !strpbrk(at, "0123456789")) { /* "cuda block thread": which ones? */
                focus_print(s);
                return 0;
            }
            say(s, "Say block, thread, warp, lane, sm, grid or kernel with a number or (x,y,z).\n");
            return 0;
        }
        if (!strcmp(word, "block"))
            status = block_select(s, value, count, &focus);
        else if (!strcmp(word, "thread"))
            status = thread_select(s, value, count, &focus);
        else if (!strcmp(word, "warp") && value[0] < warps)
            focus.warp = value[0], focus.lane = 0;
        else if (!strcmp(word, "lane") && value[0] < LANES)
            focus.lane = value[0];
        else if (!strcmp(word, "kernel") && value[0] != d->run)
            status = (say(s, "Kernel %u does not execute now: reverse-continue goes back to it.\n",
                          value[0]),
                      -1);
        else if (!strcmp(word, "warp") || !strcmp(word, "lane"))
            status = (say(s, "There is no %s %u: the block has %u warps of 32 lanes.\n", word,
                          value[0], warps),
                      -1);
        else if (strcmp(word, "kernel") && strcmp(word, "grid") && strcmp(word, "device") &&
                 strcmp(word, "sm"))
            status = (say(s, "Say block, thread, warp, lane, sm, grid or kernel with a number or "
                             "(x,y,z).\n"),
                      -1);
        if (status) return 0;
        while (isspace((unsigned char)*at) || *at == ',')
            at++;
    }
    const Worker *worker = debugger_worker(d, focus.block);
    if (!worker || focus.warp >= worker->block.warps ||
        !(lanes_of(&worker->warp[focus.warp]) >> focus.lane & 1)) {
        say(s, "The block has no thread in that lane.\n");
        return 0;
    }
    d->focus = focus;
    focus_print(s);
    s->shown = d->focus, s->has_shown = 1, s->list_line = 0;
    const Warp *warp = debugger_warp(d);
    if (warp->state == WARP_DONE)
        say(s, "The warp has ended.\n");
    else
        frame_print(s, 0, 1);
    return 0;
}
