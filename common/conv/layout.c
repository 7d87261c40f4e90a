#include "common/conv/layout.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/conv/conv_problem.h"

static const double most_macs = 2e7; /* that are worked out again for every other order */

enum { X, W, Y, TENSORS };

static TensorExtent extent_of(const ConvProblem *v, int tensor)
{
    const int extent[TENSORS][4] = {
        {v->N, v->C, v->H, v->W}, {v->K, v->C, v->R, v->S}, {v->N, v->K, v->P, v->Q}};
    const int *e = extent[tensor];
    return (TensorExtent){(size_t)e[0], (size_t)e[1], (size_t)e[2], (size_t)e[3]};
}

static size_t count_of(const ConvProblem *v, int tensor)
{
    TensorExtent e = extent_of(v, tensor);
    return e.n * e.c * e.h * e.w;
}

/* A copy of `from`, which lies as `layout` says, in NCHW; NULL: out of memory. */
static float *to_nchw(const ConvProblem *v, int tensor, int layout, const float *from)
{
    TensorExtent extent = extent_of(v, tensor);
    float *to = malloc(count_of(v, tensor) * sizeof *to);
    if (to) tensor_convert(&extent, (Layout)layout, from, LAYOUT_NCHW, to);
    return to;
}

int layout_view_open(LayoutView *view, const Problem *problem, const float *const *tensor,
                     const Observed *observed, ProbeRun run, void *context, Error *error)
{
    ConvProblem conv = conv_unpack(problem);
    *view = (LayoutView){.original = *problem,
                         .conv = conv,
                         .raw = tensor,
                         .raw_output = observed->output,
                         .observed = *observed,
                         .run = run,
                         .context = context};
    view->x = to_nchw(&conv, X, conv.layout, tensor[X]);
    view->w = to_nchw(&conv, W, conv.layout, tensor[W]);
    view->y = to_nchw(&conv, Y, conv.layout, observed->output);
    conv.layout = CONV_NCHW;
    conv_pack(&conv, &view->problem);
    view->tensor[X] = view->x, view->tensor[W] = view->w, view->tensor[Y] = view->y;
    view->observed.output = view->y;
    if (view->x && view->w && view->y) return 0;
    layout_view_close(view);
    return error_set(error, "no memory to rearrange the tensors");
}

void layout_view_close(LayoutView *view)
{
    free(view->x), free(view->w), free(view->y);
}

int layout_view_run(void *context, const Problem *problem, const float *const *tensor,
                    float *output)
{
    LayoutView *view = context;
    ConvProblem conv = conv_unpack(problem);
    Layout layout = (Layout)view->conv.layout;
    float *own[TENSORS];
    int status = -1, whole = 1;
    for (int i = X; i < TENSORS; i++) {
        TensorExtent extent = extent_of(&conv, i);
        own[i] = calloc(count_of(&conv, i), sizeof *own[i]);
        if (own[i] && i != Y) tensor_convert(&extent, LAYOUT_NCHW, tensor[i], layout, own[i]);
        whole &= own[i] != NULL;
    }
    if (whole) {
        Problem original;
        TensorExtent extent = extent_of(&conv, Y);
        conv.layout = view->conv.layout;
        conv_pack(&conv, &original);
        status = view->run(view->context, &original, (const float *const *)own, own[Y]);
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

/* Is the output what comes of inputs and outputs in this order?  -1: out of memory. */
static int order_explains(const LayoutView *view, const Operation *operation, Precision precision,
                          const Order *order)
{
    const ConvProblem *v = &view->conv;
    size_t total = count_of(v, Y);
    float *x = to_nchw(v, X, order->layout[X], view->raw[X]);
    float *w = to_nchw(v, W, order->layout[W], view->raw[W]);
    float *y = to_nchw(v, Y, order->layout[Y], view->raw_output);
    double *sum = malloc(3 * total * sizeof *sum);
    int right = x && w && y && sum ? 1 : -1;
    if (right > 0) {
        const float *tensor[TENSORS] = {x, w, y};
        operation->oracle(&view->problem, tensor, sum, sum + total, sum + 2 * total);
        for (size_t i = 0; right && i < total; i++)
            right =
                fabs(y[i] - sum[i]) <= verify_bound(precision, sum[total + i], sum[2 * total + i]);
    }
    free(x), free(w), free(y), free(sum);
    return right;
}

static void order_describe(const LayoutView *view, const Order *order, Verdict *verdict)
{
    char text[256] = "";
    for (int i = X; i < TENSORS; i++)
        if (order->layout[i] != view->conv.layout) {
            size_t used = strlen(text);
            snprintf(text + used, sizeof text - used, "%s%s as %s, though it is %s",
                     used ? "; " : "", i == Y ? "writes" : "reads", SPELT[i][order->layout[i]],
                     SPELT[i][view->conv.layout]);
        }
    verdict->fault = FAULT_LAYOUT;
    snprintf(verdict->text, sizeof verdict->text,
             "The values are right for tensors in another order: your code %s. In memory the last "
             "index is the fastest; p->layout says which order this case has.",
             text);
}

void layout_explain(const LayoutView *view, const Operation *operation, Precision precision,
                    Verdict *verdict)
{
    int own = view->conv.layout;
    if (conv_macs(&view->conv) > most_macs) return;
    for (int other = CONV_NCHW; other <= CONV_CHWN; other++) {
        if (other == own) continue;
        const Order order[] = {
            {{own, own, other}}, {{other, own, own}}, {{own, other, own}}, {{other, other, other}}};
        for (size_t i = 0; i < sizeof order / sizeof *order; i++)
            if (order_explains(view, operation, precision, &order[i]) == 1) {
                order_describe(view, &order[i], verdict);
                return;
            }
    }
}
