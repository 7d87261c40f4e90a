/* samples-and-layers.cu - kernels in the style of third-party programs: public samples, matrix
 * products, layers of transformers, classic benchmarks.
 *
 * Its times were predicted and recorded before any launch was measured (sets.tsv). */
#include <cuda_fp16.h>
#include <mma.h>

#include "common/simulator/validation/sets/entries.cuh"

static float *a, *b, *c, *d; /* 16 M floats each but the last: 4 M */
static int *rows, *columns;  /* a sparse matrix of 32768 rows */

#define E(family, name, ...) ENTER(REGRESSION, family, name, __VA_ARGS__)
#define U(p)                 ((uint32_t *)(p))

#include "common/simulator/validation/sets/samples-and-layers/samples.cuh"
#include "common/simulator/validation/sets/samples-and-layers/gemm.cuh"
#include "common/simulator/validation/sets/samples-and-layers/layers.cuh"
#include "common/simulator/validation/sets/samples-and-layers/reductions_and_sorting.cuh"
#include "common/simulator/validation/sets/samples-and-layers/grids_and_signals.cuh"

int main(int argc, char **argv)
{
    measure_open(argc, argv);
    a = array_make(16 * MB), b = array_make(16 * MB), c = array_make(16 * MB),
    d = array_make(4 * MB);
    cudaMalloc(&rows, 32769 * sizeof *rows);
    cudaMalloc(&columns, 32768 * 16 * sizeof *columns);
    sparse_make<<<129, 256>>>(rows, columns, 32768);
    samples();
    products();
    layers();
    collectives();
    grids();
    return measure_close();
}
