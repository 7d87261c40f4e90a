/* race.c - racecheck within a block.
 *
 * Every word of shared memory has a shadow: its last writer and its readers since the last barrier.
 * An access by another warp without a barrier in between is a hazard, in compute-sanitizer's words
 * RAW, WAR or WAW. The lanes of one warp count as ordered, except when lanes of one store write
 * different values to one address: CUDA does not define which value remains. A barrier at which
 * only some warps wait counts as one for all: this may miss a hazard, but never reports a false
 * one.
 *
 * Global memory has a table of the words that a block accessed recently, from which entries may be
 * evicted. A block that has executed a fence may order its warps by flags and atomics there: each
 * atomic whose result is used, and each volatile or ordered load, then counts as a barrier. */
#include "common/simulator/checks/race.h"
#include "common/simulator/checks/race_order.h"
#include "common/simulator/checks/race_rows.h"
#include "common/simulator/checks/report.h"
#include "common/simulator/core/ops.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/simulator/core/kinds.h"

enum { WORD = 4, WHOLE_WORD = (1 << WORD) - 1 };

static const char *const KIND[] = {"Read", "Write", "Atomic"};

static RaceWords *words_open(LaunchArena *shelf, size_t count)
{
    RaceWords *words = arena_zeros(shelf, 1, sizeof *words);
    uint32_t *column = arena_zeros(shelf, count, 8 * sizeof *column);
    uint8_t *part = arena_zeros(shelf, count, sizeof *part);
    if (!words || !column || !part) return NULL;
    uint32_t **columns[] = {&words->read,     &words->wrote,    &words->page,   &words->read_at,
                            &words->other_at, &words->wrote_at, &words->fences, &words->readers};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        *columns[i] = column + i * count;
    words->wrote_part = part;
    return words;
}

static size_t shared_words(const Worker *worker)
{
    return worker->launch->shared_bytes / WORD + 64;
}

int race_open(Worker *worker)
{
    worker->race.shared = words_open(worker->arena, shared_words(worker));
    worker->race.global = words_open(worker->arena, RACE_TABLE);
    worker->race.copied =
        arena_zeros(worker->arena, shared_words(worker) / 64 + 1, sizeof *worker->race.copied);
    worker->epoch = 1;
    return worker->race.shared && worker->race.global && worker->race.copied ? 0 : -1;
}

static void tags_clear(const RaceWords *words, size_t count)
{
    memset(words->read, 0, count * sizeof *words->read);
    memset(words->wrote, 0, count * sizeof *words->wrote);
}

/* Tags of an earlier era would look like those of this one; and its first epoch like no tag. */
static void era_begin(Worker *worker)
{
    if (!race_era_ended(worker)) return;
    tags_clear(worker->race.shared, shared_words(worker));
    tags_clear(worker->race.global, RACE_TABLE);
    worker->race.era = worker->epoch >> RACE_EPOCH_BITS;
    worker->epoch += worker->epoch << RACE_EPOCH_SHIFT >> RACE_EPOCH_SHIFT == 0;
}

typedef struct Hazard {
    const char *name; /* "RAW" */
    RaceKind before;
    uint32_t ins, thread; /* instruction and thread of the earlier access */
    int lanes;            /* it is the same store */
} Hazard;

static void hazard_report(Warp *warp, const Ins *ins, uint32_t lane, uint64_t address,
                          RaceKind kind, int shared, const Hazard *hazard)
{
    RaceEnds ends = race_ends(warp, ins, hazard->ins, hazard->thread);
    char element[160];
    if (shared)
        snprintf(element, sizeof element, ", offset 0x%llx", (unsigned long long)address);
    else
        memory_element(&warp->worker->gpu->memory, address, element, sizeof element);
    race_add(warp, ins, hazard->ins, lane, shared ? 0 : address, WORD,
             "Race reported between %s access at %.100s by thread %s and %s access at %.100s: %s "
             "hazard on %s%s, %s",
             KIND[hazard->before], ends.where, ends.who, KIND[kind], ends.here, hazard->name,
             shared ? "__shared__ memory" : "__global__ memory", element,
             hazard->lanes ? "lanes of one store with different values: any of them may stay"
                           : "with no barrier between them");
}

static uint32_t tag_warp(uint32_t tag)
{
    return (tag >> 1) % (1u << RACE_WHO_BITS) - 1;
}

static uint32_t place_bytes(uint32_t place, uint8_t part)
{
    return place & RACE_WHOLE ? WHOLE_WORD : part;
}

/* Of a word that is not read wholly: has another warp read one of these bytes? */
static int others_read(uint32_t readers, uint32_t own, uint32_t bytes)
{
    for (uint32_t b = bytes; b; b &= b - 1) {
        uint32_t reader = reader_of(readers, (uint32_t)__builtin_ctz(b));
        if (reader && reader != tag_reader(own)) return 1;
    }
    return 0;
}

/* These bytes have one more reader. */
static uint32_t readers_with(uint32_t readers, uint32_t own, uint32_t bytes)
{
    for (uint32_t b = bytes; b; b &= b - 1) {
        uint32_t byte = (uint32_t)__builtin_ctz(b), reader = reader_of(readers, byte);
        uint32_t next = !reader || reader == tag_reader(own) ? tag_reader(own) : READER_ANY;
        readers = (readers & ~((uint32_t)READER_ANY << 8 * byte)) | next << 8 * byte;
    }
    return readers;
}

/* One word's access; 1 with a hazard. */
static int word_check(const RaceWords *words, size_t i, uint32_t own, uint32_t bytes, RaceKind kind,
                      Hazard *hazard)
{
    uint32_t wrote = words->wrote[i], read = words->read[i], at = words->wrote_at[i];
    int atomic = wrote & RACE_BY_ATOMIC;
    if (tag_is_now(wrote, own) && !tag_is_own(wrote, own) &&
        place_bytes(at, words->wrote_part[i]) & bytes && !(kind == RACE_ATOMIC && atomic)) {
        *hazard = (Hazard){kind == RACE_READ ? "RAW" : "WAW", atomic ? RACE_ATOMIC : RACE_WRITE,
                           at >> RACE_INS_SHIFT, place_thread(at), 0};
        return 1;
    }
    at = words->read_at[i];
    if (kind == RACE_READ || !tag_is_now(read, own) ||
        !(at & RACE_WHOLE || others_read(words->readers[i], own, bytes)))
        return 0;
    if (place_thread(at) / LANES == tag_warp(own)) {
        if (!tag_is_own(read, tag_of_any(own))) return 0;
        at = words->other_at[i];
    }
    *hazard = (Hazard){"WAR", RACE_READ, at >> RACE_INS_SHIFT, place_thread(at), 0};
    return 1;
}

/* `open`: later reads must be looked at. */
static void word_note_read(const RaceWords *words, size_t i, uint32_t own, uint32_t place,
                           uint32_t bytes, uint32_t open)
{
    uint32_t any = tag_of_any(own), read = words->read[i];
    if (!tag_is_now(read, own)) {
        words->read[i] = own | open;
        words->read_at[i] = place, words->readers[i] = readers_with(0, own, bytes);
        return;
    }
    words->readers[i] = readers_with(words->readers[i], own, bytes);
    if (bytes == WHOLE_WORD) words->read_at[i] |= RACE_WHOLE;
    if (!tag_is_own(read, own) && !tag_is_own(read, any)) words->other_at[i] = place, read = any;
    words->read[i] = (read & ~(uint32_t)RACE_OPEN) | open;
}

static void word_note_write(const RaceWords *words, size_t i, uint32_t own, uint32_t place,
                            uint32_t bytes, RaceKind kind)
{
    words->wrote[i] = own | (kind == RACE_ATOMIC ? RACE_BY_ATOMIC : 0);
    words->wrote_at[i] = place, words->wrote_part[i] = (uint8_t)bytes;
    words->read[i] |= RACE_OPEN;
}

/* Does a read need no record, and is there no hazard? Other threads have read these bytes before,
 * and the word has not been written. */
static int word_is_settled(const Warp *warp, size_t i, uint32_t bytes)
{
    const RaceWords *words = warp->worker->race.shared;
    uint32_t own = race_tag(warp->worker->epoch, warp->index), read = words->read[i];
    if (!tag_is_own(read, own) && !tag_is_own(read, tag_of_any(own))) return 0;
    return !tag_is_now(words->wrote[i], own) &&
           (words->read_at[i] & RACE_WHOLE ||
            readers_with(words->readers[i], own, bytes) == words->readers[i]);
}

/* Copies the part of a word that a lane stores, `skip` bytes after its address; returns the number
 * of bytes. */
static uint32_t stored_part(const Warp *warp, const Ins *ins, uint32_t lane, uint32_t skip,
                            unsigned char *value)
{
    uint32_t element = ins->bytes, k = skip / element, left = element - skip % element,
             bytes = left < WORD ? left : WORD;
    uint32_t slot = ins->vector > 1 ? ins->v[k] : ins->d;
    if (element < WORD && ins->vector > 1) return 0; /* several elements in a word */
    if (slot == NO_SLOT || element > 8) return 0;    /* no plain store: its values are elsewhere */
    memcpy(value, warp->file + slot + (size_t)lane * (element == 8 ? 8 : 4) + skip % element,
           bytes);
    return bytes;
}

/* Writing the value that is already there is harmless. */
static int changes(const Warp *warp, const Ins *ins, uint32_t lane, uint32_t skip,
                   const unsigned char *host)
{
    unsigned char value[WORD];
    uint32_t bytes = stored_part(warp, ins, lane, skip, value);
    return !bytes || memcmp(value, host, bytes) != 0;
}

/* Index of the first element that differs between the values of two lanes; -1: none. */
static int lanes_differ(const Warp *warp, const Ins *ins, uint32_t a, uint32_t b)
{
    uint32_t element = ins->bytes, count = ins->vector > 1 ? ins->vector : 1;
    size_t stride = element == 8 ? 8 : 4;
    for (uint32_t k = 0; k < count; k++) {
        uint32_t slot = ins->vector > 1 ? ins->v[k] : ins->d;
        if (slot == NO_SLOT || element > 8) return -1; /* values that are elsewhere */
        const char *value = warp->file + slot;
        if (memcmp(value + a * stride, value + b * stride, element) != 0) return (int)(k * element);
    }
    return -1;
}

/* Does the store write the value of an earlier load of the same address after a change?  Found in
 * the straight-line code before the store, by the operands that lead to its value. */
static int adds_to_loaded(const Warp *warp, const Ins *store)
{
    enum { BACK = 64, SLOTS = 16 };
    uint32_t wanted[SLOTS] = {store->d}, count = 1;
    if (store->vector > 1) return 0;
    for (const Ins *ins = store - 1; ins >= warp->code && store - ins < BACK; ins--) {
        uint32_t i = 0;
        if (ins->class == CLASS_BRANCH) return 0;
        while (i < count && wanted[i] != ins->d)
            i++;
        if (i == count || ins->class == CLASS_STORE || ins->class == CLASS_SHARED_STORE) continue;
        if (ins->class == CLASS_LOAD || ins->class == CLASS_SHARED_LOAD) {
            if (ins->a == store->a && ins->imm == store->imm && ins->space == store->space)
                return 1;
            continue;
        }
        const uint32_t source[] = {ins->a, ins->b, ins->c};
        for (uint32_t k = 0; k < 3 && count < SLOTS; k++)
            if (source[k] != NO_SLOT) wanted[count++] = source[k];
    }
    return 0;
}

/* Lanes that add to one word with a load and a store: all load the same value. */
static void update_report(Warp *warp, const Ins *ins, uint32_t lane, uint32_t other,
                          uint64_t address, int shared)
{
    char where[300];
    source_name(warp->worker->kernel, ins->from, where, sizeof where);
    race_warning_add(warp, ins, (uint32_t)(ins - warp->code), lane, shared ? 0 : address, WORD,
                     "Race reported between lanes %u and %u of a warp: both load a word of %s "
                     "memory, change it and store it at %.200s. They load the same value, so one "
                     "change is lost; use an atomic (atomicAdd), or let one lane do it",
                     other, lane, shared ? "__shared__" : "__global__", where);
}

void race_lanes(Warp *warp, const Ins *ins, const uint64_t *address, uint32_t mask, int shared)
{
    enum { PLACES = 2 * LANES };
    uint8_t first[PLACES] = {0}; /* the first lane with an address, + 1 */
    int warns = warp->worker->gpu->options.warns;
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m), word = (uint32_t)(address[lane] / ins->bytes);
        uint32_t i = word * 0x9e3779b1u >> 26;
        while (first[i] && address[first[i] - 1] != address[lane])
            i = (i + 1) % PLACES;
        uint32_t other = first[i] ? first[i] - 1u : lane;
        int at = other == lane ? -1 : lanes_differ(warp, ins, other, lane);
        if (!first[i]) first[i] = (uint8_t)(lane + 1);
        if (at < 0 && other != lane && warns && adds_to_loaded(warp, ins)) {
            update_report(warp, ins, lane, other, address[lane], shared);
            return;
        }
        if (at < 0 && other != lane) warp->same_store = ins;
        if (at < 0) continue;
        Hazard hazard = {"WAW", RACE_WRITE, (uint32_t)(ins - warp->code),
                         warp->index * LANES + other, 1};
        hazard_report(warp, ins, lane, address[lane] + (uint32_t)at, RACE_WRITE, shared, &hazard);
        return;
    }
}

/* Bytes [at, at + bytes) of the word: a bit for each. */
static uint32_t bytes_of(uint64_t at, uint32_t bytes)
{
    return bytes >= WORD ? 15 : ((1u << bytes) - 1) << (at & 3);
}

/* Does this access synchronise with other threads? Their earlier accesses are then ordered before
 * later ones, as by a barrier. A releasing access acts as a fence and a signal. */
static int is_flag(Worker *worker, const Ins *ins)
{
    if (ins->order & ORDER_RELEASES) worker->race.is_fenced = 1;
    return ins->order & ORDER_SPINS || (ins->order & ORDER_READS && worker->race.is_fenced);
}

/* Flags and locks are written by volatile or ordered stores as well as by atomics. */
static RaceKind within_block(const Ins *ins, RaceKind kind)
{
    return ins->order & ORDER_WRITES ? RACE_ATOMIC : kind;
}

/* Checks an access of one word of shared memory; 1 when a hazard was reported, which `told`
 * suppresses. */
static int word_access(Warp *warp, const Ins *ins, const uint32_t *offset, uint32_t lane,
                       uint32_t at, uint32_t part, RaceKind kind, int told)
{
    const RaceWords *words = warp->worker->race.shared;
    uint32_t own = race_tag(warp->worker->epoch, warp->index),
             number = (uint32_t)(ins - warp->code), thread = warp->index * LANES + lane,
             skip = at - offset[lane], place = race_place(number, thread, part == WHOLE_WORD);
    size_t i = at / WORD;
    Hazard hazard;
    int found = !told && word_check(words, i, own, part, kind, &hazard);
    if (found && (kind != RACE_WRITE || hazard.before == RACE_READ ||
                  changes(warp, ins, lane, skip, warp->block->shared + at)))
        hazard_report(warp, ins, lane, at, kind, 1, &hazard);
    else
        found = 0;
    if (kind == RACE_READ) {
        word_note_read(words, i, own, place, part, RACE_OPEN);
    } else {
        word_note_write(words, i, own, place, part, kind);
        words->fences[i] = race_fences(warp);
    }
    return found;
}

void race_words(Warp *warp, const Ins *ins, const uint32_t *offset, uint32_t mask, uint32_t bytes,
                RaceKind kind)
{
    uint32_t before = UINT32_MAX;
    int told = 0;
    era_begin(warp->worker);
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m), from = offset[lane];
        if (kind == RACE_READ && from == before) continue; /* the same, to other warps */
        before = from;
        for (uint32_t at = from; at < from + bytes; at += WORD) {
            uint32_t part = bytes_of(at, bytes);
            if (kind == RACE_READ && word_is_settled(warp, at / WORD, part)) continue;
            told |= word_access(warp, ins, offset, lane, at, part, kind, told);
        }
    }
}

static int is_by_atomic(const Warp *warp, uint32_t place)
{
    return warp->code[place >> RACE_INS_SHIFT].class == CLASS_ATOMIC;
}

void race_unsynced(Warp *warp, const Ins *ins, const uint32_t *offset, uint32_t mask,
                   uint32_t bytes)
{
    const RaceWords *words = warp->worker->race.shared;
    uint32_t own = race_tag(warp->worker->epoch, warp->index), now = race_fences(warp);
    int is_finding = warp->worker->gpu->options.warp_sync;
    void (*add)(Warp *, const Ins *, uint32_t, uint32_t, uint64_t, uint32_t, const char *, ...) =
        is_finding ? race_add : race_warning_add;
    if (ins->order & ORDER_SPINS || ins->class == CLASS_ATOMIC || race_era_ended(warp->worker))
        return;
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m), from = offset[lane];
        for (uint32_t at = from; at < from + bytes; at += WORD) {
            size_t i = at / WORD;
            uint32_t wrote = words->wrote[i], place = words->wrote_at[i];
            if (!tag_is_now(wrote, own) || !tag_is_own(wrote, own) || words->fences[i] != now ||
                place_thread(place) == warp->index * LANES + lane ||
                !(place_bytes(place, words->wrote_part[i]) & bytes_of(at, bytes)) ||
                is_by_atomic(warp, place) ||
                warp->code + (place >> RACE_INS_SHIFT) == warp->same_store)
                continue;
            RaceEnds ends = race_ends(warp, ins, place >> RACE_INS_SHIFT, place_thread(place));
            add(warp, ins, place >> RACE_INS_SHIFT, lane, 0, WORD,
                "Race reported between Write access at %.100s by thread %s and Read access at "
                "%.100s by another lane of its warp, on __shared__ memory, offset 0x%x. "
                "Possibly __syncwarp() is missing between the two, because since Volta the lanes "
                "of a warp need not run in lockstep. Or, if each lane should read only what it "
                "has written, one of the two indices is wrong",
                ends.where, ends.who, ends.here, at);
            return;
        }
    }
}

void race_shared(Warp *warp, const Ins *ins, const uint32_t *offset, uint32_t mask, uint32_t bytes,
                 RaceKind kind)
{
    Worker *worker = warp->worker;
    if (is_flag(worker, ins)) worker->epoch++;
    if (ins->order & (ORDER_SPINS | ORDER_GUESSES) && kind == RACE_READ) return;
    if (ins->order) kind = within_block(ins, kind);
    if (warp->block->departures && kind != RACE_READ)
        race_departures(warp, ins, offset, mask, bytes);
    if (warp->block->read && kind != RACE_READ) race_products(warp, ins, offset, mask, bytes);
    if (warp->block->flights) race_flights(warp, ins, offset, mask, bytes, kind == RACE_READ);
    race_words(warp, ins, offset, mask, bytes, kind);
}

/* A block that has not waited used what others wrote, at hazard->ins; this one is still to write,
 * or to say that it has written. */
static void look_report(Warp *warp, const Ins *ins, uint32_t lane, uint64_t address,
                        const OrderHazard *hazard)
{
    const uint32_t *grid = warp->worker->launch->launch->grid;
    RaceEnds ends = race_ends(warp, ins, hazard->ins, 0);
    race_add(warp, ins, hazard->ins, lane, address, WORD,
             "Race reported between blocks: block (%llu,%llu,%llu) uses at %.100s what another "
             "block wrote.  It has looked once at a word that other blocks still change at "
             "%.100s, and waits for no value of it: neither in a loop, nor as the last to come",
             (unsigned long long)(hazard->block % grid[0]),
             (unsigned long long)(hazard->block / grid[0] % grid[1]),
             (unsigned long long)(hazard->block / grid[0] / grid[1]), ends.where, ends.here);
}

static int has_block_scope(const Ins *ins)
{
    return ins->op == OP_ATOM && ins->aux & ATOM_BLOCK_SCOPE;
}

/* Reports two unordered accesses by two blocks to one word; writing the same value is harmless. */
static void blocks_report(Warp *warp, const Ins *ins, uint32_t lane, uint64_t address, int write,
                          const OrderHazard *hazard)
{
    const uint32_t *grid = warp->worker->launch->launch->grid;
    RaceEnds ends = race_ends(warp, ins, hazard->ins, 0);
    race_add(warp, ins, hazard->ins, lane, address, WORD,
             "Race reported between %s access at %.100s by block (%llu,%llu,%llu) and %s access "
             "at %.100s on __global__ memory: %s",
             KIND[hazard->wrote], ends.where, (unsigned long long)(hazard->block % grid[0]),
             (unsigned long long)(hazard->block / grid[0] % grid[1]),
             (unsigned long long)(hazard->block / grid[0] / grid[1]), KIND[write], ends.here,
             has_block_scope(ins) || has_block_scope(&warp->code[hazard->ins])
                 ? "the scope of the atomic is its own block, so it is not atomic for other blocks"
                 : "no fence with an atomic or a flag after it orders the two blocks");
}

/* Checks one lane's word against other blocks; 1 when a hazard was reported.  An atomic is one of
 * block scope, so that other blocks may lose what it wrote. */
static int blocks_check(Warp *warp, const Ins *ins, uint32_t lane, uint64_t address, uint32_t skip,
                        RaceKind kind, int told)
{
    Launch *launch = warp->worker->launch;
    uint32_t number = (uint32_t)(ins - warp->code), value = 0;
    int write = kind != RACE_READ, signals = ins->order && kind != RACE_ATOMIC;
    if (launch->race.order) {
        OrderHazard hazard;
        if (!race_order_access(launch, warp->block->number, number, address, write, signals,
                               &hazard) ||
            told)
            return 0;
        if (kind == RACE_WRITE && hazard.wrote &&
            !changes(warp, ins, lane, skip, launch->gpu->memory.host + (address - DEVICE_BASE)))
            return 0;
        blocks_report(warp, ins, lane, address, write, &hazard);
        return 1;
    }
    int64_t word = launch->race.writers ? race_shadow(launch, address, 1) : -1;
    if (word < 0) return 0;
    uint32_t side = race_side(warp->block->number, number);
    if (write) {
        if (kind == RACE_ATOMIC)
            value = (uint32_t)warp->block->number; /* no two blocks leave the same value */
        else
            stored_part(warp, ins, lane, skip, (unsigned char *)&value);
        race_blocks_write(launch, side, (uint64_t)word, 1, &value);
    } else {
        race_blocks_read(launch, side, (uint64_t)word, 1);
    }
    return 0;
}

/* The same for the bytes of a word from `at` on, for an access of `bytes` bytes at `address`. In a
 * kernel that stores parts of words, blocks may share a word without sharing a byte. */
static int parts_check(Warp *warp, const Ins *ins, uint32_t lane, uint64_t address, uint64_t at,
                       uint32_t bytes, RaceKind kind, int told)
{
    uint64_t end = at + WORD < address + bytes ? at + WORD : address + bytes;
    int found = 0;
    for (uint64_t byte = at; byte < end; byte++)
        found |=
            blocks_check(warp, ins, lane, byte, (uint32_t)(byte - address), kind, told || found);
    return found;
}

/* Atomics, volatile and ordered accesses release and acquire. */
static void order_note(Warp *warp, const Ins *ins, const uint64_t *address, uint32_t mask)
{
    Worker *worker = warp->worker;
    if (is_flag(worker, ins)) worker->epoch++;
    OrderHazard hazard;
    int told = 0;
    for (uint32_t m = mask; m && worker->launch->race.order; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        if (!race_order_signal(worker->launch, warp->block->number, address[lane], ins->order,
                               ins->class == CLASS_ATOMIC, &hazard) ||
            told)
            continue;
        look_report(warp, ins, lane, address[lane], &hazard);
        told = 1;
    }
}

void race_global(Warp *warp, const Ins *ins, const uint64_t *address, uint32_t mask, uint32_t bytes,
                 RaceKind kind)
{
    Worker *worker = warp->worker;
    uint32_t number = (uint32_t)(ins - warp->code);
    int told = 0, blocks_reported = 0;
    if (ins->order) order_note(warp, ins, address, mask);
    if (ins->order && kind == RACE_READ) return;
    RaceKind own = within_block(ins, kind); /* the kind of access for the block's other warps */
    uint64_t before = 0;
    era_begin(worker);
    uint32_t tag = race_tag(worker->epoch, warp->index);
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m), thread = warp->index * LANES + lane;
        if (kind == RACE_READ && address[lane] == before) continue; /* the same, to other warps */
        before = address[lane];
        for (uint64_t at = address[lane]; at < address[lane] + bytes; at += WORD) {
            const RaceWords *words = worker->race.global;
            size_t i = at / WORD % RACE_TABLE;
            uint32_t page = (uint32_t)(at / WORD / RACE_TABLE), part = bytes_of(at, bytes),
                     place = race_place(number, thread, part == WHOLE_WORD);
            Hazard hazard;
            if (words->page[i] != page) words->page[i] = page, words->read[i] = words->wrote[i] = 0;
            if (!told && word_check(words, i, tag, part, own, &hazard) &&
                (own != RACE_WRITE || hazard.before == RACE_READ ||
                 changes(warp, ins, lane, (uint32_t)(at - address[lane]),
                         worker->gpu->memory.host + (at - DEVICE_BASE)))) {
                hazard_report(warp, ins, lane, at, own, 0, &hazard);
                told = 1;
            }
            if (own == RACE_READ)
                word_note_read(words, i, tag, place, part, RACE_OPEN);
            else
                word_note_write(words, i, tag, place, part, own);
            if (kind == RACE_ATOMIC && !has_block_scope(ins)) continue;
            if (worker->kernel->traits.stores_partial_words)
                blocks_reported |=
                    parts_check(warp, ins, lane, address[lane], at, bytes, kind, blocks_reported);
            else if (ins->bytes >= WORD)
                blocks_reported |= blocks_check(warp, ins, lane, at, (uint32_t)(at - address[lane]),
                                                kind, blocks_reported);
        }
    }
}
