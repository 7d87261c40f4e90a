/* conv_backward_slip.h - a slip: the index arithmetic of a gradient with one common mistake.
 *
 * A gradient is a sum over rows: (k, r, s) of dy*w for dx, (n, p, q) of dy*x for dw.  Private to
 * conv_backward_*.c. */
#ifndef CONVLAB_CONV_DIAGNOSIS_CONV_BACKWARD_SLIP_H
#define CONVLAB_CONV_DIAGNOSIS_CONV_BACKWARD_SLIP_H

#include "common/operations/conv/conv_problem.h"
#include "common/operations/operation/diagnose.h"

enum { SLIPS = 128, WRONG_ONES = 24, RIGHT_ONES = 16, EVIDENCE_BITS = 16 };

/* Index arithmetic of a gradient; slip_right is the correct one. */
typedef struct Slip {
    Fault fault;
    long long stride_h, stride_w, top, left;
    int any_step;       /* Boolean, dx: h + top - r need not be a multiple of the stride */
    int past_h, past_w; /* Booleans: rows, columns beyond the edges are read from adjacent memory */
    int flip_r, flip_s; /* Booleans: flipped taps; dx: the filter's, dw: dw's own */
    long long dy_n, dy_k, dy_p, dy_q; /* strides in elements in dy */
    long long in_0, in_1, in_2, in_3; /* strides in elements in the other input: w's k, c, r, s; x's
                                       * n, c, h, w */
    long long dy_base, in_base;       /* offsets of both */
    int low, high;                    /* range of the outermost axis of the sum: k, or n */
    int low_p, high_p, low_q, high_q; /* dw: range of dy's rows and columns */
    int low_r, high_r, low_s, high_s; /* dx: range of the taps */
    double scale;
    char order[5]; /* the axes of the output in memory order */
    char text[420];
} Slip;

typedef struct Backward {
    const Judgement *judged;
    ConvProblem v;
    int filter; /* Boolean: dw, not dx */
    const float *dy, *in;
    size_t rows; /* number of rows of every sum */
    double *product;
    size_t sample[WRONG_ONES + RIGHT_ONES];
    int wrong, right;
    Slip slip[SLIPS];
    int slips;
} Backward;

/* ---- conv_backward_terms.c ---- */
int conv_backward_extent(const ConvProblem *v, char axis);
/* The index arithmetic of a correct gradient. */
Slip slip_right(const Backward *b);
/* The coordinates at `index` in this slip's order; at[] has them in the correct order. */
void slip_place(const Backward *b, const Slip *slip, size_t index, int at[4]);
/* Writes the terms of all rows of one output into b->`product`; 1 if some are outside of the
 * inputs. */
int slip_terms(const Backward *b, const Slip *s, size_t index);
/* Compares the sum of b->`product`[from .. to-1] with the output.  Adds the improbability of a
 * coincidence to *evidence; 0 if they differ. */
int sum_fits(const Backward *b, size_t index, size_t from, size_t to, double scale,
             double *evidence);
/* Tolerance of an explanation: independent rounding errors of a long sum, which are far below the
 * error bound. */
double sum_tolerance(const Judgement *j, double magnitude, double terms);
/* Whether the slip predicts the wrong samples and, if `everywhere`, the correct ones, too. */
int slip_fits(const Backward *b, const Slip *s, int everywhere);

/* ---- conv_backward_slips.c ---- */
/* The relation of pixel, tap and output, as text. */
const char *slip_window(const Backward *b);
/* Fills in b->slip, the most probable mistakes first. */
void slips_list(Backward *b);

/* ---- conv_backward_places.c ---- */
/* Only pixels that no window covers, whose gradient is 0. */
int find_untouched(const Backward *b, Finding *finding);
/* The wrong outputs are those at some coordinates of one axis, or repeat with a period. */
int find_place(const Backward *b, Finding *finding);

#endif
