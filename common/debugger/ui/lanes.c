/* lanes.c - commands that print an expression in each lane of a warp or each thread of a block. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/debugger/ui/session.h"

static void cell_print(const Warp *warp, const Value *value, uint32_t lane, char *text,
                       size_t bytes)
{
    if (value->valid >> lane & 1)
        value_print(warp, value, lane, 0, text, bytes);
    else
        snprintf(text, bytes, "?");
}

int command_lanes(Session *s, const char *arguments)
{
    enum { COLUMNS = 8 };
    char cell[LANES][64];
    Scene scene;
    Value value;
    Error error;
    Debugger *d = &s->debugger;
    Warp *warp = debugger_warp(d);
    uint32_t all = lanes_of(warp), width = 1;
    Expression *expression = *arguments ? expression_parse(arguments, NULL, &error) : NULL;
    if (!*arguments) error_set(&error, "The expression is missing: lanes EXPRESSION.");
    if (!expression || debugger_scene(d, all, &scene, &error) != 0) {
        say(s, "%s\n", error.text);
        expression_free(expression);
        return 0;
    }
    expression_evaluate(expression, &scene, &value);
    expression_free(expression);
    if (!value.valid) {
        say(s, "%s\n", value.why);
        return 0;
    }
    for (uint32_t lane = 0; lane < LANES; lane++) {
        cell_print(warp, &value, lane, cell[lane], sizeof cell[lane]);
        if (!(all >> lane & 1)) snprintf(cell[lane], sizeof cell[lane], "-");
        if (strlen(cell[lane]) > width) width = (uint32_t)strlen(cell[lane]);
    }
    const uint32_t *block = warp->block->id;
    say(s, "%s in warp %u of block (%u,%u,%u): %d of %d lanes are active%s\n", arguments,
        warp->index, block[0], block[1], block[2], __builtin_popcount(warp->mask),
        __builtin_popcount(all), warp->mask == all ? "" : "; (inactive) in brackets");
    for (uint32_t row = 0; row < LANES; row += COLUMNS) {
        say(s, "%5u-%-2u", row, row + COLUMNS - 1);
        for (uint32_t lane = row; lane < row + COLUMNS; lane++) {
            int off = all >> lane & 1 && !(warp->mask >> lane & 1);
            say(s, " %s%*s%s", off ? "(" : " ", (int)width, cell[lane], off ? ")" : " ");
        }
        say(s, "\n");
    }
    if (value.valid != all) say(s, "?: %s\n", value.why);
    return 0;
}

int command_block(Session *s, const char *arguments)
{
    Debugger *d = &s->debugger;
    Error error;
    Warp *focus = debugger_warp(d);
    Expression *expression = *arguments ? expression_parse(arguments, NULL, &error) : NULL;
    if (!expression) {
        say(s, "%s\n", *arguments ? error.text : "The expression is missing: block EXPRESSION.");
        return 0;
    }
    const uint32_t *dim = focus->worker->launch->launch->block;
    uint32_t threads = focus->block->threads, width = 1;
    char(*cell)[32] = calloc(threads, sizeof *cell);
    char why[VALUE_WHY] = "";
    for (uint32_t w = 0; cell && w < focus->block->warps; w++) {
        Warp *warp = &focus->worker->warp[w];
        Frame frame[FRAMES_MOST];
        Value value;
        frames_at(d->map, debugger_ins(d, warp), frame);
        Scene scene = {.warp = warp, .map = d->map, .frame = frame[0], .mask = lanes_of(warp)};
        expression_evaluate(expression, &scene, &value);
        if (value.valid != scene.mask) snprintf(why, sizeof why, "%.200s", value.why);
        for (uint32_t lane = 0; lane < LANES && w * LANES + lane < threads; lane++) {
            char *text = cell[w * LANES + lane];
            cell_print(warp, &value, lane, text, sizeof *cell);
            if (strlen(text) > width) width = (uint32_t)strlen(text);
        }
    }
    expression_free(expression);
    const uint32_t *id = focus->block->id;
    say(s, "%s in block (%u,%u,%u): a row for each threadIdx.y, a column for each threadIdx.x\n",
        arguments, id[0], id[1], id[2]);
    for (uint32_t t = 0; cell && t < threads; t++) {
        if (dim[2] > 1 && t % (dim[0] * dim[1]) == 0)
            say(s, "threadIdx.z = %u\n", t / dim[0] / dim[1]);
        say(s, "%*s%s", (int)width + 1, cell[t], (t + 1) % dim[0] ? "" : "\n");
    }
    if (*why) say(s, "?: %s\n", why);
    free(cell);
    return 0;
}
