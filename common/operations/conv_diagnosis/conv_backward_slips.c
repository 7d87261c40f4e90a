/* conv_backward_slips.c - the list of slips: the common mistakes in the index arithmetic of a
 * gradient, with the sentence that names each. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/operations/conv_diagnosis/conv_backward_slip.h"

static Slip *slip_add(Backward *b, Fault fault, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static Slip *slip_add(Backward *b, Fault fault, const char *format, ...)
{
    if (b->slips == SLIPS) b->slips--; /* cannot happen: the lists below are shorter */
    Slip *s = &b->slip[b->slips++];
    *s = slip_right(b);
    s->fault = fault;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(s->text, sizeof s->text, format, arguments);
    va_end(arguments);
    return s;
}

const char *slip_window(const Backward *b)
{
    return b->filter ? "Gradient (p,q) is multiplied by the input at p*stride_h + r - pad_top, "
                       "q*stride_w + s "
                       "- pad_left through tap (r,s)."
                     : "The gradient of pixel (h,w) uses dy at (h + pad_top - r)/stride_h, (w + "
                       "pad_left - "
                       "s)/stride_w through tap (r,s), where these are whole.";
}

static void list_filters(Backward *b)
{
    const ConvProblem *v = &b->v;
    static const char *const along[] = {"", " along s", " along r", ""};
    for (int both = 3; both > 0; both--) {
        Slip *s = b->filter ? slip_add(b, FAULT_FLIPPED_FILTER,
                                       "dw is flipped%s. %s Both indices increase together: only "
                                       "dx uses a flipped filter.",
                                       along[both], slip_window(b))
                            : slip_add(b, FAULT_FLIPPED_FILTER,
                                       "The filter is not flipped in dx%s. %s So if the index of "
                                       "dy increases, the index of the tap decreases.",
                                       along[both], slip_window(b));
        s->flip_r = both >> 1;
        s->flip_s = both & 1;
    }
    if (b->filter) {
        Slip *s = slip_add(b, FAULT_TRANSPOSED_FILTER,
                           "dw's rows and columns are exchanged: tap (r,s) is stored at r*S + s.");
        strcpy(s->order, "kcsr");
        s = slip_add(b, FAULT_ONE_CHANNEL,
                     "dw is stored with its channels first: it is dw[((k*C + c)*R + r)*S + s], as "
                     "w is.");
        strcpy(s->order, "ckrs");
        return;
    }
    Slip *s = slip_add(
        b, FAULT_TRANSPOSED_FILTER,
        "The filter's rows and columns are exchanged: tap (r,s) is at r*S + s within its channel.");
    s->in_2 = 1, s->in_3 = v->R == v->S ? v->S : v->R;
    s = slip_add(b, FAULT_ONE_CHANNEL,
                 "The weights are read as if channels came first: filter k, channel c starts at "
                 "(k*C + c)*R*S of w, in the backward pass too.");
    s->in_0 = (long long)v->R * v->S, s->in_1 = (long long)v->K * v->R * v->S;
    s = slip_add(b, FAULT_ONE_CHANNEL,
                 "Every channel's dx is calculated with channel 0 of the filters: the index into w "
                 "lacks c*R*S.");
    s->in_1 = 0;
    s = slip_add(b, FAULT_ONE_FILTER,
                 "All maps are multiplied with filter k = 0: the index into w lacks k*C*R*S.");
    s->in_0 = 0;
}

static void slip_shift(Backward *b, int down, int right, int turned)
{
    const ConvProblem *v = &b->v;
    const char *why = "";
    int forward =
        !b->filter && down == v->R - 1 - 2 * v->pad_top && right == v->S - 1 - 2 * v->pad_left;
    if (!down && !right && !turned) return;
    if (forward)
        why = " That is the padding of the forward pass, used in the backward pass: a flipped "
              "filter of R taps needs R - 1 - pad_top zeros above dy.";
    else if (down == -v->pad_top && right == -v->pad_left)
        why = " That is as if there were no padding.";
    else if (down == v->pad_bottom - v->pad_top && right == v->pad_right - v->pad_left)
        why = " That is as if pad_bottom and pad_right were used for pad_top and pad_left.";
    else if (down == v->pad_left - v->pad_top && right == v->pad_top - v->pad_left)
        why = " That is as if pad_top and pad_left were exchanged.";
    Slip *s =
        slip_add(b, turned ? FAULT_FLIPPED_FILTER : FAULT_HALO,
                 "%sThe window is shifted by %+d row%s and %+d column%s of %s.%s %s",
                 turned ? "The filter is not flipped, and in addition: " : "",
                 b->filter ? -down : down, abs(down) == 1 ? "" : "s", b->filter ? -right : right,
                 abs(right) == 1 ? "" : "s", b->filter ? "x" : "dy", why, slip_window(b));
    s->top += down;
    s->left += right;
    s->flip_r = s->flip_s = turned;
}

/* dx's window as in the forward pass, along one axis: h - pad_top + r. */
static void slip_forward(Backward *b, char axis)
{
    const ConvProblem *v = &b->v;
    int down = axis == 'r';
    Slip *s = slip_add(b, FAULT_FLIPPED_FILTER,
                       "dy is read with increasing %c and with the padding of the forward pass, as "
                       "x is there. In the backward pass it is %s.",
                       axis, down ? "h + pad_top - r" : "w + pad_left - s");
    if (down) {
        s->top = v->R - 1 - v->pad_top;
        s->flip_r = 1;
    } else {
        s->left = v->S - 1 - v->pad_left;
        s->flip_s = 1;
    }
}

static void list_shifts(Backward *b)
{
    const ConvProblem *v = &b->v;
    if (!b->filter) {
        int down = v->R - 1 - 2 * v->pad_top, right = v->S - 1 - 2 * v->pad_left;
        slip_shift(b, down, right, 0);
        slip_shift(b, down, right, 1);
        slip_forward(b, 'r');
        slip_forward(b, 's');
    }
    slip_shift(b, -v->pad_top, -v->pad_left, 0);
    slip_shift(b, v->pad_bottom - v->pad_top, v->pad_right - v->pad_left, 0);
    slip_shift(b, v->pad_left - v->pad_top, v->pad_top - v->pad_left, 0);
    for (int down = -2; down <= 2; down++)
        for (int right = -2; right <= 2; right++)
            slip_shift(b, down, right, 0);
    for (int down = -1; down <= 1 && !b->filter; down++) /* whole gradients */
        for (int right = -1; right <= 1; right++)
            if (v->stride_h > 2 || v->stride_w > 2)
                slip_shift(b, down * v->stride_h, right * v->stride_w, 0);
}

static void list_strides(Backward *b)
{
    const ConvProblem *v = &b->v;
    if (v->stride_h == 1 && v->stride_w == 1) return;
    Slip *s = slip_add(b, FAULT_STRIDE, "The stride is left out (1 is used both ways). %s",
                       slip_window(b));
    s->stride_h = s->stride_w = 1;
    s = slip_add(b, FAULT_STRIDE, "stride_h and stride_w are exchanged. %s", slip_window(b));
    s->stride_h = v->stride_w, s->stride_w = v->stride_h;
    s = slip_add(b, FAULT_STRIDE, "stride_h is used for the columns, too. %s", slip_window(b));
    s->stride_w = v->stride_h;
    s = slip_add(b, FAULT_STRIDE, "stride_w is used for the rows, too. %s", slip_window(b));
    s->stride_h = v->stride_w;
    if (b->filter) return;
    s = slip_add(b, FAULT_STRIDE,
                 "Pixels use taps that do not belong to them: h + pad_top - r must be a multiple "
                 "of stride_h, w + pad_left - s of stride_w, or there is no such gradient.");
    s->any_step = 1;
}

static void list_images(Backward *b)
{
    const ConvProblem *v = &b->v;
    if (v->N == 1) return;
    Slip *s = slip_add(b, FAULT_ONE_IMAGE,
                       "It is calculated from the gradient of another image: dy is read at n = 0 "
                       "for every n. The index into dy lacks n*K*P*Q.");
    s->dy_n = 0;
    if (!b->filter) return;
    s = slip_add(b, FAULT_ONE_IMAGE,
                 "The gradient of one image is multiplied by the input of another: x is read at n "
                 "= 0 for every n. The index into x lacks n*C*H*W.");
    s->in_0 = 0;
    static const char plain[] = "dw is the sum over the batch: it includes every image.";
    const struct {
        int low, high;
        const char *what;
    } part[] = {{0, 1, "only image 0 is in it"},
                {v->N - 1, v->N, "only the last image is in it"},
                {0, v->N - 1, "the last image is missing"},
                {1, v->N, "image 0 is missing"}};
    for (int i = 0; i < 4; i++) {
        s = slip_add(b, FAULT_ONE_IMAGE, "The sum over the batch is missing or incomplete: %s. %s",
                     part[i].what, plain);
        s->low = part[i].low, s->high = part[i].high;
    }
}

static void list_ends(Backward *b)
{
    static const char missing[] = "The sum is incomplete: %s.";
    Slip *s;
    if (b->filter) {
        s = slip_add(b, FAULT_PADDING_EDGE, missing, "the last row of dy is missing (p < P-1)");
        s->high_p--;
        s = slip_add(b, FAULT_PADDING_EDGE, missing, "the last column of dy is missing (q < Q-1)");
        s->high_q--;
        s = slip_add(b, FAULT_PADDING_EDGE, missing, "row 0 of dy is missing");
        s->low_p++;
        s = slip_add(b, FAULT_PADDING_EDGE, missing, "column 0 of dy is missing");
        s->low_q++;
        return;
    }
    s = slip_add(b, FAULT_ONE_FILTER, missing,
                 "the last map of dy is missing; dx sums over all k of 0 .. K-1");
    s->high--;
    s = slip_add(b, FAULT_ONE_FILTER, missing,
                 "map 0 of dy is missing; dx sums over all k of 0 .. K-1");
    s->low++;
    s = slip_add(b, FAULT_ONE_FILTER, missing,
                 "only map 0 of dy is in it; dx sums over all k of 0 .. K-1");
    s->high = 1;
    s = slip_add(b, FAULT_TAP_DROPPED, missing, "the filter's last row is missing (r = R-1)");
    s->high_r--;
    s = slip_add(b, FAULT_TAP_DROPPED, missing, "the filter's last column is missing (s = S-1)");
    s->high_s--;
    s = slip_add(b, FAULT_TAP_DROPPED, missing, "the filter's row 0 is missing");
    s->low_r++;
    s = slip_add(b, FAULT_TAP_DROPPED, missing, "the filter's column 0 is missing");
    s->low_s++;
}

static void list_edges(Backward *b)
{
    const char *rows = b->filter ? "0 <= h < H" : "0 <= p < P";
    const char *columns = b->filter ? "0 <= w < W" : "0 <= q < Q";
    for (int which = 1; which <= 3; which++) {
        Slip *s = slip_add(b, FAULT_PADDING_EDGE,
                           "Values outside of %s are read although they count as zero, so other "
                           "rows or maps are included. Test %s%s%s first.",
                           b->filter ? "x" : "dy", which & 1 ? columns : "",
                           which == 3 ? " and " : "", which & 2 ? rows : "");
        s->past_w = which & 1;
        s->past_h = which >> 1;
    }
}

static void list_scales(Backward *b)
{
    const ConvProblem *v = &b->v;
    static const char once[] = "If the loss is a mean, dy contains the factor already, and the "
                               "backward pass does not divide.";
    const struct {
        double by;
        const char *text;
    } scale[] = {{1.0 / v->N, "The mean is divided by N twice: everything is 1/N of what it should "
                              "be."},
                 {1.0 / ((double)v->N * v->P * v->Q), "Everything is divided by N*P*Q."},
                 {1.0 / ((double)v->P * v->Q), "Everything is divided by P*Q."},
                 {1.0 / v->K, "Everything is divided by K."},
                 {v->N, "Everything is N times what it should be."},
                 {-1, "The sign is wrong: this is the gradient, not the step against it."}};
    for (int i = 0; i < 6; i++) {
        if (scale[i].by == 1) continue;
        Slip *s = slip_add(b, FAULT_FORMULA, "%s %s", scale[i].text, i < 5 ? once : "");
        s->scale = scale[i].by;
    }
    Slip *s = slip_add(b, FAULT_ACCUMULATED,
                       "Every gradient is twice what it should be: possibly the sum is calculated "
                       "twice, or added to memory that contains it already.");
    s->scale = 2;
}

static void list_inputs(Backward *b)
{
    const ConvProblem *v = &b->v;
    Slip *s = slip_add(b, FAULT_EVERYWHERE,
                       "The rows of dy are read with a pitch of W elements; the pitch is Q: "
                       "dy[((n*K + k)*P + p)*Q + q].");
    s->dy_p = v->W;
    s = slip_add(b, FAULT_EVERYWHERE,
                 "dy is read as if it had the sides of x: it is N*K*P*Q, dy[((n*K + k)*P + p)*Q + "
                 "q].");
    s->dy_p = v->W, s->dy_k = (long long)v->H * v->W, s->dy_n = v->K * s->dy_k;
    s = slip_add(b, FAULT_ONE_FILTER,
                 "Map 0 of dy stands for every map: the index into dy lacks k*P*Q.");
    s->dy_k = 0;
    s = slip_add(b, FAULT_ONE_IMAGE,
                 "It is calculated from the gradient of another image: dy's images are taken C*P*Q "
                 "apart; they lie K*P*Q apart.");
    s->dy_n = (long long)v->C * v->P * v->Q;
    s = slip_add(
        b, FAULT_ONE_IMAGE,
        "dy's images are taken P*Q apart; they lie K*P*Q apart: the index into dy lacks K.");
    s->dy_n = (long long)v->P * v->Q;
    if (!b->filter) return;
    s = slip_add(b, FAULT_ONE_CHANNEL,
                 "Every channel's dw is made from channel 0 of x: the index lacks c*H*W.");
    s->in_1 = 0;
    s = slip_add(b, FAULT_ONE_IMAGE,
                 "The gradient of one image is multiplied by the input of another: x's images are "
                 "taken K*H*W apart; they lie C*H*W apart.");
    s->in_0 = (long long)v->K * v->H * v->W;
    s = slip_add(b, FAULT_ONE_IMAGE,
                 "x's images are taken H*W apart; they lie C*H*W apart: the index into x lacks C.");
    s->in_0 = (long long)v->H * v->W;
}

void slips_list(Backward *b)
{
    list_filters(b);
    list_strides(b);
    list_images(b);
    list_scales(b);
    list_ends(b);
    list_inputs(b);
    list_edges(b);
    list_shifts(b);
}
