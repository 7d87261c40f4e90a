/* conv.h - the convolution problem that every lab solves.
 *
 *   y[n][k][p][q] = sum over c, r, s of x[n][c][h][w] * w[k][c][r][s],
 *   h = p*stride_h + r - pad_top, w = q*stride_w + s - pad_left,
 *
 * with x taken as zero outside 0..H-1, 0..W-1.  In memory the last index is the fastest; a
 * problem's `layout` is the order of the indices.  "Convolution" means cross-correlation here, as
 * in deep learning in general: the filter is not flipped.  The letters are cuDNN's;
 * docs/student/glossary.md maps each paper's letters to them. */
#ifndef CONVLAB_CONV_H
#define CONVLAB_CONV_H

#ifdef __cplusplus
#define CONVLAB_ENTRY extern "C"
#else
#define CONVLAB_ENTRY
#endif

/* The order of the indices of x, w and y. */
enum {
    CONV_NCHW, /* x[n][c][h][w]  w[k][c][r][s]  y[n][k][p][q] */
    CONV_NHWC, /* x[n][h][w][c]  w[k][r][s][c]  y[n][p][q][k] */
    CONV_CHWN  /* x[c][h][w][n]  w[c][r][s][k]  y[k][p][q][n], as in cuda-convnet2 */
};

typedef struct ConvProblem {
    int N, C, H, W; /* images, channels, input height and width */
    int K, R, S;    /* filters, filter height and width */
    int P, Q;       /* output height and width */
    /* Zeros around the input; even filters pad asymmetrically. */
    int pad_top, pad_left, pad_bottom, pad_right;
    int stride_h, stride_w;
    int layout;  /* CONV_NCHW unless the case says otherwise */
    int zeros;   /* percent of x that is zero, in clusters, as after a ReLU; 0: none */
    int pool;    /* 0, or y is N*K*(P/pool)*(Q/pool): the maximum of every pool x pool outputs */
    int w_zeros; /* percent of w that is zero, at random positions, as after pruning; 0: none */
} ConvProblem;

#if defined(__CUDACC__) || defined(CONVLAB_DEVICE_ENTRY)
/* Forward convolution of problem *p.  x: N*C*H*W, w: K*C*R*S, y: N*K*P*Q floats, device pointers,
 * with the layout p->layout.  Enqueue the work on `stream`; do not synchronise.  y is initially
 * uninitialised. */
CONVLAB_ENTRY void conv_forward(const ConvProblem *p, const float *x, const float *w, float *y,
                                cudaStream_t stream);

/* The backward pass.  A loss E depends on y, and its gradient dy[n][k][p][q] = dE/dy[n][k][p][q] is
 * given, with the shape of y in the forward problem *p.  Then
 *
 *     dx[n][c][h][w] = dE/dx = sum over k, r, s of dy[n][k][p][q] * w[k][c][r][s],
 *                      p and q with p*stride_h = h + pad_top - r, q*stride_w = w + pad_left - s
 *     dw[k][c][r][s] = dE/dw = sum over n, p, q of dy[n][k][p][q] * x[n][c][h][w],
 *                      h = p*stride_h + r - pad_top, w = q*stride_w + s - pad_left
 *
 * with terms outside of 0..P-1, 0..Q-1, 0..H-1, 0..W-1 left out.  An input that no window covers
 * has dx = 0.  dw is the sum over the batch: if E is a mean over images, dy includes the factor
 * 1/N.  NCHW only; dx and dw are initially uninitialised; enqueue on `stream`, do not
 * synchronise. */
CONVLAB_ENTRY void conv_backward_data(const ConvProblem *p, const float *dy, const float *w,
                                      float *dx, cudaStream_t stream);
CONVLAB_ENTRY void conv_backward_filter(const ConvProblem *p, const float *x, const float *dy,
                                        float *dw, cudaStream_t stream);
#else
/* Forward convolution of problem *p on the host: same shapes, NCHW, host pointers, synchronous. */
CONVLAB_ENTRY void conv_forward_host(const ConvProblem *p, const float *x, const float *w,
                                     float *y);
#endif

#endif
