/* fft.cu: cuFFT on the simulated GPU, compared with the definition of the transform. */
#include <cmath>
#include <complex>
#include <cstdio>
#include <cufft.h>
#include <vector>

typedef std::complex<double> Complex;

static int failures;

static void good(const char *what, int status)
{
    if (!status) return;
    printf("wrong: %s returned %d\n", what, status);
    failures++;
}
#define GOOD(call) good(#call, (int)(call))

/* The transform of n0 x n1 x n2 numbers. */
static std::vector<Complex> transform(const std::vector<Complex> &x, int n0, int n1, int n2,
                                      int sign)
{
    std::vector<Complex> y(x.size());
    for (size_t k = 0; k < x.size(); k++)
        for (size_t j = 0; j < x.size(); j++) {
            double turns = (double)(j % n2 * (k % n2)) / n2 +
                           (double)(j / n2 % n1 * (k / n2 % n1)) / n1 +
                           (double)(j / n2 / n1 * (k / n2 / n1)) / n0;
            y[k] += x[j] * std::polar(1.0, sign * 2 * M_PI * turns);
        }
    return y;
}

static std::vector<Complex> numbers(int n)
{
    std::vector<Complex> x(n);
    for (int i = 0; i < n; i++)
        x[i] = Complex(i * 7 % 11 - 5, i * 3 % 5 - 2);
    return x;
}

template <class T> static T *device(size_t count)
{
    T *memory;
    cudaMalloc(&memory, count * sizeof(T));
    return memory;
}

template <class T> static std::vector<T> back(const T *memory, size_t count)
{
    std::vector<T> host(count);
    cudaMemcpy(host.data(), memory, count * sizeof(T), cudaMemcpyDeviceToHost);
    return host;
}

static void expect(const char *what, Complex wanted, Complex value)
{
    if (std::abs(wanted - value) <= 2e-4) return;
    printf("wrong: %s is %g%+gi, not %g%+gi\n", what, value.real(), value.imag(), wanted.real(),
           wanted.imag());
    failures++;
}

/* Complex transforms in one to three dimensions, forth and back. */
template <class T, class Exec>
static void complex_transform(const char *what, cufftType type, Exec exec, int rank, int *n)
{
    int n0 = rank > 2 ? n[0] : 1, n1 = rank > 1 ? n[rank - 2] : 1, n2 = n[rank - 1];
    int count = n0 * n1 * n2;
    std::vector<Complex> x = numbers(count), y = transform(x, n0, n1, n2, -1);
    std::vector<T> in(count);
    for (int i = 0; i < count; i++)
        in[i].x = x[i].real(), in[i].y = x[i].imag();
    T *from = device<T>(count), *to = device<T>(count);
    cudaMemcpy(from, in.data(), count * sizeof(T), cudaMemcpyHostToDevice);
    cufftHandle plan;
    if (rank == 1) GOOD(cufftPlan1d(&plan, n[0], type, 1));
    if (rank == 2) GOOD(cufftPlan2d(&plan, n[0], n[1], type));
    if (rank == 3) GOOD(cufftPlan3d(&plan, n[0], n[1], n[2], type));
    GOOD(exec(plan, from, to, CUFFT_FORWARD));
    std::vector<T> out = back(to, count);
    for (int i = 0; i < count; i++)
        expect(what, y[i], Complex(out[i].x, out[i].y));
    GOOD(exec(plan, to, to, CUFFT_INVERSE));
    out = back(to, count);
    for (int i = 0; i < count; i++)
        expect(what, x[i] * (double)count, Complex(out[i].x, out[i].y));
    GOOD(cufftDestroy(plan));
    cudaFree(from), cudaFree(to);
}

/* A batch of real transforms forth and back: contiguous, in place with padded rows, or with one
 * element of each transform after the other. */
template <class R, class C, class Forth, class Back>
static void real_transform(const char *what, cufftType forth, cufftType reverse, Forth r2c,
                           Back c2r, int layout)
{
    enum { N = 6, HALF = N / 2 + 1, BATCH = 3 };
    int n = N, real_step = layout == 2 ? BATCH : 1, complex_step = real_step;
    int real_row = layout == 2   ? 1
                   : layout == 1 ? 2 * HALF
                                 : N,
        complex_row = layout == 2 ? 1 : HALF;
    std::vector<Complex> x = numbers(BATCH * N);
    R *from = device<R>(BATCH * 2 * HALF);
    C *to = layout == 1 ? (C *)from : device<C>(BATCH * HALF);
    for (int b = 0; b < BATCH; b++)
        for (int i = 0; i < N; i++) {
            R value = (R)x[b * N + i].real();
            cudaMemcpy(from + b * real_row + i * real_step, &value, sizeof value,
                       cudaMemcpyHostToDevice);
        }
    cufftHandle plan, plan_back;
    if (layout == 2) {
        int embed = N, half = HALF;
        GOOD(cufftPlanMany(&plan, 1, &n, &embed, BATCH, 1, &half, BATCH, 1, forth, BATCH));
        GOOD(cufftPlanMany(&plan_back, 1, &n, &half, BATCH, 1, &embed, BATCH, 1, reverse, BATCH));
    } else {
        GOOD(cufftPlan1d(&plan, N, forth, BATCH));
        GOOD(cufftPlan1d(&plan_back, N, reverse, BATCH));
    }
    GOOD(r2c(plan, from, to));
    for (int b = 0; b < BATCH; b++) {
        std::vector<Complex> part(N);
        for (int i = 0; i < N; i++)
            part[i] = x[b * N + i].real();
        std::vector<Complex> y = transform(part, 1, 1, N, -1);
        for (int i = 0; i < HALF; i++) {
            C value = back(to + b * complex_row + i * complex_step, 1)[0];
            expect(what, y[i], Complex(value.x, value.y));
        }
    }
    GOOD(c2r(plan_back, to, from));
    for (int b = 0; b < BATCH; b++)
        for (int i = 0; i < N; i++)
            expect(what, N * x[b * N + i].real(),
                   (double)back(from + b * real_row + i * real_step, 1)[0]);
    GOOD(cufftDestroy(plan));
    GOOD(cufftDestroy(plan_back));
    cudaFree(from);
    if (layout != 1) cudaFree(to);
}

int main()
{
    int n[] = {3, 4, 5};
    for (int rank = 1; rank <= 3; rank++) {
        complex_transform<cufftComplex>("C2C", CUFFT_C2C, cufftExecC2C, rank, n);
        complex_transform<cufftDoubleComplex>("Z2Z", CUFFT_Z2Z, cufftExecZ2Z, rank, n);
    }
    for (int layout = 0; layout < 3; layout++) {
        real_transform<float, cufftComplex>("R2C", CUFFT_R2C, CUFFT_C2R, cufftExecR2C, cufftExecC2R,
                                            layout);
        real_transform<double, cufftDoubleComplex>("D2Z", CUFFT_D2Z, CUFFT_Z2D, cufftExecD2Z,
                                                   cufftExecZ2D, layout);
    }
    cufftHandle plan;
    if (cufftPlan1d(&plan, 0, CUFFT_C2C, 1) != CUFFT_INVALID_SIZE) failures++;
    if (cufftExecC2C(12345, nullptr, nullptr, CUFFT_FORWARD) != CUFFT_INVALID_PLAN) failures++;
    printf(failures ? "%d failures\n" : "all right\n", failures);
    return failures != 0;
}
