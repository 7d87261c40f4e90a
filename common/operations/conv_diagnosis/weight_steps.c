/* weight_steps.c - weights that are loaded tile by tile from a wrong position.
 *
 * A filter's weights are rows (c, r, s) of a matrix, which many kernels load in tiles of some rows.
 * With one non-zero pixel in channel c, outputs show the rows by which it is multiplied instead of
 * its own.  If a pointer advances by too little or too much, the first tile is right, and in the
 * second tile all rows have the same distance from the right ones. */
#include "common/operations/conv_diagnosis/explain_parts.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double run_macs = 1.5e8; /* upper limit of a run's multiply-adds; a few runs follow */
enum { MOST_ROWS = 256, MOST_RUNS = 24, LEAST_DEPTH = 4, UNKNOWN = INT_MAX };

typedef struct Steps {
    const Diagnosis *d;
    Probe probe;
    int k;                   /* the filter */
    int rows;                /* rows of the filter, at most MOST_ROWS */
    int distance[MOST_ROWS]; /* a row minus the row whose weight is used; UNKNOWN */
} Steps;

/* The row of the filter whose weight has this value; -1: none. */
static int row_of_value(const Steps *steps, double value)
{
    const ConvProblem *v = &steps->probe.conv;
    const int rows = v->C * v->R * v->S;
    const float *filter = steps->probe.w + (size_t)steps->k * rows;
    for (int row = 0; row < rows && value != 0; row++)
        if (fabs(filter[row] - value) <= 1e-6 * fabs(value)) return row;
    return -1;
}

/* Sets the distances of channel c's rows that the pixel in the middle of the map shows.  -1: could
 * not run. */
static int channel_measure(Steps *steps, int c)
{
    const ConvProblem *v = &steps->probe.conv;
    Probe *probe = &steps->probe;
    const int h = v->H / 2, w = v->W / 2;
    memset(probe->x, 0, probe->x_count * sizeof(float));
    probe->x[((size_t)c * v->H + h) * v->W + w] = 1;
    if (probe_wrong(steps->d, probe) < 0) return -1;
    for (int tap = 0; tap < v->R * v->S; tap++) {
        const int row = c * v->R * v->S + tap;
        const int down = h + v->pad_top - tap / v->S, right = w + v->pad_left - tap % v->S;
        const int p = down / v->stride_h, q = right / v->stride_w;
        if (row >= steps->rows || down < 0 || right < 0 || p >= v->P || q >= v->Q ||
            p * v->stride_h != down || q * v->stride_w != right)
            continue;
        const int used = row_of_value(steps, probe->y[((size_t)steps->k * v->P + p) * v->Q + q]);
        if (used >= 0) steps->distance[row] = row - used;
    }
    return 0;
}

/* Measures channels until the second tile is known: its first row, or 0. */
static int second_tile_measure(Steps *steps)
{
    const ConvProblem *v = &steps->probe.conv;
    const int taps = v->R * v->S;
    int depth = 0;
    for (int row = 0; row < MOST_ROWS; row++)
        steps->distance[row] = UNKNOWN;
    for (int c = 0; c < v->C && c < MOST_RUNS && c * taps < steps->rows; c++) {
        if (channel_measure(steps, c)) return 0;
        for (int row = c * taps; row < (c + 1) * taps && row < steps->rows && !depth; row++)
            if (steps->distance[row] != UNKNOWN && steps->distance[row] != 0) depth = row;
        if (depth && (c + 1) * taps > 2 * depth) break;
    }
    return depth;
}

/* Whether all known rows from first to last, at least two, have this distance. */
static int is_constant(const Steps *steps, int first, int last, int distance)
{
    int known = 0;
    for (int row = first; row <= last && row < steps->rows; row++) {
        if (steps->distance[row] == UNKNOWN) continue;
        if (steps->distance[row] != distance) return 0;
        known++;
    }
    return known >= 2;
}

int weight_steps_find(const Diagnosis *d, int k, Finding *finding)
{
    const ConvProblem *v = &d->conv;
    Steps steps = {.d = d, .k = k, .rows = v->C * v->R * v->S};
    if (!d->run || d->precision != PRECISION_FP32 || conv_macs(v) > run_macs ||
        probe_make(&steps.probe, v))
        return 0;
    if (steps.rows > MOST_ROWS) steps.rows = MOST_ROWS;
    memcpy(steps.probe.w, d->tensor[1], steps.probe.w_count * sizeof(float));
    const int depth = second_tile_measure(&steps);
    probe_free(&steps.probe);
    if (depth < LEAST_DEPTH || steps.distance[depth - 1] != 0) return 0;
    const int distance = steps.distance[depth];
    const int is_tile = is_constant(&steps, 0, depth - 1, 0) &&
                        is_constant(&steps, depth, 2 * depth - 1, distance) &&
                        !(2 * depth < steps.rows && steps.distance[2 * depth] == distance);
    if (!is_tile) return 0;
    if (distance == depth)
        finding_say(finding,
                    "Weights %d to %d of each filter, counted over c, r and s, are right. In place "
                    "of the next %d the same ones are used: the pointer to w does not advance to "
                    "the next tile of %d rows.",
                    0, depth - 1, depth, depth);
    else
        finding_say(finding,
                    "Weights %d to %d of each filter, counted over c, r and s, are right. The next "
                    "%d are those %d places %s: possibly the pointer to w advances by %d instead "
                    "of %d.",
                    0, depth - 1, depth, abs(distance), distance > 0 ? "before" : "after",
                    depth - distance, depth);
    return 1;
}
