/* conv.h - the convolution problem that every lab solves.
 *
 *   y[n][k][p][q] = sum over c, r, s of x[n][c][h][w] * w[k][c][r][s],
 *   h = p*stride_h + r - pad_top, w = q*stride_w + s - pad_left,
 *
 * with x taken as zero outside 0..H-1, 0..W-1.  "Convolution" means cross-correlation here, as in
 * the whole field: the filter is not flipped.  The letters are cuDNN's; docs/glossary.md maps each
 * paper's letters to them. */
#ifndef CONVLAB_CONV_H
#define CONVLAB_CONV_H

#ifdef __cplusplus
#define CONVLAB_ENTRY extern "C"
#else
#define CONVLAB_ENTRY
#endif

typedef struct ConvProblem {
    int N, C, H, W; /* images, channels, input height and width */
    int K, R, S;    /* filters, filter height and width */
    int P, Q;       /* output height and width */
    /* Zeros around the input; even filters pad asymmetrically. */
    int pad_top, pad_left, pad_bottom, pad_right;
    int stride_h, stride_w;
} ConvProblem;

#if defined(__CUDACC__) || defined(CONVLAB_DEVICE_ENTRY)
/* Forward convolution of problem *p.  x: N*C*H*W, w: K*C*R*S, y: N*K*P*Q floats, device pointers,
 * row-major NCHW and KCRS unless the lab says otherwise.  Enqueue the work on `stream`; do not
 * synchronise.  y arrives unwritten. */
CONVLAB_ENTRY void conv_forward(const ConvProblem *p, const float *x, const float *w, float *y,
                                cudaStream_t stream);
#else
/* Forward convolution of problem *p on the host: same shapes and layouts, host pointers, done when
 * it returns. */
CONVLAB_ENTRY void conv_forward_host(const ConvProblem *p, const float *x, const float *w,
                                     float *y);
#endif

#endif
