/* variant_list.c - common mistakes in a convolution's index arithmetic, and their messages. */
#include "common/operations/conv_diagnosis/variant.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Adds a copy of the correct convolution with a fault's name; the caller modifies it. */
static Variant *variant_add(VariantList *list, Fault fault, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static Variant *variant_add(VariantList *list, Fault fault, const char *format, ...)
{
    const ConvProblem *c = list->conv;
    if (list->count == VARIANTS) list->count--; /* cannot happen: the lists below are shorter */
    Variant *v = &list->variant[list->count++];
    long long plane = (long long)c->H * c->W, taps = (long long)c->R * c->S;
    *v = (Variant){.fault = fault,
                   .stride_h = c->stride_h,
                   .stride_w = c->stride_w,
                   .step_h = 1,
                   .step_w = 1,
                   .top = c->pad_top,
                   .left = c->pad_left,
                   .high_h = c->H - 1,
                   .high_w = c->W - 1,
                   .x_n = c->C * plane,
                   .x_c = plane,
                   .x_h = c->W,
                   .x_w = 1,
                   .w_k = c->C * taps,
                   .w_c = taps,
                   .w_r = c->S,
                   .w_s = 1,
                   .order = "nkpq",
                   .scale = 1};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(v->text, sizeof v->text, format, arguments);
    va_end(arguments);
    return v;
}

static void list_filters(VariantList *list)
{
    const ConvProblem *c = list->conv;
    for (int both = 3; both > 0; both--) {
        Variant *v = variant_add(
            list, FAULT_FLIPPED_FILTER,
            "The filter is applied flipped%s: that is a convolution in the mathematical sense. "
            "Here tap (r,s) is multiplied by the input at p*stride_h + r - pad_top and q*stride_w "
            "+ s - pad_left, with the filter as it is stored (cross-correlation).",
            both == 3   ? ""
            : both == 2 ? " along r"
                        : " along s");
        v->flip_r = both >> 1;
        v->flip_s = both & 1;
    }
    const long long step[][2] = {{1, c->R}, {1, c->S}, {c->R, 1}};
    for (int i = 0; i < 3; i++) {
        Variant *v = variant_add(list, FAULT_TRANSPOSED_FILTER,
                                 "The filter's rows and columns are exchanged: tap (r,s) is at r*S "
                                 "+ s within its channel, but your index is %s.",
                                 i == 0   ? "s*R + r"
                                 : i == 1 ? "s*S + r"
                                          : "r*R + s");
        v->w_r = step[i][0];
        v->w_s = step[i][1];
    }
    Variant *v = variant_add(
        list, FAULT_EVERYWHERE, "The filters are read as if their channels came first: %s.",
        list->rearranged
            ? "k and c are exchanged in the index of w"
            : "w is K*C*R*S, so filter k, channel c starts at (k*C + c)*R*S, not at (c*K + k)*R*S");
    v->w_c = (long long)c->K * c->R * c->S;
    v->w_k = (long long)c->R * c->S;
    v = variant_add(
        list, FAULT_ONE_FILTER,
        "Every output map is calculated with filter k = 0: k is not in the index of w.");
    v->w_k = 0;
    v = variant_add(list, FAULT_ONE_CHANNEL,
                    "Every input channel is multiplied with channel 0 of the filter: c is not in "
                    "the index of w, or the start of a slice of the channels is not.");
    v->w_c = 0;
}

static void list_strides(VariantList *list)
{
    const ConvProblem *c = list->conv;
    if (c->stride_h == 1 && c->stride_w == 1) return;
    const int stride[][2] = {{1, 1},
                             {c->stride_w, c->stride_h},
                             {c->stride_h, c->stride_h},
                             {c->stride_w, c->stride_w},
                             {1, c->stride_w},
                             {c->stride_h, 1}};
    static const char *const how[] = {"the stride is left out (1 is used both ways)",
                                      "stride_h and stride_w are exchanged",
                                      "stride_h is used for the columns too",
                                      "stride_w is used for the rows too",
                                      "stride_h is left out",
                                      "stride_w is left out"};
    static const char formula[] = "The window of output (p,q) starts at row p*stride_h - pad_top "
                                  "and column q*stride_w - pad_left of x.";
    for (int i = 0; i < 6; i++) {
        Variant *v = variant_add(list, FAULT_STRIDE, "The window moves by a wrong stride: %s. %s",
                                 how[i], formula);
        v->stride_h = stride[i][0];
        v->stride_w = stride[i][1];
    }
    for (int scaled = 0; scaled < 2; scaled++) {
        Variant *v = variant_add(list, FAULT_STRIDE,
                                 "The stride multiplies the taps as well%s, which spreads the "
                                 "filter over the input. %s Then "
                                 "r and s are added, unscaled.",
                                 scaled ? " and the padding" : "", formula);
        v->step_h = c->stride_h;
        v->step_w = c->stride_w;
        if (scaled) v->top *= c->stride_h, v->left *= c->stride_w;
    }
    Variant *v =
        variant_add(list, FAULT_STRIDE, "The stride multiplies the padding as well. %s", formula);
    v->top *= c->stride_h;
    v->left *= c->stride_w;
}

static void list_shift(VariantList *list, int down, int right)
{
    const ConvProblem *c = list->conv;
    if (!down && !right) return;
    const char *why = "";
    if (down == c->pad_top && right == c->pad_left)
        why = " That is as if the padding were not subtracted at all.";
    else if (down == c->pad_top - c->pad_bottom && right == c->pad_left - c->pad_right)
        why = " That is as if pad_bottom and pad_right were subtracted: an even filter is padded "
              "by different amounts before and after.";
    else if (down == c->pad_top - c->pad_left && right == c->pad_left - c->pad_top)
        why = " That is as if pad_top and pad_left were exchanged.";
    else if (down == c->pad_top - c->R / 2 && right == c->pad_left - c->S / 2)
        why = " That is as if R/2 and S/2 were subtracted instead of pad_top and pad_left.";
    Variant *v = variant_add(
        list, FAULT_HALO,
        "The window is shifted from the correct one by %+d row%s and %+d column%s of x "
        "(+ is down or right).%s Use h = p*stride_h + r - pad_top and w = q*stride_w + s "
        "- pad_left. Offset the halo of a tile by the same amounts.",
        down, abs(down) == 1 ? "" : "s", right, abs(right) == 1 ? "" : "s", why);
    v->top -= down;
    v->left -= right;
}

static void list_shifts(VariantList *list)
{
    const ConvProblem *c = list->conv;
    for (int reach = 1; reach <= 4; reach++) /* small distances first */
        for (int down = -reach; down <= reach; down++)
            for (int right = -reach; right <= reach; right++)
                if (abs(down) == reach || abs(right) == reach) list_shift(list, down, right);
    if (c->pad_top > 4 || c->pad_left > 4) list_shift(list, c->pad_top, c->pad_left);
    if (c->pad_top > 4) list_shift(list, c->pad_top, 0);
    if (c->pad_left > 4) list_shift(list, 0, c->pad_left);
}

typedef struct Limit {
    const char *wrong, *axis;
    int low_h, high_h, low_w, high_w;
} Limit;

static void list_limit(VariantList *list, Fault fault, const Limit *limit)
{
    Variant *v = variant_add(
        list, fault,
        "%s: %s. A tap counts only where %s; check the bounds test on h = p*stride_h + r - pad_top "
        "and w = q*stride_w + s - pad_left.",
        strstr(limit->wrong, "compared")
            ? "Taps count or not where the image has no edge"
            : "Outputs whose window touches the edge of the image are wrong",
        limit->wrong,
        *limit->axis == 'h'   ? "0 <= h < H"
        : *limit->axis == 'w' ? "0 <= w < W"
                              : "0 <= h < H and 0 <= w < W");
    v->low_h = limit->low_h;
    v->high_h = limit->high_h;
    v->low_w = limit->low_w;
    v->high_w = limit->high_w;
}

/* Wrong bounds tests.  The more specific mistakes come first, because the general ones may predict
 * the same outputs. */
static void list_bounds(VariantList *list)
{
    const int H = list->conv->H, W = list->conv->W, P = list->conv->P, Q = list->conv->Q;
    const int any = INT_MAX / 2, b = H - 1, r = W - 1;
    const Limit limit[] = {
        {"w >= 0 is not tested", "w", 0, b, -any, r},
        {"w < W is not tested", "w", 0, b, 0, any},
        {"h >= 0 is not tested", "h", -any, b, 0, r},
        {"h < H is not tested", "h", 0, any, 0, r},
        {"row 0 of x is treated as padding (h > 0)", "h", 1, b, 0, r},
        {"column 0 of x is treated as padding (w > 0)", "w", 0, b, 1, r},
        {"the last row of x is treated as padding (h < H-1)", "h", 0, b - 1, 0, r},
        {"the last column of x is treated as padding (w < W-1)", "w", 0, b, 0, r - 1},
        {"row H does not exist but is read (h <= H)", "h", 0, H, 0, r},
        {"column W does not exist but is read (w <= W)", "w", 0, b, 0, W},
        {"the columns are not tested, so the end of the row above or the start of the row below is "
         "read instead of zeros",
         "w", 0, b, -any, any},
        {"the rows are not tested, so other channels are read instead of zeros", "h", -any, any, 0,
         r},
        {"row 0 and column 0 of x are treated as padding (h > 0, w > 0)", "", 1, b, 1, r},
        {"the last row and column of x are treated as padding (h < H-1, w < W-1)", "", 0, b - 1, 0,
         r - 1},
        {"row H and column W do not exist but are read (h <= H, w <= W)", "", 0, H, 0, W},
        {"only h < H and w < W are tested, not h >= 0 and w >= 0", "", -any, b, -any, r},
        {"only h >= 0 and w >= 0 are tested, not h < H and w < W", "", 0, any, 0, any},
    };
    const Limit exchanged[] = {
        {"h is compared with W", "h", 0, r, 0, r},
        {"w is compared with H", "w", 0, b, 0, b},
        {"h is compared with W and w with H", "", 0, r, 0, b},
    };
    const Limit wide[] = {
        {"h is compared with P, the output's height", "h", 0, P - 1, 0, r},
        {"w is compared with Q, the output's width", "w", 0, b, 0, Q - 1},
        {"h is compared with P and w with Q, the output's sizes", "", 0, P - 1, 0, Q - 1},
        {"x is read where the window extends over the edge, so other rows of memory are read "
         "instead of zeros",
         "", -any, any, -any, any},
    };
    for (size_t i = 0; i < sizeof limit / sizeof *limit; i++)
        list_limit(list, FAULT_PADDING_EDGE, &limit[i]);
    for (size_t i = 0; i < sizeof exchanged / sizeof *exchanged; i++)
        list_limit(list, FAULT_AXES, &exchanged[i]);
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        list_limit(list, FAULT_PADDING_EDGE, &wide[i]);
}

static void list_edges(VariantList *list)
{
    static const char *const how[] = {[EDGE_CLAMP] = "the image's outermost pixels are repeated",
                                      [EDGE_WRAP] = "the image is continued from its opposite side",
                                      [EDGE_REFLECT] = "the image is mirrored"};
    for (Edge edge = EDGE_CLAMP; edge <= EDGE_REFLECT; edge++) {
        Variant *v = variant_add(
            list, FAULT_PADDING_EDGE,
            "Outputs whose window touches the padding are wrong: beyond the edge %s, where the "
            "padding is zero. Add nothing for a tap outside of 0 <= h < H, 0 <= w < W.",
            how[edge]);
        v->edge = edge;
    }
}

/* h and w, or H and W, exchanged. */
static void list_crossed(VariantList *list)
{
    const ConvProblem *c = list->conv;
    Variant *v =
        variant_add(list, FAULT_AXES,
                    "H and W are exchanged: rows of x are assumed to be H pixels long, h is "
                    "compared with W and w with H. Rows are W long: pixel (h,w) is number h*W + w "
                    "of its image's channel, where 0 <= h < H and 0 <= w < W.");
    v->x_h = c->H;
    v->high_h = c->W - 1;
    v->high_w = c->H - 1;
    v = variant_add(
        list, FAULT_AXES,
        "The window's row and column are exchanged: it starts at row q*stride_w - pad_left and "
        "column p*stride_h - pad_top of x, where p belongs to the rows and q to the columns.");
    v->crossed = 1;
}

static void list_inputs(VariantList *list)
{
    const ConvProblem *c = list->conv;
    Variant *v = variant_add(
        list, FAULT_ONE_CHANNEL,
        "Every channel's multiplications use input channel 0: c is not in the index of x, or the "
        "start of a slice of the channels is not.");
    v->x_c = 0;
    for (int off = -1; off <= 1; off += 2) {
        v = variant_add(
            list, FAULT_ONE_CHANNEL,
            "Input channel c%+d is read instead of channel c: check where the channel loop starts.",
            off);
        v->x_base = off * v->x_c;
    }
    v = variant_add(
        list, FAULT_ONE_IMAGE,
        "Every image's output is calculated from image n = 0: n is not in the index of x.");
    v->x_n = 0;
    const struct {
        Fault fault;
        long long pitch;
        const char *name;
    } pitch[] = {
        {FAULT_EVERYWHERE, c->Q, "Q"},
        {FAULT_AXES, c->H, "H"},
        {FAULT_EVERYWHERE, (long long)c->W + c->pad_left + c->pad_right, "the padded width"}};
    for (int i = 0; i < 3; i++) {
        v = variant_add(list, pitch[i].fault,
                        "The rows of x are assumed to be %s pixels long; they are W long: pixel "
                        "(h,w) is number h*W + w of its image's channel.",
                        pitch[i].name);
        v->x_h = pitch[i].pitch;
        v = variant_add(
            list, pitch[i].fault,
            "The rows of x are assumed to be %s pixels long, and the channels H of those rows. "
            "Rows are W long: pixel (h,w) is number h*W + w of its image's channel, which has H*W.",
            pitch[i].name);
        v->x_h = pitch[i].pitch;
        v->x_c = v->x_h * c->H;
        v->x_n = v->x_c * c->C;
    }
    list_crossed(list);
    const long long swapped[] = {c->H, c->W};
    for (int i = 0; i < 2; i++) {
        v = variant_add(
            list, FAULT_AXES,
            "Rows and columns of x are exchanged: h counts rows, which are W pixels long, and w "
            "the pixels in a row.{ Possibly threadIdx.x is used for the rows.|}");
        v->x_h = 1;
        v->x_w = swapped[i];
    }
    if (list->rearranged) return;
    v = variant_add(list, FAULT_EVERYWHERE,
                    "x is read as if it were laid out NHWC; this lab's tensors are NCHW: "
                    "x[((n*C + c)*H + h)*W + w].");
    v->x_c = 1;
    v->x_w = c->C;
    v->x_h = (long long)c->W * c->C;
}

static void list_outputs(VariantList *list)
{
    static const char *const order[][2] = {{"nkqp", "transposed, at q*P + p within its map"},
                                           {"npqk", "in NHWC order"},
                                           {"knpq", "with the maps outermost"},
                                           {"pqnk", "with p and q outermost"}};
    for (int i = 0; i < 4 && !list->rearranged; i++) {
        Variant *v = variant_add(list, FAULT_EVERYWHERE,
                                 "The values are correct but stored in the wrong places: y is "
                                 "written %s; it is y[((n*K + k)*P + p)*Q + q].",
                                 order[i][1]);
        strcpy(v->order, order[i][0]);
    }
    Variant *v = variant_add(
        list, FAULT_ACCUMULATED,
        "Every output is twice the expected value. Possibly the sum is calculated twice, or added "
        "to a y that contains it already. y is uninitialised; store with =, once.");
    v->scale = 2;
    v = variant_add(list, FAULT_EVERYWHERE,
                    "Every output is 0. The store is executed, but not with the sum. Check that "
                    "the loop runs, that both factors are loaded to the place where it reads them, "
                    "that its result is stored, and that every term is added (+=). With = only "
                    "the last term remains, often a zero that fills a tile.");
    v->scale = 0;
}

static void list_precisions(VariantList *list)
{
    static const struct {
        Rounding rounding;
        const char *name;
    } kind[] = {{ROUND_TF32, "tf32 or half"},
                {ROUND_TF32_CUT, "tf32 (cut, not rounded)"},
                {ROUND_BF16, "bfloat16"}};
    for (int i = 0; i < 3; i++) {
        Variant *v =
            variant_add(list, FAULT_PRECISION,
                        "The outputs are those of inputs rounded to %s. This lab requires more: "
                        "keep x, w and the sum in the precision that the handout names.",
                        kind[i].name);
        v->rounding = kind[i].rounding;
    }
}

void variant_list(VariantList *list)
{
    list_outputs(list);
    list_filters(list);
    list_bounds(list);
    list_edges(list);
    list_strides(list);
    list_shifts(list);
    list_inputs(list);
    list_precisions(list);
}
