/* stairs.h - the staircase of latency over the width of a layer: predicted from what is launched,
 * and found in what was measured.
 *
 * Module: `make sweep` and `make widths`: how blocks fill a GPU's multiprocessors, where a layer's
 * time has steps, and which widths of a network follow from that.
 * Callers: its own programs; scripts.
 * May use: conv.
 *
 * B blocks on S multiprocessors (SMs) that hold k each are ceil(B / (S*k)) waves.  Yu et al.'s
 * equation 3 has k = 1: it takes a multiprocessor for busy with one block.  Neither is the whole
 * truth.  The blocks that share an SM share its units: a block with company takes as long as alone
 * until the units are full, and longer from there on.  So the busiest SM decides, with
 * b = ceil(B / S) blocks, k at a time; and on it the busiest of its four schedulers, which has
 * ceil(j * warps / 4) warps when there are j blocks:
 *
 *     time = launches * launch + (floor(b / k) * round(k) + round(b mod k)) * (rows / pieces + 32)
 *     round(j) = alone * (1 + (ceil(j * warps / 4) / fill)^4)^(1/4),   round(0) = 0
 *
 * `alone` is what a block takes for a row of its sums when it has an SM to itself, `fill` how many
 * warps fill a scheduler: round(j) is flat below that and grows in proportion above.  With a large
 * `fill` this is waves; with a small one there is a step at every multiple of S, as the paper has
 * it.  A block takes as long as 32 rows to get going (lab 10).
 *
 * A call of MANY_LAUNCHES kernels or more, such as a convolution by FFT, has no kernel whose waves
 * would show: each is a part of the time, and most have thousands of small blocks.  There the time
 * grows in a straight line with the blocks of the largest. */
#ifndef CONVLAB_TAIL_STAIRS_H
#define CONVLAB_TAIL_STAIRS_H

/* A width of the sweep: what it launches, and how long that took. */
typedef struct Stair {
    double blocks, resident, sms; /* B, k, S */
    double warps;                 /* of a block */
    double rows;                  /* products of a sum: C*R*S */
    double pieces;   /* the sums are split among so many blocks: each has that part of the rows */
    double launches; /* kernels of the call; all but one are small */
    int kernel;      /* a number for each kernel; another one has other constants */
    double us, low, high; /* measured, and the interval that holds it with 95 % */
    double predicted;     /* stairs_predict */
} Stair;

double stair_waves(const Stair *stair);   /* ceil(B / (S*k)) */
double stair_busiest(const Stair *stair); /* ceil(B / S) */
/* What of the places for blocks is taken: B / (S * k * waves). */
double stair_utilisation(const Stair *stair);

enum { MANY_LAUNCHES = 3 };

/* Fills in `predicted`.  Two measured widths of each kernel give its `alone` and `fill`, or the
 * line: the first of those where the busiest SM has the fewest blocks, and the first where it has
 * the most.  Where these two do not tell, `fill` is near 1.  `launch_us` is what a launch takes
 * that does nothing.  calibrates[i] becomes 1 for widths whose time was used. */
void stairs_predict(Stair *stair, int count, double launch_us, int *calibrates);

/* step[i] becomes 1 where us[i] is more than `least` (0.08: 8 %) above us[i-1], -1 where us[i-1] is
 * so much above us[i], else 0; and 0 where the intervals of the two, low to high, meet.  step[0] is
 * 0.  What grows slowly has no step, however far it grows.  low and high may be us itself, for
 * times without noise. */
void stairs_find(const double *us, const double *low, const double *high, int count, double least,
                 int *step);

#endif
