/* int8.h - quantisation and convolution of 8-bit integers (lab 22).
 *
 * A *word* is an int with four signed bytes.  Byte i of a word holds channel 4*word + i and is the
 * word's bits 8*i .. 8*i + 7.  A pixel of C channels has INT8_WORDS(C) words, adjacent in memory
 * (NHWC); channels from C on are 0.  The last index of a tensor is the fastest.  Pointers are
 * device pointers; enqueue the work on `stream` and do not synchronise; outputs are initially
 * uninitialised. */
#ifndef CONVLAB_INT8_H
#define CONVLAB_INT8_H

#include "convlab/conv.h"

/* Words for that number of channels. */
#define INT8_WORDS(channels) (((channels) + 3) / 4)

/* ---- quantisation of filters --------------------------------------------------------------
 *
 *     largest = the maximum of |w| over filter k (per=channel), or over all filters (per=tensor)
 *     scale[k] = largest / 127, or 1 if largest is 0
 *     q[k][r][s][c] = w[k][r][s][c] / scale[k], rounded to the nearest integer, ties to even
 *
 * with divisions in fp32.  q is between -127 and 127.  (CUDA C++: a / b, and __float2int_rn.) */
enum { INT8_PER_CHANNEL, INT8_PER_TENSOR };

typedef struct QuantizeProblem {
    int K, R, S, C; /* filters, filter height and width, channels */
    int per;        /* INT8_PER_CHANNEL: a scale for each output channel k */
    int unpacked;   /* 0; the grader's own views have one float per byte */
} QuantizeProblem;

/* ---- convolution --------------------------------------------------------------------------
 *
 *     sum    = bias[k] + sum over c, r, s of x[n][h][w][c] * w[k][r][s][c]          in int32
 *              h = p*stride_h + r - pad_top, w = q*stride_w + s - pad_left, x = 0 outside
 *     scaled = (float)sum * scale[k]                                                in fp32
 *     scaled = max(scaled, 0)                                                       if relu
 *
 *     output=float:  y[n][p][q][k] = scaled
 *     output=int8:   y[n][p][q][k] = scaled, rounded to the nearest integer, ties to even,
 *                                    and clamped to -128 .. 127; packed in words, 0 from k = K on
 *
 * A problem has at most 2^17 terms per sum, so that sum does not exceed an int. */
enum { INT8_TO_FLOAT, INT8_TO_INT8 };

typedef struct Int8Problem {
    int N, C, H, W; /* images, channels, input height and width */
    int K, R, S;    /* filters, filter height and width */
    int P, Q;       /* output height and width */
    int pad_top, pad_left, pad_bottom, pad_right;
    int stride_h, stride_w;
    int relu;     /* Boolean */
    int output;   /* INT8_TO_... */
    int unpacked; /* 0; the grader's own views have one float per output, in the order n, k, p, q */
} Int8Problem;

#if defined(__CUDACC__) || defined(CONVLAB_DEVICE_ENTRY)
/* w: [K][R][S][C] floats.  y: [K][R][S][INT8_WORDS(C)] words, then K floats, the scales. */
CONVLAB_ENTRY void quantize(const QuantizeProblem *p, const float *w, int *y, cudaStream_t stream);

/* x: [N][H][W][INT8_WORDS(C)] words.  w: [K][R][S][INT8_WORDS(C)] words.  bias: K ints, scale: K
 * floats.  y: [N][P][Q][K] floats, or [N][P][Q][INT8_WORDS(K)] words.  All start at a multiple of
 * 16 bytes. */
CONVLAB_ENTRY void conv_int8(const Int8Problem *p, const int *x, const int *w, const int *bias,
                             const float *scale, void *y, cudaStream_t stream);
#endif

#endif
