/* count.c - what a profiler would count: sectors, wavefronts, requests, and the first-level cache's
 * hits. */
#include <string.h>

#include "common/simulator/core/kinds.h"
#include "common/simulator/core/ops.h"
#include "common/simulator/timing/critical_path.h"
#include "common/simulator/timing/cost.h"
#include "common/simulator/timing/count.h"
#include "common/simulator/ptxas/load_reuse.h"
#include "common/simulator/traffic/l1.h"
#include "common/simulator/timing/l2.h"
#include "common/simulator/timing/line_list.h"
#include "common/simulator/timing/interblock.h"
#include "common/simulator/timing/stores.h"
#include "common/simulator/traffic/retries.h"
#include "common/simulator/traffic/traffic.h"
#include "common/simulator/timing/access_log.h"
#include "common/simulator/traffic/wavefronts.h"

/* The simulator runs a warp alone up to a barrier, while on a GPU the block's other warps run
 * concurrently. A line that only this warp has used is kept while the L1 can hold the lines that
 * all warps load in the meantime. */
static int is_crowded_out(const Warp *warp, const L1Line *line)
{
    const Worker *worker = warp->worker;
    return line->warp == warp->index &&
           (uint64_t)(warp->counts.l1_fills - line->filled) * worker->block.warps >
               (uint64_t)worker->l1.sets * L1_WAYS;
}

/* One block's view of the L1: it starts cold, for what an earlier block left there depends on more
 * than this block. */
static int l1_hit(Warp *warp, uint64_t sector)
{
    Worker *worker = warp->worker;
    uint64_t line = sector / LINE_SECTORS, tag = line << 24 | (worker->block.number & 0xffffff);
    uint32_t bit = 1u << sector % LINE_SECTORS, oldest = 0;
    L1Line *set = worker->l1.line + l1_set(line, worker->l1.sets);
    worker->l1.clock++;
    for (uint32_t way = 0; way < L1_WAYS; way++) {
        if (set[way].tag == tag && set[way].sectors) {
            oldest = way;
            if (is_crowded_out(warp, &set[way])) break;
            if (set[way].used <= warp->block->l1_since) set[way].sectors = 0;
            int hit = (set[way].sectors & bit) != 0;
            set[way].sectors |= bit;
            set[way].used = worker->l1.clock;
            set[way].warp = warp->index, set[way].filled = warp->counts.l1_fills;
            return hit;
        }
        if (set[way].used < set[oldest].used) oldest = way;
    }
    set[oldest] = (L1Line){tag, bit, worker->l1.clock, warp->index, ++warp->counts.l1_fills};
    return 0;
}

uint32_t lines_count(const uint64_t *sector, uint32_t n)
{
    return segments_count(sector, n, LINE_SECTORS);
}

/* Kinds of accesses: load from shared memory; store to shared or global memory; load from global
 * memory through the L1. */
enum { OF_LOAD, OF_STORE, OF_CACHED };

/* An instruction mostly repeats its access pattern at another address, with other banks but the
 * same number of wavefronts. Therefore its last access is cached, as distances from its first
 * lane. */
static uint32_t wavefronts_count(Banked *last, const uint32_t *offset, uint32_t mask,
                                 uint32_t bytes, int kind, uint32_t *needed)
{
    uint32_t unit = bytes <= 4   ? 4
                    : bytes < 16 ? 8
                                 : 16,
             first = offset[0], rest = first & (unit - 1),
             differ = (last->unit ^ unit) | (last->rest ^ rest) | (last->mask ^ mask);
    for (uint32_t i = 0; i < LANES; i++)
        differ |= last->distance[i] ^ (offset[i] - first);
    if (differ) {
        last->unit = unit, last->rest = rest, last->mask = mask;
        for (uint32_t i = 0; i < LANES; i++)
            last->distance[i] = offset[i] - first;
        last->passes = kind == OF_CACHED
                           ? wavefronts_of_load(offset, mask, bytes)
                           : wavefronts_work_out(offset, mask, bytes, kind, &last->needed);
    }
    *needed = last->needed;
    return last->passes;
}

/* A vector of which ptxas loads two parts is two accesses. */
static uint32_t parts_count(const Ins *ins)
{
    return ins->part[1] ? 2 : 1;
}

/* Addresses of the lanes in this part. */
static const uint64_t *part_addresses(const Ins *ins, uint32_t part, const uint64_t *address,
                                      uint64_t *moved)
{
    if (!ins->part[part]) return address;
    for (uint32_t i = 0; i < LANES; i++)
        moved[i] = address[i] + ins->part[part];
    return moved;
}

/* Wavefronts of an access to global memory. */
static uint32_t wavefronts_of(Worker *worker, const Ins *ins, const uint64_t *address,
                              uint32_t mask, int kind)
{
    uint32_t offset[LANES], needed;
    for (int i = 0; i < LANES; i++)
        offset[i] = (uint32_t)address[i];
    return wavefronts_count(&worker->wavefronts[ins->mem].global, offset, mask, bytes_each(ins),
                            kind, &needed);
}

/* Adds an access's passes to the inputs of the cycle model. */
void passes_add(Warp *warp, uint32_t passes)
{
    uint32_t lanes = warp->worker->gpu->machine.lsu_lanes;
    if (lanes < LANES) passes *= LANES / lanes;
    step_access(&warp->step);
    warp->step.passes += passes;
    warp->worker->cost.passes += passes;
}

/* Constant memory delivers one word to all lanes at a time: one pass per different word. On an
 * H200, a warp with 32 different words takes 2.1 cycles for each of them (6.5 if the table exceeds
 * the next cache). An SM requests missing constants in units of 256 bytes. If the address needs no
 * register, or SASS is known to load the constant once for all lanes, no pass is counted. */
static void count_const(Warp *warp, const Ins *ins, const uint64_t *address, uint32_t mask)
{
    uint64_t word[LANES], piece[LANES];
    uint32_t words = units_collect(address, mask, 4, word), moment = moment_of(warp),
             pieces = units_collect(address, mask, CONSTANT_BYTES, piece);
    for (uint32_t i = 0; i < pieces; i++)
        traffic_load(warp->worker, piece[i] * (CONSTANT_BYTES / SECTOR), moment);
    pieces = units_collect(address, mask, CONST_L1_LINE_BYTES, piece);
    for (uint32_t i = 0; i < pieces; i++)
        piece[i] *= CONST_L1_LINE_BYTES / SECTOR;
    warp->step.kind = STEP_CONSTANT;
    lines_list(warp, piece, pieces, NULL);
    warp->worker->counters.const_requests++;
    uint64_t needed = warp->worker->cost.passes;
    passes_add(warp, words * warp->worker->gpu->machine.costs.constant_word_cycles);
    if (!ins->t_s[0] || ins->is_operand) warp->worker->cost.passes = needed;
    warp->step.latency = (uint64_t)warp->worker->gpu->machine.l1_latency + warp->step.passes;
}

/* ... or omitted in this iteration of a loop. */
static int is_left_out(Warp *warp, const Ins *ins, uint64_t address, uint32_t mask)
{
    return is_free(ins) || ins->merge == MERGE_FOLLOWER ||
           (warp->worker->kernel->costs.reused && load_is_reused(warp, ins, address, mask));
}

/* The most of these sectors' lines that one bank of tags has. */
static uint32_t lookups_of(const uint64_t *sector, uint32_t n)
{
    uint64_t line[LANES];
    uint32_t lines = 0, of[TAG_BANKS] = {0}, most = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t before = lines;
        lines = distinct_add(line, lines, sector[i] / LINE_SECTORS);
        if (lines == before) continue;
        uint32_t bank = l1_tag_bank(line[before]);
        if (++of[bank] > most) most = of[bank];
    }
    return most;
}

/* Loads that look nothing up in the L1: what is ordered, and cp.async.cg. */
static int is_past_l1(const Ins *ins)
{
    return ins->order & ORDER_READS || is_copy_past(ins);
}

/* By way of no L1, as what is_past_l1 goes. */
static uint32_t sectors_fetch(Warp *warp, const uint64_t *sector, uint32_t n)
{
    uint32_t moment = moment_of(warp);
    for (uint32_t i = 0; i < n; i++)
        traffic_load(warp->worker, sector[i], moment);
    return n;
}

uint32_t sectors_load(Warp *warp, const uint64_t *sector, uint32_t n, uint64_t *missed)
{
    uint32_t misses = 0;
    sectors_fetch(warp, sector, n);
    lines_list(warp, sector, n, NULL);
    for (uint32_t i = 0; i < n; i++)
        if (!l1_hit(warp, sector[i])) missed[misses++] = sector[i];
    return misses;
}

void misses_add(Warp *warp, const uint64_t *sector, uint32_t n, uint32_t misses, int store)
{
    const MachineCosts *costs = &warp->worker->gpu->machine.costs;
    BlockCost *cost = &warp->worker->cost;
    uint32_t rows = misses == n && !store ? segments_count(sector, n, costs->row_sectors) : 0;
    warp->step.sectors += misses;
    *(store ? &cost->store_misses : &cost->load_misses) += misses;
    if (rows > costs->open_rows) cost->load_rows += rows - costs->open_rows;
}

static void sectors_store(Worker *worker, const uint64_t *sector, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        traffic_store(worker, sector[i]);
}

void hotter(uint32_t *hot, uint32_t percent, uint32_t *hottest)
{
    *hot = *hot + percent < *hot ? UINT32_MAX : *hot + percent;
    if (*hot > *hottest) *hottest = *hot;
}

/* Looks at one sector go one after another, as atomics do; but those of one SM share an answer
 * where they are neither volatile nor for the whole system.  Kernels with such accesses have one
 * host thread. */
static void count_look(Warp *warp, const Ins *ins, uint64_t sector)
{
    const MachineCosts *costs = &warp->worker->gpu->machine.costs;
    Launch *launch = warp->worker->launch;
    int alone = ins->order & ORDER_ALONE;
    if (alone)
        hotter(&launch->contention.polls[mixed(sector) >> 52], costs->poll_percent,
               &launch->contention.most_polls);
    interblock_poll(warp, sector, alone);
}

/* Adds the cycles of a load in the L1, which looks up tags and reads words concurrently; incoming
 * lines are looked up once more, four lines per cycle. Returns the additional latency over a load
 * with one line and one word per bank: the first word follows all tags, and each further one of a
 * bank follows two cycles after the previous one. */
static uint32_t load_passes_add(Warp *warp, const Ins *ins, uint32_t lookups, uint32_t words,
                                uint32_t missing)
{
    uint32_t found = lookups > words ? lookups : words, taken = lookups + missing / TAG_BANKS,
             later = lookups - 1 + 2 * (words - 1);
    passes_add(warp, taken > words ? taken : words);
    if (has_result_delay(ins)) warp->step.passes += (later - (found - 1)) * RESULT_DELAY_UNIT;
    return later;
}

/* Adds the cycles of a store; the L1's data use the same banks as shared memory. */
static void store_passes_add(Warp *warp, const Ins *ins, const uint64_t *address, uint32_t mask,
                             uint32_t sectors, uint32_t lines)
{
    Worker *worker = warp->worker;
    uint32_t each = worker->gpu->machine.l1_sectors_per_cycle, lookups = lookups_past(lines),
             passes = (sectors + each - 1) / each;
    if (lines > 2) passes = wavefronts_of(worker, ins, address, mask, OF_STORE);
    passes_add(warp, lookups > passes ? lookups : passes);
}

/* Notes an access to the other L2 partition, after which a fence waits longer. */
void across_note(Warp *warp, const uint64_t *sector, uint32_t n)
{
    for (uint32_t i = 0;
         i < n && warp->worker->launch->interblock.queue && !warp->interblock.is_across; i++)
        warp->interblock.is_across = (uint8_t)is_across(warp, sector[i]);
}

static void global_add(Warp *warp, const Ins *ins, const uint64_t *address, uint32_t mask,
                       int store)
{
    Worker *worker = warp->worker;
    Counters *c = &worker->counters;
    const SimtMachine *machine = &worker->gpu->machine;
    uint64_t sector[LANES], bytes = bytes_each(ins);
    uint32_t n = units_collect(address, mask, SECTOR, sector), lines = lines_count(sector, n),
             lookups = store ? 0 : lookups_of(sector, n), later = 0, misses;
    bytes *= (uint32_t)__builtin_popcount(mask);
    across_note(warp, sector, n);
    if (store) {
        c->global_store_requests++, c->global_store_sectors += n, c->global_store_bytes += bytes;
        sectors_store(worker, sector, n);
        for (uint32_t i = 0; i < n && worker->launch->interblock.queue && meets(warp, ins); i++)
            interblock_store(warp, sector[i]);
        stores_count(warp, sector, n, address, mask, bytes_each(ins));
        misses = n;
    } else {
        c->global_load_requests++, c->global_load_sectors += n, c->global_load_bytes += bytes;
        for (uint32_t i = 0; i < n && ins->order & ORDER_READS; i++)
            count_look(warp, ins, sector[i]);
        misses = is_past_l1(ins) ? sectors_fetch(warp, sector, n)
                                 : sectors_load(warp, sector, n, sector);
        c->l1_hit_sectors += n - misses;
    }
    l2_access(warp, sector, store ? n : misses, address, mask, bytes_each(ins), store);
    uint32_t missing = misses ? (lines * misses + n - 1) / n : 0;
    if (store)
        store_passes_add(warp, ins, address, mask, n, lines);
    else if (!is_copy_past(ins))
        later = load_passes_add(warp, ins, lookups,
                                wavefronts_of(worker, ins, address, mask, OF_CACHED), missing);
    InsCount *profile = &worker->profile[ins - warp->code];
    profile->requests++, profile->sectors += n, profile->hits += store ? 0 : n - misses;
    warp->step.lines += missing;
    misses_add(warp, sector, n, misses, store);
    if (!store)
        warp->step.latency =
            (uint64_t)(misses ? machine->l2_latency : machine->l1_latency) + later + 1;
}

void count_global(Warp *warp, const Ins *ins, const uint64_t *address, uint32_t mask, int store)
{
    uint64_t moved[LANES];
    if (is_left_out(warp, ins, address[__builtin_ctz(mask)], mask)) return;
    if (ins->merge) {
        for (int i = 0; i < LANES; i++)
            moved[i] = address[i] & ~(uint64_t)(bytes_each(ins) - 1);
        address = moved;
    }
    int is_const = ins->space == PTX_CONST;
    if (warp->worker->watcher)
        access_log_add(warp, ins, is_const ? SIGHT_CONSTANT : SIGHT_GLOBAL, address, mask, store);
    if (is_const)
        count_const(warp, ins, address, mask);
    else
        for (uint32_t i = 0; i < parts_count(ins); i++)
            global_add(warp, ins, part_addresses(ins, i, address, moved), mask, store);
}

static void shared_passes_add(Warp *warp, const Ins *ins, uint32_t passes, uint32_t needed,
                              int store)
{
    Worker *worker = warp->worker;
    Counters *c = &worker->counters;
    c->bank_conflicts += passes - needed;
    InsCount *profile = &worker->profile[ins - warp->code];
    profile->shared_requests++, profile->wavefronts += passes;
    if (store)
        c->shared_store_requests++;
    else
        c->shared_load_requests++;
    c->shared_wavefronts += passes;
    passes_add(warp, passes);
}

static void shared_add(Warp *warp, const Ins *ins, const uint32_t *offset, uint32_t mask,
                       uint32_t bytes, int store)
{
    Worker *worker = warp->worker;
    const SimtMachine *machine = &worker->gpu->machine;
    Banked *last = &worker->wavefronts[ins->mem].shared;
    uint32_t needed, passes = wavefronts_count(last, offset, mask, bytes, store, &needed);
    shared_passes_add(warp, ins, passes, needed, store);
    if (!store)
        warp->step.latency =
            (uint64_t)machine->shared_latency + passes - 1 + conflicts_behind(ins, passes);
}

void count_shared(Warp *warp, const Ins *ins, const uint32_t *offset, uint32_t mask, int store)
{
    uint32_t bytes = bytes_each(ins), first[LANES];
    if (is_left_out(warp, ins, offset[__builtin_ctz(mask)], mask)) return;
    if (ins->merge) {
        for (int i = 0; i < LANES; i++)
            first[i] = offset[i] & ~(bytes - 1);
        offset = first;
    }
    if (warp->worker->watcher) access_log_add_shared(warp, ins, offset, mask, store);
    for (uint32_t part = 0; part < parts_count(ins); part++) {
        for (uint32_t i = 0; i < LANES && ins->part[part]; i++)
            first[i] = offset[i] + ins->part[part];
        shared_add(warp, ins, ins->part[part] ? first : offset, mask, bytes, store);
    }
}

/* Past the L1 a sector is counted wherever a part of it goes: the hardware's counter, and ncu's
 * source page, which the profile follows. */
static void copied_add(Warp *warp, const Ins *ins, const uint64_t *from, const uint32_t *to,
                       uint32_t mask)
{
    Counters *c = &warp->worker->counters;
    InsCount *profile = &warp->worker->profile[ins - warp->code];
    CopySectors counted = copy_sectors(to, from, mask);
    uint64_t sector[LANES], n = units_collect(from, mask, SECTOR, sector);
    c->global_load_sectors += counted.by_line - n;
    c->copied_sectors += counted.by_sector, profile->sectors += counted.by_sector - n;
}

void count_copied(Warp *warp, const Ins *ins, const uint64_t *from, const uint32_t *to,
                  uint32_t reading, uint32_t mask)
{
    uint64_t line[LANES];
    uint32_t needed, passes;
    if (reading) count_global(warp, ins, from, reading, 0);
    if (!is_copy_past(ins)) { /* by way of the L1 */
        count_shared(warp, ins, to, mask, 1);
        return;
    }
    copied_add(warp, ins, from, to, reading);
    if (warp->worker->watcher) access_log_add_shared(warp, ins, to, mask, 1);
    passes = copy_wavefronts(to, from, reading, &needed);
    if (needed > passes) needed = passes;
    if (ins->c != NO_SLOT) { /* it may be less than all: first zeros are written everywhere */
        uint32_t least;
        passes += wavefronts_work_out(to, mask, ins->bytes, 1, &least), needed += least;
    }
    shared_passes_add(warp, ins, passes, needed, 1);
    /* In addition, the lines of the reading lanes are looked up. */
    uint32_t lines = units_collect(from, reading, SECTOR * LINE_SECTORS, line),
             lookups = lookups_past(lines);
    if (lookups > passes) passes_add(warp, lookups - passes);
}

/* The sectors that these lanes write, and how many of them not wholly. */
static uint32_t remote_writes(const Warp *warp, const uint64_t *address, uint32_t mask,
                              uint32_t bytes)
{
    const MachineCosts *costs = &warp->worker->gpu->machine.costs;
    uint64_t sector[LANES], word[LANES];
    uint32_t n = units_collect(address, mask, SECTOR, sector),
             words = units_collect(address, mask, bytes, word) * bytes / SECTOR;
    uint32_t percent =
        words * costs->remote_write_percent + (n - words) * costs->remote_part_percent;
    return percent < costs->remote_write_most ? percent : costs->remote_write_most;
}

/* Additions to one word are serialised, those to other words of a sector are not. */
static uint32_t remote_adds(const Warp *warp, const uint64_t *address, uint32_t mask)
{
    uint64_t turn[LANES];
    uint32_t n = 0;
    for (uint32_t m = mask; m; m &= m - 1) {
        uint64_t at = address[__builtin_ctz(m)], before = 0;
        for (uint32_t k = mask & ((m & -m) - 1); k; k &= k - 1)
            before += address[__builtin_ctz(k)] / WORD == at / WORD;
        n = distinct_add(turn, n, at / SECTOR * LANES + before);
    }
    return n * warp->worker->gpu->machine.costs.remote_add_percent;
}

void count_remote(Warp *warp, const Ins *ins, const uint64_t *address, uint32_t mask)
{
    const MachineCosts *costs = &warp->worker->gpu->machine.costs;
    Worker *worker = warp->worker;
    uint64_t sector[LANES];
    uint32_t percent;
    if (ins->op == OP_ATOM)
        percent = remote_adds(warp, address, mask);
    else if (ins->class == CLASS_STORE || ins->class == CLASS_SHARED_STORE)
        percent = remote_writes(warp, address, mask, bytes_each(ins));
    else {
        uint32_t n = units_collect(address, mask, SECTOR, sector);
        percent =
            n * costs->remote_load_percent + lines_count(sector, n) * costs->remote_line_percent;
    }
    uint32_t cycles = (percent + 50) / 100;
    warp->step.kind = STEP_REMOTE, warp->step.remote_cycles = cycles < 255 ? cycles : 255;
    worker->cost.remote += warp->step.remote_cycles;
    warp->step.latency = costs->remote_cycles + cycles;
}

/* The tensor memory accelerator bypasses the L1. The replay finds the sectors that one instruction
 * requests in the step's misses and lines combined. */
void count_bulk(Warp *warp, const Ins *ins, uint64_t address, uint64_t bytes, int store)
{
    Worker *worker = warp->worker;
    Counters *c = &worker->counters;
    uint32_t moment = moment_of(warp);
    uint64_t first = address / SECTOR, n = (address + bytes - 1) / SECTOR - first + 1;
    for (uint64_t i = 0; i < n; i++)
        if (store)
            traffic_store(worker, first + i);
        else
            traffic_load(worker, first + i, moment);
    l2_note_bulk(warp, first, n, store);
    if (store)
        c->global_store_requests++, c->global_store_sectors += n, c->global_store_bytes += bytes;
    else
        c->global_load_requests++, c->global_load_sectors += n, c->global_load_bytes += bytes;
    InsCount *profile = &worker->profile[ins - warp->code];
    profile->requests++, profile->sectors += n;
    *(store ? &worker->cost.store_misses : &worker->cost.bulk_sectors) += n;
    warp->counts.bulk_sectors += (uint32_t)n;
}

/* Local memory of a warp in the L1: all warps access theirs at the same time, so each keeps only
 * its share of the lines. `line` counts from 1; 0 is an empty place. Lines of arrays are replaced
 * in LRU order. */
static int array_hit(Warp *warp, uint32_t line)
{
    Worker *worker = warp->worker;
    uint32_t i = 0,
             *kept = worker->l1.local_line + (size_t)warp->index * (worker->l1.local_lines + 1);
    while (i < worker->l1.local_lines - 1 && kept[i] != line)
        i++;
    int hit = kept[i] == line;
    memmove(kept + 1, kept, i * sizeof *kept);
    kept[0] = line;
    return hit;
}

/* With spills, a missing line takes an empty place, one whose value is no longer needed, or a
 * random one. With random replacement, a loop through more lines than there are places hits some of
 * them, as on a GPU. The state of the random generator follows the places. */
static int spill_hit(Warp *warp, uint32_t line, int last_use)
{
    enum { NEEDED_NO_MORE = 1u << 31, MULTIPLIER = 1664525, INCREMENT = 1013904223 };
    Worker *worker = warp->worker;
    uint32_t places = worker->l1.local_lines, free_place = places;
    uint32_t *kept = worker->l1.local_line + (size_t)warp->index * (places + 1);
    for (uint32_t i = 0; i < places; i++) {
        if ((kept[i] & ~NEEDED_NO_MORE) == line) {
            kept[i] = line | (last_use ? NEEDED_NO_MORE : 0);
            return 1;
        }
        if (free_place == places && (!kept[i] || kept[i] & NEEDED_NO_MORE)) free_place = i;
        if (!kept[i]) break;
    }
    if (last_use) return 0;
    if (free_place == places) {
        kept[places] = kept[places] * MULTIPLIER + INCREMENT;
        free_place = (kept[places] >> 8) % places;
    }
    kept[free_place] = line;
    return 0;
}

/* Local memory is laid out so that the same offset in neighbouring lanes is neighbouring in memory,
 * word by word: a line holds one word of every lane. */
static void local_add(Warp *warp, const Ins *ins, const uint64_t *offset, uint32_t mask, int store)
{
    Worker *worker = warp->worker;
    const SimtMachine *machine = &worker->gpu->machine;
    uint64_t sector[LANES * 4];
    uint32_t words = (bytes_each(ins) + 3) / 4, n = 0, step = 1;
    uint64_t differ = 0;
    for (uint32_t i = 0; i < LANES; i++)
        differ |= offset[i] ^ offset[0];
    /* All at one place: the lanes of a sector want the same. */
    if (mask == FULL_MASK && !differ) step = SECTOR / WORD;
    for (uint32_t lane = 0; lane < LANES; lane += step)
        for (uint32_t k = 0; k < words && mask >> lane & 1; k++)
            n = distinct_add(sector, n, ((offset[lane] / WORD + k) * LANES + lane) * WORD / SECTOR);
    uint32_t missed = 0, line = 0, spills = worker->kernel->info.spills;
    for (uint32_t i = 0, hit = 0; i < n; i++) {
        if (line != sector[i] / LINE_SECTORS + 1) {
            line = (uint32_t)(sector[i] / LINE_SECTORS) + 1;
            hit = (uint32_t)(spills ? spill_hit(warp, line, ins->last_use) : array_hit(warp, line));
        }
        missed += !hit;
    }
    InsCount *profile = &worker->profile[ins - warp->code];
    profile->local_requests++, profile->local_sectors += n;
    /* Stores go through to the L2, as they do for global memory, but stay in the L1 as well. */
    if (store) missed = n;
    warp->step.sectors += missed, warp->step.lines += (missed + LINE_SECTORS - 1) / LINE_SECTORS;
    if (!store) worker->cost.local_misses += missed;
    if (store && ins->op == OP_SPILL) worker->cost.spill_stores += missed;
    worker->counters.local_sectors += n;
    uint32_t passes =
        (uint32_t)(n + machine->l1_sectors_per_cycle - 1) / machine->l1_sectors_per_cycle;
    passes_add(warp, passes);
    if (!store)
        warp->step.latency =
            (uint64_t)(missed ? machine->l2_latency : machine->l1_latency) + passes;
}

void count_local(Warp *warp, const Ins *ins, const uint64_t *offset, uint32_t mask, int store)
{
    uint64_t moved[LANES];
    if (is_free(ins) || warp->worker->kernel->cubin.arrays_in_registers) return;
    if (warp->worker->watcher && !ins->pseudo)
        access_log_add(warp, ins, SIGHT_LOCAL, offset, mask, store);
    for (uint32_t i = 0; i < parts_count(ins); i++)
        local_add(warp, ins, part_addresses(ins, i, offset, moved), mask, store);
}
