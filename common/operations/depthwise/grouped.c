#include "common/operations/depthwise/grouped.h"

#include <math.h>

#include "common/operations/operation/shape_text.h"

GroupedWindow grouped_window(const GroupedProblem *p)
{
    return (GroupedWindow){.p = *p,
                           .rows = p->R,
                           .columns = p->S,
                           .channels = p->C / p->groups,
                           .high_h = p->H - 1,
                           .high_w = p->W - 1};
}

/* First channel of x for filter k. */
static int channel_of(const GroupedWindow *v, int k)
{
    const GroupedProblem *p = &v->p;
    const int per_group = p->C / p->groups;
    switch (v->group) {
    case GROUP_ZERO:
        return v->channel_shift;
    case GROUP_MODULO:
        return k % p->groups * per_group + v->channel_shift;
    case GROUP_FILTER:
        return k + v->channel_shift;
    default:
        return k / (p->K / p->groups) * per_group + v->channel_shift;
    }
}

/* Index of filter k's first weight. */
static long long weights_of(const GroupedWindow *v, int k)
{
    const GroupedProblem *p = &v->p;
    const int filters = p->K / p->groups, taps = p->R * p->S;
    const long long weights = (long long)(p->C / p->groups) * taps;
    switch (v->filter) {
    case FILTER_ZERO:
        return 0;
    case FILTER_IN_GROUP:
        return k % filters * weights;
    case FILTER_GROUP:
        return k / filters * weights;
    case FILTER_NEXT:
        return (k + 1) * weights;
    case FILTER_IN_CHUNK:
        return k % 16 * weights;
    case FILTER_ALL_CHANNELS:
        return (long long)k * p->C * taps;
    default:
        return k * weights;
    }
}

/* First input of the window of output `at`; within a tile, the windows move by 1. */
static long long window_start(int at, int stride, int tile)
{
    int within = tile ? at % tile : 0;
    return (long long)(at - within) * stride + within;
}

static long long clamp(long long at, int size)
{
    return at < 0 ? 0 : at < size ? at : size - 1;
}

void grouped_value(const GroupedWindow *v, const float *x, const float *w, int n, int k, int op,
                   int oq, double value[3])
{
    const GroupedProblem *p = &v->p;
    const long long x_count = (long long)p->N * p->C * p->H * p->W;
    const long long w_count = (long long)p->K * (p->C / p->groups) * p->R * p->S;
    const long long filter = weights_of(v, k), image = v->first_image ? 0 : n;
    value[0] = value[1] = value[2] = 0;
    for (int c = v->first_channel; c < v->channels; c++)
        for (int r = v->first_row; r < v->rows; r++)
            for (int s = v->first_column; s < v->columns; s++) {
                long long h =
                    window_start(op, p->stride_h, v->tile_h) + (long long)r * p->dilation_h;
                long long i =
                    window_start(oq, p->stride_w, v->tile_w) + (long long)s * p->dilation_w;
                h -= p->pad_top;
                i -= p->pad_left;
                if (v->edge == EDGE_REPEAT) h = clamp(h, p->H), i = clamp(i, p->W);
                if (v->edge != EDGE_ROW_UNTESTED && (h < v->low_h || h > v->high_h)) continue;
                if (v->edge != EDGE_COLUMN_UNTESTED && (i < v->low_w || i > v->high_w)) continue;
                int tap_r = v->flip_r ? p->R - 1 - r : r, tap_s = v->flip_s ? p->S - 1 - s : s;
                long long tap = v->transpose ? tap_s * p->R + tap_r : tap_r * p->S + tap_s;
                long long x_at = ((image * p->C + channel_of(v, k) + c) * p->H + h) * p->W + i;
                long long w_at = filter + (long long)c * p->R * p->S + tap;
                int is_outside = x_at < 0 || x_at >= x_count || w_at < 0 || w_at >= w_count;
                double product = is_outside ? NAN : (double)x[x_at] * w[w_at];
                value[0] += product;
                value[1] += fabs(product);
                value[2]++;
            }
}

GroupedProblem separable_depthwise(const SeparableProblem *p)
{
    return (GroupedProblem){.N = p->N,
                            .C = p->C,
                            .H = p->H,
                            .W = p->W,
                            .K = p->C,
                            .R = p->R,
                            .S = p->S,
                            .groups = p->C,
                            .P = p->P,
                            .Q = p->Q,
                            .pad_top = p->pad_top,
                            .pad_left = p->pad_left,
                            .pad_bottom = p->pad_bottom,
                            .pad_right = p->pad_right,
                            .stride_h = p->stride_h,
                            .stride_w = p->stride_w,
                            .dilation_h = 1,
                            .dilation_w = 1};
}

/* ---- derived numbers ------------------------------------------------------------------------ */

/* Distance from the first to the last tap, plus one. */
static int extent(int taps, int dilation)
{
    return (taps - 1) * dilation + 1;
}

void grouped_pad_same(GroupedProblem *p)
{
    shape_pad_same(p->H, extent(p->R, p->dilation_h), p->stride_h, &p->pad_top, &p->pad_bottom);
    shape_pad_same(p->W, extent(p->S, p->dilation_w), p->stride_w, &p->pad_left, &p->pad_right);
}

int grouped_derive(GroupedProblem *p, Error *error)
{
    if (p->C % p->groups || p->K % p->groups)
        return error_set(error, "groups=%d must divide C=%d and K=%d", p->groups, p->C, p->K);
    if ((double)p->R * p->dilation_h > 1 << 30 || (double)p->S * p->dilation_w > 1 << 30)
        return error_set(error, "dilation=%d,%d is too large for a filter of %d x %d",
                         p->dilation_h, p->dilation_w, p->R, p->S);
    if (p->pad_top == SHAPE_PAD_SAME) grouped_pad_same(p);
    if (shape_windows("H", p->H, extent(p->R, p->dilation_h), p->pad_top, p->pad_bottom,
                      p->stride_h, &p->P, error) ||
        shape_windows("W", p->W, extent(p->S, p->dilation_w), p->pad_left, p->pad_right,
                      p->stride_w, &p->Q, error))
        return -1;
    if (shape_check_count("x", (double)p->N * p->C * p->H * p->W, error) ||
        shape_check_count("w", (double)p->K * (p->C / p->groups) * p->R * p->S, error))
        return -1;
    return shape_check_count("y", (double)p->N * p->K * p->P * p->Q, error);
}

/* ---- mistakes -------------------------------------------------------------------------------- */

/* The numbers of GROUPED_MISTAKE_LIST, in its order. */
enum {
    ALL_ZERO,
    FIRST_GROUP,
    MODULO_GROUP,
    CHANNEL_K,
    NEXT_CHANNEL,
    PREVIOUS_CHANNEL,
    LAST_CHANNEL,
    FIRST_CHANNEL,
    FIRST_FILTER,
    FILTER_WITHIN,
    FILTER_OF_GROUP,
    NEXT_FILTER,
    ALL_CHANNELS,
    FLIPPED,
    FLIPPED_ROWS,
    FLIPPED_COLUMNS,
    TRANSPOSED,
    STRIDE_ONE,
    STRIDES_EXCHANGED,
    STRIDE_W_ONE,
    STRIDE_H_ONE,
    STRIDE_W_BOTH,
    STRIDE_H_BOTH,
    TILE_STRIDE_W,
    TILE_STRIDE_H,
    TILE_TAPS_W,
    TILE_TAPS_H,
    DILATION_ONE,
    DILATIONS_EXCHANGED,
    LAST_ROW,
    LAST_COLUMN,
    FIRST_ROW,
    FIRST_COLUMN,
    PADDING_IGNORED,
    PADDINGS_EXCHANGED,
    LEFT_BOTH,
    TOP_BOTH,
    PADDING_OF_END,
    ROW_DOWN,
    ROW_UP,
    COLUMN_RIGHT,
    COLUMN_LEFT,
    REPEATED_EDGE,
    COLUMN_UNTESTED,
    ROW_UNTESTED,
    LAST_INPUT_COLUMN,
    LAST_INPUT_ROW,
    FIRST_INPUT_COLUMN,
    FIRST_INPUT_ROW,
    FIRST_IMAGE,
    MISTAKES
};
_Static_assert((int)MISTAKES == (int)GROUPED_MISTAKES, "the list and its numbers must agree");

static int mistake_groups(int which, GroupedWindow *v)
{
    switch (which) {
    case FIRST_GROUP:
        return v->group = GROUP_ZERO;
    case MODULO_GROUP:
        return v->group = GROUP_MODULO;
    case CHANNEL_K:
        return v->group = GROUP_FILTER;
    case NEXT_CHANNEL:
        return v->channel_shift = 1;
    case PREVIOUS_CHANNEL:
        return v->channel_shift = -1;
    case LAST_CHANNEL:
        return --v->channels > 0;
    case FIRST_CHANNEL:
        return ++v->first_channel < v->channels;
    case FIRST_FILTER:
        return v->filter = FILTER_ZERO;
    case FILTER_WITHIN:
        return v->filter = FILTER_IN_GROUP;
    case FILTER_OF_GROUP:
        return v->filter = FILTER_GROUP;
    case NEXT_FILTER:
        return v->filter = FILTER_NEXT;
    default:
        return v->filter = FILTER_ALL_CHANNELS;
    }
}

enum { TILE = 4 };

static int mistake_steps(int which, GroupedWindow *v)
{
    GroupedProblem *p = &v->p;
    switch (which) {
    case STRIDE_ONE:
        p->stride_h = p->stride_w = 1;
        return 1;
    case STRIDES_EXCHANGED:
        mistake_exchange(&p->stride_h, &p->stride_w);
        return 1;
    case STRIDE_W_ONE:
        return p->stride_w = 1;
    case STRIDE_H_ONE:
        return p->stride_h = 1;
    case STRIDE_W_BOTH:
        return p->stride_h = p->stride_w;
    case STRIDE_H_BOTH:
        return p->stride_w = p->stride_h;
    case TILE_STRIDE_W:
        return v->tile_w = TILE;
    case TILE_STRIDE_H:
        return v->tile_h = TILE;
    case TILE_TAPS_W:
        v->tile_w = TILE;
        p->dilation_w = p->stride_w;
        return p->stride_w > 1;
    case TILE_TAPS_H:
        v->tile_h = TILE;
        p->dilation_h = p->stride_h;
        return p->stride_h > 1;
    case DILATION_ONE:
        return p->dilation_h = p->dilation_w = 1;
    case DILATIONS_EXCHANGED:
        mistake_exchange(&p->dilation_h, &p->dilation_w);
        return 1;
    case LAST_ROW:
        return --v->rows > 0;
    case LAST_COLUMN:
        return --v->columns > 0;
    case FIRST_ROW:
        return ++v->first_row < v->rows;
    default:
        return ++v->first_column < v->columns;
    }
}

static int mistake_edges(int which, GroupedWindow *v)
{
    GroupedProblem *p = &v->p;
    switch (which) {
    case PADDING_IGNORED:
        p->pad_top = p->pad_left = 0;
        return 1;
    case PADDINGS_EXCHANGED:
        mistake_exchange(&p->pad_top, &p->pad_left);
        return 1;
    case LEFT_BOTH:
        p->pad_top = p->pad_left;
        return 1;
    case TOP_BOTH:
        p->pad_left = p->pad_top;
        return 1;
    case PADDING_OF_END:
        p->pad_top = p->pad_bottom;
        p->pad_left = p->pad_right;
        return 1;
    case ROW_DOWN:
        p->pad_top--;
        return 1;
    case ROW_UP:
        p->pad_top++;
        return 1;
    case COLUMN_RIGHT:
        p->pad_left--;
        return 1;
    case COLUMN_LEFT:
        p->pad_left++;
        return 1;
    case REPEATED_EDGE:
        return v->edge = EDGE_REPEAT;
    case COLUMN_UNTESTED:
        return v->edge = EDGE_COLUMN_UNTESTED;
    case ROW_UNTESTED:
        return v->edge = EDGE_ROW_UNTESTED;
    case LAST_INPUT_COLUMN:
        v->high_w--;
        return 1;
    case LAST_INPUT_ROW:
        v->high_h--;
        return 1;
    case FIRST_INPUT_COLUMN:
        return ++v->low_w;
    case FIRST_INPUT_ROW:
        return ++v->low_h;
    default:
        return v->first_image = 1;
    }
}

int grouped_mistake(int which, GroupedWindow *v)
{
    if (which == ALL_ZERO) {
        v->rows = 0;
        return 1;
    }
    if (which <= ALL_CHANNELS) return mistake_groups(which, v);
    if (which == FLIPPED) return v->flip_r = v->flip_s = 1;
    if (which == FLIPPED_ROWS) return v->flip_r = 1;
    if (which == FLIPPED_COLUMNS) return v->flip_s = 1;
    if (which == TRANSPOSED) return v->transpose = 1;
    return which < PADDING_IGNORED ? mistake_steps(which, v) : mistake_edges(which, v);
}

int grouped_mistake_fits(const Judgement *judged, MistakenElement *element, const void *context)
{
    enum { SAMPLES = 64 };
    const double same = 1e-4;
    const size_t every = judged->verdict.wrong / SAMPLES + 1;
    size_t wrong = 0;
    for (size_t i = judged->verdict.first; i < judged->verdict.total; i++) {
        double value[3], got = judged->view.output[i];
        if (judged->mark[i] == MARK_RIGHT || wrong++ % every) continue;
        element(context, judged->view.tensor, i, value);
        if (!isfinite(got) && !isfinite(value[0])) continue;
        if (!(fabs(got - value[0]) <= same * fmax(fabs(value[0]), judged->rms))) return 0;
    }
    return 1;
}
