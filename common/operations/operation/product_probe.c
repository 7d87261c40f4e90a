/* product_probe.c - impulse probes of operations whose outputs are sums of products. */
#include "common/operations/operation/product_probe.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST, SECOND, INPUTS };
static const double probe_flops = 1e7;

typedef struct ProductProbe {
    const Judgement *judged;
    ProbeRun run;
    void *context;
    TensorShape shape[OPERATION_TENSORS];
    float *first, *output; /* the impulse, and a run's output */
    double *expected, *magnitude, *terms;
    size_t count[INPUTS], total;
    size_t one, wrong; /* index of the element with value 1, and of the first wrong output */
} ProductProbe;

static void probe_free(ProductProbe *probe)
{
    free(probe->first);
    free(probe->output);
    free(probe->expected); /* with magnitude and terms */
}

static int probe_make(ProductProbe *probe)
{
    const Judgement *j = probe->judged;
    j->operation->tensors(&j->view.problem, probe->shape);
    probe->total = j->verdict.total;
    for (int i = 0; i < INPUTS; i++)
        probe->count[i] = tensor_count(&probe->shape[i]);
    probe->first = calloc(probe->count[FIRST], sizeof *probe->first);
    probe->output = calloc(probe->total, sizeof *probe->output);
    int failed = oracle_room(probe->total, &probe->expected, &probe->magnitude, &probe->terms) != 0;
    return probe->first && probe->output && !failed ? 0 : -1;
}

static void probe_expect(ProductProbe *probe)
{
    const Judgement *j = probe->judged;
    const float *tensor[] = {probe->first, j->view.tensor[SECOND], probe->output};
    j->operation->oracle(&j->view.problem, tensor, probe->expected, probe->magnitude, probe->terms);
}

/* An element of the first input that the output depends on: the `late` first or the last one. */
static size_t element_used(ProductProbe *probe, size_t output, int late)
{
    size_t low = 0, high = probe->count[FIRST];
    while (high - low > 1) {
        const size_t middle = (low + high) / 2, from = late ? middle : low,
                     to = late ? high : middle;
        for (size_t i = 0; i < probe->count[FIRST]; i++)
            probe->first[i] = i >= from && i < to;
        probe_expect(probe);
        if ((probe->magnitude[output] > 0) == late)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Runs with the element as the only one that is not 0.  1: an output is wrong. */
static int impulse_run(ProductProbe *probe, size_t one)
{
    const Judgement *j = probe->judged;
    const float *tensor[] = {probe->first, j->view.tensor[SECOND], probe->output};
    memset(probe->first, 0, probe->count[FIRST] * sizeof *probe->first);
    memset(probe->output, 0, probe->total * sizeof *probe->output);
    probe->first[one] = 1;
    probe->one = one;
    if (probe->run(probe->context, &j->view.problem, tensor, probe->output)) return 0;
    probe_expect(probe);
    for (probe->wrong = 0; probe->wrong < probe->total; probe->wrong++)
        if (!(fabs(probe->output[probe->wrong] - probe->expected[probe->wrong]) <=
              verdict_bound(j->precision, probe->magnitude[probe->wrong],
                            probe->terms[probe->wrong])))
            return 1;
    return 0;
}

/* The only element of the second input with this value; the number of elements: none or several. */
static size_t element_of(const ProductProbe *probe, double value)
{
    const float *second = probe->judged->view.tensor[SECOND];
    const double off = probe->judged->precision == PRECISION_FP32 ? 0 : 0x1p-10 * fabs(value);
    size_t found = probe->count[SECOND];
    for (size_t i = 0; i < probe->count[SECOND]; i++) {
        if (value == 0 || !(fabs(second[i] - value) <= off)) continue;
        if (found < probe->count[SECOND]) return probe->count[SECOND];
        found = i;
    }
    return found;
}

/* The axes in which two elements of a tensor differ: "r and s". */
static void axes_differ(const TensorShape *shape, size_t one, size_t two, char *text, size_t bytes)
{
    *text = 0;
    for (int axis = shape->rank - 1; axis >= 0; axis--) {
        const size_t size = shape->dim[axis], used = strlen(text);
        if (one % size != two % size)
            snprintf(text + used, bytes - used, "%s%s", used ? " and " : "", shape->axes[axis]);
        one /= size;
        two /= size;
    }
}

static void element_name(const TensorShape *shape, size_t index, char *text, size_t bytes)
{
    char place[96];
    tensor_place(shape, index, place, sizeof place);
    snprintf(text, bytes, "%s at %s", shape->name, place);
}

/* The number of the problem with this value: "K"; NULL: none, or several. */
static const char *number_name(const Judgement *judged, double value)
{
    ProblemNumber number[OPERATION_NUMBERS];
    const int numbers = judged->operation->numbers(&judged->view.problem, number);
    const char *name = NULL;
    for (int i = 0; i < numbers; i++)
        if (number[i].value == value) {
            if (name) return NULL;
            name = number[i].name;
        }
    return name;
}

/* The first input is a matrix, and its element is multiplied by a weight of another column: does a
 * wrong distance from row to row explain that? */
static void say_pitch(const ProductProbe *probe, size_t gotten, Finding *finding)
{
    const TensorShape *first = &probe->shape[FIRST], *second = &probe->shape[SECOND];
    if (first->rank != 2 || second->dim[second->rank - 1] != first->dim[1]) return;
    const size_t row = probe->one / first->dim[1], column = gotten % first->dim[1];
    if (!row || probe->one < column || (probe->one - column) % row) return;
    const size_t pitch = (probe->one - column) / row;
    const char *name = number_name(probe->judged, (double)pitch);
    if (pitch == first->dim[1]) return;
    finding_say(finding, "This is so if row %s of %s begins at %s*%zu%s%s%s, and not at %s*%zu.",
                first->axes[0], first->name, first->axes[0], pitch, name ? " (" : "",
                name ? name : "", name ? ")" : "", first->axes[0], first->dim[1]);
}

static void say_product(ProductProbe *probe, Finding *finding)
{
    const TensorShape *second = &probe->shape[SECOND];
    char one[128], place[96], want[160] = "0", got[160], axes[64];
    const double expected = probe->expected[probe->wrong], value = probe->output[probe->wrong];
    const size_t none = probe->count[SECOND];
    const size_t wanted = element_of(probe, expected), gotten = element_of(probe, value);
    TensorShape shape = {.rank = 0};
    output_shape(probe->judged->operation, &probe->judged->view.problem, &shape);
    tensor_place(&shape, probe->wrong, place, sizeof place);
    element_name(&probe->shape[FIRST], probe->one, one, sizeof one);
    if (wanted < none) element_name(second, wanted, want, sizeof want);
    snprintf(got, sizeof got, "%g", value);
    if (gotten < none) element_name(second, gotten, got, sizeof got);
    finding_say(finding,
                "With all of %s zero but %s, which is 1, output %s should be %s; yours "
                "is %s.",
                probe->shape[FIRST].name, one, place, want, got);
    if (gotten < none && wanted < none) {
        axes_differ(second, wanted, gotten, axes, sizeof axes);
        finding_say(finding,
                    "They differ in %s: check %s in the index of %s and of %s{, and where "
                    "tiles store them|}.",
                    axes, axes, second->name, probe->shape[FIRST].name);
        say_pitch(probe, gotten, finding);
    } else if (gotten < none) {
        finding_say(finding,
                    "That multiplication belongs to another output: check the index of %s, the "
                    "bounds test, and the index of the store.",
                    probe->shape[FIRST].name);
    } else if (wanted < none && value == 0) {
        finding_say(finding,
                    "That multiplication is missing, or one of its factors is read from another "
                    "place: check where the loops begin and end, and both indices.");
    } else {
        finding_say(finding, "Follow that one element through your index calculations.");
    }
}

int find_product(const Judgement *judged, ProbeRun run, void *context, Finding *finding)
{
    const Operation *operation = judged->operation;
    ProductProbe probe = {.judged = judged, .run = run, .context = context};
    size_t wrong = 0;
    int found = 0;
    if (!run || !operation->has_products || operation->flops(&judged->view.problem) > probe_flops)
        return 0;
    while (wrong < judged->verdict.total && judged->mark[wrong] != MARK_WRONG)
        wrong++;
    if (wrong == judged->verdict.total) return 0;
    if (!probe_make(&probe)) {
        found = impulse_run(&probe, element_used(&probe, wrong, 0)) ||
                impulse_run(&probe, element_used(&probe, wrong, 1));
        if (found) say_product(&probe, finding);
    }
    probe_free(&probe);
    return found;
}
