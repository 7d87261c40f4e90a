/* course.cu: a program of a course that uses wb.h. */
#include <wb.h>

__global__ void add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

int main(int argc, char **argv)
{
    int n;
    wbArg_t arguments = wbArg_read(argc, argv);
    wbTime_start(Generic, "Importing data");
    float *a = (float *)wbImport(wbArg_getInputFile(arguments, 0), &n);
    float *b = (float *)wbImport(wbArg_getInputFile(arguments, 1), &n);
    wbTime_stop(Generic, "Importing data");
    wbLog(TRACE, "The input length is ", n);
    float *da, *db, *dc, *c = (float *)malloc(n * sizeof *c);
    cudaMalloc(&da, n * sizeof *da), cudaMalloc(&db, n * sizeof *db),
        cudaMalloc(&dc, n * sizeof *dc);
    cudaMemcpy(da, a, n * sizeof *a, cudaMemcpyHostToDevice);
    cudaMemcpy(db, b, n * sizeof *b, cudaMemcpyHostToDevice);
    add<<<(n + 255) / 256, 256>>>(da, db, dc, n);
    cudaMemcpy(c, dc, n * sizeof *c, cudaMemcpyDeviceToHost);
    bool is_right = wbSolution(arguments, c, n);
    cudaFree(da), cudaFree(db), cudaFree(dc);
    free(a), free(b), free(c);
    return is_right ? 0 : 3;
}
