/* conv_draw.c - hidden problems of several kinds, each of which breaks one common assumption. */
#include "common/operations/conv/conv_problem.h"

static int pick(Random *random, const int *choice, int count)
{
    return choice[random_range(random, 0, count - 1)];
}
#define PICK(random, ...)                                                                          \
    pick(random, (const int[]){__VA_ARGS__}, sizeof((const int[]){__VA_ARGS__}) / sizeof(int))

static void draw_odd(Random *random, ConvProblem *conv)
{
    conv->C = PICK(random, 3, 5, 7, 9);
    conv->K = PICK(random, 5, 7, 9, 15);
    conv->H = 2 * random_range(random, 6, 14) + 1;
    conv->W = 2 * random_range(random, 6, 14) + 1;
    conv->R = conv->S = PICK(random, 3, 5);
    conv_pad_same(conv);
}

static void draw_prime(Random *random, ConvProblem *conv)
{
    conv->C = PICK(random, 2, 3, 5, 7);
    conv->K = PICK(random, 7, 11, 13);
    conv->H = PICK(random, 17, 19, 23, 29, 37);
    conv->W = PICK(random, 13, 17, 23, 31, 41);
    conv->R = PICK(random, 3, 5, 7);
    conv->S = PICK(random, 3, 5);
}

static void draw_oblong(Random *random, ConvProblem *conv)
{
    int wide = random_range(random, 0, 1);
    int shorter = random_range(random, 9, 15), longer = random_range(random, 34, 50);
    conv->C = random_range(random, 2, 6);
    conv->K = random_range(random, 3, 10);
    conv->H = wide ? shorter : longer;
    conv->W = wide ? longer : shorter;
    conv->R = PICK(random, 1, 3);
    conv->S = PICK(random, 5, 7);
    if (random_range(random, 0, 1)) conv_pad_same(conv);
}

static void draw_even_filter(Random *random, ConvProblem *conv)
{
    conv->C = random_range(random, 2, 6);
    conv->K = random_range(random, 3, 10);
    conv->H = random_range(random, 14, 27);
    conv->W = random_range(random, 14, 27);
    conv->R = PICK(random, 2, 4, 8);
    conv->S = PICK(random, 2, 4, 8);
    conv_pad_same(conv);
}

/* Outputs one more or one less than a multiple of common tile sizes. */
static void draw_straddling(Random *random, ConvProblem *conv)
{
    conv->C = random_range(random, 2, 5);
    conv->K = PICK(random, 3, 9, 17);
    conv->R = conv->S = PICK(random, 3, 5);
    conv->H = PICK(random, 17, 31, 33);
    conv->W = PICK(random, 17, 31, 33);
    if (random_range(random, 0, 1)) {
        conv_pad_same(conv);
    } else {
        conv->H += conv->R - 1;
        conv->W += conv->S - 1;
    }
}

static void draw_strided(Random *random, int down, int right, ConvProblem *conv)
{
    conv->C = random_range(random, 2, 6);
    conv->K = random_range(random, 3, 10);
    conv->H = random_range(random, 19, 40);
    conv->W = random_range(random, 19, 40);
    conv->R = PICK(random, 2, 3, 5);
    conv->S = PICK(random, 3, 4, 5);
    conv->stride_h = down;
    conv->stride_w = right;
    if (random_range(random, 0, 1)) conv_pad_same(conv);
}

static void draw_steep(Random *random, ConvProblem *conv)
{
    int right = random_range(random, 1, 2);
    draw_strided(random, right + 1, right, conv);
}

static void draw_flat(Random *random, ConvProblem *conv)
{
    int down = random_range(random, 1, 2);
    draw_strided(random, down, down + 1, conv);
}

static void draw_lopsided(Random *random, ConvProblem *conv)
{
    conv->C = random_range(random, 1, 5);
    conv->K = random_range(random, 2, 8);
    conv->H = random_range(random, 11, 26);
    conv->W = random_range(random, 11, 26);
    conv->R = PICK(random, 3, 4, 5);
    conv->S = PICK(random, 3, 4, 5);
    conv->pad_top = random_range(random, 0, 2);
    conv->pad_bottom = (conv->pad_top + random_range(random, 1, 2)) % 3;
    conv->pad_left = random_range(random, 0, 2);
    conv->pad_right = (conv->pad_left + random_range(random, 1, 2)) % 3;
}

static void draw_batch(Random *random, ConvProblem *conv)
{
    conv->N = random_range(random, 3, 6);
    conv->C = PICK(random, 3, 5, 7, 11, 13);
    conv->K = PICK(random, 3, 5, 7, 11);
    conv->H = random_range(random, 7, 18);
    conv->W = random_range(random, 7, 18);
    conv->R = conv->S = 3;
    conv_pad_same(conv);
}

static void draw_pointwise(Random *random, ConvProblem *conv)
{
    conv->C = random_range(random, 5, 37);
    conv->K = random_range(random, 3, 19);
    conv->H = random_range(random, 6, 21);
    conv->W = random_range(random, 6, 21);
    conv->R = conv->S = 1;
}

/* ---- small problems, with minimal extents ------------------------------------------------ */

static void draw_small(Random *random, ConvProblem *conv)
{
    conv->C = random_range(random, 2, 5);
    conv->K = random_range(random, 2, 6);
    conv->H = random_range(random, 6, 13);
    conv->W = random_range(random, 6, 13);
    conv->R = random_range(random, 2, 4);
    conv->S = random_range(random, 2, 4);
}

/* One output per column; see draw_row for one per row. */
static void draw_column(Random *random, ConvProblem *conv)
{
    draw_small(random, conv);
    conv->W = conv->S;
}

static void draw_row(Random *random, ConvProblem *conv)
{
    draw_small(random, conv);
    conv->H = conv->R;
}

/* One image, one channel, one filter. */
static void draw_single(Random *random, ConvProblem *conv)
{
    draw_small(random, conv);
    conv->N = conv->C = conv->K = 1;
}

/* The filter is as large as the padded image and larger than the image: one output per map, and
 * taps that are all in the padding. */
static void draw_whole(Random *random, ConvProblem *conv)
{
    draw_small(random, conv);
    conv->H = random_range(random, 1, 3);
    conv->W = random_range(random, 1, 3);
    conv->pad_top = random_range(random, 0, 2);
    conv->pad_left = 2 - conv->pad_top;
    conv->pad_bottom = random_range(random, 1, 2);
    conv->pad_right = random_range(random, 1, 2);
    conv->R = conv->H + conv->pad_top + conv->pad_bottom;
    conv->S = conv->W + conv->pad_left + conv->pad_right;
}

/* Images smaller than the filter, with enough padding for several outputs. */
static void draw_margin(Random *random, ConvProblem *conv)
{
    draw_small(random, conv);
    conv->H = random_range(random, 1, 3);
    conv->W = random_range(random, 1, 3);
    conv->R = conv->H + random_range(random, 1, 2);
    conv->S = conv->W + random_range(random, 1, 2);
    conv->pad_top = conv->pad_bottom = conv->R - 1;
    conv->pad_left = conv->pad_right = conv->S - 1;
}

/* Strides larger than the filter: some pixels are never read. */
static void draw_apart(Random *random, ConvProblem *conv)
{
    draw_small(random, conv);
    conv->R = conv->S = 1;
    conv->stride_h = random_range(random, 2, 3);
    conv->stride_w = random_range(random, 2, 3);
}

/* Sizes that are powers of two and multiples of common tile sizes. */
static void draw_exact(Random *random, ConvProblem *conv)
{
    draw_small(random, conv);
    conv->N = 1;
    conv->C = PICK(random, 4, 8);
    conv->K = PICK(random, 8, 16);
    conv->H = PICK(random, 8, 16);
    conv->W = PICK(random, 16, 32);
    conv->R = conv->S = PICK(random, 1, 2);
    conv_pad_same(conv);
}

/* A smaller filter for the same number of outputs.  Odd sizes stay odd, even sizes even, and sizes
 * above the image's stay above, so that the kind is preserved. */
static int draw_narrow(ConvProblem *conv)
{
    enum { LARGE = 4 };
    if (conv->R > conv->H || conv->S > conv->W) return 0;
    if (conv->R > LARGE && conv->R >= conv->S) {
        conv->R -= 2;
        conv->pad_top -= conv->pad_top > 0;
        conv->pad_bottom -= conv->pad_bottom > 0;
        return 1;
    }
    if (conv->S <= LARGE) return 0;
    conv->S -= 2;
    conv->pad_left -= conv->pad_left > 0;
    conv->pad_right -= conv->pad_right > 0;
    return 1;
}

/* Reduces the problem until it fits: dimensions with high cost and little information first. */
static void draw_shrink(ConvProblem *conv, double max_macs)
{
    while (conv_macs(conv) > max_macs) {
        if (conv->K > 3)
            conv->K--;
        else if (conv->C > 2)
            conv->C--;
        else if (conv->N > 1)
            conv->N--;
        else if (conv->H > 2 * conv->R && conv->H >= conv->W)
            conv->H--;
        else if (conv->W > 2 * conv->S)
            conv->W--;
        else if (conv->H > 2 * conv->R)
            conv->H--;
        else if (conv->K > 1)
            conv->K--;
        else if (!draw_narrow(conv))
            return; /* the smallest size that preserves the kind */
        conv_derive(conv, NULL);
    }
}

void conv_draw(Random *random, int index, double max_macs, Problem *problem)
{
    static void (*const kind[CONV_KINDS])(Random *, ConvProblem *) = {
        draw_odd,      draw_prime,  draw_oblong,    draw_even_filter, draw_straddling, draw_steep,
        draw_lopsided, draw_batch,  draw_pointwise, draw_column,      draw_row,        draw_whole,
        draw_single,   draw_margin, draw_apart,     draw_exact,       draw_flat,
    };
    ConvProblem conv = {.N = random_range(random, 1, 3), .stride_h = 1, .stride_w = 1};
    kind[(unsigned)index % CONV_KINDS](random, &conv);
    conv_derive(&conv, NULL);
    draw_shrink(&conv, max_macs);
    conv_pack(&conv, problem);
}
