/* layers.cu - a lab's solution on its cases, to be measured like any kernel.
 *
 * Linked with one solution's conv_forward.  Standard input: a line for each case, its name and the
 * numbers of its ConvProblem in the order of the struct, as `lab cases` prints them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <convlab/conv.h>

#include "common/simulator/validation/measure.h"

struct Layer {
    ConvProblem problem;
    float *x, *w, *y;
};

/* Values of both signs and many exponents, because a GPU's power depends on the data. */
__global__ void fill_kernel(float *x, size_t n)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) x[i] = (float)((int)((unsigned)i * 2654435761u) >> 8) * 1e-6f;
}

static float *tensor(double floats)
{
    float *data;
    if (cudaMalloc(&data, (size_t)floats * sizeof *data) != cudaSuccess) {
        fprintf(stderr, "no device memory for %.0f floats\n", floats);
        exit(1);
    }
    fill_kernel<<<(unsigned)((floats + 255) / 256), 256>>>(data, (size_t)floats);
    return data;
}

int main(int argc, char **argv)
{
    char line[600], name[128];
    const char *slash = strrchr(argv[0], '/'), *family = slash ? slash + 1 : argv[0];
    measure_open(argc, argv);
    while (fgets(line, sizeof line, stdin)) {
        Layer layer;
        int *field = (int *)&layer.problem, used;
        char *at = line;
        if (sscanf(at, "%127s%n", name, &used) != 1) continue;
        at += used;
        for (size_t i = 0; i < sizeof layer.problem / sizeof *field; i++, at += used)
            if (sscanf(at, "%d%n", &field[i], &used) != 1) {
                fprintf(stderr, "%s: fewer numbers than a ConvProblem has\n", name);
                return 2;
            }
        const ConvProblem &p = layer.problem;
        layer.x = tensor((double)p.N * p.C * p.H * p.W);
        layer.w = tensor((double)p.K * p.C * p.R * p.S);
        layer.y = tensor((double)p.N * p.K * p.P * p.Q);
        measure_entry(
            LAB, family, name,
            [](void *argument) {
                const Layer *l = (const Layer *)argument;
                conv_forward(&l->problem, l->x, l->w, l->y, NULL);
            },
            &layer);
        cudaFree(layer.x), cudaFree(layer.w), cudaFree(layer.y);
    }
    return measure_close();
}
