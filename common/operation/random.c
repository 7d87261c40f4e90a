#include "common/operation/random.h"

#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

enum {
    WIDE_LOWEST = -6,
    WIDE_OCTAVES = 12
}; /* random_wide: 2^-6 .. 2^6, inside fp16's normal range */

static uint64_t rotate_left(uint64_t value, int by)
{
    return value << by | value >> (64 - by);
}

/* splitmix64: turns any seed, 0 too, into well-mixed state words. */
static uint64_t splitmix_next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

void random_seed(Random *random, uint64_t seed)
{
    for (int i = 0; i < 4; i++)
        random->state[i] = splitmix_next(&seed);
}

uint64_t random_os_seed(void)
{
    uint64_t seed;
    if (getrandom(&seed, sizeof seed, 0) == (ssize_t)sizeof seed) return seed;
    /* No getrandom (an old kernel, a strict filter): the clock and the process are better than a
     * constant. */
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    seed = (uint64_t)now.tv_sec * 1000000007u ^ (uint64_t)now.tv_nsec << 20 ^ (uint64_t)getpid();
    return splitmix_next(&seed);
}

uint64_t random_next(Random *random)
{
    uint64_t *s = random->state;
    uint64_t result = rotate_left(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate_left(s[3], 45);
    return result;
}

int random_range(Random *random, int low, int high)
{
    uint64_t span = (uint64_t)((int64_t)high - low) + 1;
    uint64_t unfair =
        -span % span; /* 2^64 mod span: numbers below it would favour the low values */
    uint64_t number;
    do
        number = random_next(random);
    while (number < unfair);
    return (int)(low + (int64_t)(number % span));
}

double random_unit(Random *random)
{
    return (double)(random_next(random) >> 11) * 0x1p-53;
}

float random_wide(Random *random)
{
    uint64_t bits = random_next(random);
    uint32_t exponent = (uint32_t)((bits >> 32) * WIDE_OCTAVES >> 32);
    uint32_t word = (uint32_t)(bits & 0x807fffffu) | (127u + WIDE_LOWEST + exponent) << 23;
    float value;
    memcpy(&value, &word, sizeof value);
    return value;
}
