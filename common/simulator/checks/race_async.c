/* race_async.c - racecheck between threads and asynchronous units: the tensor memory accelerator
 * and the MMAs of warpgroups.
 *
 * These units see a thread's write only after a fence.proxy.async. The fence is executed by the
 * writing thread, or by the issuing warp after a barrier. A thread sees the accelerator's writes
 * only after it has observed the completion of the mbarrier's phase. No thread may overwrite the
 * source of a copy until the issuing thread has waited for the copy's group. The same holds for the
 * inputs of an MMA until its warp has waited. */
#include <stdlib.h>

#include "common/simulator/checks/race.h"
#include "common/simulator/checks/report.h"
#include "common/simulator/core/async.h"

enum { WORD = 4, PIECE = 16 };

/* Did a thread of the block write the word, and neither its warp nor the one that reads fence
 * since? */
static int is_unfenced(const Warp *warp, size_t i)
{
    const Worker *worker = warp->worker;
    const RaceWords *words = worker->race.shared;
    uint64_t wrote = worker->race.era << RACE_EPOCH_BITS | words->wrote[i] >> RACE_EPOCH_SHIFT;
    uint32_t writer = words->wrote_at[i] % (1u << RACE_INS_SHIFT) / RACE_THREAD / LANES;
    if (words->fences[i] & RACE_BY_PROXY || !words->wrote[i] || wrote < worker->block_epoch ||
        writer >= warp->block->warps)
        return 0;
    uint32_t fences = worker->warp[writer].proxy.count ^ words->fences[i] >> RACE_FENCE_SHIFT;
    if (fences % (1u << (32 - RACE_FENCE_SHIFT))) return 0;
    return warp->proxy.epoch <= wrote;
}

static void unfenced_report(Warp *warp, const Ins *ins, uint32_t lane, uint32_t at)
{
    uint32_t place = warp->worker->race.shared->wrote_at[at / WORD];
    RaceEnds ends =
        race_ends(warp, ins, place >> RACE_INS_SHIFT, place % (1u << RACE_INS_SHIFT) / RACE_THREAD);
    race_add(warp, ins, place >> RACE_INS_SHIFT, lane, 0, WORD,
             "Race reported between Write access at %.100s by thread %s and an asynchronous "
             "read at %.100s: fence.proxy.async is missing between them, at offset 0x%x of "
             "__shared__ memory",
             ends.where, ends.who, ends.here, at);
}

int race_fenced(Warp *warp, const Ins *ins, uint32_t lane, uint32_t piece)
{
    for (uint32_t at = piece; at < piece + PIECE; at += WORD) {
        if (!is_unfenced(warp, at / WORD)) continue;
        unfenced_report(warp, ins, lane, at);
        return 0;
    }
    return 1;
}

/* ---- MMAs that still read their inputs ------------------------------------------------------ */

void race_product_reads(Warp *warp, const Ins *ins, const uint32_t *piece, uint32_t count)
{
    Block *block = warp->block;
    uint32_t pieces = block->shared_bytes / PIECE;
    if (!block->read) block->read = calloc((size_t)block->warps * pieces, sizeof *block->read);
    if (!block->read) return; /* in this case nothing is reported */
    ProductRead *read = block->read + (size_t)warp->index * pieces;
    for (uint32_t i = 0; i < count; i++)
        read[piece[i] / PIECE] =
            (ProductRead){.group = warp->wgmma.group + 1, .ins = (uint32_t)(ins - warp->code)};
}

/* The first warp with an MMA that may still read bytes [low, high). */
static const ProductRead *product_find(const Block *block, uint32_t low, uint32_t high,
                                       uint32_t *who)
{
    uint32_t pieces = block->shared_bytes / PIECE;
    for (uint32_t w = 0; w < block->warps; w++) {
        const ProductRead *read = block->read + (size_t)w * pieces;
        for (uint32_t i = low / PIECE; i < pieces && i * PIECE < high; i++)
            if (read[i].group > block->warp[w].wgmma.landed) {
                *who = w;
                return &read[i];
            }
    }
    return NULL;
}

void race_products(Warp *warp, const Ins *ins, const uint32_t *offset, uint32_t mask,
                   uint32_t bytes)
{
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m), who;
        const ProductRead *read =
            product_find(warp->block, offset[lane], offset[lane] + bytes, &who);
        if (!read) continue;
        RaceEnds ends = race_ends(warp, ins, read->ins, who * LANES);
        race_add(
            warp, ins, read->ins, lane, 0, bytes,
            "Race reported between an MMA (wgmma) at %.100s by the warp of thread %s, which may "
            "still read its operands, and Write access at %.100s, at offset 0x%x of __shared__ "
            "memory. Cause: that warp has not waited for the MMA's group (wgmma.wait_group)",
            ends.where, ends.who, ends.here, offset[lane]);
        return;
    }
}

/* ---- bulk copies ---------------------------------------------------------------------------- */

/* Has the copy to do with any of these bytes?  A swizzle changes places within 128 bytes only. */
static int overlaps(uint32_t from, const Stretch *stretch, uint32_t at, uint32_t bytes)
{
    uint32_t to = from + stretch->bytes;
    if (stretch->swizzle) from &= ~127u, to = (to + 127) & ~127u;
    return at < to && at + bytes > from;
}

int race_copies_near(const Block *block, uint32_t low, uint32_t high, int store)
{
    for (uint32_t i = 0; i < block->flights; i++)
        if (overlaps(block->flight[i].to, &block->flight[i].stretch, low, high - low)) return 1;
    for (uint32_t i = 0; store && i < block->departures; i++)
        if (overlaps(block->departure[i].from, &block->departure[i].stretch, low, high - low))
            return 1;
    uint32_t who;
    return store && block->read && product_find(block, low, high, &who);
}

void race_flights(Warp *warp, const Ins *ins, const uint32_t *offset, uint32_t mask, uint32_t bytes,
                  int read)
{
    const Block *block = warp->block;
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        for (uint32_t i = 0; i < block->flights; i++) {
            const Flight *flight = &block->flight[i];
            if (!overlaps(flight->to, &flight->stretch, offset[lane], bytes)) continue;
            RaceEnds ends = race_ends(warp, ins, flight->ins, flight->thread);
            race_add(warp, ins, flight->ins, lane, 0, bytes,
                     "Race reported between a bulk copy at %.100s by thread %s and %s access at "
                     "%.100s, at offset 0x%x of __shared__ memory. Cause: no thread has waited "
                     "for the phase of the mbarrier at offset 0x%x that counts its bytes",
                     ends.where, ends.who, read ? "Read" : "Write", ends.here, offset[lane],
                     flight->barrier);
            return;
        }
    }
}

void race_unfinished(Worker *worker)
{
    const Block *block = &worker->block;
    for (uint32_t w = 0; w < block->warps; w++)
        race_copies_read(&worker->warp[w], worker->warp[w].copies.copy,
                         worker->warp[w].copies.count);
    if (block->flights) {
        const Flight *flight = &block->flight[0];
        Warp *warp = &worker->warp[flight->thread / LANES % block->warps];
        const Ins *ins = &warp->code[flight->ins];
        finding_add(warp, ins, SIMT_RACECHECK, flight->thread % LANES, 0, flight->stretch.bytes,
                    "The block ends while a bulk copy may still write its shared memory: no thread "
                    "has waited for the phase of the mbarrier at offset 0x%x that counts its bytes",
                    flight->barrier);
    } else if (block->departures) {
        const Departure *departure = &block->departure[0];
        Warp *warp = &worker->warp[departure->thread / LANES];
        finding_add(
            warp, &warp->code[departure->ins], SIMT_RACECHECK, departure->thread % LANES, 0,
            departure->stretch.bytes,
            "The block ends while a bulk copy may still have to read its shared memory: "
            "its thread has not waited for the copy's group (cp.async.bulk.wait_group.read)");
    }
}

void race_departures(Warp *warp, const Ins *ins, const uint32_t *offset, uint32_t mask,
                     uint32_t bytes)
{
    const Block *block = warp->block;
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        for (uint32_t i = 0; i < block->departures; i++) {
            const Departure *departure = &block->departure[i];
            if (!overlaps(departure->from, &departure->stretch, offset[lane], bytes)) continue;
            RaceEnds ends = race_ends(warp, ins, departure->ins, departure->thread);
            race_add(warp, ins, departure->ins, lane, 0, bytes,
                     "Race reported between a bulk copy at %.100s by thread %s, which may still "
                     "have to read its source, and Write access at %.100s, at offset 0x%x of "
                     "__shared__ memory. Cause: that thread has not waited for the copy's group "
                     "(cp.async.bulk.wait_group.read)",
                     ends.where, ends.who, ends.here, offset[lane]);
            return;
        }
    }
}
