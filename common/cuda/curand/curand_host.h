/* curand_host.h - cuRAND's host API: generators.
 *
 * Module: the host functions of cuRAND (common/include/cuda/curand.h), computed by GSL.
 * Callers: programs on the simulated GPU, which link libcurand.
 * May use: cuda/runtime, cuda.
 *
 * The distributions are those of cuRAND; the sequences are not, for any type and seed. */
#ifndef CONVLAB_CUDA_CURAND_HOST_H
#define CONVLAB_CUDA_CURAND_HOST_H

#include <curand.h>
#include <gsl/gsl_qrng.h>
#include <gsl/gsl_rng.h>

struct curandGenerator_st {
    curandRngType_t type;
    int is_host; /* Boolean: results go to host memory */
    cudaStream_t stream;
    unsigned long long seed, offset;
    unsigned dimensions;
    gsl_rng *random; /* NULL until the first result, and after a change of seed or offset */
    gsl_qrng *quasi;
};

#endif
