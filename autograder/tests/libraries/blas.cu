/* blas.cu MODE: cuBLAS on the simulated GPU, compared with sums on the host.
 *
 * all: every function; unwritten, outside, late: a fault that the checks have to find. */
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cublas_v2.h>
#include <cuda_fp16.h>
#include <vector>

static int failures;

static void expect(const char *what, double wanted, double value)
{
    if (fabs(wanted - value) <= 1e-5 * fmax(1.0, fabs(wanted))) return;
    printf("wrong: %s is %g, not %g\n", what, value, wanted);
    failures++;
}

static void good(const char *what, cublasStatus_t status)
{
    if (status == CUBLAS_STATUS_SUCCESS) return;
    printf("wrong: %s returned %s\n", what, cublasGetStatusString(status));
    failures++;
}
#define GOOD(call) good(#call, call)

template <class T> static T *device(const std::vector<T> &host)
{
    T *memory;
    cudaMalloc(&memory, host.size() * sizeof(T));
    cudaMemcpy(memory, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice);
    return memory;
}

template <class T> static std::vector<T> back(const T *memory, size_t count)
{
    std::vector<T> host(count);
    cudaMemcpy(host.data(), memory, count * sizeof(T), cudaMemcpyDeviceToHost);
    return host;
}

static cublasHandle_t handle;

__global__ void scale(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 2;
}

static void vectors()
{
    std::vector<float> x = {1, -2, 3, -4}, y = {10, 20, 30, 40};
    float *dx = device(x), *dy = device(y), alpha = 2, value;
    int index;
    GOOD(cublasSaxpy(handle, 4, &alpha, dx, 1, dy, 1));
    expect("axpy", 10 + 2 * 1, back(dy, 4)[0]);
    GOOD(cublasSdot(handle, 4, dx, 1, dy, 1, &value));
    expect("dot", 1 * 12 - 2 * 16 + 3 * 36 - 4 * 32, value);
    GOOD(cublasSdot(handle, 2, dx, 2, dy, -1, &value));
    expect("dot with steps", 1 * 16 + 3 * 12, value);
    GOOD(cublasSnrm2(handle, 4, dx, 1, &value));
    expect("nrm2", sqrt(30.0), value);
    GOOD(cublasSasum(handle, 4, dx, 1, &value));
    expect("asum", 10, value);
    GOOD(cublasIsamax(handle, 4, dx, 1, &index));
    expect("amax", 4, index);
    GOOD(cublasIsamin(handle, 4, dx, 1, &index));
    expect("amin", 1, index);
    GOOD(cublasSscal(handle, 4, &alpha, dx, 1));
    expect("scal", -8, back(dx, 4)[3]);
    GOOD(cublasSswap(handle, 4, dx, 1, dy, 1));
    expect("swap", 12, back(dx, 4)[0]);
    GOOD(cublasScopy(handle, 2, dx, 2, dy, 1));
    expect("copy", 36, back(dy, 2)[1]);
    float *result;
    cudaMalloc(&result, sizeof *result);
    GOOD(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
    GOOD(cublasSasum(handle, 4, dx, 1, result));
    GOOD(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST));
    expect("asum in device memory", 96, back(result, 1)[0]);
    std::vector<cuDoubleComplex> z = {make_cuDoubleComplex(1, 2), make_cuDoubleComplex(3, -1)};
    cuDoubleComplex *dz = device(z), dot;
    GOOD(cublasZdotc(handle, 2, dz, 1, dz, 1, &dot));
    expect("dotc", 15, dot.x);
    GOOD(cublasZdotu(handle, 2, dz, 1, dz, 1, &dot));
    expect("dotu", -3 + 8, dot.x);
    cudaFree(dx), cudaFree(dy), cudaFree(result), cudaFree(dz);
}

/* The element types of the GEMMs. */
static float number(float value)
{
    return value;
}
static double number(double value)
{
    return value;
}
static double number(__half value)
{
    return __half2float(value);
}
static double number(cuComplex value)
{
    return value.x;
}
static double number(cuDoubleComplex value)
{
    return value.x;
}
static void set(float &to, int value)
{
    to = (float)value;
}
static void set(double &to, int value)
{
    to = value;
}
static void set(__half &to, int value)
{
    to = __float2half((float)value);
}
static void set(cuComplex &to, int value)
{
    to = make_cuComplex((float)value, 0);
}
static void set(cuDoubleComplex &to, int value)
{
    to = make_cuDoubleComplex(value, 0);
}

enum { M = 5, N = 4, K = 3, LD = 7, COUNT = 2, SIZE = LD * 8 };

/* Calls PRODUCT for both operations of both operands and compares every element. */
template <class T, class Gemm> static void product(const char *what, Gemm gemm)
{
    std::vector<T> a(COUNT * SIZE), b(COUNT * SIZE), c(COUNT * SIZE);
    for (int i = 0; i < COUNT * SIZE; i++)
        set(a[i], i % 7 - 3), set(b[i], i % 5 - 2), set(c[i], i % 3);
    T *da = device(a), *db = device(b), alpha, beta;
    set(alpha, 2), set(beta, 3);
    for (int form = 0; form < 4; form++) {
        cublasOperation_t opa = form & 1 ? CUBLAS_OP_T : CUBLAS_OP_N;
        cublasOperation_t opb = form & 2 ? CUBLAS_OP_T : CUBLAS_OP_N;
        T *dc = device(c);
        good(what, gemm(opa, opb, &alpha, da, db, &beta, dc));
        std::vector<T> result = back(dc, COUNT * SIZE);
        for (int at = 0; at < COUNT; at++)
            for (int i = 0; i < M; i++)
                for (int j = 0; j < N; j++) {
                    double sum = 0;
                    for (int k = 0; k < K; k++)
                        sum += (double)number(a[at * SIZE + (form & 1 ? k + i * LD : i + k * LD)]) *
                               number(b[at * SIZE + (form & 2 ? j + k * LD : k + j * LD)]);
                    int place = at * SIZE + i + j * LD;
                    expect(what, 2 * sum + 3 * number(c[place]), number(result[place]));
                }
        expect("the padding", number(c[M]), number(result[M]));
        cudaFree(dc);
    }
    cudaFree(da), cudaFree(db);
}

/* T op op alpha a b beta c -> a batch, by strides, by a list, or one after another. */
#define PRODUCTS(X, T)                                                                             \
    product<T>(#X "gemmStridedBatched", [](cublasOperation_t opa, cublasOperation_t opb,           \
                                           const T *alpha, T *a, T *b, const T *beta, T *c) {      \
        return cublas##X##gemmStridedBatched(handle, opa, opb, M, N, K, alpha, a, LD, SIZE, b, LD, \
                                             SIZE, beta, c, LD, SIZE, COUNT);                      \
    });                                                                                            \
    product<T>(#X "gemmBatched", [](cublasOperation_t opa, cublasOperation_t opb, const T *alpha,  \
                                    T *a, T *b, const T *beta, T *c) {                             \
        T **la = device(std::vector<T *>{a, a + SIZE}),                                            \
          **lb = device(std::vector<T *>{b, b + SIZE}),                                            \
          **lc = device(std::vector<T *>{c, c + SIZE});                                            \
        cublasStatus_t status = cublas##X##gemmBatched(handle, opa, opb, M, N, K, alpha, la, LD,   \
                                                       lb, LD, beta, lc, LD, COUNT);               \
        cudaFree(la), cudaFree(lb), cudaFree(lc);                                                  \
        return status;                                                                             \
    });                                                                                            \
    product<T>(#X "gemm", [](cublasOperation_t opa, cublasOperation_t opb, const T *alpha, T *a,   \
                             T *b, const T *beta, T *c) {                                          \
        cublas##X##gemm(handle, opa, opb, M, N, K, alpha, a, LD, b, LD, beta, c, LD);              \
        return cublas##X##gemm(handle, opa, opb, M, N, K, alpha, a + SIZE, LD, b + SIZE, LD, beta, \
                               c + SIZE, LD);                                                      \
    });

static void mixed()
{
    std::vector<signed char> a = {1, 2, 3, 4}, b = {5, -6, 7, 100};
    signed char *da = device(a), *db = device(b);
    int *dc = device(std::vector<int>(4, 1)), one = 1, two = 2;
    GOOD(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &two, da, CUDA_R_8I, 2, db,
                      CUDA_R_8I, 2, &one, dc, CUDA_R_32I, 2, CUBLAS_COMPUTE_32I,
                      CUBLAS_GEMM_DEFAULT));
    expect("gemmEx of integers", 2 * (2 * 7 + 4 * 100) + 1, back(dc, 4)[3]);
    std::vector<__half> h(4, __float2half(0.1f));
    __half *dh = device(h);
    float *df, alpha = 1, beta = 0;
    cudaMalloc(&df, 4 * sizeof *df);
    GOOD(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &alpha, dh, CUDA_R_16F, 2, dh,
                      CUDA_R_16F, 2, &beta, df, CUDA_R_32F, 2, CUBLAS_COMPUTE_32F,
                      CUBLAS_GEMM_DEFAULT));
    double tenth = __half2float(h[0]);
    expect("gemmEx of FP16 into FP32", 2 * tenth * tenth, back(df, 4)[0]);
    cudaFree(da), cudaFree(db), cudaFree(dc), cudaFree(dh), cudaFree(df);
}

static void matrices()
{
    /* a = 2 3 5, column-major with a padding of one row
           4 1 6 */
    std::vector<double> a = {2, 4, -9, 3, 1, -9, 5, 6, -9}, x = {1, 2, 3}, y = {1, 1, 1};
    double *da = device(a), *dx = device(x), *dy = device(y), one = 1, two = 2, zero = 0;
    GOOD(cublasDgemv(handle, CUBLAS_OP_N, 2, 3, &one, da, 3, dx, 1, &two, dy, 1));
    expect("gemv", 2 + 6 + 15 + 2, back(dy, 3)[0]);
    GOOD(cublasDgemv(handle, CUBLAS_OP_T, 2, 3, &one, da, 3, dx, 1, &zero, dy, 1));
    expect("gemv transposed", 5 + 12, back(dy, 3)[2]);
    GOOD(cublasDger(handle, 2, 3, &two, dx, 1, dx, 1, da, 3));
    expect("ger", 6 + 2 * 2 * 3, back(da, 9)[7]);
    expect("ger's padding", -9, back(da, 9)[8]);
    /* a triangle: the other one is not read */
    double *lower, *b = device(std::vector<double>{2, 9});
    cudaMalloc(&lower, 4 * sizeof *lower);
    cudaMemcpy(lower, std::vector<double>{2, 1}.data(), 16, cudaMemcpyHostToDevice);
    cudaMemcpy(lower + 3, std::vector<double>{4}.data(), 8, cudaMemcpyHostToDevice);
    GOOD(cublasDtrsm(handle, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N,
                     CUBLAS_DIAG_NON_UNIT, 2, 1, &one, lower, 2, b, 2));
    expect("trsm", (9 - 1) / 4.0, back(b, 2)[1]);
    double *c = device(std::vector<double>(4, 7));
    GOOD(cublasDgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, 2, 2, &one, c, 2, &zero, NULL, 2, c, 2));
    GOOD(cublasDsyrk(handle, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N, 2, 1, &one, dx, 2, &zero, c, 2));
    expect("syrk", 2, back(c, 4)[2]);
    expect("syrk's other triangle", 7, back(c, 4)[1]);
    double host[4] = {0};
    GOOD(cublasGetMatrix(2, 2, sizeof(double), c, 2, host, 2));
    GOOD(cublasSetVector(2, sizeof(double), host, 1, dx, 2));
    expect("setVector", host[1], back(dx, 3)[2]);
    cudaFree(da), cudaFree(dx), cudaFree(dy), cudaFree(lower), cudaFree(b), cudaFree(c);
}

/* Kernels and library calls of one stream, and of two that wait for each other or do not. */
static void streams(bool late)
{
    const int n = 1000;
    cudaStream_t one, two;
    cudaEvent_t done;
    cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
    cudaEventCreate(&done);
    float *x = device(std::vector<float>(n, 1)), alpha = 3;
    cudaDeviceSynchronize();
    GOOD(cublasSetStream(handle, one));
    scale<<<4, 256, 0, one>>>(x, n);
    GOOD(cublasSscal(handle, n, &alpha, x, 1));
    cudaEventRecord(done, one);
    if (!late) cudaStreamWaitEvent(two, done, 0);
    scale<<<4, 256, 0, two>>>(x, n);
    cudaDeviceSynchronize();
    expect("streams", 12, back(x, n)[n - 1]);
    GOOD(cublasSetStream(handle, 0));
    cudaFree(x);
}

static int wrong(const char *mode)
{
    float *x, *y, alpha = 1;
    cudaMalloc(&x, 100 * sizeof *x);
    cudaMalloc(&y, 100 * sizeof *y);
    cudaMemset(y, 0, 100 * sizeof *y);
    if (!strcmp(mode, "unwritten")) cudaMemset(x, 0, 50 * sizeof *x);
    if (!strcmp(mode, "outside")) cudaMemset(x, 0, 100 * sizeof *x);
    cublasStatus_t status =
        cublasSaxpy(handle, strcmp(mode, "outside") ? 100 : 101, &alpha, x, 1, y, 1);
    printf("%s\n", cublasGetStatusName(status));
    return 0;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "all";
    GOOD(cublasCreate(&handle));
    if (!strcmp(mode, "unwritten") || !strcmp(mode, "outside")) return wrong(mode);
    if (!strcmp(mode, "late")) {
        streams(true);
        return 0;
    }
    vectors();
    PRODUCTS(S, float)
    PRODUCTS(D, double)
    PRODUCTS(C, cuComplex)
    PRODUCTS(Z, cuDoubleComplex)
    PRODUCTS(H, __half)
    mixed();
    matrices();
    streams(false);
    GOOD(cublasDestroy(handle));
    printf(failures ? "%d failures\n" : "all right\n", failures);
    return failures != 0;
}
