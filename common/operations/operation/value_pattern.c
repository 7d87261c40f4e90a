/* value_pattern.c - a constant factor, integers, and permutations within a tile. */
#include "common/operations/operation/value_pattern.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Required evidence in bits, beyond that for the choice between the patterns that are tried. */
enum { EVIDENCE_BITS = 16 };

static double tolerance_at(const Judgement *judged, size_t i)
{
    const Algorithm algorithm = judged->observed.algorithm;
    const int fast = algorithm != ALGORITHM_SUMS;
    const double scale = judged->magnitude[i];
    return verdict_bound(judged->precision, fast ? fmax(scale, judged->typical) : scale,
                         fmax(judged->terms[i], verdict_least_terms(algorithm)));
}

/* Evidence against a coincidence, in bits: an output whose error is many times the tolerance has
 * the predicted value within the tolerance. */
static double evidence_at(const Judgement *judged, size_t i, double tolerance)
{
    double error = fabs(judged->view.output[i] - judged->expected[i]);
    return tolerance > 0 && error > tolerance ? fmin(log2(error / tolerance), 24) : 0;
}

static int is_readable(const Judgement *judged)
{
    return !judged->faint && judged->count[MARK_WRONG] && !judged->count[MARK_NAN] &&
           !judged->count[MARK_POISON];
}

/* ---- integers ---------------------------------------------------------------------------- */

int find_integers(const Judgement *judged, Finding *finding)
{
    double evidence = 0, least = INFINITY, most = -INFINITY;
    int near = 1;
    if (!is_readable(judged)) return 0;
    for (size_t i = 0; i < judged->verdict.total; i++) {
        double got = judged->view.output[i], allowed = tolerance_at(judged, i);
        if (judged->mark[i] != MARK_WRONG) continue;
        if (got != rint(got) || judged->expected[i] == rint(judged->expected[i])) return 0;
        near = near && fabs(got - judged->expected[i]) < 1 + allowed;
        evidence += allowed < 0.5 && fabs(got) < 0x1p20 ? fmin(log2(0.5 / allowed), 4) : 0;
        least = fmin(least, got);
        most = fmax(most, got);
    }
    /* Zeros, or two values, have simpler causes than a conversion. */
    if (evidence < EVIDENCE_BITS || (!near && most - least < 3)) return 0;
    finding->fault = FAULT_PRECISION;
    finding_say(finding,
                near ? "The wrong outputs are integers, each within 1 of the expected value: the "
                       "sum or the stored value is converted to int (or rounded). Keep it in a "
                       "float."
                     : "The wrong outputs are all integers, but the expected values are not, and "
                       "they differ by more than 1. Possibly values are converted to int before "
                       "they are added, not only their sum. Keep them in floats.");
    return 1;
}

/* ---- a constant factor ------------------------------------------------------------------- */

/* The wrong output whose expected value has the smallest relative tolerance; the total if none. */
static size_t clearest(const Judgement *judged)
{
    size_t best = judged->verdict.total;
    double most = 0;
    for (size_t i = 0; i < judged->verdict.total; i++) {
        double clear = fabs(judged->expected[i]) / tolerance_at(judged, i);
        if (judged->mark[i] != MARK_WRONG || !(clear > most)) continue;
        most = clear;
        best = i;
    }
    return best;
}

/* `relative`: the factor's own uncertainty. */
static void say_factor(double factor, double relative, Finding *finding)
{
    double whole = rint(factor), parts = rint(1 / factor);
    int is_whole = fabs(factor - whole) <= relative * fabs(factor);
    int is_part = fabs(1 / factor - parts) <= relative * fabs(parts);
    if (is_whole && whole == -1)
        finding_say(finding, "Each wrong output has the wrong sign: a term is subtracted, or a "
                             "factor negated.");
    else if (is_whole && whole == 2)
        finding_say(finding,
                    "Each wrong output is twice the expected value. Possibly two {threads or "
                    "|}iterations add the same part of the sum, or a sum is added to itself.");
    else if (is_part && parts == 2)
        finding_say(finding,
                    "Each wrong output is half of the expected value. Possibly two parts of the "
                    "sum are calculated by different {threads or |}iterations, and one is lost.");
    else if (is_whole && whole > 2 && whole <= 4096)
        finding_say(finding,
                    "Each wrong output is %g times the expected value. Possibly each term is "
                    "added %g times, by different {threads or |}iterations, or a division is "
                    "missing.",
                    whole, whole);
    else if (is_part && parts > 2 && parts <= 4096)
        finding_say(finding,
                    "Each wrong output is 1/%g of the expected value. Possibly the sum is divided "
                    "by %g, as for a mean, or a factor is missing.",
                    parts, parts);
    else
        finding_say(finding,
                    "Each wrong output is %.5g times the expected value. Possibly a factor is "
                    "missing, is applied twice, or has another value.",
                    factor);
}

int find_factor(const Judgement *judged, Finding *finding)
{
    const size_t total = judged->verdict.total;
    if (!is_readable(judged)) return 0;
    const size_t best = clearest(judged);
    if (best == total) return 0;
    const double factor = judged->view.output[best] / judged->expected[best];
    const double more = fmax(1, fabs(factor));
    const double relative =
        tolerance_at(judged, best) * more / fmax(fabs(judged->view.output[best]), 1e-300);
    double evidence = 0;
    size_t others = 0;
    if (factor == 0 || !isfinite(factor)) return 0;
    for (size_t i = 0; i < total; i++) {
        double scaled = factor * judged->expected[i];
        double allowed = tolerance_at(judged, i) * more + relative * fabs(scaled);
        if (judged->mark[i] != MARK_WRONG || i == best) continue;
        if (!(fabs(judged->view.output[i] - scaled) <= allowed)) return 0;
        evidence += evidence_at(judged, i, allowed);
        others++;
    }
    if (others < 2 || evidence < EVIDENCE_BITS) return 0;
    finding->fault = FAULT_EVERYWHERE;
    say_factor(factor, relative, finding);
    return 1;
}

/* ---- a constant difference, and a limit -------------------------------------------------- */

int find_shift(const Judgement *judged, Finding *finding)
{
    double evidence = 0, shift = 0;
    size_t others = 0;
    if (!is_readable(judged)) return 0;
    const size_t best = clearest(judged);
    if (best == judged->verdict.total) return 0;
    shift = judged->view.output[best] - judged->expected[best];
    for (size_t i = 0; i < judged->verdict.total; i++) {
        const double allowed = tolerance_at(judged, i) + tolerance_at(judged, best);
        if (judged->mark[i] != MARK_WRONG || i == best) continue;
        if (!(fabs(judged->view.output[i] - judged->expected[i] - shift) <= allowed)) return 0;
        evidence += evidence_at(judged, i, allowed);
        others++;
    }
    if (others < 2 || evidence < EVIDENCE_BITS) return 0;
    finding->fault = FAULT_FORMULA;
    finding_say(finding,
                "Each wrong output is the expected value %c %.6g. A term that is the same for all "
                "of them is %s, or is multiplied by a factor that it should not have.",
                shift < 0 ? '-' : '+', fabs(shift),
                shift < 0 ? "missing or subtracted" : "added twice or should not be there");
    return 1;
}

int find_clamped(const Judgement *judged, Finding *finding)
{
    enum { ENOUGH = 8 };
    size_t above = 0, below = 0;
    float limit = 0;
    if (!is_readable(judged)) return 0;
    for (size_t i = 0; i < judged->verdict.total; i++) {
        if (judged->mark[i] != MARK_WRONG) continue;
        if (above + below && judged->view.output[i] != limit) return 0;
        limit = judged->view.output[i];
        above += judged->expected[i] > limit;
        below += judged->expected[i] < limit;
    }
    if ((above && below) || above + below < ENOUGH) return 0;
    if (limit == 0 && judged->count[MARK_RIGHT] < ENOUGH) return 0; /* simpler: nothing is added */
    for (size_t i = 0; i < judged->verdict.total; i++) { /* the right ones are on the other side */
        const double beyond = judged->expected[i] - limit, allowed = tolerance_at(judged, i);
        if (judged->mark[i] == MARK_RIGHT && (above ? beyond : -beyond) > allowed) return 0;
    }
    finding->fault = FAULT_FORMULA;
    finding_say(finding,
                "Each wrong output is %g, and exactly those are wrong whose expected values are "
                "%s %g. So results are limited to %g%s, which is not part of the formula.",
                limit, above ? "above" : "below", limit, limit,
                limit == 0 && below ? ", as by a ReLU" : "");
    return 1;
}

/* ---- values of other outputs in the same tile -------------------------------------------- */

enum { TILE_MOST = 64, TRANSPOSED_MOST = 32 };

/* Indices of the outputs along one axis, or along the last two axes together. */
typedef struct TileAxis {
    size_t size, step; /* an output's index along the axis is i / step % size */
    char name[24];
} TileAxis;

static int tile_axes(const TensorShape *shape, TileAxis axes[TENSOR_RANK + 1])
{
    size_t step = 1;
    int count = 0;
    for (int axis = shape->rank - 1; axis >= 0; axis--) {
        TileAxis *at = &axes[count++];
        *at = (TileAxis){.size = shape->dim[axis], .step = step};
        snprintf(at->name, sizeof at->name, "%.20s", shape->axes[axis]);
        step *= shape->dim[axis];
    }
    if (shape->rank > 2) {
        const char *row = shape->axes[shape->rank - 2], *column = shape->axes[shape->rank - 1];
        TileAxis *at = &axes[count++];
        *at = (TileAxis){.size = axes[0].size * axes[1].size, .step = 1};
        snprintf(at->name, sizeof at->name, "%.4s*%zu + %.4s", row, axes[0].size, column);
    }
    return count;
}

/* Whether output i has the expected value of output `from`. */
static int has_value_of(const Judgement *judged, size_t i, size_t from, double *tolerance)
{
    *tolerance = fmax(tolerance_at(judged, i), tolerance_at(judged, from));
    return fabs(judged->view.output[i] - judged->expected[from]) <= *tolerance;
}

/* Stores for each index in a tile the only index in the same tile whose expected values the outputs
 * have, in all tiles; *evidence in bits.  0: there is none, or there are several. */
static int tile_sources(const Judgement *judged, const TileAxis *axis, size_t tile,
                        unsigned char source[TILE_MOST], double *evidence)
{
    uint64_t candidates[TILE_MOST], used = 0;
    double bits = -log2((double)tile) * (double)tile, tolerance;
    for (size_t a = 0; a < tile; a++)
        candidates[a] = tile == 64 ? ~0ull : (1ull << tile) - 1;
    for (size_t i = 0; i < judged->verdict.total; i++) {
        size_t at = i / axis->step % axis->size, a = at % tile;
        for (uint64_t rest = candidates[a]; rest; rest &= rest - 1) {
            size_t b = (size_t)__builtin_ctzll(rest);
            if (at - a + b >= axis->size) continue; /* the last tile is partial */
            size_t from = i - a * axis->step + b * axis->step;
            if (!has_value_of(judged, i, from, &tolerance))
                candidates[a] &= ~(1ull << b);
            else if (a != b && !(candidates[a] & (candidates[a] - 1)))
                bits += evidence_at(judged, i, tolerance);
        }
        if (!candidates[a]) return 0;
    }
    for (size_t a = 0; a < tile; a++) {
        if (candidates[a] & (candidates[a] - 1) || used & candidates[a]) return 0;
        used |= candidates[a];
        source[a] = (unsigned char)__builtin_ctzll(candidates[a]);
    }
    *evidence = bits;
    return 1;
}

static void say_permuted(const TileAxis *axis, size_t tile, const unsigned char *source,
                         Finding *finding)
{
    char pairs[96] = "";
    int listed = 0, moved = 0;
    for (size_t a = 0; a < tile; a++) {
        size_t used = strlen(pairs);
        if (source[a] == a || ++moved > 4) continue;
        snprintf(pairs + used, sizeof pairs - used, "%s%zu has that of %d", listed++ ? ", " : "", a,
                 source[a]);
    }
    finding_say(finding,
                "The wrong outputs have the values of other outputs in the same tile of %zu along "
                "%s: index %s%s.",
                tile, axis->name, pairs, moved > listed ? ", and so on" : "");
    finding_say(finding, "Possibly rows or columns of a fragment are exchanged, or the index "
                         "within the tile differs between its store and its load.");
}

static int find_permuted_axis(const Judgement *judged, const TileAxis *axis, Finding *finding)
{
    unsigned char source[TILE_MOST];
    double evidence;
    for (size_t tile = 2; tile <= TILE_MOST && tile <= axis->size; tile *= 2) {
        if (!tile_sources(judged, axis, tile, source, &evidence)) continue;
        if (evidence < EVIDENCE_BITS) continue;
        finding->fault = !strcmp(axis->name, "k") ? FAULT_ONE_FILTER : FAULT_EVERYWHERE;
        say_permuted(axis, tile, source, finding);
        return 1;
    }
    return 0;
}

/* Whether each output has the value at the transposed position of its tile; outputs whose
 * transposed position is outside of the tensor are not explained, so that there must be none. */
static int is_transposed(const Judgement *judged, const TileAxis *rows, const TileAxis *columns,
                         size_t tile)
{
    double evidence = 0, tolerance;
    for (size_t i = 0; i < judged->verdict.total; i++) {
        size_t row = i / rows->step % rows->size, column = i / columns->step % columns->size;
        size_t a = row % tile, b = column % tile;
        if (row - a + b >= rows->size || column - b + a >= columns->size) return 0;
        size_t from = i - a * rows->step - b * columns->step + b * rows->step + a * columns->step;
        if (!has_value_of(judged, i, from, &tolerance)) return 0;
        evidence += evidence_at(judged, i, tolerance);
    }
    return evidence >= 2 * EVIDENCE_BITS;
}

static int find_transposed(const Judgement *judged, const TileAxis *rows, const TileAxis *columns,
                           Finding *finding)
{
    for (size_t tile = 2; tile <= TRANSPOSED_MOST; tile *= 2) {
        if (tile > rows->size || tile > columns->size) return 0;
        if (!is_transposed(judged, rows, columns, tile)) continue;
        finding->fault = FAULT_EVERYWHERE;
        finding_say(finding,
                    "Each tile of %zux%zu outputs along %s and %s is transposed: its rows are its "
                    "columns. Possibly a fragment is stored in column-major order (or loaded), or "
                    "row and column of the tile are exchanged in one index.",
                    tile, tile, rows->name, columns->name);
        return 1;
    }
    return 0;
}

int find_permuted(const Judgement *judged, Finding *finding)
{
    TensorShape shape = {.rank = 0};
    TileAxis axes[TENSOR_RANK + 1];
    if (!is_readable(judged)) return 0;
    output_shape(judged->operation, &judged->view.problem, &shape);
    int count = tile_axes(&shape, axes);
    for (int axis = 0; axis < count; axis++)
        if (find_permuted_axis(judged, &axes[axis], finding)) return 1;
    /* The first axes are the columns; the last one may be two axes together, the columns of a
     * matrix product whose rows are the third. */
    if (shape.rank > 1 && find_transposed(judged, &axes[1], &axes[0], finding)) return 1;
    return shape.rank > 2 && find_transposed(judged, &axes[2], &axes[count - 1], finding);
}
