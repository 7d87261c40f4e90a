/* impulse.c - impulse probes: one pixel, then one weight, to find which two are multiplied in a
 * wrong output.
 *
 * If all of x is zero except one pixel with value 1, an output equals the weight by which the pixel
 * is multiplied, and its value identifies the weight.  If all of w is zero except one weight with
 * value 1, an output equals the pixel that is multiplied by the weight.  Pixels are numbered, and a
 * few runs give the digits of the number. */
#include "common/operations/conv_diagnosis/explain_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A run on a single pixel costs no more than the judged run, except for the oracle. */
static const double impulse_macs = 5e8;
enum { DIGIT = 1024 }; /* smaller whole numbers are exact with eleven bits, too */

/* Axes of an element of w, and of x. */
enum { TAP_K, TAP_C, TAP_R, TAP_S };
enum { PIXEL_H = 2, PIXEL_W };
typedef struct Element {
    int at[4];
} Element;

static size_t element_index(const Element *element, const int extent[4])
{
    size_t index = 0;
    for (int i = 0; i < 4; i++)
        index = index * (size_t)extent[i] + (size_t)element->at[i];
    return index;
}

static Element element_at(size_t index, const int extent[4])
{
    Element element;
    for (int i = 3; i >= 0; i--) {
        element.at[i] = (int)(index % (size_t)extent[i]);
        index /= (size_t)extent[i];
    }
    return element;
}

/* Name of an element: "w[0][1][2][0]". */
static void element_name(const char *tensor, const Element *element, char *text, size_t bytes)
{
    snprintf(text, bytes, "%s[%d][%d][%d][%d]", tensor, element->at[0], element->at[1],
             element->at[2], element->at[3]);
}

/* The axes in which two elements differ: "r and s". */
static unsigned elements_differ(const Element *one, const Element *two, const char *letters,
                                char *text, size_t bytes)
{
    unsigned axes = 0;
    for (int i = 0; i < 4; i++)
        axes |= (unsigned)(one->at[i] != two->at[i]) << i;
    axes_name(axes, letters, text, bytes);
    return axes;
}

/* ---- the probe --------------------------------------------------------------------------- */

typedef struct Impulse {
    const Diagnosis *d;
    Probe probe;
    int x_extent[4], w_extent[4];
    Element pixel; /* the pixel with value 1 */
    size_t index;  /* index of the wrong output */
    OutputAt at;
    double expected, value;
} Impulse;

static int is_value(const Impulse *m, double weight, double value)
{
    const Diagnosis *d = m->d;
    double off = d->precision == PRECISION_FP32 ? 0 : 2 * UNIT_ELEVEN_BITS * fabs(weight);
    /* The bound is reduced, because among thousands of weights some would be within it of any
     * number; a single multiplication's error is far below it. */
    if (d->judged->observed.algorithm != ALGORITHM_SUMS)
        off = probe_bound(d, &m->probe, m->index) / 16;
    return fabs(weight - value) <= off;
}

/* The element of w with this value; one of the output's own filter is preferred. */
static int tap_find(const Impulse *m, double value, Element *tap)
{
    const ConvProblem *v = &m->probe.conv;
    size_t count = (size_t)v->C * v->R * v->S;
    for (int i = -1; value != 0 && i < v->K; i++) {
        size_t first = (size_t)(i < 0 ? m->at.k : i) * count;
        for (size_t j = first; j < first + count; j++)
            if (is_value(m, m->probe.w[j], value)) {
                *tap = element_at(j, m->w_extent);
                return 1;
            }
    }
    return 0;
}

/* The pixel that should be multiplied by the tap in the output; 0: it is outside of x. */
static int pixel_expected(const Impulse *m, const Element *tap, Element *pixel)
{
    const ConvProblem *v = &m->probe.conv;
    int h = m->at.p * v->stride_h + tap->at[TAP_R] - v->pad_top;
    int w = m->at.q * v->stride_w + tap->at[TAP_S] - v->pad_left;
    *pixel = (Element){{m->at.n, tap->at[TAP_C], h, w}};
    return h >= 0 && h < v->H && w >= 0 && w < v->W;
}

/* ---- the pixel's other outputs ------------------------------------------------------------ */

/* The shift of the pixel's multiplications among the outputs: `agreeing` of the `found` ones. */
typedef struct Shift {
    int down, right, found, agreeing;
} Shift;

/* The wrong output of the same map whose value is nearest to the one that output i should have;
 * i: none has it. */
static size_t product_seek(const Impulse *m, size_t i)
{
    const Probe *probe = &m->probe;
    const size_t outputs = (size_t)probe->conv.P * probe->conv.Q, first = i / outputs * outputs;
    const double value = probe->expected[i];
    size_t nearest = i;
    for (size_t j = first; j < first + outputs; j++) {
        if (j == i || !is_value(m, value, probe->y[j]) ||
            fabs(probe->y[j] - probe->expected[j]) <= probe_bound(m->d, probe, j))
            continue;
        if (nearest == i || fabs(probe->y[j] - value) < fabs(probe->y[nearest] - value))
            nearest = j;
    }
    return nearest;
}

/* Counts output i's multiplication if it is in another output.  A value near 0 could be any. */
static void shift_count(const Impulse *m, size_t i, Shift *shift)
{
    const Probe *probe = &m->probe;
    if (is_value(m, probe->expected[i], probe->y[i]) || is_value(m, probe->expected[i], 0) ||
        fabs(probe->expected[i]) <= probe_bound(m->d, probe, i))
        return;
    const size_t j = product_seek(m, i);
    const OutputAt here = output_at(&probe->conv, i), there = output_at(&probe->conv, j);
    if (i == j) return;
    if (!shift->found++) {
        shift->down = there.p - here.p;
        shift->right = there.q - here.q;
    }
    shift->agreeing += there.p - here.p == shift->down && there.q - here.q == shift->right;
}

/* Whether multiplications of the pixel are in other outputs, at the same distance: probe.y and
 * probe.expected are those of the run with the pixel. */
static int shift_of(const Impulse *m, Shift *shift)
{
    const ConvProblem *v = &m->probe.conv;
    const size_t outputs = (size_t)v->P * v->Q, first = m->index / outputs * outputs;
    *shift = (Shift){0};
    for (size_t i = first; i < first + outputs; i++)
        shift_count(m, i, shift);
    return shift->found > 1 && shift->agreeing * 4 >= shift->found * 3;
}

static int impulse_run(Impulse *m, Element pixel);

/* The same with a pixel of another row and column, too: rows in the opposite order have a distance
 * of their own for each pixel.  probe.x is that of the pixel again afterwards. */
static int shift_find(Impulse *m, Shift *shift)
{
    Impulse other = *m;
    Element next = m->pixel;
    Shift again;
    if (!shift_of(m, shift)) return 0;
    next.at[PIXEL_H] += next.at[PIXEL_H] ? -1 : 1;
    next.at[PIXEL_W] += next.at[PIXEL_W] ? -1 : 1;
    if (next.at[PIXEL_H] >= m->x_extent[PIXEL_H] || next.at[PIXEL_W] >= m->x_extent[PIXEL_W])
        return 0;
    const int is_same = impulse_run(&other, next) && shift_of(&other, &again) &&
                        again.down == shift->down && again.right == shift->right;
    memset(m->probe.x, 0, m->probe.x_count * sizeof(float));
    m->probe.x[element_index(&m->pixel, m->x_extent)] = 1;
    return is_same;
}

/* Whether the pixel at the same place of channel 0 has another shift, or none.  Replaces the
 * run. */
static int shift_varies(const Impulse *m, const Shift *shift)
{
    Impulse other = *m;
    Element first = m->pixel;
    Shift again;
    if (!first.at[TAP_C]) return 0;
    first.at[TAP_C] = 0;
    if (!impulse_run(&other, first)) return 1;
    return shift_of(&other, &again) && (again.down != shift->down || again.right != shift->right);
}

static void say_shift(const Impulse *m, const Shift *shift, Finding *finding)
{
    const ConvProblem *v = &m->probe.conv;
    const int is_filter = abs(shift->down) == v->R - 1 && abs(shift->right) == v->S - 1;
    finding_say(
        finding,
        "Other multiplications of that pixel are in wrong outputs: %d of %d are shifted by (p,q) "
        "= (%+d,%+d)%s.",
        shift->agreeing, shift->found, shift->down, shift->right,
        is_filter ? ", which is R - 1 and S - 1" : "");
    if (shift_varies(m, shift))
        finding_say(finding, "A pixel at the same place of channel 0 has another shift, or none. "
                             "So the distance of two channels in the index of x is wrong.");
    else
        finding_say(finding, "So p and q of the store do not agree with those of the loads, or "
                             "the wrong part of a tile is stored.");
}

/* ---- the weight's pixel ------------------------------------------------------------------ */

/* The output's value if x has these values and w is zero except for the weight; NaN: could not
 * run. */
static double with_one_weight(Impulse *m, const Element *tap)
{
    memset(m->probe.w, 0, m->probe.w_count * sizeof(float));
    m->probe.w[element_index(tap, m->w_extent)] = 1;
    return probe_wrong(m->d, &m->probe) < 0 ? (double)NAN : m->probe.y[m->index];
}

/* The only pixel that is multiplied by the weight there; 0: its number is invalid. */
static int pixel_observed(Impulse *m, const Element *tap, Element *pixel)
{
    size_t number = 0;
    for (size_t place = 1; place < m->probe.x_count; place *= DIGIT) {
        for (size_t i = 0; i < m->probe.x_count; i++)
            m->probe.x[i] = (float)(i / place % DIGIT);
        double digit = with_one_weight(m, tap);
        if (!(digit >= 0 && digit < DIGIT && digit == rint(digit))) return 0;
        number += (size_t)digit * place;
    }
    if (number >= m->probe.x_count) return 0;
    *pixel = element_at(number, m->x_extent);
    return 1;
}

/* Whether the outputs are right if only the weights `from` to `to` - 1 of each `part` weights are
 * not zero, or, with `unused`, whether they are all 0. */
static int is_right_with(Impulse *m, size_t part, size_t from, size_t to, int unused)
{
    memcpy(m->probe.x, m->d->tensor[0], m->probe.x_count * sizeof(float));
    for (size_t i = 0; i < m->probe.w_count; i++)
        m->probe.w[i] = i % part >= from && i % part < to ? m->d->tensor[1][i] : 0.0f;
    if (!unused) return probe_wrong(m->d, &m->probe) == 0;
    if (probe_wrong(m->d, &m->probe) < 0) return 0;
    for (size_t i = 0; i < m->probe.y_count; i++)
        if (m->probe.y[i] != 0) return 0;
    return 1;
}

/* Whether the code uses only the first weights of each `part` weights, as if only these had been
 * copied: *used is their number. */
static int uses_first(Impulse *m, size_t part, size_t *used)
{
    size_t low = 0, high = part; /* right with `low` weights, wrong with `high` */
    while (low + 1 < high) {
        const size_t middle = (low + high) / 2;
        if (is_right_with(m, part, 0, middle, 0))
            low = middle;
        else
            high = middle;
    }
    *used = low;
    return low > 0 && is_right_with(m, part, low, part, 1);
}

/* No output uses the weight: are there others? */
static void say_unused(Impulse *m, Finding *finding)
{
    const size_t all = m->probe.w_count, filter = all / (size_t)m->probe.conv.K;
    size_t part = all, used;
    finding_say(finding, "No output uses that weight.");
    if (!uses_first(m, part, &used) && !(part = filter, uses_first(m, part, &used))) {
        finding_say(finding, "Check whether it is loaded, whether it is multiplied, and whether "
                             "the sum is stored.");
        return;
    }
    finding_say(finding,
                "The code uses the first %zu of the %zu weights %s, and none after them: check the "
                "size of the copy or of the loop that loads them.",
                used, part, part == all ? "in w" : "of each filter");
    if (part / sizeof(float) == used)
        finding_say(finding, "Possibly a size in bytes lacks sizeof(float): this is a quarter.");
}

/* No pixel was multiplied by the weight in this output: was one in any other?  probe.y is that
 * run's. */
static void say_not_multiplied(Impulse *m, Finding *finding)
{
    const ConvProblem *v = &m->probe.conv;
    OutputAt same = {.k = -1};
    int other_k = -1;
    for (size_t i = 0; i < m->probe.y_count; i++) {
        OutputAt at = output_at(v, i);
        if (m->probe.y[i] == 0) continue;
        if (at.k != m->at.k)
            other_k = at.k;
        else if (same.k < 0)
            same = at;
    }
    if (same.k >= 0)
        finding_say(finding,
                    "No pixel is multiplied by that weight there, although one is in output "
                    "(%d,%d,%d,%d). Check whether that pixel is loaded, treated as padding, or "
                    "read from another place of its tile, and whether the sum is stored.",
                    same.n, same.k, same.p, same.q);
    else if (other_k >= 0)
        finding_say(finding,
                    "Outputs of map k = %d use that weight, those of its own map do not: k is "
                    "wrong in the index of w or of y, or where a tile stores the weights.",
                    other_k);
    else
        say_unused(m, finding);
}

static void say_unknown(Finding *finding)
{
    finding_say(
        finding,
        "Either that multiplication is missing: check that the pixel and the weight are loaded and "
        "the sum is stored. Or one of its two factors is read from another place: another row or "
        "channel because of a wrong pitch, or another tensor. Follow both indices.");
}

/* Reports the pixel that is multiplied by the weight in this output instead of the expected one. */
static void say_observed(Impulse *m, const Element *tap, Finding *finding)
{
    Element other;
    char name[64], axes[32];
    for (size_t i = 0; i < m->probe.x_count; i++)
        m->probe.x[i] = 1;
    double met = with_one_weight(m, tap);
    if (met == 0) {
        say_not_multiplied(m, finding);
    } else if (met == 1 && pixel_observed(m, tap, &other)) {
        element_name("x", &other, name, sizeof name);
        if (elements_differ(&other, &m->pixel, "nchw", axes, sizeof axes))
            finding_say(finding,
                        "That weight is multiplied by %s instead: check %s in the index of x, and "
                        "where a tile stores its pixels.",
                        name, axes);
        else
            finding_say(finding, "If all of x is 1, that multiplication is done: it depends on "
                                 "zeros elsewhere in x.");
    } else if (met > 1 && met == rint(met)) {
        finding_say(
            finding,
            "That weight is multiplied by %g pixels there, and never by this one: an index of w "
            "does not change while the loop continues, or several threads add one term.",
            met);
    } else {
        say_unknown(finding);
    }
}

/* ---- messages ---------------------------------------------------------------------------- */

/* Reports the distance of the two weights in memory. */
static void say_distance(const Impulse *m, const Element *want, const Element *got,
                         Finding *finding)
{
    const long long wanted = (long long)element_index(want, m->w_extent),
                    gotten = (long long)element_index(got, m->w_extent);
    finding_say(finding,
                "It lies %lld weights %s the right one in w. If a tile has that number of weights, "
                "possibly an index or a pointer does not advance to the next tile.",
                gotten < wanted ? wanted - gotten : gotten - wanted,
                gotten < wanted ? "before" : "after");
}

/* Reports that the pixel was multiplied by another weight. */
static void say_exchanged(const Impulse *m, const Element *want, const Element *got,
                          Finding *finding)
{
    char axes[32];
    unsigned differ = elements_differ(want, got, "kcrs", axes, sizeof axes);
    if (!(differ & 1u << TAP_K) && weight_steps_find(m->d, want->at[TAP_K], finding)) return;
    if (differ == 1u << TAP_K)
        finding_say(finding, "A weight of another filter: check k in the index of w, where a tile "
                             "or fragment of weights stores it, and in the index of the store.");
    else if (differ == 1u << TAP_C)
        finding_say(finding, "A weight of another channel: check c in the index of w and of x, and "
                             "where tiles or fragments keep it."),
            say_distance(m, want, got, finding);
    else if (differ & 1u << TAP_K)
        finding_say(finding,
                    "They differ in %s: a step in the index of w is wrong, or a tile of weights is "
                    "written and read by different indices.",
                    axes);
    else if (differ & 1u << TAP_C)
        finding_say(finding,
                    "They differ in %s: the indices of w and of x, or the places where tiles store "
                    "the two, do not agree there; a wrong step in one of them does that.",
                    axes);
    else
        finding_say(finding,
                    "Another tap of the same filter: check r and s in the index of w and of x, "
                    "where tiles or fragments store them, and p and q in the index of the store.");
}

/* The output to which the multiplication of the pixel by the weight belongs, if it is at another
 * position; 0: it is not, or there is none. */
static int owner_find(const Impulse *m, const Element *tap, OutputAt *owner)
{
    const ConvProblem *v = &m->probe.conv;
    const int down = m->pixel.at[PIXEL_H] + v->pad_top - tap->at[TAP_R],
              right = m->pixel.at[PIXEL_W] + v->pad_left - tap->at[TAP_S];
    *owner = (OutputAt){m->pixel.at[0], tap->at[TAP_K], down / v->stride_h, right / v->stride_w};
    return down >= 0 && right >= 0 && owner->p * v->stride_h == down &&
           owner->q * v->stride_w == right && owner->p < v->P && owner->q < v->Q &&
           (owner->p != m->at.p || owner->q != m->at.q);
}

/* Reports that the pixel was multiplied by a weight although that term should be zero. */
static void say_stray(const Impulse *m, const Element *got, Finding *finding)
{
    Element due;
    OutputAt owner;
    char name[64], axes[32];
    int inside = pixel_expected(m, got, &due);
    element_name("x", &due, name, sizeof name);
    elements_differ(&due, &m->pixel, "nchw", axes, sizeof axes);
    if (got->at[TAP_K] != m->at.k && owner_find(m, got, &owner))
        finding_say(
            finding,
            "That multiplication belongs to output (%d,%d,%d,%d), which has another filter and "
            "another position. Possibly the store uses the wrong layout of a fragment or a tile, "
            "or both factors are loaded with wrong indices.",
            owner.n, owner.k, owner.p, owner.q);
    else if (got->at[TAP_K] != m->at.k)
        finding_say(finding,
                    "That weight is of filter %d: k is wrong in the index of w or of y, or where a "
                    "tile stores the weights.",
                    got->at[TAP_K]);
    else if (inside)
        finding_say(finding,
                    "In that output this weight should be multiplied by %s: check %s in the index "
                    "of x, where a tile or fragment stores its pixels, and the index of the store.",
                    name, axes);
    else
        finding_say(
            finding,
            "In that output this weight should be multiplied by no pixel, because its pixel (h,w) "
            "= (%d,%d) is outside of x: check the bounds test, and the index after it.",
            due.at[PIXEL_H], due.at[PIXEL_W]);
}

/* Whether the output is the right weight times a simple factor. */
static int say_multiple(const Impulse *m, Finding *finding)
{
    static const struct {
        double factor;
        const char *text;
    } known[] = {
        {-1, "the weight with the opposite sign: look for a wrong sign, for example in a row of a "
             "transform"},
        {2, "twice the right weight: a term is added twice, or a factor 1/2 is missing"},
        {0.5, "half of the right weight: a factor 1/2 is applied twice, or a term is missing"},
        {4, "four times the right weight: a factor is missing"},
        {0.25, "a quarter of the right weight: a factor is applied twice"},
        {-2, "twice the right weight with the wrong sign"},
        {-0.5, "half of the right weight with the wrong sign"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (is_value(m, known[i].factor * m->expected, m->value)) {
            finding_say(finding, "That is %s.", known[i].text);
            return 1;
        }
    return 0;
}

/* Frequencies of wrong transforms are probed before, with a filter of one tap (frequency.c). */
static void say_no_element(const Impulse *m, Finding *finding)
{
    finding_say(finding, "That is not an element of w.");
    if (m->d->judged->observed.algorithm == ALGORITHM_FFT_64X64)
        finding_say(finding,
                    "Possibly a sign of an imaginary part, a conjugate or a twiddle factor is "
                    "wrong, for example where two real lines are separated or merged. Or a "
                    "frequency is stored in one place and read from another.");
    else
        finding_say(finding, "Follow that one pixel through your index calculations.");
}

/* The output is not a single weight: finds out how often the pixel is added; 0: it is not known. */
static int say_count(Impulse *m, Finding *finding)
{
    for (size_t i = 0; i < m->probe.w_count; i++)
        m->probe.w[i] = 1;
    double count = probe_wrong(m->d, &m->probe) < 0 ? 0 : m->probe.y[m->index];
    if (!(count > 1 && count == rint(count))) return 0;
    finding_say(finding,
                "That is not an element of w: %g multiplications of that output use the pixel, but "
                "%s should. An index of x does not change, or goes back, while a loop continues; "
                "or one term is added twice, or another output's term is added.",
                count, m->expected != 0 ? "one" : "none");
    return 1;
}

/* Whether the output really is that weight: among thousands of weights, some are within a
 * transform's error of any number.  Runs with the weight alone in w, set to 1. */
static int is_confirmed(Impulse *m, const Element *tap)
{
    if (m->d->judged->observed.algorithm == ALGORITHM_SUMS) return 1;
    const double alone = with_one_weight(m, tap);
    memcpy(m->probe.w, m->d->tensor[1], m->probe.w_count * sizeof(float));
    return fabs(alone - 1) <= 0x1p-10;
}

static int say_factor(Impulse *m, Finding *finding);

static void impulse_describe(Impulse *m, Finding *finding)
{
    Element want, got;
    Shift shift;
    char pixel[64], name[64], wanted[96] = "0", gotten[96];
    const int few = conv_macs(&m->probe.conv) <= probe_macs; /* small enough for more runs */
    const int is_sums = m->d->judged->observed.algorithm == ALGORITHM_SUMS;
    int known = tap_find(m, m->expected, &want), found = tap_find(m, m->value, &got);
    /* It runs only if its result may be used, and before is_confirmed replaces the outputs. */
    const int is_shifted = few && !(is_sums && known && found) && shift_find(m, &shift);
    found = found && is_confirmed(m, &got);
    element_name("x", &m->pixel, pixel, sizeof pixel);
    if (known) {
        element_name("w", &want, name, sizeof name);
        snprintf(wanted, sizeof wanted, "%s = %g", name, m->expected);
    }
    snprintf(gotten, sizeof gotten, "%g", m->value);
    if (found) element_name("w", &got, gotten, sizeof gotten);
    finding->fault = FAULT_EVERYWHERE;
    finding_say(finding,
                "With x all zero but %s = 1, output (n,k,p,q) = (%d,%d,%d,%d) should be %s; yours "
                "is %s.",
                pixel, m->at.n, m->at.k, m->at.p, m->at.q, wanted, gotten);
    if (known && found)
        say_exchanged(m, &want, &got, finding);
    else if (is_shifted)
        say_shift(m, &shift, finding);
    else if (found)
        say_stray(m, &got, finding);
    else if (known && m->value == 0 && few)
        say_observed(m, &want, finding);
    else if (known && m->value == 0)
        say_unknown(finding);
    else if (!(isfinite(m->value) && few && say_count(m, finding)) &&
             !(known && say_multiple(m, finding)) && !(known && few && say_factor(m, finding)))
        say_no_element(m, finding);
}

/* ---- the sum is multiplied --------------------------------------------------------------- */

/* The factor by which all outputs of the run differ from the expected ones; 0: there is none. */
static double run_factor(const Impulse *m)
{
    const Probe *probe = &m->probe;
    double factor = 0;
    int outputs = 0;
    for (size_t i = 0; i < probe->y_count; i++) {
        if (probe->expected[i] == 0 && probe->y[i] == 0) continue;
        const double ratio = probe->y[i] / probe->expected[i];
        if (!outputs++) factor = ratio;
        if (!(fabs(ratio - factor) <= 1e-5 * fabs(factor))) return 0;
    }
    return outputs > 1 && isfinite(factor) ? factor : 0;
}

/* Reports a factor of all outputs, and whether that of a pixel in another channel differs. */
static int say_factor(Impulse *m, Finding *finding)
{
    const int is_sums = m->d->judged->observed.algorithm == ALGORITHM_SUMS;
    const int C = m->probe.conv.C, c = m->pixel.at[TAP_C], other_c = c ? 0 : C - 1;
    const double factor = is_sums ? run_factor(m) : 0;
    Impulse other = *m;
    Element pixel = m->pixel;
    if (factor == 0) return 0;
    finding_say(finding, "Each output that uses this pixel is %g times its right value.", factor);
    if (C == 1) return 1;
    pixel.at[TAP_C] = other_c;
    const double second = impulse_run(&other, pixel) ? run_factor(&other) : 1;
    if (second != 0 && fabs(second - factor) > 1e-4 * fabs(factor))
        finding_say(finding,
                    "The factor of a pixel in channel %d is %g. Possibly the sum itself is "
                    "multiplied while the loop over the channels continues.",
                    other_c, second);
    return 1;
}

/* ---- entry point ------------------------------------------------------------------------- */

/* If x, or w, is all zero, every output must be 0; else a term without it is added. */
static int find_added(Impulse *m, char tensor, Finding *finding)
{
    Probe *probe = &m->probe;
    const int is_x = tensor == 'x';
    memcpy(probe->x, m->d->tensor[0], probe->x_count * sizeof(float));
    memcpy(probe->w, m->d->tensor[1], probe->w_count * sizeof(float));
    memset(is_x ? probe->x : probe->w, 0, (is_x ? probe->x_count : probe->w_count) * sizeof(float));
    if (probe_wrong(m->d, probe) <= 0) return 0;
    size_t index = 0;
    while (fabs(probe->y[index]) <= probe_bound(m->d, probe, index))
        index++;
    OutputAt at = output_at(&m->d->conv, index);
    finding->fault = FAULT_EVERYWHERE;
    finding_say(
        finding,
        "With %c all zero output (n,k,p,q) = (%d,%d,%d,%d) should be 0; yours is %g. So the sum "
        "contains terms without a factor of %c. Check for + instead of *, for a %s read "
        "instead of a %s, that the sum starts at 0, and that the padding is 0.",
        tensor, at.n, at.k, at.p, at.q, probe->y[index], tensor, is_x ? "weight" : "pixel",
        is_x ? "pixel" : "weight");
    return 1;
}

/* The pixel under tap (c, r, s) of the output, or the nearest one inside x. */
static Element pixel_under(const ConvProblem *v, OutputAt at, int c, int r, int s)
{
    int h = at.p * v->stride_h + r - v->pad_top, w = at.q * v->stride_w + s - v->pad_left;
    h = h < 0 ? 0 : h < v->H ? h : v->H - 1;
    w = w < 0 ? 0 : w < v->W ? w : v->W - 1;
    return (Element){{at.n, c, h, w}};
}

/* The first wrong output of a run, if possible one whose error is clearly above those of
 * transforms: then its values identify weights. */
static size_t clearly_wrong(const Impulse *m)
{
    const Probe *probe = &m->probe;
    size_t first = probe->y_count;
    for (size_t i = 0; i < probe->y_count; i++) {
        const double error = fabs(probe->y[i] - probe->expected[i]),
                     bound = probe_bound(m->d, probe, i);
        if (error <= bound) continue;
        if (m->d->judged->observed.algorithm == ALGORITHM_SUMS || error > 8 * bound) return i;
        if (first == probe->y_count) first = i;
    }
    return first;
}

/* Sets the pixel, runs, and finds a wrong output. */
static int impulse_run(Impulse *m, Element pixel)
{
    const Diagnosis *d = m->d;
    Probe *probe = &m->probe;
    m->pixel = pixel;
    memset(probe->x, 0, probe->x_count * sizeof(float));
    probe->x[element_index(&pixel, m->x_extent)] = 1;
    if (probe_wrong(d, probe) <= 0) return 0;
    m->index = clearly_wrong(m);
    m->at = output_at(&d->conv, m->index);
    m->expected = probe->expected[m->index];
    m->value = probe->y[m->index];
    if (is_value(m, 0, m->value))
        m->value = 0; /* a transform's rounding error where 0 is
                                                 * expected */
    return 1;
}

/* Tries pixels of wrong outputs: in the middle of a window and at its end, in the first and the
 * last channel. */
static int impulse_find(Impulse *m)
{
    const Diagnosis *d = m->d;
    const ConvProblem *v = &d->conv;
    OutputAt first = {0}, last = {v->N - 1, v->K - 1, v->P - 1, v->Q - 1};
    if (d->samples.wrong) {
        first = output_at(v, d->samples.index[0]);
        last = output_at(v, d->samples.index[d->samples.wrong - 1]);
    }
    return impulse_run(m, pixel_under(v, first, 0, v->R / 2, v->S / 2)) ||
           impulse_run(m, pixel_under(v, last, v->C - 1, v->R / 2, v->S / 2)) ||
           impulse_run(m, pixel_under(v, first, v->C - 1, v->R - 1, v->S - 1));
}

int probe_impulse(const Diagnosis *d, Finding *finding)
{
    const ConvProblem *v = &d->conv;
    Impulse m = {
        .d = d, .x_extent = {v->N, v->C, v->H, v->W}, .w_extent = {v->K, v->C, v->R, v->S}};
    if (!d->run || conv_macs(v) > impulse_macs || probe_make(&m.probe, v)) return 0;
    int found = find_added(&m, 'x', finding) || find_added(&m, 'w', finding);
    memcpy(m.probe.w, d->tensor[1], m.probe.w_count * sizeof(float));
    if (!found && impulse_find(&m)) {
        impulse_describe(&m, finding);
        found = 1;
    }
    probe_free(&m.probe);
    return found;
}
