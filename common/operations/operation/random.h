/* random.h - numbers that nobody can foresee who does not know the seed, and that repeat for
 * everybody who does.
 *
 * A submission reads some of these numbers and would gain by knowing others.  So the generator is
 * a cipher's keystream, ChaCha20, and every use has a key of its own: random_child derives one by
 * BLAKE2b from its parent's key, a name and a count.  Neither a generator's numbers nor a child's
 * key tell anything of parents or sisters.  Both come from libsodium.  On every host the same. */
#ifndef CONVLAB_OPERATION_RANDOM_H
#define CONVLAB_OPERATION_RANDOM_H

#include <stddef.h>
#include <stdint.h>

enum { RANDOM_KEY_BYTES = 32, RANDOM_WORDS = 64 };

typedef struct Random {
    unsigned char key[RANDOM_KEY_BYTES];
    uint64_t children;           /* derived so far */
    uint64_t words;              /* of the keystream that were drawn */
    uint64_t word[RANDOM_WORDS]; /* the part of the keystream that is being drawn from */
} Random;

/* Any seed will do, 0 too.  Secret numbers need a secret seed: whoever can try all that it may be
 * (a date, a small number) can find it from a few of the numbers. */
void random_seed(Random *random, uint64_t seed);
/* 64 bits from the system, too many to try; print it, so that a run can be repeated. */
uint64_t random_os_seed(void);
/* A generator with a key of its own: another one for each name, and for each call. */
void random_child(Random *parent, const char *name, Random *child);
uint64_t random_next(Random *random);

/* As if `count` numbers had been drawn: so several threads can draw parts of one row of them. */
void random_skip(Random *random, uint64_t count);
int random_range(Random *random, int low, int high); /* low..high inclusive, unbiased */
double random_unit(Random *random);                  /* [0,1) */
/* sign * 2^e * [1,2), e spread over twelve octaves; never 0, NaN or Inf. */
float random_wide(Random *random);
/* `count` of them into `value`, the same as one after the other, made on all cores. */
void random_wide_fill(Random *random, float *value, size_t count);

#endif
