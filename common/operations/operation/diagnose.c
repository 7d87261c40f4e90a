#include "common/operations/operation/diagnose.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/operations/operation/known_mistake.h"
#include "common/operations/operation/product_probe.h"
#include "common/operations/operation/value_index.h"
#include "common/operations/operation/value_pattern.h"

/* ---- the operation's own words ----------------------------------------------------------- */

static const char *output_name(const Judgement *judged)
{
    TensorShape shape = {.name = ""};
    output_shape(judged->operation, &judged->view.problem, &shape);
    return shape.name;
}

/* "x or w" */
static void input_names(const Judgement *judged, char *text, size_t bytes)
{
    TensorShape shape[OPERATION_TENSORS];
    int count = judged->operation->tensors(&judged->view.problem, shape);
    *text = 0;
    for (int i = 0; i < count; i++) {
        size_t used = strlen(text);
        if (shape[i].role == TENSOR_INPUT)
            snprintf(text + used, bytes - used, "%s%s", used ? " or " : "", shape[i].name);
    }
}

/* "k < K, p < P, q < Q": the bounds of an output's axes except the outermost, which blocks rarely
 * exceed. */
static void axis_bounds(const Judgement *judged, char *text, size_t bytes)
{
    TensorShape shape = {.rank = 0};
    output_shape(judged->operation, &judged->view.problem, &shape);
    *text = 0;
    for (int axis = shape.rank > 1; axis < shape.rank; axis++) {
        size_t used = strlen(text);
        snprintf(text + used, bytes - used, "%s%s < %c", used ? ", " : "", shape.axes[axis],
                 toupper((unsigned char)*shape.axes[axis]));
    }
}

/* ---- findings of a checker -------------------------------------------------------------- */

/* Whether the checker's report names an element of the output: "... y at (n,k,p,q) = (0,0,0,0)".
 * Then the sum included the output's old value. */
static int names_output(const Judgement *judged, const char *checked)
{
    char words[32];
    snprintf(words, sizeof words, ": %.20s at (", output_name(judged));
    return strstr(checked, words) != NULL;
}

/* Whether the line that read the submission's own memory also stores to it. */
static int adds_in_place(const char *checked)
{
    return strstr(checked, "this line adds to it") != NULL;
}

/* Unordered accesses: by streams or by threads, and in which memory. */
static Fault fault_raced(const char *checked)
{
    if (strstr(checked, "nothing orders the two:")) return FAULT_STREAMS;
    if (strstr(checked, "between Write access") && strstr(checked, " and Write access"))
        return FAULT_TWO_WRITERS;
    return strstr(checked, "__global__ memory") ? FAULT_RACE_GLOBAL : FAULT_RACE;
}

int fault_is_race(Fault fault)
{
    return fault >= FAULT_RACE && fault <= FAULT_STREAMS;
}

Fault fault_checked(const Judgement *judged)
{
    const char *checked = judged->observed.checked;
    if (!checked || !*checked) return FAULT_NONE;
    if (!strncmp(checked, "Race", strlen("Race"))) return fault_raced(checked);
    if (!strncmp(checked, "Barrier error", strlen("Barrier error"))) return FAULT_BARRIER;
    if (strstr(checked, ": the cp.async at")) return FAULT_RACE;
    return names_output(judged, checked) || adds_in_place(checked) ? FAULT_ACCUMULATED : FAULT_NAN;
}

/* ---- writes out of bounds --------------------------------------------------------------- */

static void find_band(const Judgement *judged, Finding *finding)
{
    const char *name = judged->observed.band_broken;
    long offset = judged->observed.band_offset;
    char place[80], bounds[80];
    axis_bounds(judged, bounds, sizeof bounds);
    finding->fault = FAULT_GUARD_BAND;
    if (offset < 0)
        snprintf(place, sizeof place, "%ld float%s before the start of %.20s", -offset,
                 offset == -1 ? "" : "s", name);
    else if (offset == 0)
        snprintf(place, sizeof place, "right past the end of %.20s", name);
    else
        snprintf(place, sizeof place, "%ld float%s past the end of %.20s", offset,
                 offset == 1 ? "" : "s", name);
    finding_say(
        finding,
        "Your code wrote outside of %s: first %s. {Threads outside of the output must not store: "
        "guard the store with the output's own sizes (%s), and check its index.|Check where the "
        "loops over the outputs end (%s), and the index of the store.}",
        name, place, bounds, bounds);
}

int find_written_outside(const Judgement *judged, Finding *finding)
{
    const char *input = judged->observed.input_changed;
    if (judged->observed.band_broken) {
        find_band(judged, finding);
        return 1;
    }
    if (!input) return 0;
    finding->fault = FAULT_INPUT_CHANGED;
    finding_say(finding,
                "Your code wrote into its input %s. Inputs are read-only: look for a store whose "
                "pointer is %s and not %s, and for casts that drop const.",
                input, input, output_name(judged));
    return 1;
}

/* The bit that arithmetic sets in a NaN that it returns. */
#define QUIET_BIT 0x00400000u

/* ---- NaN and infinite outputs ----------------------------------------------------------- */

/* The constant distance between successive unwritten outputs from `low` to `high`; 0: it varies. */
static size_t unwritten_step(const Judgement *judged, size_t low, size_t high)
{
    size_t last = low, step = 0;
    for (size_t i = low + 1; i <= high; i++) {
        if (judged->mark[i] != MARK_POISON) continue;
        if (step && i - last != step) return 0;
        step = i - last;
        last = i;
    }
    return step;
}

/* The number of outputs that were never written, and the first and the last of them. */
static void say_unwritten_places(const Judgement *judged, Finding *finding)
{
    const size_t poison = judged->count[MARK_POISON], total = judged->verdict.total;
    TensorShape shape = {.rank = 0};
    char first[96], last[96];
    size_t low = 0, high = total - 1;
    while (judged->mark[low] != MARK_POISON)
        low++;
    while (judged->mark[high] != MARK_POISON)
        high--;
    output_shape(judged->operation, &judged->view.problem, &shape);
    tensor_place(&shape, low, first, sizeof first);
    tensor_place(&shape, high, last, sizeof last);
    if (poison == 1)
        finding_say(finding, "One of %zu outputs was never written: %s.", total, first);
    else
        finding_say(finding,
                    "%zu of %zu outputs were never written, the first at %s, the last at %s.",
                    poison, total, first, last);
    const size_t step = unwritten_step(judged, low, high);
    if (step > 1)
        finding_say(finding,
                    "They are %zu elements apart: the index of the store possibly has a factor "
                    "that it should not have.",
                    step);
}

int find_unwritten(const Judgement *judged, const char *where, Finding *finding)
{
    size_t poison = judged->count[MARK_POISON], total = judged->verdict.total;
    const char *y = output_name(judged);
    if (!poison) return 0;
    finding->fault = FAULT_UNWRITTEN;
    if (poison == total) {
        finding_say(finding,
                    "No output was written: every element of %s still has its value from before "
                    "the call. Check that the code stores into %s. (%s += ... has the same effect: "
                    "%s is uninitialised, so store with =.){ Check that the kernel is launched, "
                    "with a grid that is not empty.|}",
                    y, y, y, y);
        return 1;
    }
    say_unwritten_places(judged, finding);
    if (*where) finding_say(finding, "%s", where);
    if (judged->count[MARK_WRONG])
        finding_say(finding,
                    "%zu of the written outputs are wrong, too. Possibly one is stored in "
                    "another's place: check the index of the store.",
                    judged->count[MARK_WRONG]);
    finding_say(finding,
                "{Check that the grid, the loops and the indices from block and thread cover every "
                "output, and that each axis of the grid has the meaning that the kernel gives it. "
                "Round a number of blocks up, (size + tile - 1) / tile, and guard the store.|Check "
                "that the loops cover every output, from 0 to the size of each axis.}");
    return 1;
}

/* The outputs that are infinite, and those with the word of the tensors' surroundings. */
typedef struct NanCount {
    size_t infinite, outside;
    char first[96]; /* place of the first with that word */
} NanCount;

static NanCount nan_count(const Judgement *judged)
{
    TensorShape shape = {.rank = 0};
    NanCount found = {0};
    output_shape(judged->operation, &judged->view.problem, &shape);
    for (size_t i = 0; i < judged->verdict.total; i++) {
        uint32_t bits;
        if (judged->mark[i] != MARK_NAN) continue;
        memcpy(&bits, &judged->view.output[i], sizeof bits);
        found.infinite += isinf(judged->view.output[i]) != 0;
        if ((bits | QUIET_BIT) != (GUARD_BAND_WORD | QUIET_BIT)) continue;
        if (!found.outside++) tensor_place(&shape, i, found.first, sizeof found.first);
    }
    return found;
}

/* Infinite outputs: memory that was not written holds NaN, whose sum with anything is NaN. */
static void say_overflow(const Judgement *judged, size_t infinite, Finding *finding)
{
    const size_t nan = judged->count[MARK_NAN] - infinite;
    finding_say(finding, "%zu of %zu outputs are infinite%s.", infinite, judged->verdict.total,
                nan ? ", and others are NaN" : "");
    finding_say(finding,
                "The inputs are all finite. Infinity is the result of a value above 3.4e38 (above "
                "65504 in half), for example of exp, or of a division by 0%s. Uninitialised "
                "memory usually gives NaN, so it is possible but less likely.",
                nan ? "; inf / inf, inf - inf and 0 * inf then give NaN" : "");
}

int find_nan(const Judgement *judged, const char *where, Finding *finding)
{
    size_t nan = judged->count[MARK_NAN], total = judged->verdict.total;
    char inputs[80];
    if (!nan) return 0;
    input_names(judged, inputs, sizeof inputs);
    finding->fault = FAULT_NAN;
    const NanCount found = nan_count(judged);
    if (found.infinite && !found.outside && !fault_checked(judged)) {
        finding->fault = FAULT_OVERFLOW;
        say_overflow(judged, found.infinite, finding);
        if (*where) finding_say(finding, "%s", where);
        return 1;
    }
    const char *infinite = found.infinite ? " or infinite" : "";
    if (nan == total)
        finding_say(finding, "Every output is NaN%s.", infinite);
    else
        finding_say(finding, "%zu of %zu outputs are NaN%s.", nan, total, infinite);
    if (found.outside)
        finding_say(finding,
                    "%zu of them, the first at %s, have the value of the memory before and after "
                    "each tensor: a value from outside of %s was copied or added.",
                    found.outside, found.first, inputs);
    else if (!fault_checked(judged))
        finding_say(finding,
                    "The inputs are all finite, so the sum probably contains uninitialised "
                    "memory: a {register or shared array|variable or an array} without an initial "
                    "value, an index outside of %s (their surroundings hold NaN), or %s itself, "
                    "which is uninitialised (store with =, not +=). Possibly it is instead the "
                    "result of 0 / 0, inf / inf or inf - inf.",
                    inputs, output_name(judged));
    if (*where) finding_say(finding, "%s", where);
    return 1;
}

/* ---- a lower precision ------------------------------------------------------------------- */

/* Scale of an error; the error of a fast algorithm does not depend on the output's own terms
 * (verdict.h). */
static double reach_at(const Judgement *judged, size_t i)
{
    const int fast = judged->observed.algorithm != ALGORITHM_SUMS;
    return fast ? fmax(judged->magnitude[i], judged->typical) : judged->magnitude[i];
}

/* Whether even the outputs within their bounds are, together, less accurate than fp32 sums. */
static int right_ones_are_off(const Judgement *judged)
{
    double squares = 0, counted = 0;
    for (size_t i = 0; i < judged->verdict.total; i++) {
        double allowed =
            verdict_rms_bound(judged->observed.algorithm, reach_at(judged, i), judged->terms[i]);
        if (judged->mark[i] != MARK_RIGHT || allowed == 0) continue;
        double error = (judged->view.output[i] - judged->expected[i]) / allowed;
        squares += error * error;
        counted++;
    }
    return counted >= 16 ? squares > counted
                         : judged->count[MARK_WRONG] > judged->verdict.total / 2;
}

/* Whether all errors are small.  Inputs in bf16, or sums in fp16 of some dozens of terms, leave at
 * most 2^-6 of the terms' magnitudes.  In long sums with both signs that exceeds the sums
 * themselves.  There bf16 leaves 1/300 of them in the root mean square, and an error above 1/16 was
 * not caused by rounding. */
static int errors_are_small(const Judgement *judged)
{
    double errors = 0, outputs = 0;
    for (size_t i = 0; i < judged->verdict.total; i++) {
        double error = judged->view.output[i] - judged->expected[i];
        if (!(fabs(error) <= 0x1p-6 * reach_at(judged, i))) return 0;
        errors += error * error;
        outputs += judged->expected[i] * judged->expected[i];
    }
    return errors <= outputs / (16.0 * 16.0);
}

int find_small_errors(const Judgement *judged, Finding *finding)
{
    const int fp32 = judged->precision == PRECISION_FP32;
    /* Such a magnitude counts roundings and says nothing about the size of the values. */
    if (judged->operation->own_reach && judged->terms[0] == 1) return 0;
    if (!judged->faint && !(fp32 && right_ones_are_off(judged))) return 0;
    if (!errors_are_small(judged)) return 0;
    finding->fault = FAULT_PRECISION;
    finding_say(finding,
                "Every output is near the expected value, but the errors are larger than those of "
                "%s: some values have a lower precision (%s). This lab requires %s.",
                fp32 ? "fp32 sums" : "inputs of 11 bits",
                fp32 ? "half, bfloat16, tf32, or a fast approximation"
                     : "bfloat16, or sums in half",
                fp32 ? "fp32 throughout" : "inputs rounded to tf32 or half and sums in fp32");
    return 1;
}

/* ---- repeated runs ---------------------------------------------------------------------- */

static float *run_again(const Judgement *judged, ProbeRun run, void *context)
{
    if (!run) return NULL;
    float *again = calloc(judged->verdict.total, sizeof *again);
    if (again && run(context, &judged->view.problem, judged->view.tensor, again)) {
        free(again);
        again = NULL;
    }
    return again;
}

int find_accumulated(const Judgement *judged, ProbeRun run, void *context, Finding *finding)
{
    float *again = run_again(judged, run, context);
    const char *y = output_name(judged);
    if (!again) return 0;
    int right = 1;
    for (size_t i = 0; right && i < judged->verdict.total; i++)
        right = judged->mark[i] == MARK_RIGHT || judged->mark[i] == MARK_WRONG ||
                fabs(again[i] - judged->expected[i]) <= output_bound(judged, i);
    free(again);
    if (!right) return 0;
    finding->fault = FAULT_ACCUMULATED;
    finding_say(
        finding,
        "Your code adds to the value that %s had before the call (%s += ...{ or atomicAdd|}): with "
        "%s set to zero beforehand the outputs are correct. %s is uninitialised, so store the sum "
        "with =, or set %s to zero yourself {on the same stream |}first.",
        y, y, y, y, y);
    return 1;
}

/* Number of outputs in which two runs differ, with infinities compared as values; *first gets the
 * first. */
static size_t outputs_differ(const Judgement *judged, const float *one, const float *two,
                             size_t *first)
{
    size_t differ = 0;
    for (size_t i = 0; i < judged->verdict.total; i++) {
        if (one[i] == two[i] || (isnan(one[i]) && isnan(two[i])) ||
            fabs((double)one[i] - two[i]) <= output_bound(judged, i))
            continue;
        if (!differ++) *first = i;
    }
    return differ;
}

/* Two runs on the same inputs differ: by a race, or because of values in memory before the first? A
 * third run that agrees with the second indicates the latter. */
int find_race(const Judgement *judged, ProbeRun run, void *context, Finding *finding)
{
    size_t first = 0, other = 0, total = judged->verdict.total;
    const float *output = judged->view.output;
    float *again = run_again(judged, run, context), *third = NULL;
    if (!again) return 0;
    size_t differ = outputs_differ(judged, output, again, &first);
    if (differ) third = run_again(judged, run, context);
    if (differ) {
        TensorShape shape = {.rank = 0};
        char where[96];
        int settles = third && !outputs_differ(judged, again, third, &other);
        output_shape(judged->operation, &judged->view.problem, &shape);
        tensor_place(&shape, first, where, sizeof where);
        finding->fault = settles ? FAULT_NAN : FAULT_DIFFER;
        finding_say(finding,
                    "Two runs on the same inputs differ in %zu of %zu outputs, first at %s: %g, "
                    "then %g.",
                    differ, total, where, output[first], again[first]);
        finding_say(
            finding,
            settles
                ? "A third run had the same result as the second, so this is not a race: the sum "
                  "contains a value that was not set in this run. Check that each sum starts with "
                  "= 0, and that every element of your own arrays{ and of __constant__ memory|} is "
                  "written before it is read{: a copy must come before the kernel that needs "
                  "it|}."
                : "{Either the|The} sum contains a value that was not set (check that each sum "
                  "starts with = 0{|, and that each loop ends at the last element of its array}){, "
                  "or two threads use one address at the same time and one of "
                  "them writes: threads of a block without a barrier between them, two blocks, or "
                  "work on another stream than the one that your function receives. The simulator "
                  "(ENGINE=sim) reports which, with both lines, if it occurs there.|.}");
    }
    free(third);
    free(again);
    return differ > 0;
}

/* ---- positions of the wrong outputs ----------------------------------------------------- */

/* One axis of the output: the indices at which outputs are wrong, and whether all outputs at these
 * are wrong. */
typedef struct AxisMap {
    size_t size, wrong, first, last; /* number of wrong indices; the first and the last one */
    size_t step;                     /* distance between successive wrong indices; 0: varies */
    size_t rights, right, gap;       /* number of right indices; the first; their distance, 0:
                                      * varies */
    int whole;                       /* Boolean: all outputs at these indices are wrong */
} AxisMap;

static AxisMap map_axis(const Judgement *judged, const TensorShape *shape, int axis)
{
    size_t inner = 1, size = shape->dim[axis], of_wrong = 0, last_right = 0;
    AxisMap map = {.size = size, .first = size};
    for (int i = axis + 1; i < shape->rank; i++)
        inner *= shape->dim[i];
    size_t *count = calloc(size, sizeof *count);
    if (!count) return map;
    for (size_t i = 0; i < judged->verdict.total; i++)
        count[i / inner % size] += judged->mark[i] != MARK_RIGHT;
    for (size_t i = 0; i < size; i++) {
        if (!count[i]) {
            if (map.rights == 1) map.gap = i - map.right;
            if (map.rights > 1 && i - last_right != map.gap) map.gap = 0;
            if (!map.rights++) map.right = i;
            last_right = i;
            continue;
        }
        if (map.wrong == 1) map.step = i - map.first;
        if (map.wrong > 1 && i - map.last != map.step) map.step = 0;
        if (!map.wrong) map.first = i;
        map.wrong++;
        map.last = i;
        of_wrong += count[i];
    }
    /* Wrong values can be correct by chance: at most three of a hundred are tolerated. */
    map.whole =
        (double)of_wrong >= 0.97 * (double)map.wrong * (double)(judged->verdict.total / size);
    free(count);
    return map;
}

/* Whether the wrong outputs form whole slabs along one axis, for example an image or a row: returns
 * the fault and describes the place; 0: they do not. */
static int find_slabs(const Judgement *judged, char *where, size_t bytes)
{
    TensorShape shape = {.rank = 0};
    output_shape(judged->operation, &judged->view.problem, &shape);
    for (int axis = 0; axis < shape.rank; axis++) {
        AxisMap map = map_axis(judged, &shape, axis);
        const char *name = shape.axes[axis];
        if (!map.wrong || map.wrong == map.size || !map.whole) continue;
        if (map.size == judged->verdict.total) continue; /* a slab would be a single output */
        if (map.wrong > 1 && !map.step) {
            if (map.rights < 2 || map.gap < 2) continue;
            snprintf(where, bytes,
                     "Exactly those at %s = %zu, %zu ... are right: possibly one of each group of "
                     "%zu.",
                     name, map.right, map.right + map.gap, map.gap);
            return axis == 1 && shape.rank > 2 ? FAULT_ONE_FILTER : FAULT_TILE_EDGE;
        }
        int end = map.last + 1 == map.size && map.step == 1;
        if (map.wrong == 1)
            snprintf(where, bytes, "Exactly those at %s = %zu are.", name, map.first);
        else if (end)
            snprintf(where, bytes, "Exactly those from %s = %zu on are.", name, map.first);
        else
            snprintf(where, bytes, "Exactly those at %s = %zu, %zu ... %zu are.", name, map.first,
                     map.first + map.step, map.last);
        if (axis == 0 && !strcmp(name, "n")) return FAULT_ONE_IMAGE;
        if (axis == 1 && shape.rank > 2) return FAULT_ONE_FILTER;
        return end ? FAULT_LAST_BLOCK : FAULT_TILE_EDGE;
    }
    return 0;
}

/* ---- correct values at wrong positions -------------------------------------------------- */

static ValueIndex *owners_of(const Judgement *judged)
{
    enum { MOST = 1 << 20 };
    size_t total = judged->verdict.total;
    ValueIndex *sorted = total <= MOST ? malloc(total * sizeof *sorted) : NULL;
    if (!sorted) return NULL;
    for (size_t i = 0; i < total; i++)
        sorted[i] = (ValueIndex){judged->expected[i], i};
    value_index_sort(sorted, total);
    return sorted;
}

/* Contents of the wrong outputs: zeros, or values of other outputs. */
typedef struct Strays {
    size_t zeros, moved, here, there; /* moved: outputs with another output's value; here, there: an
                                       * example, and the owner of its value */
    double evidence;                  /* evidence against a coincidence, in bits */
} Strays;

static Strays strays_count(const Judgement *judged, const ValueIndex *sorted)
{
    const size_t total = judged->verdict.total;
    size_t first;
    Strays strays = {0};
    for (size_t i = 0; i < total; i++) {
        double got = judged->view.output[i], allowed = output_bound(judged, i) / VERDICT_SAFETY;
        if (judged->mark[i] != MARK_WRONG) continue;
        strays.zeros += got == 0;
        if (got == 0 || value_index_find(sorted, total, got, allowed, &first) != 1) continue;
        if (!strays.moved++) strays.here = i, strays.there = sorted[first].index;
        /* Exact integers coincide easily. */
        double chance = allowed > 0 ? (double)total * allowed / fmax(fabs(got), judged->rms) : 1;
        strays.evidence += chance < 0.5 ? -log2(chance) : 0;
    }
    return strays;
}

/* Reports the contents of most wrong outputs, if these are zeros or other outputs' values. */
static void say_strays(const Judgement *judged, Finding *finding)
{
    enum { EVIDENCE_BITS = 64 };
    const size_t wrong = judged->verdict.wrong;
    TensorShape shape = {.rank = 0};
    char here[96], there[96];
    ValueIndex *sorted = judged->precision == PRECISION_FP32 ? owners_of(judged) : NULL;
    if (!sorted) return;
    Strays strays = strays_count(judged, sorted);
    free(sorted);
    const int moved = strays.moved && strays.moved * 2 >= wrong - strays.zeros &&
                      strays.evidence >= EVIDENCE_BITS;
    if (strays.zeros * 2 >= wrong)
        finding_say(
            finding,
            "%zu of the wrong outputs are 0: nothing was added to the value that is stored there, "
            "or the stored value is not{ that of the lane or thread that has the sum| the sum}.",
            strays.zeros);
    if (!moved) return;
    output_shape(judged->operation, &judged->view.problem, &shape);
    tensor_place(&shape, strays.here, here, sizeof here);
    tensor_place(&shape, strays.there, there, sizeof there);
    finding_say(finding,
                "%s have correct values of other outputs: %s has that of %s. So an index is wrong, "
                "that of the loads or that of the store{, or a lane has another lane's sum|}.",
                strays.zeros * 2 >= wrong ? "Others" : "Most of them", here, there);
}

/* ---- entry point ------------------------------------------------------------------------ */

/* Explanation for an operation without one of its own. */
static void explain(const Judgement *judged, ProbeRun run, void *context, Finding *finding)
{
    explain_mistakes(judged, run, context, NULL, 0, NULL, finding);
}

void mistake_exchange(int *one, int *other)
{
    int kept = *one;
    *one = *other;
    *other = kept;
}

void explain_mistakes(const Judgement *judged, ProbeRun run, void *context, const Mistake *mistake,
                      int mistakes, MistakenValues *values, Finding *finding)
{
    const size_t *count = judged->count;
    char where[200] = "";
    if (judged->operation->rearrange)
        run = NULL; /* a probe would need the tensors in their
                                                   * original layout */
    if (find_written_outside(judged, finding)) return;
    if ((count[MARK_POISON] || count[MARK_NAN] == judged->verdict.total) &&
        find_accumulated(judged, run, context, finding))
        return;
    int slabs = find_slabs(judged, where, sizeof where);
    if (find_unwritten(judged, where, finding) || find_race(judged, run, context, finding) ||
        find_mistake(judged, run, context, mistake, mistakes, values, finding) ||
        find_nan(judged, where, finding) || find_small_errors(judged, finding))
        return;
    int known = find_integers(judged, finding) || find_factor(judged, finding) ||
                find_permuted(judged, finding) || find_shift(judged, finding) ||
                find_clamped(judged, finding);
    if (!known || finding->fault == FAULT_EVERYWHERE)
        finding->fault = slabs ? (Fault)slabs : FAULT_EVERYWHERE;
    if (slabs) finding_say(finding, "%s", where);
    if (known) return;
    const int probed = find_product(judged, run, context, finding);
    say_strays(judged, finding);
    if (probed) return;
    finding_say(finding, "Calculate the first one by hand on the smallest case, and print the "
                         "indices that your code uses for it.");
}

/* Keeps of each "{of kernels|of loops}" the alternative for the program. */
static void words_choose(char *text, int host)
{
    char *to = text;
    for (const char *at = text; *at;) {
        const char *bar = *at == '{' ? strchr(at, '|') : NULL, *end = bar ? strchr(bar, '}') : NULL;
        const char *from = !end ? at : host ? bar + 1 : at + 1;
        size_t bytes = !end ? 1 : (size_t)((host ? end : bar) - from);
        memmove(to, from, bytes);
        to += bytes;
        at = end ? end + 1 : at + 1;
    }
    *to = 0;
}

/* A check found a read of memory that nothing has written, and the read explains the outputs. */
static void say_uninitialised(const Judgement *judged, Finding *finding)
{
    const char *y = output_name(judged);
    char inputs[80];
    input_names(judged, inputs, sizeof inputs);
    if (!names_output(judged, judged->observed.checked)) {
        finding_say(finding, "Memory that you allocate is uninitialised, too: store the first "
                             "value with =, or set it to zero before, on the same stream.");
    } else if (judged->count[MARK_POISON] == judged->verdict.total) {
        finding->fault = FAULT_UNWRITTEN;
        finding_say(finding,
                    "Your code reads %s and stores nothing in it. Possibly %s and %s are "
                    "exchanged: in the arguments of a {launch|call}, in the parameters of a "
                    "{kernel|function}, or in the assignment.",
                    y, inputs, y);
    } else {
        finding_say(finding,
                    "Your code uses the value that %s had before the call, and %s is "
                    "uninitialised: store the sum with =, not +=, or set %s to zero yourself "
                    "first.",
                    y, y, y);
    }
}

static void diagnose_any(const Judgement *judged, ProbeRun run, void *context, Finding *finding)
{
    Fault checked = fault_checked(judged);
    *finding = (Finding){.fault = FAULT_NONE};
    if (judged->verdict.correct) return;
    if (fault_is_race(checked)) { /* a race can cause any pattern */
        finding->fault = checked;
        return;
    }
    if (checked == FAULT_ACCUMULATED) {
        finding->fault = checked;
        say_uninitialised(judged, finding);
        return;
    }
    if (judged->operation->explain)
        judged->operation->explain(judged, run, context, finding);
    else
        explain(judged, run, context, finding);
    if (checked && finding->fault == FAULT_EVERYWHERE) finding->fault = checked;
}

void diagnose(const Judgement *judged, ProbeRun run, void *context, Finding *finding)
{
    diagnose_any(judged, run, context, finding);
    words_choose(finding->text, judged->observed.host);
}
