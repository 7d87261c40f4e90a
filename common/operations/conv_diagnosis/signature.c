/* signature.c - patterns in the positions of wrong outputs: whole images or maps, the padding, the
 * last tile, tile edges. */
#include "common/operations/conv_diagnosis/explain_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { AXIS_N, AXIS_K, AXIS_P, AXIS_Q, AXES };

typedef struct Map {
    const Diagnosis *d;
    unsigned marks;
    int extent[AXES];
    size_t *count[AXES];      /* number of wrong outputs at each coordinate of each axis */
    unsigned char *hot[AXES]; /* flags of the coordinates that belong to a pattern */
    size_t wrong;
} Map;

static int map_is_wrong(const Map *map, size_t index)
{
    return map->marks >> map->d->mark[index] & 1;
}

/* Whether an output is evidence: one whose terms are all zero is correct for any code, except if it
 * was not written. */
static int map_tells(const Map *map, size_t index)
{
    if (map->marks == 1u << MARK_POISON) return !map_is_wrong(map, index);
    return map->d->mark[index] == MARK_RIGHT && map->d->magnitude[index] > 0;
}

/* Whether enough correct outputs that are evidence are outside of a pattern.  Otherwise the pattern
 * may only show the zeros of x. */
static int map_contrasts(const Map *map, size_t telling)
{
    return telling > 0 && telling * 16 >= map->wrong;
}

static size_t map_slice(const Map *map, int axis)
{
    return map->d->total / (size_t)map->extent[axis];
}

static void map_free(Map *map)
{
    for (int a = 0; a < AXES; a++) {
        free(map->count[a]);
        free(map->hot[a]);
    }
}

static int map_make(Map *map, const Diagnosis *d, unsigned marks)
{
    *map = (Map){.d = d, .marks = marks, .extent = {d->conv.N, d->conv.K, d->conv.P, d->conv.Q}};
    for (int a = 0; a < AXES; a++) {
        map->count[a] = calloc((size_t)map->extent[a], sizeof *map->count[a]);
        map->hot[a] = calloc((size_t)map->extent[a], 1);
        if (map->count[a] && map->hot[a]) continue;
        map_free(map);
        return -1;
    }
    for (size_t i = 0; i < d->total; i++) {
        if (!map_is_wrong(map, i)) continue;
        OutputAt at = output_at(&d->conv, i);
        map->count[AXIS_N][at.n]++;
        map->count[AXIS_K][at.k]++;
        map->count[AXIS_P][at.p]++;
        map->count[AXIS_Q][at.q]++;
        map->wrong++;
    }
    return 0;
}

/* ---- sets of coordinates ----------------------------------------------------------------- */

static int set_size(const unsigned char *hot, int extent)
{
    int size = 0;
    for (int i = 0; i < extent; i++)
        size += hot[i];
    return size;
}

/* The set is from..extent-1: returns from, or -1. */
static int set_suffix(const unsigned char *hot, int extent)
{
    int from = extent;
    while (from > 0 && hot[from - 1])
        from--;
    return from > 0 && from < extent && set_size(hot, extent) == extent - from ? from : -1;
}

/* "k = 3", "k >= 16", "q = 15, 31, 47". */
static void set_describe(char letter, const unsigned char *hot, int extent, char *text,
                         size_t bytes)
{
    int from = set_suffix(hot, extent);
    if (from >= 0 && from < extent - 1) {
        snprintf(text, bytes, "%c >= %d", letter, from);
        return;
    }
    int listed = 0, all = set_size(hot, extent);
    snprintf(text, bytes, "%c =", letter);
    for (int i = 0; i < extent && listed < 6; i++)
        if (hot[i]) {
            size_t used = strlen(text);
            snprintf(text + used, bytes - used, "%s%d", listed++ ? ", " : " ", i);
        }
    size_t used = strlen(text);
    if (all > listed) snprintf(text + used, bytes - used, ", ... (%d of %d)", all, extent);
}

/* ---- whole images and maps --------------------------------------------------------------- */

static int axis_at(const Map *map, int axis, size_t index)
{
    OutputAt at = output_at(&map->d->conv, index);
    return axis == AXIS_N ? at.n : axis == AXIS_K ? at.k : axis == AXIS_P ? at.p : at.q;
}

/* Some coordinates of the axis are completely correct, the others mostly wrong. */
static int whole_slices(Map *map, int axis)
{
    int extent = map->extent[axis], hot = 0;
    for (int i = 0; i < extent; i++) {
        map->hot[axis][i] = map->count[axis][i] > 0;
        hot += map->hot[axis][i];
        if (map->count[axis][i] && map->count[axis][i] * 2 < map_slice(map, axis)) return 0;
    }
    if (!hot || hot == extent) return 0;
    size_t telling = 0;
    for (size_t i = 0; i < map->d->total; i++)
        telling += !map->hot[axis][axis_at(map, axis, i)] && map_tells(map, i);
    return map_contrasts(map, telling);
}

static int find_slices(Map *map, Finding *finding)
{
    char set[128];
    if (whole_slices(map, AXIS_N)) {
        set_describe('n', map->hot[AXIS_N], map->extent[AXIS_N], set, sizeof set);
        finding->fault = FAULT_ONE_IMAGE;
        snprintf(finding->text, sizeof finding->text,
                 "The images with %s are completely wrong, the others are correct. Check how n is "
                 "calculated from the {block or the loop|loop}, and that it is in the index of "
                 "both x and y.",
                 set);
        return 1;
    }
    if (whole_slices(map, AXIS_K)) {
        set_describe('k', map->hot[AXIS_K], map->extent[AXIS_K], set, sizeof set);
        finding->fault = FAULT_ONE_FILTER;
        snprintf(finding->text, sizeof finding->text,
                 "The output maps with %s are completely wrong, the others are correct. Check how "
                 "k is calculated from the {block, thread or loop|loop} (the last, partial group "
                 "of filters?), and that it is in the index of both w and y.",
                 set);
        return 1;
    }
    return 0;
}

/* ---- regions made of rows and columns ---------------------------------------------------- */

typedef enum Shape { SHAPE_ROWS, SHAPE_COLUMNS, SHAPE_BOTH, SHAPE_EITHER } Shape;

/* Marks the coordinates with a high share of wrong outputs: above zero, or above the mean of the
 * lowest and the highest share. */
static int heat_axis(Map *map, int axis, int relative)
{
    size_t low = map->count[axis][0], high = low;
    for (int i = 1; i < map->extent[axis]; i++) {
        if (map->count[axis][i] < low) low = map->count[axis][i];
        if (map->count[axis][i] > high) high = map->count[axis][i];
    }
    size_t level = relative ? (low + high) / 2 : 0;
    for (int i = 0; i < map->extent[axis]; i++)
        map->hot[axis][i] = map->count[axis][i] > level;
    int size = set_size(map->hot[axis], map->extent[axis]);
    return size > 0 && size < map->extent[axis];
}

/* Whether all wrong outputs are in the region, and a large part of the region is wrong. */
static int region_fits(const Map *map, Shape shape)
{
    size_t inside = 0, telling = 0;
    for (size_t i = 0; i < map->d->total; i++) {
        OutputAt at = output_at(&map->d->conv, i);
        int row = map->hot[AXIS_P][at.p], column = map->hot[AXIS_Q][at.q];
        int in = shape == SHAPE_ROWS      ? row
                 : shape == SHAPE_COLUMNS ? column
                 : shape == SHAPE_BOTH    ? row && column
                                          : row || column;
        if (!in && map_is_wrong(map, i)) return 0;
        inside += in;
        telling += !in && map_tells(map, i);
    }
    return map->wrong * 10 >= inside * 3 && map_contrasts(map, telling);
}

static int find_region(Map *map, Shape *shape)
{
    int rows = heat_axis(map, AXIS_P, 0), columns = heat_axis(map, AXIS_Q, 0);
    *shape = rows && columns ? SHAPE_BOTH : rows ? SHAPE_ROWS : SHAPE_COLUMNS;
    if ((rows || columns) && region_fits(map, *shape)) return 1;
    *shape = SHAPE_EITHER;
    return heat_axis(map, AXIS_P, 1) && heat_axis(map, AXIS_Q, 1) && region_fits(map, *shape);
}

static void region_describe(const Map *map, Shape shape, char *text, size_t bytes)
{
    char rows[90], columns[90];
    set_describe('p', map->hot[AXIS_P], map->extent[AXIS_P], rows, sizeof rows);
    set_describe('q', map->hot[AXIS_Q], map->extent[AXIS_Q], columns, sizeof columns);
    if (shape == SHAPE_ROWS || shape == SHAPE_COLUMNS)
        snprintf(text, bytes, "%s", shape == SHAPE_ROWS ? rows : columns);
    else
        snprintf(text, bytes, "%s %s %s", rows, shape == SHAPE_BOTH ? "and" : "or", columns);
}

static int shape_uses(Shape shape, int axis)
{
    return shape == SHAPE_BOTH || shape == SHAPE_EITHER ||
           shape == (axis == AXIS_P ? SHAPE_ROWS : SHAPE_COLUMNS);
}

/* Whether every axis of the shape passes the test. */
static int shape_all(const Map *map, Shape shape, int (*test)(const Map *, int))
{
    for (int axis = AXIS_P; axis <= AXIS_Q; axis++)
        if (shape_uses(shape, axis) && !test(map, axis)) return 0;
    return 1;
}

static int tile_of_suffix(int from, int extent)
{
    for (int tile = 64; tile >= 4; tile /= 2)
        if (from % tile == 0 && extent - from < tile) return tile;
    return 0;
}

static int is_last_block(const Map *map, int axis)
{
    int from = set_suffix(map->hot[axis], map->extent[axis]);
    if (from < 0) return 0;
    return map->extent[axis] - from < from || tile_of_suffix(from, map->extent[axis]);
}

enum { PERIOD_MOST = 256 };

/* Whether the hot coordinates have this period.  The first and the last tile may differ, because
 * they touch the padding; but most coordinates must repeat. */
static int period_fits(const unsigned char *hot, int extent, int period)
{
    int residues = 0, repeats = 0, misses = 0;
    for (int residue = 0; residue < period; residue++) {
        int places = 0, hits = 0;
        for (int i = residue; i < extent; i += period) {
            places++;
            hits += hot[i];
        }
        if (!hits) continue;
        residues++;
        repeats += hits - 1;
        misses += places - hits;
        for (int i = residue + period; i < (extent - 1) / period * period; i += period)
            if (!hot[i]) return 0;
    }
    return repeats > 0 && misses <= repeats && residues * 4 <= period * 3;
}

/* The period of the hot coordinates: common tile sizes first, then the smallest. */
static int period_of(const unsigned char *hot, int extent)
{
    int most = (extent + 1) / 2 < PERIOD_MOST ? (extent + 1) / 2 : PERIOD_MOST;
    for (int period = 2; period < extent && period <= 64; period *= 2)
        if (period_fits(hot, extent, period)) return period;
    for (int period = 3; period <= most; period++)
        if (period_fits(hot, extent, period)) return period;
    return 0;
}

/* Too few tiles for a period: all hot coordinates are within a filter's reach of a border of a
 * common tile size. */
static int border_of(const unsigned char *hot, int extent, int taps)
{
    for (int tile = 32; tile >= 8; tile /= 2) {
        int near = taps > 1 ? taps - 1 : 1, fits = extent > tile && near <= tile / 4;
        for (int i = 0; fits && i < extent; i++) {
            int border = (i + near) / tile * tile; /* the last border at or before i + near */
            fits = !hot[i] || (border > 0 && border < extent && i < border + near);
        }
        if (fits) return tile;
    }
    return 0;
}

static int tile_of(const Map *map, int axis)
{
    const ConvProblem *c = &map->d->conv;
    int period = period_of(map->hot[axis], map->extent[axis]);
    return period ? period
                  : border_of(map->hot[axis], map->extent[axis], axis == AXIS_P ? c->R : c->S);
}

static int is_tile_edge(const Map *map, int axis)
{
    return tile_of(map, axis) > 0;
}

/* Whether the hot coordinates are within a window's reach of the borders of their tiles. */
static int is_at_border(const Map *map, int axis)
{
    const ConvProblem *c = &map->d->conv;
    int tile = tile_of(map, axis), reach = (axis == AXIS_P ? c->R : c->S) - 1;
    if (reach < 1 || tile <= reach) return 0; /* in such tiles everything is at a border */
    int early = 1, late = 1; /* Booleans: only the tile's first, or last, coordinates are hot */
    for (int i = 0; i < map->extent[axis]; i++) {
        if (!map->hot[axis][i]) continue;
        if (i % tile >= reach && i % tile < tile - reach) return 0;
        early = early && i % tile < reach;
        late = late && i % tile >= tile - reach;
    }
    return tile > 2 * reach || early || late;
}

/* ---- the padding ------------------------------------------------------------------------- */

enum { SIDE_TOP = 1, SIDE_BOTTOM = 2, SIDE_LEFT = 4, SIDE_RIGHT = 8 };

/* The sides of the image over which the output's window extends. */
static unsigned sides_touched(const ConvProblem *c, OutputAt at)
{
    int top = at.p * c->stride_h - c->pad_top, left = at.q * c->stride_w - c->pad_left;
    return (top < 0 ? SIDE_TOP : 0) | (top + c->R > c->H ? SIDE_BOTTOM : 0) |
           (left < 0 ? SIDE_LEFT : 0) | (left + c->S > c->W ? SIDE_RIGHT : 0);
}

static int find_padding(const Map *map, Finding *finding)
{
    size_t touching = 0, telling = 0, alone[16] = {0};
    for (size_t i = 0; i < map->d->total; i++) {
        unsigned sides = sides_touched(&map->d->conv, output_at(&map->d->conv, i));
        touching += sides != 0;
        telling += !sides && map_tells(map, i);
        if (!map_is_wrong(map, i)) continue;
        if (!sides) return 0;
        alone[sides]++;
    }
    if (touching == map->d->total || map->wrong * 10 < touching || !map_contrasts(map, telling))
        return 0;
    static const char *const name[] = {"top", "bottom", "left", "right"};
    char where[64] = "";
    for (int side = 0; side < 4; side++)
        if (alone[1u << side])
            snprintf(where + strlen(where), sizeof where - strlen(where), "%s%s",
                     *where ? ", " : "", name[side]);
    finding->fault = FAULT_PADDING_EDGE;
    snprintf(finding->text, sizeof finding->text,
             "Outputs whose window touches the padding (%s) are wrong, all others are correct. "
             "Check the bounds test on h = p*stride_h + r - pad_top and w = q*stride_w + s - "
             "pad_left: a tap counts only where 0 <= h < H and 0 <= w < W.",
             *where ? where : "corners");
    return 1;
}

/* ---- one-dimensional grids --------------------------------------------------------------- */

static int find_flat_suffix(const Map *map, Finding *finding)
{
    size_t first = 0;
    while (!map_is_wrong(map, first))
        first++;
    if (first == 0 || first % 32 != 0 || map->wrong < map->d->total - first) return 0;
    finding->fault = FAULT_LAST_BLOCK;
    snprintf(finding->text, sizeof finding->text,
             "All outputs from flat index %zu of %zu on are wrong, all before it are correct{: the "
             "last block or blocks of a grid that counts the outputs in one row. Round the number "
             "of blocks up, and guard the index against N*K*P*Q.|. Check where the loop ends.}",
             first, map->d->total);
    return 1;
}

/* ---- all patterns ------------------------------------------------------------------------ */

static int find_in_region(Map *map, Shape shape, Finding *finding)
{
    char where[190];
    region_describe(map, shape, where, sizeof where);
    if (shape_all(map, shape, is_last_block)) {
        finding->fault = FAULT_LAST_BLOCK;
        snprintf(finding->text, sizeof finding->text,
                 "Only the outputs with %s are wrong: the last, partial tile (P = %d, Q = %d). "
                 "{Round the number of blocks up, and test p < P and q < Q for each thread, also "
                 "if it only helps to load.|Check where the loops over p and q end.}",
                 where, map->extent[AXIS_P], map->extent[AXIS_Q]);
        return 1;
    }
    if (shape_all(map, shape, is_tile_edge)) {
        int rows = shape_uses(shape, AXIS_P) ? tile_of(map, AXIS_P) : 0;
        int columns = shape_uses(shape, AXIS_Q) ? tile_of(map, AXIS_Q) : 0;
        char size[64];
        if (rows && columns)
            snprintf(size, sizeof size, "%d rows and %d columns", rows, columns);
        else
            snprintf(size, sizeof size, "%d %s", rows + columns, rows ? "rows" : "columns");
        int halo = shape_all(map, shape, is_at_border);
        finding->fault = halo ? FAULT_TILE_EDGE : FAULT_EVERYWHERE;
        snprintf(finding->text, sizeof finding->text, "The wrong outputs (%s) repeat every %s. %s",
                 where, size,
                 halo ? "If that is your tile, then windows at its edge lack the halo: R-1 more "
                        "rows and S-1 more columns of input, offset by the padding{, loaded "
                        "before the barrier|}."
                      : "Check what differs for these in each tile{, or for the threads that "
                        "calculate them|}.");
        return 1;
    }
    if (map->wrong * 10 > map->d->total * 7) return 0; /* the errors are nearly everywhere */
    finding->fault = FAULT_EVERYWHERE;
    snprintf(finding->text, sizeof finding->text, "Only the outputs with %s are wrong.", where);
    return 1;
}

/* A suffix that starts at a multiple of the tile size is a last block, even if all of it touches
 * the padding, provided that the padding on the other side has no errors. */
static int is_aligned_last_block(const Map *map, Shape shape)
{
    for (int axis = AXIS_P; axis <= AXIS_Q; axis++)
        if (shape_uses(shape, axis)) {
            int from = set_suffix(map->hot[axis], map->extent[axis]);
            if (from < 4 || from % 4 != 0) return 0;
            if (!(axis == AXIS_P ? map->d->conv.pad_top : map->d->conv.pad_left)) return 0;
        }
    return 1;
}

int signature_find(const Diagnosis *d, unsigned marks, Finding *finding)
{
    Map map;
    if (map_make(&map, d, marks)) return 0;
    Shape shape = SHAPE_EITHER;
    int found = 0;
    if (map.wrong > 0 && map.wrong < d->total) {
        found = find_slices(&map, finding);
        int region = !found && find_region(&map, &shape);
        if (region && is_aligned_last_block(&map, shape))
            found = find_in_region(&map, shape, finding);
        if (!found) found = find_padding(&map, finding);
        if (!found && region) found = find_in_region(&map, shape, finding);
        if (!found) found = find_flat_suffix(&map, finding);
    }
    map_free(&map);
    return found;
}

int signature_set(const Diagnosis *d, unsigned marks, char *text, size_t bytes)
{
    static const char letter[AXES] = {'n', 'k', 'p', 'q'};
    Map map;
    Shape shape;
    int found = 0;
    if (map_make(&map, d, marks)) return 0;
    for (int axis = AXIS_N; axis <= AXIS_K && !found && map.wrong; axis++) {
        found = heat_axis(&map, axis, 0);
        if (found) set_describe(letter[axis], map.hot[axis], map.extent[axis], text, bytes);
    }
    if (!found && map.wrong && find_region(&map, &shape)) {
        region_describe(&map, shape, text, bytes);
        found = 1;
    }
    map_free(&map);
    return found;
}
