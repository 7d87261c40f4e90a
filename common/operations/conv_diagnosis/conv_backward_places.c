/* conv_backward_places.c - diagnosis from the positions of the wrong values of a gradient. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/operations/conv_diagnosis/conv_backward_slip.h"

/* The fault of an output axis if only some of its coordinates are wrong. */
static Fault fault_of(const Backward *b, int axis, int first, int last, int extent)
{
    static const Fault of_dw[] = {FAULT_ONE_FILTER, FAULT_ONE_CHANNEL, FAULT_TAP_DROPPED,
                                  FAULT_TAP_DROPPED};
    if (b->filter) return of_dw[axis];
    if (axis < 2) return axis ? FAULT_ONE_CHANNEL : FAULT_ONE_IMAGE;
    if (first > 0 && last == extent - 1) return FAULT_LAST_BLOCK;
    return FAULT_PADDING_EDGE;
}

/* Whether all outputs at some coordinates of one axis are wrong, and no others; names the
 * coordinates. */
static int find_axis(const Backward *b, int axis, Finding *finding)
{
    const Judgement *j = b->judged;
    const char *letters = b->filter ? "kcrs" : "nchw";
    int extent = conv_backward_extent(&b->v, letters[axis]), first = -1, last = -1, bad = 0;
    size_t *wrong = calloc(2 * (size_t)extent, sizeof *wrong), *all = wrong + extent;
    Slip right = slip_right(b);
    for (size_t i = 0; wrong && i < j->verdict.total; i++) {
        int at[4];
        if (j->terms[i] == 0 && j->mark[i] == MARK_RIGHT) continue; /* correct without any work */
        slip_place(b, &right, i, at);
        all[at[axis]]++;
        wrong[at[axis]] += j->mark[i] != MARK_RIGHT;
    }
    int whole = wrong != NULL, touched = 0, phased = 1;
    int step = b->filter || axis < 2 ? 1 : axis == 2 ? b->v.stride_h : b->v.stride_w;
    for (int i = 0; whole && i < extent; i++) {
        touched += all[i] > 0;
        if (!wrong[i]) continue;
        if (wrong[i] * 4 < all[i]) whole = 0;
        if (first < 0) first = i;
        phased &= (i - first) % step == 0;
        last = i;
        bad++;
    }
    free(wrong);
    if (!whole || bad == touched || bad == 0) return 0;
    phased &= last > first;
    finding->fault = fault_of(b, axis, first, last, extent);
    if (step > 1 && phased) {
        finding->fault = FAULT_STRIDE;
        finding_say(finding,
                    "The only wrong outputs have %c = %d, %d, ...: one phase of the stride, whose "
                    "pixels use different taps.",
                    letters[axis], first, first + step);
        return 1;
    }
    if (bad == last - first + 1)
        finding_say(finding, "The only wrong outputs have %c = %d%s%.0d of 0 .. %d.", letters[axis],
                    first, last > first ? " .. " : "", last > first ? last : 0, extent - 1);
    else
        finding_say(finding, "Only %d of the %d values of %c are wrong, the first %d, the last %d.",
                    bad, extent, letters[axis], first, last);
    return 1;
}

int find_untouched(const Backward *b, Finding *finding)
{
    const Judgement *j = b->judged;
    size_t untouched = 0;
    for (size_t i = 0; i < j->verdict.total; i++) {
        if (j->mark[i] == MARK_RIGHT) continue;
        if (j->terms[i] > 0) return 0;
        untouched++;
    }
    if (b->filter || !untouched) return 0;
    finding->fault = j->count[MARK_POISON] ? FAULT_UNWRITTEN : FAULT_STRIDE;
    finding_say(finding,
                "%zu pixels that no window covers %s. Their gradient is 0 and must be stored like "
                "any other.",
                untouched, j->count[MARK_POISON] ? "were never written" : "have a gradient");
    return 1;
}

enum { PERIODS = 8 };

/* Pixels (h, w) by h % period and w % period: their number, and the number of wrong ones. */
typedef struct Cells {
    size_t all[PERIODS][PERIODS], wrong[PERIODS][PERIODS];
} Cells;

static Cells cells_count(const Backward *b, int period)
{
    const Judgement *j = b->judged;
    Cells cells = {{{0}}, {{0}}};
    Slip right = slip_right(b);
    for (size_t i = 0; i < j->verdict.total; i++) {
        int at[4];
        slip_place(b, &right, i, at);
        cells.all[at[2] % period][at[3] % period]++;
        cells.wrong[at[2] % period][at[3] % period] += j->mark[i] != MARK_RIGHT;
    }
    return cells;
}

/* Whether each cell is completely wrong or correct, except for coincidences. */
static int cells_are_whole(const Cells *cells, int period)
{
    int wrong = 0, right = 0;
    for (int i = 0; i < period * period; i++) {
        size_t all = cells->all[i / period][i % period], bad = cells->wrong[i / period][i % period];
        if (bad && bad * 4 < all * 3) return 0;
        wrong += bad > 0;
        right += all && !bad;
    }
    return wrong && right;
}

/* dx at stride 1: the wrong pixels have a period of 2 to 8 rows and columns, like the outputs of a
 * thread or a tile. */
static int find_period(const Backward *b, Finding *finding)
{
    const ConvProblem *v = &b->v;
    if (b->filter || v->stride_h > 1 || v->stride_w > 1) return 0;
    for (int period = 2; period <= PERIODS && 2 * period <= v->H && 2 * period <= v->W; period++) {
        Cells cells = cells_count(b, period);
        if (!cells_are_whole(&cells, period)) continue;
        char rows[32] = "";
        int listed = 0;
        for (int h = 0; h < period; h++) {
            int whole = 1;
            for (int w = 0; w < period; w++)
                whole &= !cells.all[h][w] || cells.wrong[h][w];
            if (whole)
                snprintf(rows + strlen(rows), sizeof rows - strlen(rows), "%s%d",
                         listed++ ? ", " : "", h);
        }
        finding->fault = FAULT_TILE_EDGE;
        finding_say(finding, "The wrong pixels repeat every %d rows and columns%s%s%s.", period,
                    listed ? ": rows " : "", rows,
                    listed ? " of each are wrong throughout, and so are the columns" : "");
        finding_say(finding, "The code that computes %d of them at a time is wrong.", period);
        return 1;
    }
    return 0;
}

int find_place(const Backward *b, Finding *finding)
{
    for (int axis = 0; axis < 4; axis++)
        if (find_axis(b, axis, finding)) return 1;
    return find_period(b, finding);
}
