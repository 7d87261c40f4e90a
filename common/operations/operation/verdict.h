/* verdict.h - observed results of a run, error bound of an output, verdict, names of faults. */
#ifndef CONVLAB_OPERATION_VERDICT_H
#define CONVLAB_OPERATION_VERDICT_H

#include "common/operations/operation/operation.h"

/* Unit roundoffs.  tf32 and fp16 keep 11 significant bits of an input. */
#define UNIT_FP32        0x1p-24
#define UNIT_ELEVEN_BITS 0x1p-11

enum { VERDICT_SAFETY = 4 }; /* s of the bound; docs/architecture.md explains the value 4 */

/* The bound of one output, whose error is relative to `reach`: safety * gamma_m * reach (Higham,
 * Accuracy and Stability of Numerical Algorithms, 2nd ed., section 3.1).
 *
 * In fp32 an output's reach is its magnitude, but at least the root mean square of all magnitudes.
 * A plain sum's error is small relative to the output's own terms.  A fast algorithm (Winograd's
 * F(2x2,3x3), or Strassen's) adds terms of neighbours and subtracts them again.  Its error is small
 * only relative to the terms of the whole map (Higham, section 23.2.2).  Operation.own_reach
 * disables this for an operation.  In tf32 and fp16 the inputs are rounded once each and summed in
 * fp32.  There, reach is the output's magnitude, and the bound is safety * (2u + u*u + gamma_m of
 * fp32) * reach with the u of the inputs. */
double verdict_bound(Precision precision, double reach, double terms);

/* Lower limit of the number of terms in the bound of an output computed by this algorithm; 0 for
 * plain sums.
 *
 * Winograd's F(MxM,3x3) is y = A'[(G g G') (B' d B)]A.  Its error is at most some roundings times u
 * * |A'|[(|G||g||G'|) (|B'||d||B|)]|A| (Barabasz, Anderson, Soodhalter and Gregg, Error analysis
 * and improving the accuracy of Winograd convolution, 2020, theorem 2).  If all inputs and taps
 * have the same magnitude, the factor is the square of the largest row of |A'|(|G|1 * |B'|1).  The
 * row is 8 for F(2x2,3x3), whose factor is below the bound of one channel's 9 terms.  It is 48 for
 * F(4x4,3x3), whose factor is 36 times as large.  With more channels the transforms' errors are
 * independent and grow more slowly than the sum of the magnitudes, to which they are relative.  So
 * F(4x4,3x3) has the bound of 36*9 terms, and with more terms that of a plain sum (test_winograd.c
 * has the matrices and the measured errors).
 *
 * A Fourier transform of n = 2^t numbers has an error of at most t * (1 + 4 sqrt 2) * u of them,
 * both in the 2-norm.  Source: Higham, theorem 24.2, with u as the error of the twiddle factors.  A
 * tile of outputs has three transforms: of inputs, of taps, and the inverse one.  In the 2-norm
 * that is 3 t (1 + 4 sqrt 2) u times the largest possible sums of the tile, and per output the root
 * mean square over the tile.  So tiles of 64x64, t = 12, have the bound of 240 terms.  One output
 * could have more than the mean, but roundings are independent, and the measured errors are less
 * than a thirtieth of the bound (test_fft.c). */
double verdict_least_terms(Algorithm algorithm);

/* Bound of the root mean square error of a map.  The worst case grows with m, but independent
 * rounding errors do not.  Rounded inputs lead to an error of 2^13 u * reach/sqrt(m) at any m, an
 * fp32 sum to less than u * reach.  So in fp32 the whole map is judged once more.  With 8 outputs
 * or more, the root mean square of |y - expected| / bound must not pass 1.  This bound is 48 * u *
 * reach / m^(1/4), which is between the errors of fp32 sums and those of inputs of 16 bits, such as
 * two bf16 each (tool_rounding.c).  F(4x4,3x3) may have 64.  Above 4,096 terms the limit grows like
 * the square root of m, to 128 at 29,000 terms: a gradient by output tiles adds and subtracts long
 * sums (test_bound.c).
 *
 * With inputs of 11 bits the roundings of the inputs dominate, and with both signs they grow like
 * the output.  There, with 128 outputs or more, the root mean square of |y - expected| must not
 * pass 2 * u * the root mean square of expected.  In units of u times the latter, rounding to
 * nearest gives 0.53 at any m, and truncation gives 1.4 (mma.sync truncates the low bits of an
 * fp32).  With bf16 it is 4.3, and sums in fp16 exceed 2 between 600 and 700 terms
 * (tool_rounding.c). */
double verdict_rms_bound(Algorithm algorithm, double reach, double terms);

/* The value with which outputs are filled before a run: a NaN whose payload means "never
 * written". */
#define OUTPUT_POISON 0x7fc0dead

/* The value of the memory before and after a tensor (autograder/tensors/guarded.h): a signalling
 * NaN.  Adding to it gives a quiet NaN, so that += beyond an output changes it, too.  A processor
 * keeps its payload in that sum; a GPU does so only in a copy. */
#define GUARD_BAND_WORD 0x7f80fe2c

/* Observed results of a run.  `output` has tensor_count floats; `band_broken` names the tensor
 * whose guard band changed, or NULL; `input_changed` names a changed input, or NULL.  `checked` is
 * the finding of an engine's checker, with its line; NULL or "": none. */
typedef struct Observed {
    const float *output;
    const char *band_broken;
    long band_offset; /* first changed float: negative before the tensor, else past its end */
    const char *input_changed;
    const char *checked;
    Algorithm algorithm; /* algorithm that the program may use, from lab.ini */
    int host;            /* Boolean: the program has no kernels, so messages do not mention threads
                          * and blocks */
} Observed;

/* Correct or wrong, and the first wrong output.  The cause is found by diagnose.h. */
typedef struct Verdict {
    int correct;
    size_t wrong, total;         /* outputs outside their bound, outputs in all */
    size_t first;                /* flat index of the first wrong output */
    double got, expected, bound; /* at `first` */
    double worst;                /* largest error / bound over all outputs */
    char where[96];              /* "(n,k,p,q) = (0,3,15,16)" */
} Verdict;

/* Known kinds of errors. */
typedef enum Fault {
    FAULT_NONE,
    FAULT_UNWRITTEN,         /* outputs still hold the poison */
    FAULT_NAN,               /* NaN or Inf that is not the poison */
    FAULT_GUARD_BAND,        /* wrote outside the output (before or after) */
    FAULT_INPUT_CHANGED,     /* wrote into an input */
    FAULT_FLIPPED_FILTER,    /* true convolution instead of cross-correlation */
    FAULT_TRANSPOSED_FILTER, /* r and s swapped */
    FAULT_HALO,              /* window shifted by whole pixels: padding or halo off by one */
    FAULT_PADDING_EDGE,      /* only outputs whose window touches the padding are wrong */
    FAULT_TILE_EDGE,         /* wrong outputs repeat with a period: a tile's edge */
    FAULT_LAST_BLOCK,        /* wrong only in the last, partial tile in p and/or q */
    FAULT_ONE_CHANNEL,       /* input channel(s) left out or read for another */
    FAULT_ONE_FILTER,        /* whole output maps k wrong, others right */
    FAULT_ONE_IMAGE,         /* whole images n wrong, others right */
    FAULT_STRIDE,            /* correct only at stride 1, or stride_h and stride_w exchanged */
    FAULT_TAP_DROPPED,       /* some filter taps (r,s) contribute nothing */
    FAULT_ACCUMULATED,       /* adds to the old value of y instead of overwriting it */
    FAULT_PRECISION,         /* errors of the size of a lower precision: tf32, fp16, bf16 */
    FAULT_AXES,              /* h and w, H and W, or their parameters are exchanged */
    FAULT_POINTS,            /* a transform (Winograd, Fourier) is wrong at some points */
    FAULT_LAYOUT,            /* correct for another order of a tensor in memory */
    FAULT_RACE,              /* race in shared memory: one thread reads a word that another writes,
                              * no barrier */
    FAULT_RACE_GLOBAL,       /* race in global memory, within a block or between blocks */
    FAULT_TWO_WRITERS,       /* two threads write the same word: a wrong index, or two owners */
    FAULT_STREAMS,           /* unordered accesses on two streams to one word */
    FAULT_DIFFER,            /* two runs on the same inputs differ, without a checker's finding */
    FAULT_READ_OUTSIDE,      /* stopped: read out of a tensor's bounds */
    FAULT_WORKSPACE,         /* stopped: access outside of the submission's own allocations */
    FAULT_SHARED_MEMORY,     /* stopped: access outside of a block's shared memory */
    FAULT_BARRIER,           /* stopped: a barrier that not all threads reach */
    FAULT_MISALIGNED,        /* stopped: an address that is no multiple of the access */
    FAULT_LAUNCH,            /* rejected: more threads, blocks or memory than available */
    FAULT_REPEAT,            /* correct when called, wrong when its GPU work is repeated */
    FAULT_STATE,             /* correct in a new process, wrong when called again in it */
    FAULT_FORWARD,           /* in a network: wrong before the loss */
    FAULT_GRADIENT,          /* the loss is correct, its gradient is wrong */
    FAULT_UPDATE,            /* the gradient is correct, the update is wrong */
    FAULT_FORMULA,           /* another formula, which the text names */
    FAULT_OVERFLOW,          /* an exponential overflows although the result is small */
    FAULT_ROUNDING,          /* a conversion to an integer rounds in another way */
    FAULT_SATURATION,        /* a value beyond the range of int8 wraps, or is clamped elsewhere */
    FAULT_SCALE,             /* a quantisation scale is wrong, or another one is used */
    FAULT_SIGN,              /* bytes are read as unsigned */
    FAULT_BYTE_ORDER,        /* the bytes of a word are in another order */
    FAULT_EVERYWHERE         /* wrong nearly everywhere, without a pattern */
} Fault;

/* A stable lower-case word for lab.ini hints and the result record: "tile-edge". */
const char *fault_name(Fault fault);

#endif
