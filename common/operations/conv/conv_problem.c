#include "common/operations/conv/conv_problem.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

_Static_assert(sizeof(ConvProblem) + sizeof(unsigned) <= PROBLEM_BYTES,
               "a ConvProblem and its reversed axes must fit in a Problem");

void conv_pack(const ConvProblem *conv, Problem *problem)
{
    memset(problem, 0, sizeof *problem);
    problem->bytes = sizeof *conv;
    memcpy(problem->data, conv, sizeof *conv);
}

ConvProblem conv_unpack(const Problem *problem)
{
    ConvProblem conv;
    memcpy(&conv, problem->data, sizeof conv);
    return conv;
}

/* The reversed axes, after the ConvProblem; a problem that has none is without them. */
unsigned conv_reversed(const Problem *problem)
{
    unsigned axes = 0;
    if (problem->bytes >= sizeof(ConvProblem) + sizeof axes)
        memcpy(&axes, problem->data + sizeof(ConvProblem), sizeof axes);
    return axes;
}

void conv_reverse(Problem *problem, unsigned axes)
{
    memcpy(problem->data + sizeof(ConvProblem), &axes, sizeof axes);
    problem->bytes = sizeof(ConvProblem) + (axes ? sizeof axes : 0);
}

double conv_macs(const ConvProblem *conv)
{
    return (double)conv->N * conv->K * conv->P * conv->Q * conv->C * conv->R * conv->S;
}

int conv_numbers(const Problem *problem, ProblemNumber number[OPERATION_NUMBERS])
{
    ConvProblem v = conv_unpack(problem);
    const ProblemNumber all[] = {
        {"N", v.N},
        {"C", v.C},
        {"H", v.H},
        {"W", v.W},
        {"K", v.K},
        {"R", v.R},
        {"S", v.S},
        {"P", v.P},
        {"Q", v.Q},
        {"pad_top", v.pad_top},
        {"pad_left", v.pad_left},
        {"pad_bottom", v.pad_bottom},
        {"pad_right", v.pad_right},
        {"stride_h", v.stride_h},
        {"stride_w", v.stride_w},
        {"zeros", v.zeros},
        {"pool", v.pool},
        {"w_zeros", v.w_zeros},
        {"macs", conv_macs(&v)},
    };
    _Static_assert(sizeof all / sizeof *all <= OPERATION_NUMBERS, "OPERATION_NUMBERS is too small");
    memcpy(number, all, sizeof all);
    return sizeof all / sizeof *all;
}

/* ---- validity ---------------------------------------------------------------------------- */

/* One axis of the output: (size + before + after - filter) / stride + 1, in 64 bits because any int
 * may be given. */
static int derive_axis(const char *input, const char *filter, const char *output, int size,
                       int taps, int before, int after, int stride, int *result, Error *error)
{
    long long padded = (long long)size + before + after;
    if (padded > INT_MAX)
        return error_set(error, "%s with its padding is %lld: at most %d is supported", input,
                         padded, INT_MAX);
    if (padded < taps)
        return error_set(error,
                         "%s=%d does not fit: the padded input has %s=%lld, so %s would be %lld; "
                         "use a smaller filter, a larger input or more padding",
                         filter, taps, input, padded, output,
                         /* rounded down, as in the formula */
                         -((taps - padded + stride - 1) / stride) + 1);
    *result = (int)((padded - taps) / stride) + 1;
    return 0;
}

static int check_count(const char *tensor, const char *axes, const int extent[4], Error *error)
{
    double count = (double)extent[0] * extent[1] * extent[2] * extent[3];
    if (count <= INT_MAX) return 0;
    return error_set(error, "tensor %s (%s) would have %.0f elements: at most 2^31-1 are supported",
                     tensor, axes, count);
}

int conv_derive(ConvProblem *conv, Error *error)
{
    const struct {
        const char *name;
        int value, least;
    } field[] = {
        {"N", conv->N, 1},
        {"C", conv->C, 1},
        {"H", conv->H, 1},
        {"W", conv->W, 1},
        {"K", conv->K, 1},
        {"R", conv->R, 1},
        {"S", conv->S, 1},
        {"stride (height)", conv->stride_h, 1},
        {"stride (width)", conv->stride_w, 1},
        {"pad (top)", conv->pad_top, 0},
        {"pad (left)", conv->pad_left, 0},
        {"pad (bottom)", conv->pad_bottom, 0},
        {"pad (right)", conv->pad_right, 0},
        {"layout", conv->layout, CONV_NCHW},
    };
    for (size_t i = 0; i < sizeof field / sizeof *field; i++)
        if (field[i].value < field[i].least)
            return error_set(error, "%s is %d: it must be at least %d", field[i].name,
                             field[i].value, field[i].least);
    if (derive_axis("H", "R", "P", conv->H, conv->R, conv->pad_top, conv->pad_bottom,
                    conv->stride_h, &conv->P, error))
        return -1;
    if (derive_axis("W", "S", "Q", conv->W, conv->S, conv->pad_left, conv->pad_right,
                    conv->stride_w, &conv->Q, error))
        return -1;
    if (check_count("x", "N*C*H*W", (int[4]){conv->N, conv->C, conv->H, conv->W}, error)) return -1;
    if (check_count("w", "K*C*R*S", (int[4]){conv->K, conv->C, conv->R, conv->S}, error)) return -1;
    if (conv->zeros > 100 || conv->w_zeros > 100)
        return error_set(error, "zeros=%d,%d: at most 100 percent of x, and of w", conv->zeros,
                         conv->w_zeros);
    if (conv->pool && conv->layout != CONV_NCHW)
        return error_set(error, "pool=%d goes with layout=nchw only", conv->pool);
    if (conv->pool > conv->P || conv->pool > conv->Q)
        return error_set(error, "pool=%d does not fit: the convolution has P=%d and Q=%d",
                         conv->pool, conv->P, conv->Q);
    return check_count("y", "N*K*P*Q", (int[4]){conv->N, conv->K, conv->P, conv->Q}, error);
}

static void same_axis(int size, int taps, int stride, int *before, int *after)
{
    long long outputs = ((long long)size + stride - 1) / stride;
    long long total = (outputs - 1) * stride + taps - size;
    if (total < 0) total = 0;
    *before = (int)(total / 2);
    *after = (int)(total - total / 2);
}

void conv_pad_same(ConvProblem *conv)
{
    same_axis(conv->H, conv->R, conv->stride_h, &conv->pad_top, &conv->pad_bottom);
    same_axis(conv->W, conv->S, conv->stride_w, &conv->pad_left, &conv->pad_right);
}

/* ---- text -> problem --------------------------------------------------------------------- */

enum {
    KEY_N,
    KEY_C,
    KEY_H,
    KEY_W,
    KEY_K,
    KEY_R,
    KEY_S,
    KEY_PAD,
    KEY_STRIDE,
    KEY_LAYOUT, /* the following keys are optional */
    KEY_ZEROS,
    KEY_POOL,
    KEY_REVERSED,
    KEYS
};
static const char *const key_name[KEYS] = {
    "N", "C", "H", "W", "K", "R", "S", "pad", "stride", "layout", "zeros", "pool", "reversed"};
static const char *const axis_name[REVERSED_AXES] = {"x.n", "x.c", "x.h", "x.w", "w.k", "w.c",
                                                     "w.r", "w.s", "y.n", "y.k", "y.p", "y.q"};
static const char *const layout_word[] = {"nchw", "nhwc", "chwn"};

/* A decimal number of at most INT_MAX; advances *text.  Signs, spaces and other bases are
 * rejected. */
static int parse_number(const char *key, const char **text, int *number, Error *error)
{
    const char *at = *text;
    long long value = 0;
    if (!isdigit((unsigned char)*at))
        return error_set(error, "%s: a whole number is expected instead of \"%.20s\"%s", key, at,
                         *at == '-' ? "; it cannot be negative" : "");
    for (; isdigit((unsigned char)*at); at++) {
        value = value * 10 + (*at - '0');
        if (value > INT_MAX)
            return error_set(error, "%s: %.20s is too large: at most %d", key, *text, INT_MAX);
    }
    *number = (int)value;
    *text = at;
    return 0;
}

/* Parses "7" or "1,2", at most `most` numbers; returns their number, or -1. */
static int parse_list(const char *key, const char *value, int most, int *number, Error *error)
{
    int count = 0;
    for (const char *at = value;; at++) {
        if (count == most)
            return error_set(error, "%s=%.40s: more than %d number%s", key, value, most,
                             most > 1 ? "s" : "");
        if (parse_number(key, &at, &number[count++], error)) return -1;
        if (*at == '\0') return count;
        if (*at != ',')
            return error_set(error, "%s=%.40s: \"%.20s\" is not part of a number", key, value, at);
    }
}

static int parse_pad(const char *value, ConvProblem *conv, int *same, Error *error)
{
    int number[4] = {0};
    *same = strcmp(value, "same") == 0;
    if (*same) return 0;
    int count = strcmp(value, "valid") == 0 ? 1 : parse_list("pad", value, 4, number, error);
    if (count < 0) return -1;
    if (count != 1 && count != 4)
        return error_set(error, "pad=%.40s: give same, valid, one number, or top,left,bottom,right",
                         value);
    conv->pad_top = number[0];
    conv->pad_left = number[count == 1 ? 0 : 1];
    conv->pad_bottom = number[count == 1 ? 0 : 2];
    conv->pad_right = number[count == 1 ? 0 : 3];
    return 0;
}

static int parse_stride(const char *value, ConvProblem *conv, Error *error)
{
    int number[2];
    int count = parse_list("stride", value, 2, number, error);
    if (count < 0) return -1;
    conv->stride_h = number[0];
    conv->stride_w = number[count - 1];
    return 0;
}

/* Percentage of zeros in x, then in w; the second may be omitted. */
static int parse_zeros(const char *value, ConvProblem *conv, Error *error)
{
    int number[2] = {0};
    if (parse_list("zeros", value, 2, number, error) < 0) return -1;
    conv->zeros = number[0];
    conv->w_zeros = number[1];
    return 0;
}

int conv_layout_parse(const char *value, int *layout, Error *error)
{
    for (int i = CONV_NCHW; i <= CONV_CHWN; i++) {
        if (strcmp(value, layout_word[i])) continue;
        *layout = i;
        return 0;
    }
    return error_set(error, "layout=%.40s: give nchw, nhwc or chwn", value);
}

const char *conv_axis_name(int axis)
{
    return axis_name[axis];
}

/* "x.h,w.r" */
static int parse_reversed(const char *value, unsigned *axes, Error *error)
{
    for (const char *at = value;; at++) {
        size_t length = strcspn(at, ",");
        int axis = 0;
        while (axis < REVERSED_AXES &&
               (strlen(axis_name[axis]) != length || strncmp(at, axis_name[axis], length) != 0))
            axis++;
        if (axis == REVERSED_AXES)
            return error_set(error, "reversed=%.60s: \"%.*s\" is no axis, such as x.h, w.r or y.p",
                             value, (int)length, at);
        *axes |= 1u << axis;
        at += length;
        if (!*at) return 0;
    }
}

static int parse_pair(char *pair, ConvProblem *conv, unsigned *reversed, unsigned *seen, int *same,
                      Error *error)
{
    char *value = strchr(pair, '=');
    if (!value) return error_set(error, "\"%.40s\" is not of the form key=value", pair);
    *value++ = '\0';
    if (!strcmp(pair, "groups") || !strcmp(pair, "dilation"))
        return error_set(error,
                         "%s=%.20s: every filter of this operation reads all channels, and its "
                         "taps are adjacent; grouped_forward (lab 21) has groups and dilation",
                         pair, value);
    int key = 0;
    while (key < KEYS && strcmp(pair, key_name[key]) != 0)
        key++;
    if (key == KEYS)
        return error_set(error,
                         "unknown key \"%.40s\": the keys are N C H W K R S pad stride layout "
                         "zeros pool reversed",
                         pair);
    if (*seen & 1u << key) return error_set(error, "%s is given twice", key_name[key]);
    *seen |= 1u << key;
    if (key == KEY_PAD) return parse_pad(value, conv, same, error);
    if (key == KEY_STRIDE) return parse_stride(value, conv, error);
    if (key == KEY_LAYOUT) return conv_layout_parse(value, &conv->layout, error);
    if (key == KEY_ZEROS) return parse_zeros(value, conv, error);
    if (key == KEY_REVERSED) return parse_reversed(value, reversed, error);
    int *field[KEYS] = {&conv->N, &conv->C, &conv->H, &conv->W, &conv->K, &conv->R, &conv->S};
    field[KEY_POOL] = &conv->pool;
    return parse_list(key_name[key], value, 1, field[key], error) < 0 ? -1 : 0;
}

static int check_keys(unsigned seen, Error *error)
{
    char missing[64] = "";
    for (int key = 0; key < KEY_LAYOUT; key++)
        if (!(seen & 1u << key))
            snprintf(missing + strlen(missing), sizeof missing - strlen(missing), " %s",
                     key_name[key]);
    if (!*missing) return 0;
    return error_set(error,
                     "missing:%s (a shape reads N=4 C=1 H=32 W=32 K=6 R=5 S=5 pad=same "
                     "stride=1)",
                     missing);
}

int conv_parse(const char *text, Problem *problem, Error *error)
{
    char copy[512];
    if (strlen(text) >= sizeof copy)
        return error_set(error, "the shape is longer than %zu characters", sizeof copy - 1);
    strcpy(copy, text);

    ConvProblem conv = {0};
    unsigned seen = 0, reversed = 0;
    int same = 0;
    char *rest = NULL;
    for (char *pair = strtok_r(copy, " \t\r\n", &rest); pair;
         pair = strtok_r(NULL, " \t\r\n", &rest))
        if (parse_pair(pair, &conv, &reversed, &seen, &same, error)) return -1;
    if (check_keys(seen, error)) return -1;
    /* "same" needs valid sizes and strides, so it is computed last; conv_derive reports invalid
     * ones. */
    if (same && conv.stride_h > 0 && conv.stride_w > 0 && conv.H > 0 && conv.W > 0)
        conv_pad_same(&conv);
    if (conv_derive(&conv, error)) return -1;
    if (reversed && conv.pool)
        return error_set(error, "reversed axes are possible without pool=%d only", conv.pool);
    conv_pack(&conv, problem);
    conv_reverse(problem, reversed);
    return 0;
}

/* ---- problem -> text --------------------------------------------------------------------- */

void conv_print(const Problem *problem, char *text, size_t bytes)
{
    ConvProblem conv = conv_unpack(problem), same = conv;
    conv_pad_same(&same);
    int top = conv.pad_top, left = conv.pad_left, bottom = conv.pad_bottom, right = conv.pad_right;
    char pad[64], stride[32], zeros[40] = "", pool[24] = "";
    if (conv.w_zeros)
        snprintf(zeros, sizeof zeros, " zeros=%d,%d", conv.zeros, conv.w_zeros);
    else if (conv.zeros)
        snprintf(zeros, sizeof zeros, " zeros=%d", conv.zeros);
    if (conv.pool) snprintf(pool, sizeof pool, " pool=%d", conv.pool);
    if (!top && !left && !bottom && !right)
        snprintf(pad, sizeof pad, "valid");
    else if (top == left && top == bottom && top == right)
        snprintf(pad, sizeof pad, "%d", top);
    else if (memcmp(&same, &conv, sizeof conv) == 0)
        snprintf(pad, sizeof pad, "same");
    else
        snprintf(pad, sizeof pad, "%d,%d,%d,%d", top, left, bottom, right);
    if (conv.stride_h == conv.stride_w)
        snprintf(stride, sizeof stride, "%d", conv.stride_h);
    else
        snprintf(stride, sizeof stride, "%d,%d", conv.stride_h, conv.stride_w);
    snprintf(text, bytes, "N=%d C=%d H=%d W=%d K=%d R=%d S=%d pad=%s stride=%s%s%s%s%s", conv.N,
             conv.C, conv.H, conv.W, conv.K, conv.R, conv.S, pad, stride,
             conv.layout ? " layout=" : "", conv.layout ? layout_word[conv.layout] : "", zeros,
             pool);
    unsigned reversed = conv_reversed(problem);
    for (int axis = 0, listed = 0; axis < REVERSED_AXES; axis++)
        if (reversed >> axis & 1) {
            size_t used = strlen(text);
            snprintf(text + used, bytes - used, "%s%s",
                     listed++ ? "," : " reversed=", axis_name[axis]);
        }
}
