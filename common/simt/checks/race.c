/* race.c - racecheck within a block.
 *
 * Every word of shared memory remembers who wrote it last and who read it since the last barrier.
 * An access by another warp with no barrier between is a hazard, in compute-sanitizer's words
 * RAW, WAR or WAW.  The lanes of one warp are taken as ordered, except that one store with two
 * lanes on one word, and different values, is a hazard.  A barrier that only some warps wait at
 * counts as one for all: that may miss a hazard, never invent one.
 *
 * Global memory has a table of the words that a block touched lately, which may forget.  A block
 * that has executed a fence may order its warps by flags and atomics there: each atomic whose
 * result is used, and each volatile or ordered load, then counts as a barrier. */
#include "common/simt/checks/race.h"
#include "common/simt/checks/race_order.h"
#include "common/simt/checks/report.h"

#include <stdlib.h>
#include <string.h>

#include "common/simt/core/kinds.h"

enum { NOBODY = 0xffff, TABLE_BITS = 12, WORD = 4 };

static const char *const KIND[] = {"Read", "Write", "Atomic"};

int race_open(Worker *worker)
{
    size_t words = worker->launch->shared_bytes / WORD + 64;
    Shelf *shelf = worker->shelf;
    worker->race_shared = shelf_zeros(shelf, words, sizeof *worker->race_shared);
    worker->race_global = shelf_zeros(shelf, 1u << TABLE_BITS, sizeof *worker->race_global);
    worker->race_settled = shelf_zeros(shelf, words, sizeof *worker->race_settled);
    worker->epoch = 1;
    return worker->race_shared && worker->race_global && worker->race_settled ? 0 : -1;
}

typedef struct Hazard {
    const char *name; /* "RAW" */
    RaceKind before;
    uint32_t ins, thread; /* of the earlier access */
} Hazard;

static void hazard_report(Warp *warp, const Ins *ins, uint32_t lane, uint64_t address,
                          RaceKind kind, int shared, const Hazard *hazard)
{
    RaceEnds ends = race_ends(warp, ins, hazard->ins, hazard->thread);
    char element[160] = "";
    if (!shared) memory_element(&warp->worker->gpu->memory, address, element, sizeof element);
    finding_add(
        warp, ins, SIMT_RACECHECK, lane, shared ? 0 : address, WORD,
        "Race reported between %s access at %.100s by thread %s and %s access at %.100s: %s "
        "hazard on %s%s, %s 0x%llx, with no barrier between them",
        KIND[hazard->before], ends.where, ends.who, KIND[kind], ends.here, hazard->name,
        shared ? "__shared__ memory" : "__global__ memory", element, shared ? "offset" : "address",
        (unsigned long long)address);
}

/* One word's access; 1 with a hazard. */
static int word_check(RaceWord *w, uint64_t epoch, uint32_t thread, uint32_t bytes, RaceKind kind,
                      Hazard *hazard)
{
    uint32_t warp = thread / LANES;
    int by_atomic = kind == RACE_ATOMIC && w->atomic;
    if (w->wrote == epoch && w->writer / LANES != warp && w->write_bytes & bytes && !by_atomic) {
        *hazard = (Hazard){kind == RACE_READ ? "RAW" : "WAW", w->atomic ? RACE_ATOMIC : RACE_WRITE,
                           w->write_ins, w->writer};
        return 1;
    }
    if (kind == RACE_READ || w->read != epoch || !(w->read_bytes & bytes)) return 0;
    int first = w->reader / LANES != warp;
    if (!first && w->other == NOBODY) return 0;
    *hazard = (Hazard){"WAR", RACE_READ, first ? w->read_ins : w->other_ins,
                       first ? w->reader : w->other};
    return 1;
}

static void word_note(RaceWord *w, uint64_t epoch, uint32_t thread, uint32_t bytes, uint32_t ins,
                      RaceKind kind)
{
    if (kind != RACE_READ) {
        w->wrote = epoch, w->write_ins = ins, w->writer = (uint16_t)thread;
        w->write_bytes = (uint8_t)bytes, w->atomic = kind == RACE_ATOMIC;
        return;
    }
    if (w->read != epoch) {
        w->read = epoch, w->reader = (uint16_t)thread, w->read_ins = ins;
        w->other = NOBODY, w->read_bytes = (uint8_t)bytes;
        return;
    }
    w->read_bytes |= (uint8_t)bytes;
    if (w->other == NOBODY && w->reader / LANES != thread / LANES)
        w->other = (uint16_t)thread, w->other_ins = ins;
}

/* A read that has no hazard and leaves nothing to note: others read the word before, and nobody
 * wrote it. */
static inline int word_is_settled(const RaceWord *w, uint64_t epoch, uint32_t warp, uint32_t bytes)
{
    return w->read == epoch && w->wrote != epoch && !(bytes & ~w->read_bytes) &&
           (w->other != NOBODY || w->reader / LANES == warp);
}

/* Tags of an earlier era would look like those of this one. */
static void era_begin(Worker *worker)
{
    uint64_t era = worker->epoch >> RACE_EPOCH_BITS;
    size_t words = worker->launch->shared_bytes / WORD + 64;
    if (era == worker->race_era) return;
    memset(worker->race_settled, 0, words * sizeof *worker->race_settled);
    worker->race_era = era;
}

/* Later reads of the whole word, by anybody or by this warp, have nothing to note, and find it
 * written. */
static inline void word_settle(Worker *worker, uint32_t word, uint32_t warp)
{
    const RaceWord *w = &worker->race_shared[word];
    uint32_t whole = (1u << WORD) - 1;
    int written =
        !worker->initcheck || !(~worker->shared_shadow[word * WORD / 8] >> word * WORD % 8 & whole);
    if (written && word_is_settled(w, worker->epoch, warp, whole))
        worker->race_settled[word] =
            race_tag(worker->epoch, w->other != NOBODY ? RACE_ANY_WARP : warp);
}

/* A plain read of whole words; 0, and nothing is done, where somebody wrote since the barrier. */
static inline int word_is_read(Warp *warp, uint32_t word, uint32_t thread, uint32_t ins)
{
    Worker *worker = warp->worker;
    RaceWord *w = &worker->race_shared[word];
    if (w->wrote == worker->epoch) return 0;
    word_note(w, worker->epoch, thread, (1u << WORD) - 1, ins, RACE_READ);
    word_settle(worker, word, warp->index);
    return 1;
}

/* A plain write of a whole word that nobody touched since the barrier; 0, and nothing is done,
 * where somebody did. */
static inline int word_is_written(Warp *warp, uint32_t word, uint32_t thread, uint32_t ins)
{
    Worker *worker = warp->worker;
    RaceWord *w = &worker->race_shared[word];
    if (w->wrote == worker->epoch || w->read == worker->epoch) return 0;
    word_note(w, worker->epoch, thread, (1u << WORD) - 1, ins, RACE_WRITE);
    worker->race_settled[word] = 0;
    w->by_proxy = 0, w->fences = warp->proxy_fences, w->stamp = worker->stamp;
    return 1;
}

/* The part of a word that a lane stores, `skip` bytes behind its address: how many bytes. */
static uint32_t stored_part(const Warp *warp, const Ins *ins, uint32_t lane, uint32_t skip,
                            unsigned char *value)
{
    uint32_t element = ins->bytes, bytes = element < WORD ? element : WORD, k = skip / element;
    uint32_t slot = ins->vector > 1 ? ins->v[k] : ins->d;
    if (element < WORD && ins->vector > 1) return 0; /* several elements in a word */
    if (slot == NO_SLOT || element > 8) return 0;    /* no plain store: its values lie elsewhere */
    memcpy(value, warp->file + slot + (size_t)lane * (element == 8 ? 8 : 4) + skip % element,
           bytes);
    return bytes;
}

/* Writing what is there already harms nobody. */
static int changes(const Warp *warp, const Ins *ins, uint32_t lane, uint32_t skip,
                   const unsigned char *host)
{
    unsigned char value[WORD];
    uint32_t bytes = stored_part(warp, ins, lane, skip, value);
    return !bytes || memcmp(value, host, bytes) != 0;
}

/* Two lanes of one store with different values for one word. */
static int lanes_clash(const Warp *warp, const Ins *ins, const RaceWord *w, uint32_t lane,
                       uint32_t skip, const uint32_t *offset)
{
    unsigned char mine[WORD], theirs[WORD];
    uint32_t other = w->writer % LANES, bytes;
    if (w->stamp != warp->worker->stamp || w->wrote != warp->worker->epoch ||
        offset[other] != offset[lane])
        return 0;
    bytes = stored_part(warp, ins, lane, skip, mine);
    stored_part(warp, ins, other, skip, theirs);
    return bytes && memcmp(mine, theirs, bytes) != 0;
}

/* Bytes [at, at + bytes) of the word: a bit for each. */
static uint32_t bytes_of(uint64_t at, uint32_t bytes)
{
    return bytes >= WORD ? 15 : ((1u << bytes) - 1) << (at & 3);
}

/* Does this access hear of others? Then what they did is over, as behind a barrier. */
static int is_flag(const Worker *worker, const Ins *ins)
{
    return ins->order & ORDER_SPINS || (ins->order & ORDER_READS && worker->fenced);
}

/* Flags and locks are written by volatile or ordered stores as well as by atomics. */
static RaceKind within_block(const Ins *ins, RaceKind kind)
{
    return ins->order & ORDER_WRITES ? RACE_ATOMIC : kind;
}

void race_shared(Warp *warp, const Ins *ins, const uint32_t *offset, uint32_t mask, uint32_t bytes,
                 RaceKind kind)
{
    Worker *worker = warp->worker;
    uint32_t number = (uint32_t)(ins - warp->code);
    int told = 0;
    if (is_flag(worker, ins)) worker->epoch++;
    if (ins->order & ORDER_SPINS && kind == RACE_READ) return;
    if (ins->order) kind = within_block(ins, kind);
    if (warp->block->departures && kind != RACE_READ)
        race_departures(warp, ins, offset, mask, bytes);
    if (warp->block->flights) race_flights(warp, ins, offset, mask, bytes, kind == RACE_READ);
    worker->stamp++;
    era_begin(worker);
    uint32_t before = UINT32_MAX;
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m), thread = warp->index * LANES + lane;
        if (kind == RACE_READ && offset[lane] == before) continue; /* the same, to other warps */
        before = offset[lane];
        for (uint32_t at = offset[lane]; at < offset[lane] + bytes; at += WORD) {
            RaceWord *w = &worker->race_shared[at / WORD];
            uint32_t part = bytes_of(at, bytes);
            Hazard hazard;
            if (kind == RACE_READ && bytes >= WORD && word_is_read(warp, at / WORD, thread, number))
                continue;
            if (kind == RACE_WRITE && bytes >= WORD &&
                word_is_written(warp, at / WORD, thread, number))
                continue;
            if (kind == RACE_READ && word_is_settled(w, worker->epoch, warp->index, part)) continue;
            int found = !told && word_check(w, worker->epoch, thread, part, kind, &hazard);
            if (!told && !found && kind == RACE_WRITE &&
                lanes_clash(warp, ins, w, lane, at - offset[lane], offset)) {
                hazard = (Hazard){"WAW", RACE_WRITE, number, w->writer};
                found = 1;
            }
            if (found && (kind != RACE_WRITE || hazard.before == RACE_READ ||
                          changes(warp, ins, lane, at - offset[lane], warp->block->shared + at))) {
                hazard_report(warp, ins, lane, at, kind, 1, &hazard);
                told = 1;
            }
            word_note(w, worker->epoch, thread, part, number, kind);
            worker->race_settled[at / WORD] = 0;
            if (kind != RACE_READ) w->by_proxy = 0, w->fences = warp->proxy_fences;
            w->stamp = kind == RACE_READ ? w->stamp : worker->stamp;
        }
    }
}

/* Two blocks and one word that nothing orders; writing what is there already harms nobody. */
static void blocks_report(Warp *warp, const Ins *ins, uint32_t lane, uint64_t address, int write,
                          const OrderHazard *hazard)
{
    const uint32_t *grid = warp->worker->launch->launch->grid;
    RaceEnds ends = race_ends(warp, ins, hazard->ins, 0);
    finding_add(warp, ins, SIMT_RACECHECK, lane, address, WORD,
                "Race reported between %s access at %.100s by block (%llu,%llu,%llu) and %s access "
                "at %.100s on __global__ memory: no fence with an atomic or a flag after it orders "
                "the two blocks",
                KIND[hazard->wrote], ends.where, (unsigned long long)(hazard->block % grid[0]),
                (unsigned long long)(hazard->block / grid[0] % grid[1]),
                (unsigned long long)(hazard->block / grid[0] / grid[1]), KIND[write], ends.here);
}

/* One lane's word between the blocks; `kind` is READ or WRITE.  1 when a hazard was told. */
static int blocks_check(Warp *warp, const Ins *ins, uint32_t lane, uint64_t address, uint32_t skip,
                        RaceKind kind, int told)
{
    Launch *launch = warp->worker->launch;
    uint32_t number = (uint32_t)(ins - warp->code), value = 0;
    int write = kind == RACE_WRITE;
    if (launch->order) {
        OrderHazard hazard;
        if (!race_order_access(launch, warp->block->number, number, address, write, ins->order != 0,
                               &hazard) ||
            told)
            return 0;
        if (write && hazard.wrote &&
            !changes(warp, ins, lane, skip, launch->gpu->memory.host + (address - DEVICE_BASE)))
            return 0;
        blocks_report(warp, ins, lane, address, write, &hazard);
        return 1;
    }
    if (!launch->owners) return 0;
    race_blocks_add(launch, warp->block->number, number, address, write);
    if (!write) return 0;
    stored_part(warp, ins, lane, skip, (unsigned char *)&value);
    race_blocks_value(launch, address, value);
    return 0;
}

/* Atomics, volatile and ordered accesses tell and are told what others have done. */
static void order_note(Warp *warp, const Ins *ins, const uint64_t *address, uint32_t mask)
{
    Worker *worker = warp->worker;
    if (ins->order & ORDER_RELEASES) worker->fenced = 1;
    if (is_flag(worker, ins)) worker->epoch++;
    for (uint32_t m = mask; m && worker->launch->order; m &= m - 1)
        race_order_signal(worker->launch, warp->block->number, address[__builtin_ctz(m)],
                          ins->order);
}

void race_global(Warp *warp, const Ins *ins, const uint64_t *address, uint32_t mask, uint32_t bytes,
                 RaceKind kind)
{
    Worker *worker = warp->worker;
    uint32_t number = (uint32_t)(ins - warp->code);
    int told = 0, blocks_told = 0;
    if (ins->order) order_note(warp, ins, address, mask);
    if (ins->order && kind == RACE_READ) return;
    RaceKind own = within_block(ins, kind); /* what it is to the block's other warps */
    uint64_t before = 0;
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m), thread = warp->index * LANES + lane;
        if (kind == RACE_READ && address[lane] == before) continue; /* the same, to other warps */
        before = address[lane];
        for (uint64_t at = address[lane]; at < address[lane] + bytes; at += WORD) {
            uint64_t word = at / WORD;
            RaceWord *w = &worker->race_global[word & ((1u << TABLE_BITS) - 1)];
            Hazard hazard;
            if (w->word != word) *w = (RaceWord){.word = word, .other = NOBODY};
            if (!told && word_check(w, worker->epoch, thread, bytes_of(at, bytes), own, &hazard) &&
                (own != RACE_WRITE || hazard.before == RACE_READ ||
                 changes(warp, ins, lane, (uint32_t)(at - address[lane]),
                         worker->gpu->memory.host + (at - DEVICE_BASE)))) {
                hazard_report(warp, ins, lane, at, own, 0, &hazard);
                told = 1;
            }
            word_note(w, worker->epoch, thread, bytes_of(at, bytes), number, own);
            if (kind == RACE_ATOMIC || ins->bytes < WORD) continue;
            blocks_told |= blocks_check(warp, ins, lane, at, (uint32_t)(at - address[lane]), kind,
                                        blocks_told);
        }
    }
}
