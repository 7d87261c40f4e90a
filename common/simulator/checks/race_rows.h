/* race_rows.h - racecheck of neighbouring words that a warp reads or writes wholly, and about which
 * there is nothing to say: for vectors, so that an access costs little more than what it moves.
 *
 * A row contains the consecutive words that all lanes of a warp access; the other functions handle
 * the one, two or four words of one lane. Each function checks all words first. If any may be a
 * hazard, it records nothing and returns 0, and race.c checks the words one by one. */
#ifndef CONVLAB_SIMT_CHECKS_RACE_ROWS_H
#define CONVLAB_SIMT_CHECKS_RACE_ROWS_H

#include <string.h>

#include "common/simulator/checks/race.h"

#define RACE_INLINE static inline __attribute__((always_inline))

/* An access of a warp: its tag; the place of its first lane; the words of a lane. */
typedef struct RaceRow {
    uint32_t own, place, each;
} RaceRow;

/* Is the tag from the same epoch as `own`? */
RACE_INLINE uint32_t tag_is_now(uint32_t tag, uint32_t own)
{
    return (tag ^ own) >> RACE_EPOCH_SHIFT == 0;
}

/* The same warp's, in the same epoch. */
RACE_INLINE uint32_t tag_is_own(uint32_t tag, uint32_t own)
{
    return (tag ^ own) >> 1 == 0;
}

RACE_INLINE uint32_t tag_of_any(uint32_t own)
{
    return own >> RACE_EPOCH_SHIFT << RACE_EPOCH_SHIFT | (RACE_ANY_WARP + 1) << 1;
}

/* The warp of a tag, in the encoding of a byte's reader; the reader of a word's byte. */
RACE_INLINE uint32_t tag_reader(uint32_t tag)
{
    return tag >> 1 & ((1u << RACE_WHO_BITS) - 1);
}

RACE_INLINE uint32_t reader_of(uint32_t readers, uint32_t byte)
{
    return readers >> 8 * byte & READER_ANY;
}

RACE_INLINE uint32_t row_place(const RaceRow *row, uint32_t i)
{
    return row->place + i / row->each * RACE_THREAD;
}

/* ---- rows --------------------------------------------------------------------------------- */

/* Do reads of these words need no further record? */
RACE_INLINE int row_is_settled(const uint32_t *read, uint32_t count, uint32_t own)
{
    uint32_t any = tag_of_any(own), left = 0;
    for (uint32_t i = 0; i < count; i++)
        left |= (uint32_t)(read[i] != own) & (uint32_t)(read[i] != any);
    return !left;
}

/* Reads of `count` words from `first` on; `open`: later reads must be checked again, because the
 * words may be uninitialised. */
RACE_INLINE int row_read(const RaceWords *words, size_t first, uint32_t count, const RaceRow *row,
                         uint32_t open)
{
    uint32_t *read = words->read + first, *read_at = words->read_at + first,
             *other_at = words->other_at + first, own = row->own, any = tag_of_any(own);
    const uint32_t *wrote = words->wrote + first;
    uint32_t hazards = 0, known = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t now = tag_is_now(read[i], own), mine = tag_is_own(read[i], own);
        hazards |= tag_is_now(wrote[i], own) & ((tag_is_own(wrote[i], own) ^ 1) | (now & ~mine));
        known |= now;
    }
    if (hazards) return 0;
    if (!known) {
        for (uint32_t i = 0; i < count; i++)
            read[i] = own | open, read_at[i] = row_place(row, i);
        return 1;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t now = tag_is_now(read[i], own), mine = tag_is_own(read[i], own),
                 others = now & ~mine, second = others & ~tag_is_own(read[i], any);
        other_at[i] = second ? row_place(row, i) : other_at[i];
        read_at[i] = now ? read_at[i] | RACE_WHOLE : row_place(row, i);
        read[i] = (others ? any : own) | open;
    }
    return 1;
}

/* Writes, all of different words. */
RACE_INLINE int row_write(const RaceWords *words, size_t first, uint32_t count, const RaceRow *row,
                          uint32_t fences)
{
    const uint32_t *read = words->read + first;
    uint32_t *wrote = words->wrote + first, *wrote_at = words->wrote_at + first,
             *fence = words->fences + first, own = row->own, hazards = 0;
    for (uint32_t i = 0; i < count; i++)
        hazards |= (tag_is_now(wrote[i], own) & ~tag_is_own(wrote[i], own)) |
                   (tag_is_now(read[i], own) & ~tag_is_own(read[i], own));
    if (hazards) return 0;
    for (uint32_t i = 0; i < count; i++)
        wrote[i] = own, wrote_at[i] = row_place(row, i), fence[i] = fences;
    return 1;
}

/* 16 bits per lane, two lanes per word: the second lane of each word is recorded. */
RACE_INLINE int row_write_halves(const RaceWords *words, size_t first, const RaceRow *row,
                                 uint32_t fences)
{
    enum { WORDS = LANES / 2, UPPER_BYTES = 12 };
    const uint32_t *read = words->read + first;
    uint32_t *wrote = words->wrote + first, *wrote_at = words->wrote_at + first,
             *fence = words->fences + first,
             place = (row->place & ~(uint32_t)RACE_WHOLE) + RACE_THREAD, hazards = 0;
    for (uint32_t i = 0; i < WORDS; i++)
        hazards |= (tag_is_now(wrote[i], row->own) & ~tag_is_own(wrote[i], row->own)) |
                   (tag_is_now(read[i], row->own) & ~tag_is_own(read[i], row->own));
    if (hazards) return 0;
    for (uint32_t i = 0; i < WORDS; i++)
        wrote[i] = row->own, wrote_at[i] = place + 2 * i * RACE_THREAD, fence[i] = fences;
    memset(words->wrote_part + first, UPPER_BYTES, WORDS);
    return 1;
}

/* Do reads of 16 bits by each lane need no record? Other threads have read these bytes, and their
 * words have not been written. */
RACE_INLINE int halves_are_settled(const RaceWords *words, const uint32_t *off, uint32_t own)
{
    enum { BOTH = 0x101 };
    uint32_t any = tag_of_any(own), mine = BOTH * tag_reader(own), left = 0;
    for (uint32_t i = 0; i < LANES; i++) {
        uint32_t word = off[i] / 4, read = words->read[word],
                 readers = words->readers[word] >> 8 * (off[i] % 4) & 0xffff;
        uint32_t known = (words->read_at[word] & RACE_WHOLE) | (uint32_t)(readers == mine) |
                         (uint32_t)(readers == BOTH * READER_ANY);
        left |= ((uint32_t)!tag_is_own(read, own) & (uint32_t)!tag_is_own(read, any)) |
                (known ^ 1) | tag_is_now(words->wrote[word], own);
    }
    return !left;
}

/* ---- rows of global memory ----------------------------------------------------------------- */

/* Assigns table entries to the words of this page and evicts those of other pages. */
RACE_INLINE void row_turn(const RaceWords *words, size_t first, uint32_t count, uint32_t page)
{
    uint32_t *pages = words->page + first, *read = words->read + first,
             *wrote = words->wrote + first, others = 0;
    for (uint32_t i = 0; i < count; i++)
        others |= pages[i] ^ page;
    if (!others) return;
    for (uint32_t i = 0; i < count; i++) {
        read[i] = pages[i] == page ? read[i] : 0;
        wrote[i] = pages[i] == page ? wrote[i] : 0;
        pages[i] = page;
    }
}

/* Do reads of these words need no further record, here and in the shadow between blocks? The latter
 * record the lowest instruction. */
RACE_INLINE int row_is_known(const RaceWords *words, size_t first, uint32_t count, uint32_t own,
                             uint32_t page, uint32_t ins)
{
    const uint32_t *pages = words->page + first, *read = words->read + first,
                   *at = words->read_at + first;
    uint32_t any = tag_of_any(own), left = 0;
    for (uint32_t i = 0; i < count; i++)
        left |= (uint32_t)(pages[i] != page) | (uint32_t)(at[i] >> RACE_INS_SHIFT > ins) |
                ((uint32_t)(read[i] != own) & (uint32_t)(read[i] != any));
    return !left;
}

/* Do all sides of a row already include the block and instruction of `mine`? Other blocks may add
 * to them concurrently, but information is never removed. */
RACE_INLINE int sides_know(const uint32_t *sides, uint32_t count, uint32_t mine)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t side = __atomic_load_n(&sides[i], __ATOMIC_RELAXED), lowest = side & ~RACE_MANY;
        left |= (uint32_t)(lowest == 0) | (uint32_t)(lowest > mine) |
                ((uint32_t)((lowest ^ mine) >> RACE_SIDE_INS != 0) & ((side >> 31) ^ 1));
    }
    return !left;
}

/* ---- words of one lane --------------------------------------------------------------------- */

typedef uint32_t Pair __attribute__((vector_size(8)));
typedef uint32_t Quad __attribute__((vector_size(16)));

RACE_INLINE int single_is_any(uint32_t x)
{
    return x != 0;
}

RACE_INLINE int pair_is_any(Pair x)
{
    return (x[0] | x[1]) != 0;
}

RACE_INLINE int quad_is_any(Quad x)
{
    uint64_t half[2];
    memcpy(half, &x, sizeof half);
    return (half[0] | half[1]) != 0;
}

/* The row functions for one lane's words: T is their type, MASK converts a comparison that holds to
 * all ones. */
#define RACE_PIECE(name, T, MASK)                                                                  \
    RACE_INLINE T name##_at(const uint32_t *column)                                                \
    {                                                                                              \
        T value;                                                                                   \
        memcpy(&value, column, sizeof value);                                                      \
        return value;                                                                              \
    }                                                                                              \
    RACE_INLINE T name##_unsettled(const uint32_t *read, uint32_t own)                             \
    {                                                                                              \
        T r = name##_at(read);                                                                     \
        return MASK(r != own) & MASK(r != tag_of_any(own));                                        \
    }                                                                                              \
    RACE_INLINE int name##_is_settled(const uint32_t *read, uint32_t own)                          \
    {                                                                                              \
        return !name##_is_any(name##_unsettled(read, own));                                        \
    }                                                                                              \
    RACE_INLINE int name##_is_known(const RaceWords *words, size_t i, uint32_t own, uint32_t page, \
                                    uint32_t ins)                                                  \
    {                                                                                              \
        T left = name##_unsettled(words->read + i, own);                                           \
        left |= MASK(name##_at(words->page + i) != page);                                          \
        return !name##_is_any(left | MASK(name##_at(words->read_at + i) >> RACE_INS_SHIFT > ins)); \
    }                                                                                              \
    RACE_INLINE void name##_turn(const RaceWords *words, size_t i, uint32_t page)                  \
    {                                                                                              \
        T r = name##_at(words->read + i), o = name##_at(words->wrote + i), zero = {0};             \
        T same = MASK(name##_at(words->page + i) == page), pages = zero + page;                    \
        r &= same, o &= same;                                                                      \
        memcpy(words->page + i, &pages, sizeof pages);                                             \
        memcpy(words->read + i, &r, sizeof r);                                                     \
        memcpy(words->wrote + i, &o, sizeof o);                                                    \
    }                                                                                              \
    RACE_INLINE int name##_read(const RaceWords *words, size_t i, uint32_t own, uint32_t place,    \
                                uint32_t open)                                                     \
    {                                                                                              \
        uint32_t any = tag_of_any(own);                                                            \
        T r = name##_at(words->read + i), o = name##_at(words->wrote + i), zero = {0};             \
        T now = MASK((r ^ own) >> RACE_EPOCH_SHIFT == 0), mine = MASK((r ^ own) >> 1 == 0);        \
        T wrote = MASK((o ^ own) >> RACE_EPOCH_SHIFT == 0), others = now & ~mine;                  \
        if (name##_is_any(wrote & (MASK((o ^ own) >> 1 != 0) | others))) return 0;                 \
        T tag = ((zero + own) & ~others) | ((zero + any) & others) | open, at = zero + place;      \
        memcpy(words->read + i, &tag, sizeof tag);                                                 \
        if (!name##_is_any(now)) {                                                                 \
            memcpy(words->read_at + i, &at, sizeof at);                                            \
            return 1;                                                                              \
        }                                                                                          \
        T second = others & MASK((r ^ any) >> 1 != 0);                                             \
        T first_at = name##_at(words->read_at + i), other_at = name##_at(words->other_at + i);     \
        first_at = (now & (first_at | RACE_WHOLE)) | (~now & at);                                  \
        other_at = (second & at) | (~second & other_at);                                           \
        memcpy(words->read_at + i, &first_at, sizeof first_at);                                    \
        memcpy(words->other_at + i, &other_at, sizeof other_at);                                   \
        return 1;                                                                                  \
    }                                                                                              \
    RACE_INLINE int name##_write(const RaceWords *words, size_t i, uint32_t own, uint32_t place,   \
                                 uint32_t fences)                                                  \
    {                                                                                              \
        T r = name##_at(words->read + i), o = name##_at(words->wrote + i), zero = {0};             \
        T hazards = MASK((r ^ own) >> RACE_EPOCH_SHIFT == 0) & MASK((r ^ own) >> 1 != 0);          \
        hazards |= MASK((o ^ own) >> RACE_EPOCH_SHIFT == 0) & MASK((o ^ own) >> 1 != 0);           \
        if (name##_is_any(hazards)) return 0;                                                      \
        T tag = zero + own, at = zero + place, fence = zero + fences;                              \
        memcpy(words->wrote + i, &tag, sizeof tag);                                                \
        memcpy(words->wrote_at + i, &at, sizeof at);                                               \
        memcpy(words->fences + i, &fence, sizeof fence);                                           \
        return 1;                                                                                  \
    }

RACE_PIECE(single, uint32_t, -(uint32_t))
RACE_PIECE(pair, Pair, (Pair))
RACE_PIECE(quad, Quad, (Quad))
#undef RACE_PIECE

/* Selects the function by `count`, a compile-time constant. */
#define RACE_PIECE_OF(count, what, ...)                                                            \
    ((count) == 1   ? single_##what(__VA_ARGS__)                                                   \
     : (count) == 2 ? pair_##what(__VA_ARGS__)                                                     \
                    : quad_##what(__VA_ARGS__))

#endif
