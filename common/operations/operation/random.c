#include "common/operations/operation/random.h"

#include <sodium.h>
#include <string.h>

#include "common/base/parallel.h"

enum { CHACHA20_BLOCK_BYTES = 64 };
enum {
    WIDE_LOWEST = -6,
    WIDE_OCTAVES = 12
}; /* random_wide: 2^-6 .. 2^6, inside fp16's normal range */

_Static_assert((int)RANDOM_KEY_BYTES == (int)crypto_stream_chacha20_KEYBYTES, "a key for ChaCha20");
_Static_assert((int)RANDOM_KEY_BYTES <= (int)crypto_generichash_BYTES_MAX, "BLAKE2b can make it");

/* Initialises a generator with the key that BLAKE2b computes from `secret`, `count` and `name`. */
static void random_begin(Random *random, const void *secret, size_t bytes, uint64_t count,
                         const char *name)
{
    crypto_generichash_state state;
    *random = (Random){.children = 0};
    crypto_generichash_init(&state, NULL, 0, sizeof random->key);
    crypto_generichash_update(&state, secret, bytes);
    crypto_generichash_update(&state, (const unsigned char *)&count, sizeof count);
    crypto_generichash_update(&state, (const unsigned char *)name, strlen(name));
    crypto_generichash_final(&state, random->key, sizeof random->key);
}

void random_seed(Random *random, uint64_t seed)
{
    (void)!sodium_init(); /* selects the fastest ChaCha20; if that fails, the default is correct */
    random_begin(random, &seed, sizeof seed, 0, "seed");
}

uint64_t random_os_seed(void)
{
    uint64_t seed;
    randombytes_buf(&seed, sizeof seed);
    return seed;
}

void random_child(Random *parent, const char *name, Random *child)
{
    random_begin(child, parent->key, sizeof parent->key, ++parent->children, name);
}

/* The next part of the keystream: ChaCha20 of zeros, starting at the block after the last part. */
static void words_make(Random *random)
{
    static const unsigned char nonce[crypto_stream_chacha20_NONCEBYTES];
    unsigned char *text = (unsigned char *)random->word;
    memset(text, 0, sizeof random->word);
    crypto_stream_chacha20_xor_ic(text, text, sizeof random->word, nonce,
                                  random->words * sizeof(uint64_t) / CHACHA20_BLOCK_BYTES,
                                  random->key);
}

uint64_t random_next(Random *random)
{
    if (random->words % RANDOM_WORDS == 0) words_make(random);
    return random->word[random->words++ % RANDOM_WORDS];
}

void random_skip(Random *random, uint64_t count)
{
    const uint64_t at = random->words + count, within = at % RANDOM_WORDS;
    random->words = at - within;
    if (within) words_make(random);
    random->words = at;
}

int random_range(Random *random, int low, int high)
{
    uint64_t span = (uint64_t)((int64_t)high - low) + 1;
    uint64_t unfair =
        -span % span; /* 2^64 mod span: smaller numbers are rejected, because they would favour low
                       * values */
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

/* ---- parallel generation --------------------------------------------------------------------- */

typedef struct WideFill {
    const Random *from; /* generator at the first of the numbers */
    float *value;
    size_t count;
    int shares;
} WideFill;

/* A keystream can be started at the beginning of any part. */
static void wide_share(void *context, int share)
{
    const WideFill *fill = context;
    size_t parts = fill->count / RANDOM_WORDS;
    size_t first = parts * (size_t)share / (size_t)fill->shares * RANDOM_WORDS;
    size_t last = parts * ((size_t)share + 1) / (size_t)fill->shares * RANDOM_WORDS;
    Random own = *fill->from;
    own.words += first;
    for (size_t i = first; i < last; i++)
        fill->value[i] = random_wide(&own);
}

void random_wide_fill(Random *random, float *value, size_t count)
{
    static const double LEAST = 1 << 16;
    size_t i = 0;
    while (i < count && random->words % RANDOM_WORDS)
        value[i++] = random_wide(random);
    WideFill fill = {random, value + i, count - i, parallel_shares((double)(count - i), LEAST)};
    parallel_run(fill.shares, wide_share, &fill);
    size_t whole = fill.count / RANDOM_WORDS * RANDOM_WORDS;
    random->words += whole;
    for (i += whole; i < count; i++)
        value[i] = random_wide(random);
}
