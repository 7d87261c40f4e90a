/* unroll.c - convolution as a matrix product on the host.  The code is that of the book's figures
 * 16.15 and 16.16 with their errors corrected, and computes the book's example of 3 channels of 3x3
 * and 2 filters of 2x2.  This program is not graded.
 *
 *     cc -o build/unroll labs/09-im2col/steps/unroll.c && build/unroll
 *
 * -DC=6 -DH=14 -DW=14 -DK=16 -DR=5 -DS=5 selects other sizes, -DSTRIDE=2 another stride. */
#include <stdio.h>

#ifndef C
#define C 3
#define H 3
#define W 3
#define K 2
#define R 2
#define S 2
#endif
#ifndef STRIDE
#define STRIDE 1
#endif

enum { P = (H - R) / STRIDE + 1, Q = (W - S) / STRIDE + 1, ROWS = C * R * S, COLUMNS = P * Q };
enum { WARP = 32, SECTOR = 8 }; /* lanes; floats per sector */

static float x[C][H][W], w[K][ROWS], unrolled[ROWS][COLUMNS], y[K][COLUMNS];

/* Writes the input of each row (c, r, s) and column (op, oq) to X_unroll. */
static void unroll(void)
{
    for (int c = 0; c < C; c++)
        for (int r = 0; r < R; r++)
            for (int s = 0; s < S; s++)
                for (int op = 0; op < P; op++)
                    for (int oq = 0; oq < Q; oq++)
                        unrolled[(c * R + r) * S + s][op * Q + oq] =
                            x[c][op * STRIDE + r][oq * STRIDE + s];
}

static void multiply(void)
{
    for (int k = 0; k < K; k++)
        for (int column = 0; column < COLUMNS; column++)
            for (int row = 0; row < ROWS; row++)
                y[k][column] += w[k][row] * unrolled[row][column];
}

/* Direct convolution for one output; w[k] is w[k][c][r][s]. */
static float convolve(int k, int op, int oq)
{
    float sum = 0;
    for (int c = 0; c < C; c++)
        for (int r = 0; r < R; r++)
            for (int s = 0; s < S; s++)
                sum += w[k][(c * R + r) * S + s] * x[c][op * STRIDE + r][oq * STRIDE + s];
    return sum;
}

static void print(void)
{
    for (int row = 0; row < ROWS; row++) {
        printf("%d %d %d |", row / S / R, row / S % R, row % S);
        for (int column = 0; column < COLUMNS; column++)
            printf(" %03.0f", unrolled[row][column]);
        printf("\n");
    }
}

/* Number of sectors that contain these floats of one array.  The indices are in ascending order. */
static int sectors(const int *index, int count)
{
    int different = 0;
    for (int i = 0; i < count; i++)
        different += i == 0 || index[i] / SECTOR != index[i - 1] / SECTOR;
    return different;
}

/* Exercise 5: lane i of a warp processes column first+i, as in unroll_kernel. */
static void count_sectors(void)
{
    double accesses = 0, read = 0, written = 0, printed = 0;
    for (int row = 0; row < ROWS; row++)
        for (int first = 0; first < COLUMNS; first += WARP) {
            int from[WARP], to[WARP], to_printed[WARP], lanes = 0;
            int c = row / S / R, r = row / S % R, s = row % S;
            for (int j = first; j < COLUMNS && lanes < WARP; j++, lanes++) {
                from[lanes] = (c * H + j / Q * STRIDE + r) * W + j % Q * STRIDE + s;
                to[lanes] = row * COLUMNS + j;
                to_printed[lanes] = j * ROWS + row; /* the book's X_unroll(h_unroll, w_unroll) */
            }
            accesses++;
            read += sectors(from, lanes);
            written += sectors(to, lanes);
            printed += sectors(to_printed, lanes);
        }
    printf("sectors per warp: %.1f read, %.1f written, %.1f written as printed in the book\n",
           read / accesses, written / accesses, printed / accesses);
}

int main(void)
{
    int wrong = 0;
    for (int i = 0; i < C * H * W; i++)
        x[i / W / H][i / W % H][i % W] = i / W / H * 100 + i / W % H * 10 + i % W;
    for (int i = 0; i < K * ROWS; i++)
        w[i / ROWS][i % ROWS] = i % 7 - 3;
    unroll();
    multiply();
    if (Q < 10) print();
    for (int i = 0; i < K * COLUMNS; i++)
        wrong += y[i / COLUMNS][i % COLUMNS] != convolve(i / COLUMNS, i % COLUMNS / Q, i % Q);
    printf("%d inputs become %d elements; %d of %d outputs differ from the convolution\n",
           C * H * W, ROWS * COLUMNS, wrong, K * COLUMNS);
    count_sectors();
    return wrong > 0;
}
