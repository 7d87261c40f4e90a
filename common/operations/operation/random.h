/* random.h - random numbers that are unpredictable without the seed and reproducible with it.
 *
 * A submission sees some of these numbers and could gain by knowing others.  Therefore the
 * generator is a cipher's keystream, ChaCha20, and every use has its own key: random_child derives
 * it with BLAKE2b from its parent's key, a name and a count.  Neither a generator's numbers nor a
 * child's key reveal anything about parents or other children.  Both algorithms are from libsodium.
 * The numbers are the same on every host. */
#ifndef CONVLAB_OPERATION_RANDOM_H
#define CONVLAB_OPERATION_RANDOM_H

#include <stddef.h>
#include <stdint.h>

enum { RANDOM_KEY_BYTES = 32, RANDOM_WORDS = 64 };

typedef struct Random {
    unsigned char key[RANDOM_KEY_BYTES];
    uint64_t children;           /* number of children derived so far */
    uint64_t words;              /* number of words drawn from the keystream */
    uint64_t word[RANDOM_WORDS]; /* current part of the keystream */
} Random;

/* Any seed is allowed, including 0.  Secret numbers need a secret seed: a seed from a small set (a
 * date, a small number) can be found by trying all of them. */
void random_seed(Random *random, uint64_t seed);
/* 64 random bits from the system; print them, so that a run can be repeated. */
uint64_t random_os_seed(void);
/* A generator with a key of its own, which depends on the name and on the number of earlier
 * calls. */
void random_child(Random *parent, const char *name, Random *child);
uint64_t random_next(Random *random);

/* Skips `count` numbers, so that several threads can draw parts of one sequence. */
void random_skip(Random *random, uint64_t count);
int random_range(Random *random, int low, int high); /* low..high inclusive, unbiased */
double random_unit(Random *random);                  /* [0,1) */
/* sign * 2^e * [1,2), e spread over twelve octaves; never 0, NaN or Inf. */
float random_wide(Random *random);
/* Stores `count` of them in `value`, equal to a sequence of calls, but generated on all cores. */
void random_wide_fill(Random *random, float *value, size_t count);

#endif
