#include "common/operations/conv_diagnosis/explain_parts.h"

#include <stdio.h>
#include <string.h>

#include "common/operations/conv/conv_problem.h"

/* Keeps the description of the place, without the advice. */
static void keep_first_sentence(Finding *where)
{
    char *end = strstr(where->text, ". "); /* a period, but not that of "..." */
    while (end && end[-1] == '.')
        end = strstr(end + 1, ". ");
    if (end) end[1] = 0;
}

/* Whether whole images or maps are wrong. */
static int is_whole(const Finding *where)
{
    return where->fault == FAULT_ONE_IMAGE || where->fault == FAULT_ONE_FILTER;
}

static void find_unwritten_place(const Diagnosis *d, Finding *finding)
{
    char set[190], where[220] = "";
    if (signature_set(d, 1u << MARK_POISON, set, sizeof set))
        snprintf(where, sizeof where, "All of these have %s.", set);
    find_unwritten(d->judged, where, finding);
}

static void find_nan_place(const Diagnosis *d, Finding *finding)
{
    Finding where = {0};
    signature_find(d, 1u << MARK_NAN | 1u << MARK_WRONG, &where);
    if (where.fault == FAULT_PADDING_EDGE) {
        *finding = where;
        return;
    }
    if (is_whole(&where)) keep_first_sentence(&where);
    find_nan(d->judged, where.text, finding);
}

/* Reports the probe's numbers if no pattern was found. */
static void say_impulse(const Diagnosis *d, Finding *finding)
{
    Finding impulse = {0};
    if (probe_impulse(d, &impulse))
        finding_say(finding, "%s", impulse.text);
    else
        finding_say(finding, "Calculate the first wrong output by hand on the smallest case, and "
                             "print the index into x and w at each step.");
}

/* Finds the error in the wrong outputs if others are correct.  The sum of a shifted window can also
 * be a neighbour's correct value. */
static int find_inside(const Diagnosis *d, Finding *inside)
{
    if (!missing_terms_find(d, 0, inside) && !variant_find(d, 0, inside)) return 0;
    if (inside->fault == FAULT_HALO && d->count[MARK_RIGHT])
        finding_say(inside,
                    "Or these outputs contain their neighbours' values: then p or q is wrong in "
                    "the index of the store, or a value is stored in another output's place.");
    return 1;
}

/* A pattern in the error map and, if possible, the error inside it.  Whole maps and images may be
 * wrong for many reasons, so their numbers are reported, not a guess. */
static int find_pattern(const Diagnosis *d, Finding *finding)
{
    if (!signature_find(d, 1u << MARK_WRONG | 1u << MARK_NAN, finding)) return 0;
    Finding inside = {0}, impulse = {0};
    /* A tile that is too small for the stride gives the same pattern as one without its halo. */
    if (finding->fault == FAULT_TILE_EDGE || finding->fault == FAULT_PADDING_EDGE ||
        finding->fault == FAULT_EVERYWHERE)
        if (probe_stride(d, &inside)) {
            *finding = inside;
            if (probe_impulse(d, &impulse)) finding_say(finding, "%s", impulse.text);
            return 1;
        }
    const int known = d->count[MARK_RIGHT] && find_inside(d, &inside);
    if (!known && !probe_impulse(d, &impulse)) return 1;
    if (is_whole(finding)) keep_first_sentence(finding);
    finding_say(finding, "%s%s", known ? "In those outputs: " : "",
                known ? inside.text : impulse.text);
    return 1;
}

/* The wrong values and their positions, without the cause of a pattern in other cases. */
static int find_value(const Diagnosis *d, int (*find)(const Diagnosis *, Finding *),
                      Finding *finding)
{
    Finding where = {0};
    if (d->count[MARK_NAN] || !find(d, finding)) return 0;
    if (d->count[MARK_RIGHT] && signature_find(d, 1u << MARK_WRONG, &where)) {
        if (finding->fault == FAULT_EVERYWHERE) finding->fault = where.fault;
        keep_first_sentence(&where);
        finding_say(finding, "%s", where.text);
    }
    return 1;
}

/* Decides whether the pooling or its input is wrong, by the same shape without pooling. */
static void find_pooled_wrong(const Diagnosis *d, Finding *finding)
{
    const int pool = d->conv.pool;
    Diagnosis plain = *d;
    Finding impulse = {0};
    plain.conv = conv_unpack(d->problem);
    plain.conv.pool = 0;
    int right = probe_right(d, plain.conv);
    finding->fault = FAULT_EVERYWHERE;
    finding_say(finding, "%zu of %zu pooled outputs are wrong.", d->count[MARK_WRONG], d->total);
    if (right == 0)
        finding_say(finding, "The same shape without pool=%d is wrong, too: fix that first.%s%s",
                    pool, probe_impulse(&plain, &impulse) ? " " : "", impulse.text);
    else
        finding_say(finding,
                    "%s without pool=%d%s it is the pooling: y is N*K*(P/%d)*(Q/%d), the maximum "
                    "of each %dx%d outputs; incomplete windows at the end are dropped.",
                    right > 0 ? "The same shape is right" : "Is the same shape right", pool,
                    right > 0 ? ":" : "? Then", pool, pool, pool, pool);
}

/* Diagnosis with pooling, which hides the wrong output: reports only unwritten and NaN outputs. */
static void find_pooled(const Diagnosis *d, Finding *finding)
{
    if (d->count[MARK_POISON]) {
        find_unwritten_place(d, finding);
    } else if (d->count[MARK_NAN]) {
        find_nan_place(d, finding);
    } else {
        find_pooled_wrong(d, finding);
    }
}

static void find_explanation(const Diagnosis *d, Finding *finding)
{
    if (d->conv.pool) {
        find_pooled(d, finding);
        return;
    }
    if (d->count[MARK_POISON] || d->count[MARK_NAN] == d->total)
        if (find_accumulated(d->judged, d->run, d->context, finding)) return;
    if (d->count[MARK_POISON]) {
        find_unwritten_place(d, finding);
        return;
    }
    if (variant_find(d, 1, finding) || missing_terms_find(d, 1, finding) ||
        points_find(d, finding) || frequency_find(d, finding))
        return;
    if (find_value(d, value_find, finding)) return;
    if (find_race(d->judged, d->run, d->context, finding)) return;
    if (find_value(d, value_scaled, finding)) return;
    if (d->count[MARK_NAN]) {
        find_nan_place(d, finding);
        return;
    }
    if (find_small_errors(d->judged, finding) || find_pattern(d, finding)) return;
    Finding inside = {0};
    if (probe_stride(d, finding) || probe_channels(d, finding)) {
        if (probe_impulse(d, &inside)) finding_say(finding, "%s", inside.text);
        return;
    }
    finding->fault = FAULT_EVERYWHERE;
    if (find_inside(d, &inside)) {
        finding->fault = inside.fault;
        finding_say(finding, "%s%s", d->count[MARK_RIGHT] ? "In the wrong outputs: " : "",
                    inside.text);
        return;
    }
    /* If the case has another order, order_find has been tried already. */
    if (memory_order_is_plain(memory_order(&d->judged->problem)) && order_find(d->judged, finding))
        return;
    finding_say(finding,
                "Their positions and their values follow no pattern that the grader knows.");
    say_impulse(d, finding);
}

/* ---- entry point ------------------------------------------------------------------------- */

static void find_in_map(const Judgement *judged, ProbeRun run, void *context, Finding *finding)
{
    Diagnosis d = {.judged = judged,
                   .operation = judged->operation,
                   .problem = &judged->view.problem,
                   .conv = conv_unpack(&judged->view.problem),
                   .precision = judged->precision,
                   .tensor = judged->view.tensor,
                   .output = judged->view.output,
                   .expected = judged->expected,
                   .magnitude = judged->magnitude,
                   .terms = judged->terms,
                   .mark = judged->mark,
                   .total = judged->verdict.total,
                   .faint = judged->faint,
                   .run = run,
                   .context = context};
    if (d.conv.pool) { /* the diagnosis applies to the pooled map */
        d.conv.P /= d.conv.pool;
        d.conv.Q /= d.conv.pool;
    }
    memcpy(d.count, judged->count, sizeof d.count);
    samples_choose(d.mark, d.total, judged->verdict.wrong, &d.samples);
    find_explanation(&d, finding);
}

void conv_explain(const Judgement *judged, ProbeRun run, void *context, Finding *finding)
{
    OrderRun order = {.order = memory_order(&judged->problem), .run = run, .context = context};
    int rearranged = !memory_order_is_plain(order.order);
    if (rearranged && judged->verdict.wrong && order_find(judged, finding)) return;
    if (find_written_outside(judged, finding)) return;
    if (rearranged)
        find_in_map(judged, run ? order_run : NULL, &order, finding);
    else
        find_in_map(judged, run, context, finding);
}
