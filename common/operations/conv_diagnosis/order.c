/* order.c - tensors in other layouts than NCHW: runs the submission on them, and finds the tensor
 * that it read in another order. */
#include "common/operations/conv_diagnosis/explain_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/operations/conv/conv_problem.h"
#include "common/operations/conv/layout.h"

static const double most_macs = 2e7; /* limit of multiply-adds for a new computation with every
                                      * other order */

enum { X = LAYOUT_X, W = LAYOUT_W, Y = LAYOUT_Y, TENSORS = LAYOUT_TENSORS };

int order_run(void *context, const Problem *problem, const float *const *tensor, float *output)
{
    const OrderRun *order = context;
    ConvProblem conv = conv_unpack(problem);
    Layout layout = (Layout)order->layout;
    float *own[TENSORS];
    int status = -1, whole = 1;
    for (int i = X; i < TENSORS; i++) {
        TensorExtent extent = layout_extent(&conv, i);
        own[i] = calloc(layout_count(&conv, i), sizeof *own[i]);
        if (own[i] && i != Y) tensor_convert(&extent, LAYOUT_NCHW, tensor[i], layout, own[i]);
        whole &= own[i] != NULL;
    }
    if (whole) {
        Problem original;
        TensorExtent extent = layout_extent(&conv, Y);
        conv.layout = (int)layout;
        conv_pack(&conv, &original);
        status = order->run(order->context, &original, (const float *const *)own, own[Y]);
        if (!status) tensor_convert(&extent, layout, own[Y], LAYOUT_NCHW, output);
    }
    for (int i = X; i < TENSORS; i++)
        free(own[i]);
    return status;
}

/* ---- other orders ------------------------------------------------------------------------ */

typedef struct Order {
    int layout[TENSORS];
} Order;

static const char *const SPELT[TENSORS][3] = {{"x[n][c][h][w]", "x[n][h][w][c]", "x[c][h][w][n]"},
                                              {"w[k][c][r][s]", "w[k][r][s][c]", "w[c][r][s][k]"},
                                              {"y[n][k][p][q]", "y[n][p][q][k]", "y[k][p][q][n]"}};

/* Whether inputs and outputs in this order explain the output.  -1: out of memory. */
static int order_explains(const Judgement *judged, const ConvProblem *v, const Order *order)
{
    size_t total = layout_count(v, Y);
    float *x = layout_to_nchw(v, X, order->layout[X], judged->tensor[X]);
    float *w = layout_to_nchw(v, W, order->layout[W], judged->tensor[W]);
    float *y = layout_to_nchw(v, Y, order->layout[Y], judged->observed.output);
    double *sum = malloc(3 * total * sizeof *sum);
    int right = x && w && y && sum ? 1 : -1;
    if (right > 0) {
        const float *tensor[TENSORS] = {x, w, y};
        judged->operation->oracle(&judged->view.problem, tensor, sum, sum + total, sum + 2 * total);
        for (size_t i = 0; right && i < total; i++)
            right = fabs(y[i] - sum[i]) <=
                    verdict_bound(judged->precision, sum[total + i], sum[2 * total + i]);
    }
    free(x), free(w), free(y), free(sum);
    return right;
}

static void order_describe(int own, const Order *order, Finding *finding)
{
    char text[256] = "";
    for (int i = X; i < TENSORS; i++)
        if (order->layout[i] != own) {
            size_t used = strlen(text);
            snprintf(text + used, sizeof text - used, "%s%s as %s, though it is %s",
                     used ? "; " : "", i == Y ? "writes" : "reads", SPELT[i][order->layout[i]],
                     SPELT[i][own]);
        }
    finding->fault = FAULT_LAYOUT;
    snprintf(finding->text, sizeof finding->text,
             "The values are correct for tensors in another order: your code %s. In memory the "
             "last index is contiguous; p->layout has the order of this case.",
             text);
}

int order_find(const Judgement *judged, Finding *finding)
{
    ConvProblem conv = conv_unpack(&judged->problem);
    int own = conv.layout;
    if (conv_macs(&conv) > most_macs) return 0;
    for (int other = CONV_NCHW; other <= CONV_CHWN; other++) {
        if (other == own) continue;
        const Order order[] = {
            {{own, own, other}}, {{other, own, own}}, {{own, other, own}}, {{other, other, other}}};
        for (size_t i = 0; i < sizeof order / sizeof *order; i++)
            if (order_explains(judged, &conv, &order[i]) == 1) {
                order_describe(own, &order[i], finding);
                return 1;
            }
    }
    return 0;
}
