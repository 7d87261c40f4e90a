/* rand.cu: cuRAND's host API on the simulated GPU: moments, ranges, seeds. */
#include <cmath>
#include <cstdio>
#include <curand.h>
#include <vector>

static int failures;

static void good(const char *what, int status, int wanted = 0)
{
    if (status == wanted) return;
    printf("wrong: %s returned %d\n", what, status);
    failures++;
}
#define GOOD(call) good(#call, (int)(call))

enum { N = 20000 };

/* Mean and standard deviation within 5 standard errors, with a generous one for the deviation. */
template <class T>
static void moments(const char *what, const T *memory, double mean, double deviation)
{
    std::vector<T> x(N);
    cudaMemcpy(x.data(), memory, N * sizeof(T), cudaMemcpyDeviceToHost);
    double sum = 0, squares = 0;
    for (T value : x)
        sum += (double)value;
    for (T value : x)
        squares += ((double)value - sum / N) * ((double)value - sum / N);
    double got = sqrt(squares / N);
    if (fabs(sum / N - mean) > 5 * deviation / sqrt((double)N) ||
        fabs(got / deviation - 1) > 0.05) {
        printf("wrong: %s has mean %g and deviation %g, not %g and %g\n", what, sum / N, got, mean,
               deviation);
        failures++;
    }
}

int main()
{
    float *x;
    double *d;
    unsigned *u;
    cudaMalloc(&x, N * sizeof *x);
    cudaMalloc(&d, N * sizeof *d);
    cudaMalloc(&u, N * sizeof *u);
    curandRngType_t types[] = {CURAND_RNG_PSEUDO_XORWOW, CURAND_RNG_PSEUDO_PHILOX4_32_10,
                               CURAND_RNG_PSEUDO_MT19937, CURAND_RNG_QUASI_SOBOL32};
    std::vector<float> first(4), again(4);
    for (curandRngType_t type : types) {
        curandGenerator_t generator;
        bool is_quasi = type == CURAND_RNG_QUASI_SOBOL32;
        GOOD(curandCreateGenerator(&generator, type));
        if (!is_quasi) GOOD(curandSetPseudoRandomGeneratorSeed(generator, 1234));
        GOOD(curandGenerateUniform(generator, x, N));
        cudaMemcpy(first.data(), x, 16, cudaMemcpyDeviceToHost);
        moments("uniform", x, 0.5, sqrt(1 / 12.0));
        GOOD(curandGenerateUniformDouble(generator, d, N));
        moments("uniform double", d, 0.5, sqrt(1 / 12.0));
        GOOD(curandGenerateNormal(generator, x, N, 3, 2));
        moments("normal", x, 3, 2);
        GOOD(curandGenerateLogNormalDouble(generator, d, N, 0, 0.25));
        moments("log-normal", d, exp(0.25 * 0.25 / 2),
                sqrt((exp(0.25 * 0.25) - 1) * exp(0.25 * 0.25)));
        GOOD(curandGenerate(generator, u, N));
        moments("bits", u, 0x1p31, 0x1p32 / sqrt(12.0));
        if (!is_quasi) {
            GOOD(curandGeneratePoisson(generator, u, N, 10));
            moments("Poisson", u, 10, sqrt(10.0));
            good("an odd number of normal values", curandGenerateNormal(generator, x, N - 1, 0, 1),
                 CURAND_STATUS_LENGTH_NOT_MULTIPLE);
            GOOD(curandSetPseudoRandomGeneratorSeed(generator, 1234));
            GOOD(curandGenerateUniform(generator, x, N));
            cudaMemcpy(again.data(), x, 16, cudaMemcpyDeviceToHost);
            if (first != again) printf("wrong: the same seed gives another sequence\n"), failures++;
            GOOD(curandSetPseudoRandomGeneratorSeed(generator, 1235));
            GOOD(curandGenerateUniform(generator, x, N));
            cudaMemcpy(again.data(), x, 16, cudaMemcpyDeviceToHost);
            if (first == again) printf("wrong: another seed gives the same sequence\n"), failures++;
        }
        GOOD(curandDestroyGenerator(generator));
    }
    cudaFree(x), cudaFree(d), cudaFree(u);
    printf(failures ? "%d failures\n" : "all right\n", failures);
    return failures != 0;
}
