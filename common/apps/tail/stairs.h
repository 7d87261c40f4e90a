/* stairs.h - step function of a layer's latency over its width: predicted from the launches, and
 * detected in the measurements.
 *
 * Module: `make sweep` and `make widths`: occupancy of a GPU's SMs, steps in a layer's time, and
 * the widths of a network that follow from them.
 * Callers: its own programs; scripts.
 * May use: conv.
 *
 * B blocks on S SMs with k resident blocks each are ceil(B / (S*k)) waves.  Yu et al.'s equation 3
 * has k = 1: one block fills an SM.  Neither is exact.  The resident blocks of an SM share its
 * units: a block takes as long as alone until the units are full, and longer from there on.  So the
 * busiest SM determines the time, with b = ceil(B / S) blocks, k at a time.  On this SM the busiest
 * of its four schedulers determines it, which has ceil(j * warps / 4) warps with j blocks:
 *
 *     time = launches * launch + (floor(b / k) * round(k) + round(b mod k)) * (rows / pieces + 32)
 *     round(j) = alone * (1 + (ceil(j * warps / 4) / fill)^4)^(1/4),   round(0) = 0
 *
 * `alone` is the time of a block for one term of each accumulator on an SM of its own.  `fill` is
 * the number of warps that fill a scheduler: round(j) is constant below that and proportional
 * above.  A large `fill` gives waves; a small one gives a step at every multiple of S, as in the
 * paper.  The start of a block takes the time of 32 terms (lab 10).
 *
 * A call of MANY_LAUNCHES kernels or more, such as a convolution by FFT, has no dominant kernel
 * with visible waves: each is a part of the time, and most have thousands of small blocks.  Its
 * time grows linearly with the blocks of the largest kernel. */
#ifndef CONVLAB_TAIL_STAIRS_H
#define CONVLAB_TAIL_STAIRS_H

/* A width of the sweep: its launches and its time. */
typedef struct Stair {
    double blocks, resident, sms; /* B, k, S */
    double warps;                 /* warps of a block */
    double rows;                  /* terms of a sum: C*R*S */
    double pieces;   /* number of blocks among which each sum is split; each has that part of the
                      * terms */
    double launches; /* number of kernels in the call; all but one are small */
    int kernel;      /* number of the kernel; each has its own constants */
    double us, low, high; /* measured, with its 95 % confidence interval */
    double predicted;     /* set by stairs_predict */
} Stair;

double stair_waves(const Stair *stair);   /* ceil(B / (S*k)) */
double stair_busiest(const Stair *stair); /* ceil(B / S) */
/* Share of the resident blocks that are used: B / (S * k * waves). */
double stair_utilisation(const Stair *stair);

enum { MANY_LAUNCHES = 3 };

/* Computes `predicted`.  Two measured widths of each kernel give its `alone` and `fill`, or the
 * line: the first width with the fewest blocks on the busiest SM, and the first with the most.  If
 * these do not determine `fill`, it is close to 1.  `launch_us` is the time of an empty launch.
 * calibrates[i] becomes 1 for widths whose time was used. */
void stairs_predict(Stair *stair, int count, double launch_us, int *calibrates);

/* step[i] becomes 1 if us[i] exceeds us[i-1] by more than `least` (0.08: 8 %), -1 in the opposite
 * case, else 0.  It is also 0 if the intervals of the two, low to high, overlap.  step[0] is 0.
 * Slow growth has no step, whatever its total.  low and high may be us itself, for times without
 * noise. */
void stairs_find(const double *us, const double *low, const double *high, int count, double least,
                 int *step);

#endif
