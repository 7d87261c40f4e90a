/* exec_race.h - the way of most accesses through racecheck; included by exec_body.h.
 *
 * Adjacent lanes are one row of words; other lanes are one row each (race_rows.h). Synchronisation,
 * atomics, accesses of less than a word, and rows that may have a hazard are handled by race.c. */
#include "common/simulator/checks/race_rows.h"

enum { RACE_WORD = 4, PIECE_BYTES = 16 };

ALWAYS RaceRow race_row(const Warp *warp, const Ins *ins, uint32_t lane, uint32_t bytes)
{
    uint32_t thread = warp->index * LANES + lane;
    return (RaceRow){.own = race_tag(warp->worker->epoch, warp->index),
                     .place = race_place((uint32_t)(ins - warp->code), thread, 1),
                     .each = bytes / RACE_WORD};
}

/* The lanes that are left, where a hazard may be; of the next two functions, too. */
ALWAYS uint32_t shared_lanes(Warp *warp, const Ins *ins, const uint32_t *off, uint32_t mask,
                             uint32_t bytes, int store, uint32_t open)
{
    const RaceWords words = *warp->worker->race.shared;
    const RaceRow row = race_row(warp, ins, 0, bytes);
    uint32_t before = UINT32_MAX, fences = race_fences(warp);
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t lane = first_lane(m), from = off[lane], place = row.place + lane * RACE_THREAD;
        size_t word = from / RACE_WORD;
        int plain;
        if (!store && from == before) continue;
        before = from;
        if (store)
            plain = RACE_PIECE_OF(row.each, write, &words, word, row.own, place, fences);
        else
            plain = RACE_PIECE_OF(row.each, is_settled, words.read + word, row.own) ||
                    RACE_PIECE_OF(row.each, read, &words, word, row.own, place, open);
        if (!plain) return m;
    }
    return 0;
}

ALWAYS uint32_t shared_whole(Warp *warp, const Ins *ins, const uint32_t *off, uint32_t mask,
                             uint32_t bytes, Shape shape, int store, uint32_t open)
{
    if (shape == SHAPE_LINEAR) {
        const RaceWords words = *warp->worker->race.shared;
        RaceRow row = race_row(warp, ins, 0, bytes);
        size_t first = off[0] / RACE_WORD;
        uint32_t count = LANES * row.each;
        if (store ? row_write(&words, first, count, &row, race_fences(warp))
                  : row_read(&words, first, count, &row, open))
            return 0;
    }
    if (shape == SHAPE_UNIFORM && !store) mask &= -mask;
    return shared_lanes(warp, ins, off, mask, bytes, store, open);
}

/* The same for 16 bits per lane: all of them or none. */
ALWAYS uint32_t shared_halves(const Warp *warp, const Ins *ins, const uint32_t *off, uint32_t mask,
                              Shape shape, int store)
{
    const RaceWords words = *warp->worker->race.shared;
    const RaceRow row = race_row(warp, ins, 0, RACE_WORD);
    if (!store) return halves_are_settled(&words, off, row.own) ? 0 : mask;
    if (shape != SHAPE_LINEAR || off[0] % RACE_WORD) return mask;
    size_t first = off[0] / RACE_WORD;
    return row_write_halves(&words, first, &row, race_fences(warp)) ? 0 : mask;
}

/* Is a bulk copy in flight to or from the lanes' range? Idle lanes are included, which is
 * conservative. */
static int lanes_meet_copies(const Block *block, const uint32_t *off, uint32_t bytes, int store)
{
    uint32_t low = UINT32_MAX, high = 0;
    for (uint32_t i = 0; i < LANES; i++)
        low = off[i] < low ? off[i] : low, high = off[i] > high ? off[i] : high;
    return race_copies_near(block, low, high + bytes, store);
}

__attribute__((noinline)) static uint32_t shared_rows(Warp *warp, const Ins *ins,
                                                      const uint32_t *off, uint32_t mask,
                                                      uint32_t bytes, Shape shape, int store,
                                                      uint32_t open)
{
    const Block *block = warp->block;
    if (ins->order || bytes < 2 || race_era_ended(warp->worker)) return mask;
    if ((block->flights || block->departures || block->read) &&
        lanes_meet_copies(block, off, bytes, store))
        return mask;
    if (bytes == 2) return shared_halves(warp, ins, off, mask, shape, store);
    if (bytes == 4) return shared_whole(warp, ins, off, mask, 4, shape, store, open);
    if (bytes == 8) return shared_whole(warp, ins, off, mask, 8, shape, store, open);
    return shared_whole(warp, ins, off, mask, 16, shape, store, open);
}

/* Are the addresses of a store by non-adjacent lanes distinct? They are if they increase or
 * decrease with the lane, which is the common case. */
#define LANES_APART(OFF)                                                                           \
    uint32_t rising = 1, falling = 1;                                                              \
    for (int i = 0; i + 1 < LANES; i++) {                                                          \
        rising &= (uint32_t)((OFF)[i] < (OFF)[i + 1]);                                             \
        falling &= (uint32_t)((OFF)[i] > (OFF)[i + 1]);                                            \
    }                                                                                              \
    return (int)(rising | falling);

static int shared_lanes_lie_apart(const uint32_t *off)
{
    LANES_APART(off)
}

static int global_lanes_lie_apart(const uint64_t *address)
{
    LANES_APART(address)
}

__attribute__((noinline)) static void shared_lanes_raced(Warp *warp, const Ins *ins,
                                                         const uint32_t *off, uint32_t mask)
{
    uint64_t offset[LANES];
    if (shared_lanes_lie_apart(off)) return;
    for (int i = 0; i < LANES; i++)
        offset[i] = off[i];
    race_lanes(warp, ins, offset, mask, 1);
}

/* May several lanes of a store use the same address? In ordered stores this is intended. */
ALWAYS int lanes_may_overlap(const Ins *ins, uint32_t mask, Shape shape)
{
    return shape != SHAPE_LINEAR && !ins->order && mask & (mask - 1);
}

/* Checks a load or a store of shared memory, before it is performed. `open`: it may read
 * uninitialised memory. */
ALWAYS void shared_raced(Warp *warp, const Ins *ins, const uint32_t *off, uint32_t mask,
                         uint32_t bytes, Shape shape, int store, uint32_t open)
{
    RaceKind kind = store ? RACE_WRITE : RACE_READ;
    if (store && lanes_may_overlap(ins, mask, shape)) shared_lanes_raced(warp, ins, off, mask);
    if (store && ins->order && shape == SHAPE_UNIFORM) warp->same_store = ins;
    if (!store && warp->has_unsynced) race_unsynced(warp, ins, off, mask, bytes);
    if (store) warp->has_unsynced = race_sees_lanes(warp);
    uint32_t left = shared_rows(warp, ins, off, mask, bytes, shape, store, open);
    if (left == mask)
        race_shared(warp, ins, off, mask, bytes, kind);
    else if (left)
        race_words(warp, ins, off, left, bytes, kind);
}

/* Did all that this load reads settle, so that there is nothing to note and nothing unwritten?
 * Most of a loop's loads read what many read. */
ALWAYS int loads_settled(const Warp *warp, const uint32_t *off, uint32_t bytes, Shape shape)
{
    const Worker *worker = warp->worker;
    const uint32_t *read = worker->race.shared->read;
    uint32_t own = race_tag(worker->epoch, warp->index), each = bytes / RACE_WORD, left = 0;
    if (shape == SHAPE_LINEAR) return row_is_settled(read + off[0] / RACE_WORD, LANES * each, own);
    if (shape == SHAPE_UNIFORM)
        return row_is_settled(read + off[first_lane(warp->mask)] / RACE_WORD, each, own);
    if (each == 4) {
        Quad quads = {0};
        for (uint32_t i = 0; i < LANES; i++)
            quads |= quad_unsettled(read + off[i] / RACE_WORD, own);
        return !quad_is_any(quads);
    }
    for (uint32_t i = 0; i < LANES; i++)
        left |= (uint32_t)!row_is_settled(read + off[i] / RACE_WORD, each, own);
    return !left;
}

ALWAYS int race_is_settled(const Warp *warp, const Ins *ins, const uint32_t *off, uint32_t bytes,
                           Shape shape)
{
    if (ins->order || bytes < RACE_WORD || warp->block->flights || race_era_ended(warp->worker))
        return 0;
    if (bytes == 4) return loads_settled(warp, off, 4, shape);
    if (bytes == 8) return loads_settled(warp, off, 8, shape);
    return loads_settled(warp, off, 16, shape);
}

/* Checks the 16-byte chunks that the tensor memory accelerator or a warpgroup's MMA accesses for
 * `lane`. */
static void async_raced(Warp *warp, const Ins *ins, uint32_t lane, const uint32_t *piece,
                        uint32_t count, int store, uint32_t open)
{
    const RaceWords words = *warp->worker->race.shared;
    const RaceRow row = race_row(warp, ins, lane, PIECE_BYTES);
    uint32_t low = UINT32_MAX, high = 0, offset[LANES], fences = race_fences(warp);
    int fenced = 1;
    for (uint32_t i = 0; i < count; i++)
        low = piece[i] < low ? piece[i] : low, high = piece[i] > high ? piece[i] : high;
    int slowly = ins->order || race_era_ended(warp->worker) ||
                 race_copies_near(warp->block, low, high + PIECE_BYTES, store);
    for (uint32_t i = 0; i < count; i++) {
        size_t word = piece[i] / RACE_WORD;
        Quad by_threads = ~quad_at(words.fences + word) & RACE_BY_PROXY;
        if (!store && fenced && quad_is_any(by_threads))
            fenced = race_fenced(warp, ins, lane, piece[i]);
        int plain = !slowly && (store ? quad_write(&words, word, row.own, row.place, fences)
                                      : quad_is_settled(words.read + word, row.own) ||
                                            quad_read(&words, word, row.own, row.place, open));
        if (!plain) {
            offset[lane] = piece[i];
            race_shared(warp, ins, offset, 1u << lane, PIECE_BYTES, store ? RACE_WRITE : RACE_READ);
        }
        for (uint32_t k = 0; k < row.each && store; k++)
            words.fences[word + k] |= RACE_BY_PROXY;
    }
}

/* ---- global memory -------------------------------------------------------------------------- */

/* The values that lanes of `mask` store, word by word, as the registers have them. */
ALWAYS void values_of(const Warp *warp, const Ins *ins, uint32_t bytes, uint32_t *value)
{
    uint32_t each = bytes / RACE_WORD, element = ins->bytes, stride = element == 8 ? 8 : 4;
    for (uint32_t j = 0; j < each; j++) {
        uint32_t at = j * RACE_WORD, slot = ins->vector > 1 ? ins->v[at / element] : ins->d;
        const char *from = warp->file + slot + at % element;
        for (uint32_t i = 0; i < LANES; i++)
            memcpy(&value[i * each + j], from + i * stride, RACE_WORD);
    }
}

/* Records for the check between blocks that a block reads `count` words from `address` on. */
ALWAYS void blocks_read(Launch *launch, uint32_t side, uint64_t address, uint32_t count)
{
    int64_t word = race_shadow(launch, address, count);
    if (word < 0 || (race_taken(launch, (uint64_t)word, count, RACE_READERS) &&
                     sides_know(launch->race.readers + word, count, side)))
        return;
    race_blocks_read(launch, side, (uint64_t)word, count);
}

/* Prefetches the shadow words that global_raced() will read, which are rarely in a cache. */
ALWAYS void blocks_prefetch(const Launch *launch, const uint64_t *address, int store)
{
    enum { SOME = 8 };
    for (uint32_t i = 0; i < LANES && launch->race.writers; i += SOME) {
        uint64_t word = (address[i] - DEVICE_BASE) / RACE_WORD;
        if (word >= launch->race.words) continue; /* this may be no memory at all */
        __builtin_prefetch(store ? &launch->race.writers[word] : &launch->race.readers[word]);
        if (store) __builtin_prefetch(&launch->race.values[word]);
    }
}

ALWAYS int global_row(Warp *warp, const Ins *ins, uint64_t address, uint32_t bytes, int store,
                      const uint32_t *value)
{
    const RaceWords words = *warp->worker->race.global;
    const RaceRow row = race_row(warp, ins, 0, bytes);
    Launch *launch = warp->worker->launch;
    uint64_t word = address / RACE_WORD;
    uint32_t page = (uint32_t)(word / RACE_TABLE), number = (uint32_t)(ins - warp->code),
             side = race_side(warp->block->number, number), count = LANES * row.each;
    size_t first = word % RACE_TABLE;
    if (first + count > RACE_TABLE) return 0;
    if (!store && row_is_known(&words, first, count, row.own, page, number)) return 1;
    row_turn(&words, first, count, page);
    if (!(store ? row_write(&words, first, count, &row, 0)
                : row_read(&words, first, count, &row, 0)))
        return 0;
    int64_t shadow = store ? race_shadow(launch, address, count) : -1;
    if (shadow >= 0) race_blocks_write(launch, side, (uint64_t)shadow, count, value);
    if (!store) blocks_read(launch, side, address, count);
    return 1;
}

/* The lanes that are left, where a hazard may be. */
ALWAYS uint32_t global_lanes(Warp *warp, const Ins *ins, const uint64_t *address, uint32_t mask,
                             uint32_t bytes, int store)
{
    const RaceWords words = *warp->worker->race.global;
    const RaceRow row = race_row(warp, ins, 0, bytes);
    uint64_t before = 0;
    uint32_t number = (uint32_t)(ins - warp->code), side = race_side(warp->block->number, number);
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t lane = first_lane(m), place = row.place + lane * RACE_THREAD;
        uint64_t from = address[lane], word = from / RACE_WORD;
        uint32_t page = (uint32_t)(word / RACE_TABLE);
        size_t i = word % RACE_TABLE;
        if (!store && from == before) continue;
        before = from;
        if (!store && RACE_PIECE_OF(row.each, is_known, &words, i, row.own, page, number)) continue;
        RACE_PIECE_OF(row.each, turn, &words, i, page);
        if (!(store ? RACE_PIECE_OF(row.each, write, &words, i, row.own, place, 0)
                    : RACE_PIECE_OF(row.each, read, &words, i, row.own, place, 0)))
            return m;
        if (!store) blocks_read(warp->worker->launch, side, from, row.each);
    }
    return 0;
}

ALWAYS uint32_t global_whole(Warp *warp, const Ins *ins, const uint64_t *address, uint32_t mask,
                             uint32_t bytes, Shape shape, int store)
{
    uint32_t value[LANES * 4], number = (uint32_t)(ins - warp->code);
    if (store) values_of(warp, ins, bytes, value);
    if (shape == SHAPE_LINEAR && global_row(warp, ins, address[0], bytes, store, value)) return 0;
    uint32_t left = global_lanes(warp, ins, address, mask, bytes, store);
    if (store)
        race_blocks_pieces(warp->worker->launch, race_side(warp->block->number, number), address,
                           mask & ~left, bytes / RACE_WORD, value);
    return left;
}

static void global_lanes_raced(Warp *warp, const Ins *ins, const uint64_t *address, uint32_t mask)
{
    if (!global_lanes_lie_apart(address)) race_lanes(warp, ins, address, mask, 0);
}

/* A load or a store of global memory by plain registers, before it is done. */
__attribute__((noinline)) static void global_raced(Warp *warp, const Ins *ins,
                                                   const uint64_t *address, uint32_t mask,
                                                   uint32_t bytes, Shape shape, int store)
{
    if (store && lanes_may_overlap(ins, mask, shape)) global_lanes_raced(warp, ins, address, mask);
    if (!ins->order && warp->worker->launch->race.writers && ins->bytes >= RACE_WORD &&
        !race_era_ended(warp->worker)) {
        if (bytes == 4)
            mask = global_whole(warp, ins, address, mask, 4, shape, store);
        else if (bytes == 8)
            mask = global_whole(warp, ins, address, mask, 8, shape, store);
        else
            mask = global_whole(warp, ins, address, mask, 16, shape, store);
    }
    if (mask) race_global(warp, ins, address, mask, bytes, store ? RACE_WRITE : RACE_READ);
}
