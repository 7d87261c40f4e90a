/* order.c - tensors in other layouts than NCHW: runs the submission on them, and finds the tensor
 * that it read in another order. */
#include "common/operations/conv_diagnosis/explain_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/operations/conv/conv_problem.h"

static const double most_macs = 2e7; /* limit of multiply-adds for a new computation with every
                                      * other order */

enum { X = LAYOUT_X, W = LAYOUT_W, Y = LAYOUT_Y, TENSORS = LAYOUT_TENSORS };

int order_run(void *context, const Problem *problem, const float *const *tensor, float *output)
{
    const OrderRun *order = context;
    ConvProblem conv = conv_unpack(problem);
    float *own[TENSORS];
    int status = -1, whole = 1;
    for (int i = X; i < TENSORS; i++) {
        own[i] = i == Y ? calloc(layout_count(&conv, i), sizeof *own[i])
                        : layout_from_nchw(&conv, i, order->order, tensor[i]);
        whole &= own[i] != NULL;
    }
    if (whole) {
        Problem original;
        float *plain = NULL;
        conv.layout = order->order.layout;
        conv_pack(&conv, &original);
        conv_reverse(&original, order->order.reversed);
        status = order->run(order->context, &original, (const float *const *)own, own[Y]);
        if (!status) plain = layout_to_nchw(&conv, Y, order->order, own[Y]);
        if (plain)
            memcpy(output, plain, layout_count(&conv, Y) * sizeof *plain);
        else
            status = -1;
        free(plain);
    }
    for (int i = X; i < TENSORS; i++)
        free(own[i]);
    return status;
}

/* ---- other orders ------------------------------------------------------------------------ */

/* An order that the submission may have assumed. */
typedef struct Order {
    int layout[TENSORS];
    unsigned reversed;
} Order;

static const char *const SPELT[TENSORS][3] = {{"x[n][c][h][w]", "x[n][h][w][c]", "x[c][h][w][n]"},
                                              {"w[k][c][r][s]", "w[k][r][s][c]", "w[c][r][s][k]"},
                                              {"y[n][k][p][q]", "y[n][p][q][k]", "y[k][p][q][n]"}};

/* Whether inputs and outputs in this order explain the output.  -1: out of memory. */
static int order_explains(const Judgement *judged, const ConvProblem *v, const Order *order)
{
    size_t total = layout_count(v, Y);
    const float *from[TENSORS] = {judged->tensor[X], judged->tensor[W], judged->observed.output};
    float *plain[TENSORS];
    for (int i = X; i < TENSORS; i++)
        plain[i] = layout_to_nchw(v, i, (MemoryOrder){order->layout[i], order->reversed}, from[i]);
    float *x = plain[X], *w = plain[W], *y = plain[Y];
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
             "last index is contiguous; p->layout has the order of this case.%s",
             text,
             order->layout[W] == own || order->layout[X] != own
                 ? ""
                 : " Or w is read correctly, and the pixels that are multiplied by its rows are in "
                   "that order, for example the rows of an unrolled input.");
}

/* Whether the output would be correct if some of the case's reversed axes were not: one of them, or
 * all. */
static int direction_find(const Judgement *judged, const ConvProblem *v, Finding *finding)
{
    const int own = v->layout;
    const unsigned reversed = conv_reversed(&judged->problem);
    char axes[128] = "";
    for (int axis = 0; reversed && axis <= REVERSED_AXES; axis++) {
        unsigned forward = axis < REVERSED_AXES ? reversed & 1u << axis : reversed;
        const Order order = {{own, own, own}, reversed & ~forward};
        if (!forward || order_explains(judged, v, &order) != 1) continue;
        for (int i = 0; i < REVERSED_AXES; i++)
            if (forward >> i & 1) {
                size_t used = strlen(axes);
                snprintf(axes + used, sizeof axes - used, "%s%s", used ? ", " : "",
                         conv_axis_name(i));
            }
        finding->fault = FAULT_LAYOUT;
        snprintf(finding->text, sizeof finding->text,
                 "The values are correct for tensors whose axes are in ascending order. In this "
                 "lab, memory holds the last index first along %s: see the handout.",
                 axes);
        return 1;
    }
    return 0;
}

int order_find(const Judgement *judged, Finding *finding)
{
    ConvProblem conv = conv_unpack(&judged->problem);
    int own = conv.layout;
    const unsigned reversed = conv_reversed(&judged->problem);
    if (conv_macs(&conv) > most_macs) return 0;
    if (direction_find(judged, &conv, finding)) return 1;
    for (int other = CONV_NCHW; other <= CONV_CHWN; other++) {
        if (other == own) continue;
        const Order order[] = {{{own, own, other}, reversed},
                               {{other, own, own}, reversed},
                               {{own, other, own}, reversed},
                               {{other, other, other}, reversed}};
        for (size_t i = 0; i < sizeof order / sizeof *order; i++)
            if (order_explains(judged, &conv, &order[i]) == 1) {
                order_describe(own, &order[i], finding);
                return 1;
            }
    }
    return 0;
}
