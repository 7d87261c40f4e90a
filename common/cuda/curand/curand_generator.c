/* curand_generator.c - generators of cuRAND's host API.
 *
 * Every pseudorandom type is GSL's MT19937, seeded from the type, the seed and the offset; every
 * quasirandom type is GSL's Sobol sequence, which has up to 40 dimensions. */
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/cuda/curand/curand_host.h"
#include "common/cuda/runtime/runtime_library.h"

enum { DIMENSIONS_MOST = 40 };

static int is_quasi(const struct curandGenerator_st *generator)
{
    return generator->type >= CURAND_RNG_QUASI_DEFAULT;
}

/* ---- generators ------------------------------------------------------------------------------ */

static curandStatus_t create(curandGenerator_t *generator, curandRngType_t type, int is_host)
{
    static const curandRngType_t types[] = {
        CURAND_RNG_PSEUDO_DEFAULT,          CURAND_RNG_PSEUDO_XORWOW,
        CURAND_RNG_PSEUDO_MRG32K3A,         CURAND_RNG_PSEUDO_MTGP32,
        CURAND_RNG_PSEUDO_MT19937,          CURAND_RNG_PSEUDO_PHILOX4_32_10,
        CURAND_RNG_QUASI_DEFAULT,           CURAND_RNG_QUASI_SOBOL32,
        CURAND_RNG_QUASI_SCRAMBLED_SOBOL32, CURAND_RNG_QUASI_SOBOL64,
        CURAND_RNG_QUASI_SCRAMBLED_SOBOL64};
    size_t i = 0, count = sizeof types / sizeof *types;
    if (!generator) return CURAND_STATUS_OUT_OF_RANGE;
    while (i < count && types[i] != type)
        i++;
    if (i == count) return CURAND_STATUS_TYPE_ERROR;
    *generator = calloc(1, sizeof **generator);
    if (!*generator) return CURAND_STATUS_ALLOCATION_FAILED;
    **generator = (struct curandGenerator_st){.type = type, .is_host = is_host, .dimensions = 1};
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandCreateGenerator(curandGenerator_t *generator, curandRngType_t type)
{
    return create(generator, type, 0);
}

curandStatus_t curandCreateGeneratorHost(curandGenerator_t *generator, curandRngType_t type)
{
    return create(generator, type, 1);
}

static void restart(struct curandGenerator_st *generator)
{
    if (generator->random) gsl_rng_free(generator->random);
    if (generator->quasi) gsl_qrng_free(generator->quasi);
    generator->random = NULL, generator->quasi = NULL;
}

curandStatus_t curandDestroyGenerator(curandGenerator_t generator)
{
    if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
    restart(generator);
    free(generator);
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandGetVersion(int *version)
{
    if (!version) return CURAND_STATUS_OUT_OF_RANGE;
    *version = CURAND_VERSION;
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandGetProperty(libraryPropertyType type, int *value)
{
    if (!value || type > PATCH_LEVEL) return CURAND_STATUS_OUT_OF_RANGE;
    *value = type == MAJOR_VERSION   ? CURAND_VER_MAJOR
             : type == MINOR_VERSION ? CURAND_VER_MINOR
                                     : CURAND_VER_PATCH;
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandSetStream(curandGenerator_t generator, cudaStream_t stream)
{
    if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
    generator->stream = stream;
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator,
                                                  unsigned long long seed)
{
    if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
    if (is_quasi(generator)) return CURAND_STATUS_TYPE_ERROR;
    generator->seed = seed;
    restart(generator);
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator, unsigned long long offset)
{
    if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
    generator->offset = offset;
    restart(generator);
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandSetGeneratorOrdering(curandGenerator_t generator, curandOrdering_t order)
{
    if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
    int is_for_quasi = order >= CURAND_ORDERING_QUASI_DEFAULT;
    return is_for_quasi == is_quasi(generator) ? CURAND_STATUS_SUCCESS : CURAND_STATUS_OUT_OF_RANGE;
}

curandStatus_t curandSetQuasiRandomGeneratorDimensions(curandGenerator_t generator,
                                                       unsigned int dimensions)
{
    if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
    if (!is_quasi(generator)) return CURAND_STATUS_TYPE_ERROR;
    if (dimensions < 1) return CURAND_STATUS_OUT_OF_RANGE;
    if (dimensions > DIMENSIONS_MOST) {
        runtime_library_fail("curandSetQuasiRandomGeneratorDimensions",
                             "%u dimensions; at most %d are supported", dimensions,
                             DIMENSIONS_MOST);
        return CURAND_STATUS_OUT_OF_RANGE;
    }
    generator->dimensions = dimensions;
    restart(generator);
    return CURAND_STATUS_SUCCESS;
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* A mix of seed and type, so that types differ (the finalizer of MurmurHash3). */
static unsigned long seed_of(const struct curandGenerator_st *generator)
{
    uint64_t x = generator->seed ^ (uint64_t)generator->type << 56;
    x = (x ^ x >> 33) * 0xff51afd7ed558ccdull;
    x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53ull;
    return (unsigned long)(x ^ x >> 33);
}

curandStatus_t curandGenerateSeeds(curandGenerator_t generator)
{
    if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
    if (generator->random || generator->quasi) return CURAND_STATUS_SUCCESS;
    if (is_quasi(generator)) {
        generator->quasi = gsl_qrng_alloc(gsl_qrng_sobol, generator->dimensions);
    } else {
        generator->random = gsl_rng_alloc(gsl_rng_mt19937);
        if (generator->random) gsl_rng_set(generator->random, seed_of(generator));
        for (uint64_t i = 0; generator->random && i < generator->offset; i++)
            gsl_rng_get(generator->random);
    }
    return generator->random || generator->quasi ? CURAND_STATUS_SUCCESS
                                                 : CURAND_STATUS_ALLOCATION_FAILED;
}

/* A distribution and its parameters: mean and deviation, or lambda. */
typedef enum Distribution { UNIFORM, NORMAL, LOG_NORMAL, POISSON, BITS } Distribution;

typedef struct Draw {
    const char *api;
    Distribution distribution;
    double a, b;
    void *out;
    size_t n, bytes; /* elements, and bytes of one */
    int is_integer;  /* Boolean */
} Draw;

static void element_store(const Draw *draw, char *at, double value)
{
    float single = (float)value;
    if (draw->bytes == sizeof single)
        memcpy(at, &single, sizeof single);
    else
        memcpy(at, &value, sizeof value);
}

static void bits_store(const Draw *draw, char *at, uint64_t value)
{
    uint32_t word = (uint32_t)value;
    memcpy(at, draw->bytes == sizeof word ? (const void *)&word : (const void *)&value,
           draw->bytes);
}

/* The distribution's value for a number in (0, 1). */
static double transform(const Draw *draw, double uniform)
{
    switch (draw->distribution) {
    case NORMAL:
        return draw->a + gsl_cdf_gaussian_Pinv(uniform, draw->b);
    case LOG_NORMAL:
        return exp(draw->a + gsl_cdf_gaussian_Pinv(uniform, draw->b));
    default:
        return uniform;
    }
}

static void pseudo_draw(gsl_rng *random, const Draw *draw, char *at)
{
    switch (draw->distribution) {
    case UNIFORM: /* in (0, 1], as cuRAND's */
        element_store(draw, at, 1 - gsl_rng_uniform(random));
        break;
    case NORMAL:
        element_store(draw, at, draw->a + gsl_ran_gaussian_ziggurat(random, draw->b));
        break;
    case LOG_NORMAL:
        element_store(draw, at, exp(draw->a + gsl_ran_gaussian_ziggurat(random, draw->b)));
        break;
    case POISSON:
        bits_store(draw, at, gsl_ran_poisson(random, draw->a));
        break;
    case BITS: {
        uint64_t low = gsl_rng_get(random);
        bits_store(draw, at, draw->bytes > 4 ? low | (uint64_t)gsl_rng_get(random) << 32 : low);
        break;
    }
    }
}

/* The results are ordered by dimension: all of the first, then all of the second. */
static curandStatus_t quasi_draw(struct curandGenerator_st *generator, const Draw *draw, char *host)
{
    double point[DIMENSIONS_MOST];
    size_t each = draw->n / generator->dimensions;
    if (draw->n % generator->dimensions) return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
    if (draw->distribution == POISSON) return CURAND_STATUS_TYPE_ERROR;
    for (uint64_t i = 0; i < each; i++) {
        gsl_qrng_get(generator->quasi, point);
        for (unsigned d = 0; d < generator->dimensions; d++) {
            char *at = host + (d * each + i) * draw->bytes;
            if (draw->is_integer)
                bits_store(draw, at,
                           draw->bytes > 4 ? (uint64_t)(point[d] * 0x1p64)
                                           : (uint64_t)(point[d] * 0x1p32));
            else
                element_store(draw, at, transform(draw, point[d]));
        }
    }
    return CURAND_STATUS_SUCCESS;
}

static curandStatus_t generate(struct curandGenerator_st *generator, Draw draw)
{
    curandStatus_t status = curandGenerateSeeds(generator);
    if (status != CURAND_STATUS_SUCCESS) return status;
    if (!draw.out && draw.n) return CURAND_STATUS_OUT_OF_RANGE;
    if (!generator->is_host && runtime_library_begin(draw.api, generator->stream) != cudaSuccess)
        return CURAND_STATUS_LAUNCH_FAILURE;
    char *host = generator->is_host ? draw.out : malloc(draw.n * draw.bytes + 1);
    if (!host && draw.n) return CURAND_STATUS_ALLOCATION_FAILED;
    if (is_quasi(generator))
        status = quasi_draw(generator, &draw, host);
    else
        for (size_t i = 0; i < draw.n; i++)
            pseudo_draw(generator->random, &draw, host + i * draw.bytes);
    if (generator->is_host) return status;
    size_t bytes = draw.n * draw.bytes;
    if (status == CURAND_STATUS_SUCCESS &&
        runtime_library_write(draw.api, generator->stream, (LibraryRows){draw.out, bytes, bytes, 1},
                              host) != cudaSuccess)
        status = CURAND_STATUS_LAUNCH_FAILURE;
    free(host);
    return status;
}

curandStatus_t curandGenerate(curandGenerator_t generator, unsigned int *out, size_t n)
{
    return generate(generator, (Draw){"curandGenerate", BITS, 0, 0, out, n, sizeof *out, 1});
}

/* Only the generators of 64 bits have this function. */
curandStatus_t curandGenerateLongLong(curandGenerator_t generator, unsigned long long *out,
                                      size_t n)
{
    if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
    if (generator->type != CURAND_RNG_QUASI_SOBOL64 &&
        generator->type != CURAND_RNG_QUASI_SCRAMBLED_SOBOL64)
        return CURAND_STATUS_TYPE_ERROR;
    return generate(generator,
                    (Draw){"curandGenerateLongLong", BITS, 0, 0, out, n, sizeof *out, 1});
}

curandStatus_t curandGenerateUniform(curandGenerator_t generator, float *out, size_t n)
{
    return generate(generator,
                    (Draw){"curandGenerateUniform", UNIFORM, 0, 0, out, n, sizeof *out, 0});
}

curandStatus_t curandGenerateUniformDouble(curandGenerator_t generator, double *out, size_t n)
{
    return generate(generator,
                    (Draw){"curandGenerateUniformDouble", UNIFORM, 0, 0, out, n, sizeof *out, 0});
}

/* Pairs of normal numbers are made together: cuRAND rejects odd lengths of pseudorandom ones. */
static curandStatus_t generate_normal(curandGenerator_t generator, Draw draw)
{
    if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
    if (!is_quasi(generator) && draw.n % 2) return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
    return generate(generator, draw);
}

curandStatus_t curandGenerateNormal(curandGenerator_t generator, float *out, size_t n, float mean,
                                    float deviation)
{
    return generate_normal(generator, (Draw){"curandGenerateNormal", NORMAL, (double)mean,
                                             (double)deviation, out, n, sizeof *out, 0});
}

curandStatus_t curandGenerateNormalDouble(curandGenerator_t generator, double *out, size_t n,
                                          double mean, double deviation)
{
    return generate_normal(generator, (Draw){"curandGenerateNormalDouble", NORMAL, mean, deviation,
                                             out, n, sizeof *out, 0});
}

curandStatus_t curandGenerateLogNormal(curandGenerator_t generator, float *out, size_t n,
                                       float mean, float deviation)
{
    return generate_normal(generator, (Draw){"curandGenerateLogNormal", LOG_NORMAL, (double)mean,
                                             (double)deviation, out, n, sizeof *out, 0});
}

curandStatus_t curandGenerateLogNormalDouble(curandGenerator_t generator, double *out, size_t n,
                                             double mean, double deviation)
{
    return generate_normal(generator, (Draw){"curandGenerateLogNormalDouble", LOG_NORMAL, mean,
                                             deviation, out, n, sizeof *out, 0});
}

curandStatus_t curandGeneratePoisson(curandGenerator_t generator, unsigned int *out, size_t n,
                                     double lambda)
{
    if (lambda <= 0) return CURAND_STATUS_OUT_OF_RANGE;
    return generate(generator,
                    (Draw){"curandGeneratePoisson", POISSON, lambda, 0, out, n, sizeof *out, 1});
}
