/* random.h - explicit, printable seeds and a small generator, the same on every host. */
#ifndef CONVLAB_OPERATION_RANDOM_H
#define CONVLAB_OPERATION_RANDOM_H

#include <stdint.h>

typedef struct Random {
    uint64_t state[4]; /* xoshiro256** (Blackman and Vigna, 2018), seeded through splitmix64 */
} Random;

void random_seed(Random *random, uint64_t seed);
uint64_t random_os_seed(void); /* from getrandom(2); print it, so that a run can be repeated */
uint64_t random_next(Random *random);
int random_range(Random *random, int low, int high); /* low..high inclusive, unbiased */
double random_unit(Random *random);                  /* [0,1) */
/* sign * 2^e * [1,2), e spread over twelve octaves; never 0, NaN or Inf. */
float random_wide(Random *random);

#endif
