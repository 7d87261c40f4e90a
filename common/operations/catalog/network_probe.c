#include "common/operations/catalog/network_probe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Sets all weights of the layers before layer l to 0, and their biases to positive values. */
static void flatten_before(const NetworkLayer *layer, int l, float *w)
{
    for (int before = 0; before < l; before++) {
        int weights = layer[before].weights, biases = layer[before].biases;
        memset(w + weights, 0, (size_t)(biases - weights) * sizeof *w);
        for (int i = biases; i < layer[before + 1].weights; i++)
            w[i] = fabsf(w[i]);
    }
}

/* Whether the submission is correct with constant layers before layer l.  -1: it did not run. */
static int right_from(const Judgement *judged, ProbeRun run, void *context, int tensor,
                      const NetworkLayer *layer, int l)
{
    const Problem *problem = &judged->view.problem;
    TensorShape shape[OPERATION_TENSORS];
    judged->operation->tensors(problem, shape);
    size_t outputs = judged->verdict.total, count = tensor_count(&shape[tensor]);
    const float *given[OPERATION_TENSORS];
    float *w = malloc(count * sizeof *w), *y = calloc(outputs, sizeof *y);
    Observed observed = {.output = y};
    Judgement again;
    int right = -1;
    if (w && y) {
        memcpy(w, judged->view.tensor[tensor], count * sizeof *w);
        flatten_before(layer, l, w);
        memcpy(given, judged->view.tensor, sizeof given);
        given[tensor] = w;
        if (!run(context, problem, given, y) &&
            !verify_output(judged->operation, problem, judged->precision, given, &observed, &again,
                           NULL)) {
            right = again.verdict.correct;
            judgement_free(&again);
        }
    }
    free(w);
    free(y);
    return right;
}

int network_wrong_layer(const Judgement *judged, ProbeRun run, void *context, int tensor,
                        const NetworkLayer *layer, int layers)
{
    int l = layers - 1, right = run ? right_from(judged, run, context, tensor, layer, l) : -1;
    while (right == 1 && l > 0)
        right = right_from(judged, run, context, tensor, layer, --l);
    return right < 0 ? -1 : l;
}

void network_say_layer(int wrong, const NetworkLayer *layer, int layers, Finding *finding)
{
    if (wrong == layers - 1)
        finding_say(finding,
                    "With all weights before %s set to 0 they are wrong, too: check %s and the "
                    "softmax first, then the bias and function of %s before it.",
                    layer[wrong].name, layer[wrong].name, layer[wrong - 1].name);
    else if (wrong >= 0)
        finding_say(finding,
                    "With all weights before %s set to 0 the outputs are right, and with only "
                    "those before %s they are not: look at %s first%s%s%s, and at the order in "
                    "which %s reads it.",
                    layer[wrong + 1].name, layer[wrong].name, layer[wrong].name,
                    wrong ? ", at the bias, function and pool of " : "",
                    wrong ? layer[wrong - 1].name : "", wrong ? " before it" : "",
                    layer[wrong + 1].name);
}
