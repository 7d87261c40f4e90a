/* bench_oracle.c - speed of the fp64 oracle, on which every grade depends, for VGG-16's first
 * layer. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "common/operations/catalog/operations.h"

int main(void)
{
    const Operation *operation = operation_find("conv_forward");
    Problem problem;
    Error error;
    if (operation->parse("N=1 C=3 H=224 W=224 K=64 R=3 S=3 pad=1 stride=1", &problem, &error)) {
        fprintf(stderr, "bench_oracle: %s\n", error.text);
        return 1;
    }
    TensorShape shape[OPERATION_TENSORS];
    float *tensor[OPERATION_TENSORS] = {NULL};
    int tensors = operation->tensors(&problem, shape);
    for (int i = 0; i < tensors; i++)
        tensor[i] = calloc(tensor_count(&shape[i]), sizeof(float));
    size_t count = tensor_count(&shape[tensors - 1]);
    double *space = calloc(3 * count, sizeof(double));
    if (!space || !tensor[0] || !tensor[1]) return 1;
    Random random;
    struct timespec start, end;
    random_seed(&random, 1);
    operation->generate(&problem, &random, tensor);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
    operation->oracle(&problem, (const float *const *)tensor, space, space + count,
                      space + 2 * count);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    printf("oracle: %.0f M multiply-adds in %.3f s of CPU\n", operation->flops(&problem) / 2e6,
           (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) * 1e-9);
    for (int i = 0; i < tensors; i++)
        free(tensor[i]);
    free(space);
    return 0;
}
