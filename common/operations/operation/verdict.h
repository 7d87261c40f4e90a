/* verdict.h - what a run left behind, and what is said of it: the bound of an output, the verdict,
 * the names of faults. */
#ifndef CONVLAB_OPERATION_VERDICT_H
#define CONVLAB_OPERATION_VERDICT_H

#include "common/operations/operation/operation.h"

/* Unit roundoffs.  tf32 and fp16 keep 11 bits of an input. */
#define UNIT_FP32        0x1p-24
#define UNIT_ELEVEN_BITS 0x1p-11

enum { VERDICT_SAFETY = 4 }; /* s of the bound; docs/architecture.md says why 4 */

/* The bound of one output, whose error is measured by `reach`: safety * gamma_m * reach (Higham,
 * Accuracy and Stability of Numerical Algorithms, 2nd ed., section 3.1).
 *
 * In fp32 an output's reach is its magnitude, but at least the root mean square of all magnitudes.
 * A plain sum's error is small beside the output's own products, yet a fast algorithm's (Winograd's
 * F(2x2,3x3), as Strassen's) only beside those of the whole map, for it adds the neighbours' and
 * takes them away again (Higham, section 23.2.2).  An operation for which that makes no sense says
 * so (Operation.own_reach).  For tf32 and fp16 the inputs are rounded once
 * each and summed in fp32: there reach is the output's magnitude, and the bound is
 * safety * (2u + u*u + gamma_m of fp32) * reach with the u of the inputs. */
double verdict_bound(Precision precision, double reach, double products);

/* An output that the lab's programs may come to by this algorithm has that bound for at least so
 * many products; 0 for plain sums.
 *
 * Winograd's F(MxM,3x3) is y = A'[(G g G') (B' d B)]A.  Its error is at most some roundings times
 * u * |A'|[(|G||g||G'|) (|B'||d||B|)]|A| (Barabasz, Anderson, Soodhalter and Gregg, Error analysis
 * and improving the accuracy of Winograd convolution, 2020, theorem 2).  Where all inputs and taps
 * are as large as each other, that is the square of the largest row of |A'|(|G|1 * |B'|1): 8 for
 * F(2x2,3x3), which the bound of one channel's 9 products has room for, and 48 for F(4x4,3x3), 36
 * times as much.  With more channels the transforms' errors are independent, and grow more slowly
 * than the sum of the magnitudes, by which they are measured.  So F(4x4,3x3) has the bound of 36*9
 * products, and with more than that no other than a plain sum (test_winograd.c has the matrices,
 * and the errors that are).
 *
 * A Fourier transform of n = 2^t numbers is off by at most t * (1 + 4 sqrt 2) * u of them, both in
 * the 2-norm (Higham, theorem 24.2, with u as the error of the twiddle factors).  A tile of outputs
 * has three: of inputs, of taps, and the way back.  In the 2-norm that is 3 t (1 + 4 sqrt 2) u
 * times what the tile's sums can be, and its parts per output the root mean square over the tile.
 * So tiles of 64x64, t = 12, have the bound of 240 products.  One output could have more than the
 * mean, but roundings are independent, and in fact less than a thirtieth of that
 * (test_fft.c). */
double verdict_least_products(Algorithm algorithm);

/* The worst case grows with m, but rounding errors that are independent do not: what comes of
 * rounded inputs has 2^13 u * reach/sqrt(m) at any m, a sum in fp32 less than u * reach.  So for
 * fp32 the whole map is judged once more: with 8 outputs or more, the root mean square of
 * |y - expected| / bound must not pass 1, where bound is 128 * u * reach / m^(1/4), which lies in
 * the middle between the two (tool_rounding.c).  This is what catches rounded inputs in deep
 * layers.
 *
 * With inputs of 11 bits it is the roundings of the inputs that show, and signs that differ let
 * them grow as the output does: there, with 128 outputs or more, the root mean square of
 * |y - expected| must not pass 2 * u * the root mean square of expected.  Rounding to nearest stays
 * near 0.53 at any m, cutting off (which mma.sync does with the low bits of an fp32) at 1.4; bf16
 * has 4.3, and sums in fp16 pass 2 between 600 and 700 products (tool_rounding.c). */
double verdict_rms_bound(double reach, double products);

/* The poison that outputs are filled with before a run: a NaN with this payload means "never
 * written". */
#define OUTPUT_POISON 0x7fc0dead

/* What the run left behind.  `output` has tensor_count floats; `band_broken` names the tensor
 * whose guard band changed, or NULL; likewise `input_changed`.  `checked` is what a checker of the
 * engine found, with its line; NULL or "" if nothing. */
typedef struct Observed {
    const float *output;
    const char *band_broken;
    long band_offset; /* first changed float: negative before the tensor, else past its end */
    const char *input_changed;
    const char *checked;
    Algorithm algorithm; /* by which the program may have come to it: the lab says */
    int host;            /* the program has no kernels: nothing is said of threads and blocks */
} Observed;

/* Right or wrong, and where.  What is wrong, a diagnosis says (diagnose.h). */
typedef struct Verdict {
    int correct;
    size_t wrong, total;         /* outputs outside their bound, outputs in all */
    size_t first;                /* flat index of the first wrong output */
    double got, expected, bound; /* at `first` */
    double worst;                /* largest error / bound over all outputs */
    char where[96];              /* "(n,k,p,q) = (0,3,15,16)" */
} Verdict;

/* The known ways of being wrong. */
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
    FAULT_STRIDE,            /* right at stride 1 only, or stride_h and stride_w swapped */
    FAULT_TAP_DROPPED,       /* some filter taps (r,s) contribute nothing */
    FAULT_ACCUMULATED,       /* adds to what y held instead of writing it */
    FAULT_PRECISION,         /* errors of the size of a lower precision: tf32, fp16, bf16 */
    FAULT_AXES,              /* h and w, H and W, or what belongs to them are exchanged */
    FAULT_POINTS,            /* a row of one of Winograd's transforms is wrong */
    FAULT_LAYOUT,            /* right, if a tensor lay in another order than it does */
    FAULT_RACE,              /* one thread reads shared memory that another writes, no barrier */
    FAULT_RACE_GLOBAL,       /* the same in global memory, of one block or of two */
    FAULT_TWO_WRITERS,       /* two threads write one word of either: an index, or a second owner */
    FAULT_STREAMS,           /* work on two streams at one word, and nothing orders the two */
    FAULT_DIFFER,            /* two runs on the same inputs differ, and no checker says why */
    FAULT_READ_OUTSIDE,      /* stopped: read outside of a tensor */
    FAULT_WORKSPACE,         /* stopped: outside of memory that the submission allocated */
    FAULT_SHARED_MEMORY,     /* stopped: outside of a block's shared memory */
    FAULT_BARRIER,           /* stopped: a barrier that not all threads reach */
    FAULT_MISALIGNED,        /* stopped: an address that is no multiple of the access */
    FAULT_LAUNCH,            /* refused: more threads, blocks or memory than there are */
    FAULT_REPEAT,            /* right when called, wrong when its GPU work is repeated */
    FAULT_STATE,             /* right in a new process, wrong when called again there */
    FAULT_FORWARD,           /* of a network: wrong before the loss */
    FAULT_GRADIENT,          /* the loss is right, its gradient is not */
    FAULT_UPDATE,            /* the gradient is right, what is made of it is not */
    FAULT_FORMULA,           /* another formula: which, the text says */
    FAULT_OVERFLOW,          /* an exponential too large for a float on the way to a small result */
    FAULT_EVERYWHERE         /* wrong nearly everywhere with no signature */
} Fault;

/* A stable lower-case word for lab.ini hints and the result record: "tile-edge". */
const char *fault_name(Fault fault);

#endif
