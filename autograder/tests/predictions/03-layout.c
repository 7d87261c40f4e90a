/* Lab 03: one thread per output, 256 threads per block, lanes along q (nchw, nhwc) or along the
 * images (chwn). */
#include "autograder/tests/predictions/derive.h"

enum { THREADS = 256, CONSTANT_BYTES = 65536 };

typedef struct Place {
    int n, k, op, oq;
} Place;

/* The output of thread t, the fastest index first: oq op k n, and n oq op k in chwn. */
static Place place_of(const ConvProblem *p, int t)
{
    Place at;
    if (p->layout == CONV_CHWN) {
        at.n = t % p->N;
        at.oq = t / p->N % p->Q;
        at.op = t / p->N / p->Q % p->P;
        at.k = t / p->N / p->Q / p->P;
        return at;
    }
    at.oq = t % p->Q;
    at.op = t / p->Q % p->P;
    at.k = t / p->Q / p->P % p->K;
    at.n = t / p->Q / p->P / p->K;
    return at;
}

/* Offset in bytes of element (a, b, c, d) of a tensor of A x B x C x D: image or filter a, channel
 * b, row c, column d. */
static int64_t element(int layout, const int size[4], int a, int b, int c, int d)
{
    switch (layout) {
    case CONV_NHWC:
        return 4 * ((((int64_t)a * size[2] + c) * size[3] + d) * size[1] + b);
    case CONV_CHWN:
        return 4 * ((((int64_t)b * size[2] + c) * size[3] + d) * size[0] + a);
    default:
        return 4 * ((((int64_t)a * size[1] + b) * size[2] + c) * size[3] + d);
    }
}

typedef struct Requests {
    double requests, sectors;
} Requests;

/* Adds the request of a warp whose lanes access these bytes, if any lane is active. */
static void ask(Requests *sum, const int64_t byte[MACHINE_WARP_SIZE])
{
    int sectors = sectors_touched(byte);
    sum->requests += sectors > 0;
    sum->sectors += sectors;
}

/* Loads of the warp that starts with thread `first`, at tap (c, r, s): a pixel for each lane whose
 * tap is inside the input, and its weight if the weights are in global memory. */
static void warp_load(const ConvProblem *p, int first, int c, int r, int s, Requests *sum)
{
    const int x_size[] = {p->N, p->C, p->H, p->W}, w_size[] = {p->K, p->C, p->R, p->S};
    int64_t pixel[MACHINE_WARP_SIZE], weight[MACHINE_WARP_SIZE];
    for (int lane = 0; lane < MACHINE_WARP_SIZE; lane++) {
        Place at = place_of(p, first + lane);
        int ih = at.op * p->stride_h + r - p->pad_top, iw = at.oq * p->stride_w + s - p->pad_left;
        int inside = first + lane < p->N * p->K * p->P * p->Q && ih >= 0 && ih < p->H && iw >= 0 &&
                     iw < p->W;
        pixel[lane] = inside ? element(p->layout, x_size, at.n, c, ih, iw) : -1;
        weight[lane] = inside ? element(p->layout, w_size, at.k, c, r, s) : -1;
    }
    ask(sum, pixel);
    if (p->layout != CONV_NCHW) ask(sum, weight);
}

static double sectors_per_load(const Given *given)
{
    const ConvProblem *p = &given->p;
    Requests sum = {0, 0};
    for (int first = 0; first < p->N * p->K * p->P * p->Q; first += MACHINE_WARP_SIZE)
        for (int c = 0; c < p->C; c++)
            for (int r = 0; r < p->R; r++)
                for (int s = 0; s < p->S; s++)
                    warp_load(p, first, c, r, s, &sum);
    return sum.sectors / sum.requests;
}

static double sectors_per_store(const Given *given)
{
    const ConvProblem *p = &given->p;
    const int y_size[] = {p->N, p->K, p->P, p->Q};
    int outputs = p->N * p->K * p->P * p->Q;
    Requests sum = {0, 0};
    for (int first = 0; first < outputs; first += MACHINE_WARP_SIZE) {
        int64_t byte[MACHINE_WARP_SIZE];
        for (int lane = 0; lane < MACHINE_WARP_SIZE; lane++) {
            Place at = place_of(p, first + lane);
            int owns = first + lane < outputs;
            byte[lane] = owns ? element(p->layout, y_size, at.n, at.k, at.op, at.oq) : -1;
        }
        ask(&sum, byte);
    }
    return sum.sectors / sum.requests;
}

/* Adds filters to constant memory until the next one does not fit, then counts the blocks of their
 * outputs. */
static double largest_launch(const Given *given)
{
    const ConvProblem *p = &given->p;
    int filters = 0, bytes = 0, outputs = 0;
    double blocks = 0;
    while (filters < p->K && bytes + p->C * p->R * p->S * 4 <= CONSTANT_BYTES) {
        filters++;
        bytes += p->C * p->R * p->S * 4;
        outputs += p->N * p->P * p->Q;
    }
    for (; outputs > 0; outputs -= THREADS)
        blocks++;
    return blocks;
}

const LabDerivations derive_03 = {"03-layout",
                                  {
                                      {"load-nchw", sectors_per_load},
                                      {"load-chwn", sectors_per_load},
                                      {"load-nhwc", sectors_per_load},
                                      {"store-nhwc", sectors_per_store},
                                      {"chunk", largest_launch},
                                      {0},
                                  }};
