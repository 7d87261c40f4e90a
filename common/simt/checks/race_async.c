/* race_async.c - racecheck between threads and what works beside them: the tensor memory
 * accelerator and the products of warpgroups.
 *
 * What a thread wrote they see only behind a fence.proxy.async: of the thread that wrote, or of the
 * warp that asks, behind a barrier.  What the accelerator writes a thread sees only when it has
 * seen the mbarrier's phase complete; what it reads nobody may write until the thread that asked
 * has waited for the copy's group. */
#include "common/simt/checks/race.h"
#include "common/simt/checks/report.h"
#include "common/simt/core/async.h"

enum { WORD = 4, PIECE = 16 };

/* Did a thread write the word, and neither its warp nor the one that reads fence since? */
static int is_unfenced(const Warp *warp, const RaceWord *w)
{
    const Worker *worker = warp->worker;
    if (w->by_proxy || w->wrote < worker->block_epoch || w->writer / LANES >= warp->block->warps)
        return 0;
    if (worker->warp[w->writer / LANES].proxy_fences != w->fences) return 0;
    return warp->proxy_epoch <= w->wrote;
}

static void unfenced_report(Warp *warp, const Ins *ins, uint32_t lane, uint32_t at,
                            const RaceWord *w)
{
    RaceEnds ends = race_ends(warp, ins, w->write_ins, w->writer);
    finding_add(warp, ins, SIMT_RACECHECK, lane, 0, WORD,
                "Race reported between Write access at %.100s by thread %s and an asynchronous "
                "read at %.100s: fence.proxy.async is missing between them, at offset 0x%x of "
                "__shared__ memory",
                ends.where, ends.who, ends.here, at);
}

void race_async(Warp *warp, const Ins *ins, uint32_t lane, const uint32_t *piece, uint32_t count,
                int store)
{
    int told = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t offset[LANES];
        RaceWord *word = &warp->worker->race_shared[piece[i] / WORD];
        for (uint32_t k = 0; k < PIECE / WORD && !store && !told; k++) {
            if (!is_unfenced(warp, &word[k])) continue;
            unfenced_report(warp, ins, lane, piece[i] + k * WORD, &word[k]);
            told = 1;
        }
        offset[lane] = piece[i];
        race_shared(warp, ins, offset, 1u << lane, PIECE, store ? RACE_WRITE : RACE_READ);
        for (uint32_t k = 0; k < PIECE / WORD && store; k++)
            word[k].by_proxy = 1;
    }
}

/* Has the copy to do with any of these bytes?  A swizzle changes places within 128 bytes only. */
static int overlaps(uint32_t from, const Stretch *stretch, uint32_t at, uint32_t bytes)
{
    uint32_t to = from + stretch->bytes;
    if (stretch->swizzle) from &= ~127u, to = (to + 127) & ~127u;
    return at < to && at + bytes > from;
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
            finding_add(warp, ins, SIMT_RACECHECK, lane, 0, bytes,
                        "Race reported between a bulk copy at %.100s by thread %s and %s access at "
                        "%.100s: nobody has waited for the phase of the mbarrier at offset 0x%x "
                        "that counts its bytes, at offset 0x%x of __shared__ memory",
                        ends.where, ends.who, read ? "Read" : "Write", ends.here, flight->barrier,
                        offset[lane]);
            return;
        }
    }
}

void race_unfinished(Worker *worker)
{
    const Block *block = &worker->block;
    if (block->flights) {
        const Flight *flight = &block->flight[0];
        Warp *warp = &worker->warp[flight->thread / LANES % block->warps];
        const Ins *ins = &warp->code[flight->ins];
        finding_add(warp, ins, SIMT_RACECHECK, flight->thread % LANES, 0, flight->stretch.bytes,
                    "The block ends while a bulk copy may still write its shared memory: nobody "
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
            finding_add(warp, ins, SIMT_RACECHECK, lane, 0, bytes,
                        "Race reported between a bulk copy at %.100s by thread %s, which may still "
                        "have to read its source, and Write access at %.100s: that thread has not "
                        "waited for the copy's group (cp.async.bulk.wait_group.read), at offset "
                        "0x%x of __shared__ memory",
                        ends.where, ends.who, ends.here, offset[lane]);
            return;
        }
    }
}
