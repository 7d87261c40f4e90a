/* l2.c - contents of the L2 within a launch, simulated for a sample of its lines (l2.h).
 *
 * Lines are replaced in LRU order. An L2 with two partitions keeps each line in the partition of
 * its address; an SM next to the other partition reads the line through its own one, which keeps a
 * copy. Written data are in both. On an H200 with 62.9 MB, therefore 41.9 MB of data that each SM
 * reads for itself fit, and 31.5 MB of data that all SMs read, or that are written. Measured: 5, 6
 * and 5 MB of data of this size were evicted.
 *
 * Written data go to DRAM when their line is evicted. A sector of which only some words were
 * written is first read from DRAM; the L2 holds few such lines: an H200 6 to 8 MB of them. */
#include "common/simulator/timing/l2.h"

#include <stdlib.h>
#include <string.h>

#include "common/simulator/traffic/dram_fetch.h"
#include "common/simulator/timing/replay.h"

enum {
    MOST_NOTES = 1 << 17,
    FEW_NOTES = 1 << 10,
    FIRST_RANK = UINT32_MAX >> 4, /* one line of 16 */
    SECTOR_WORDS = 8,
    LINE_WORDS = 32,
    LINE_BYTES = 128,
    HALVES = 2
};

/* Below this size nothing can be evicted early, even if every sector filled a whole line. */
static uint64_t least_bytes(const Launch *launch)
{
    return launch->gpu->machine.l2_bytes / launch->gpu->machine.costs.l2_part_divisor /
           LINE_SECTORS;
}

/* ---- notes -------------------------------------------------------------------------------- */

int l2_log_open(L2Log *log, const Launch *launch)
{
    if (launch->gpu->memory.next < least_bytes(launch)) return 0;
    *log = (L2Log){.room = FEW_NOTES, .most = FIRST_RANK};
    log->note = malloc(log->room * sizeof *log->note);
    return log->note ? 0 : -1;
}

void l2_log_close(L2Log *log)
{
    free(log->note);
}

/* Keeps those of lines up to this rank; of rank 0 none, for a line that nearly all accesses go to
 * may have that. */
static void log_thin(L2Log *log, uint32_t most)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < log->count; i++)
        if (most && l2_rank(log->note[i].line) <= most) log->note[kept++] = log->note[i];
    log->count = kept, log->most = most;
}

static void log_add(L2Log *log, const L2Note *note)
{
    while (log->count == MOST_NOTES)
        log_thin(log, log->most / 2);
    if (!log->most || l2_rank(note->line) > log->most || log->failed) return;
    if (log->count == log->room) {
        L2Note *grown = realloc(log->note, log->room * 2 * sizeof *grown);
        log->failed = !grown;
        if (!grown) return;
        log->note = grown, log->room *= 2;
    }
    log->note[log->count++] = *note;
}

/* The words of a sector that these lanes write, as bits of its line. */
static uint32_t words_written(uint64_t sector, const uint64_t *address, uint32_t mask,
                              uint32_t bytes)
{
    enum { WORD = 4 };
    uint32_t words = 0;
    for (uint32_t m = mask; m; m &= m - 1) {
        uint64_t first = address[__builtin_ctz(m)] / WORD;
        uint64_t last = (address[__builtin_ctz(m)] + bytes - 1) / WORD;
        for (uint64_t word = first; word <= last && word / SECTOR_WORDS == sector; word++)
            words |= 1u << word % LINE_WORDS;
    }
    return words;
}

void l2_note(Warp *warp, const uint64_t *sector, uint32_t n, const uint64_t *address, uint32_t mask,
             uint32_t bytes, int store)
{
    Worker *worker = warp->worker;
    L2Note note[LANES];
    uint64_t number = worker->block.number, wave = block_wave(worker->launch, number);
    uint32_t lines = 0, half = sm_of(worker->launch, number) % HALVES;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t line = l2_line(sector[i]), k = 0;
        uint32_t words = 0xffu << sector[i] % LINE_SECTORS * SECTOR_WORDS;
        if (l2_rank(line) > worker->l2.most) continue;
        if (store && mask) words = words_written(sector[i], address, mask, bytes);
        while (k < lines && note[k].line != line)
            k++;
        if (k == lines)
            note[lines++] = (L2Note){.at = wave << 32 | warp->counts.l2_accesses,
                                     .line = line,
                                     .store = (uint8_t)store,
                                     .half = (uint8_t)half};
        note[k].words |= words;
    }
    for (uint32_t k = 0; k < lines; k++)
        log_add(&worker->l2, &note[k]);
}

void l2_note_bulk(Warp *warp, uint64_t sector, uint64_t n, int store)
{
    if (!warp->worker->l2.most) return;
    warp->counts.l2_accesses++;
    for (uint64_t i = 0; i < n; i++, sector++)
        if (l2_rank(l2_line(sector)) <= warp->worker->l2.most)
            l2_note(warp, &sector, 1, NULL, 0, 0, store);
}

/* ---- the notes of all, in their order ----------------------------------------------------- */

static int is_earlier(const void *left, const void *right)
{
    const L2Note *a = left, *b = right;
    if (a->at != b->at) return a->at < b->at ? -1 : 1;
    if (a->line != b->line) return a->line < b->line ? -1 : 1;
    if (a->store != b->store) return a->store - b->store;
    if (a->half != b->half) return a->half - b->half;
    return a->words < b->words ? -1 : a->words > b->words;
}

/* As few lines as leave not more notes than there is room for: of all workers together, so that it
 * is the same however many there are.  A worker alone has left out none of these. */
static int logs_merge(Worker *worker, uint32_t workers, L2Log *all)
{
    uint64_t count;
    *all = (L2Log){.most = FIRST_RANK};
    for (uint32_t i = 0; i < workers; i++)
        if (worker[i].launch && worker[i].l2.most < all->most) all->most = worker[i].l2.most;
    for (;; all->most /= 2) {
        count = 0;
        for (uint32_t i = 0; i < workers; i++) {
            if (!worker[i].launch) continue;
            if (worker[i].l2.failed) return -1;
            log_thin(&worker[i].l2, all->most);
            count += worker[i].l2.count;
        }
        if (count <= MOST_NOTES) break;
    }
    all->note = malloc((count + 1) * sizeof *all->note);
    if (!all->note) return -1;
    for (uint32_t i = 0; i < workers; i++) {
        if (!worker[i].launch || !worker[i].l2.count) continue;
        memcpy(all->note + all->count, worker[i].l2.note, worker[i].l2.count * sizeof *all->note);
        all->count += worker[i].l2.count;
    }
    qsort(all->note, all->count, sizeof *all->note, is_earlier);
    return 0;
}

/* ---- a small L2 --------------------------------------------------------------------------- */

/* A line in one half. */
typedef struct L2Place {
    uint32_t key, older, newer;    /* numbers of places, 0: none */
    uint32_t written;              /* words that DRAM does not have yet */
    uint8_t there, loaded, stored; /* sectors: that came from DRAM; of all the launch */
    uint8_t kept;
} L2Place;

typedef struct L2Half {
    uint32_t oldest, newest, lines;
} L2Half;

typedef struct L2 {
    L2Place *place;  /* from 1 on */
    uint32_t *table; /* hash table of places by key; 0: none */
    uint32_t places, table_mask;
    uint32_t halves, lines; /* lines of each */
    uint32_t part_lines;    /* lines that may have partially written sectors */
    L2Half half[HALVES];
    uint32_t *part, parts, first_part; /* places with sectors that are written in part, a queue */
    uint64_t loads, fills, stores;     /* sectors from DRAM, those for a store's sake, and to it */
    uint64_t rows;                     /* times that a line's were filled, or went */
    uint64_t loaded, stored;           /* different ones that were requested */
} L2;

static int l2_begin(L2 *l2, uint32_t notes)
{
    uint32_t room = 1;
    while (room < 2 * HALVES * notes)
        room *= 2;
    l2->table_mask = room - 1;
    l2->table = calloc(room, sizeof *l2->table);
    l2->place = calloc((size_t)HALVES * notes + 1, sizeof *l2->place);
    l2->part = calloc((size_t)notes + 1, sizeof *l2->part);
    return l2->table && l2->place && l2->part ? 0 : -1;
}

static uint32_t place_of(L2 *l2, uint32_t line, uint32_t half)
{
    uint32_t key = line * HALVES + half, at = l2_rank(key) & l2->table_mask;
    while (l2->table[at] && l2->place[l2->table[at]].key != key)
        at = (at + 1) & l2->table_mask;
    if (!l2->table[at]) {
        l2->table[at] = ++l2->places;
        l2->place[l2->places].key = key;
    }
    return l2->table[at];
}

static void place_unlink(L2 *l2, uint32_t number)
{
    L2Place *place = &l2->place[number];
    L2Half *half = &l2->half[place->key % HALVES];
    *(place->older ? &l2->place[place->older].newer : &half->oldest) = place->newer;
    *(place->newer ? &l2->place[place->newer].older : &half->newest) = place->older;
    place->kept = 0, half->lines--;
}

/* The sectors that some, or all of these words are of. */
static uint8_t sectors_of(uint32_t words, int all)
{
    uint8_t sectors = 0;
    for (uint32_t i = 0; i < LINE_SECTORS; i++) {
        uint32_t own = words >> i * SECTOR_WORDS & 0xff;
        sectors |= (uint8_t)((all ? own == 0xff : own != 0) << i);
    }
    return sectors;
}

/* Writes the line's dirty data to DRAM. */
static void place_write(L2 *l2, L2Place *place)
{
    uint64_t fills = 0;
    for (uint32_t i = 0; i < LINE_SECTORS; i++) {
        uint32_t words = place->written >> i * SECTOR_WORDS & 0xff;
        l2->stores += words != 0;
        fills += words && words != 0xff && !(place->there >> i & 1);
    }
    l2->fills += fills;
    l2->rows += fills ? 2 * fills : place->written != 0;
    place->there |= sectors_of(place->written, 0);
    place->written = 0;
}

static void place_leave(L2 *l2, uint32_t number)
{
    L2Place *place = &l2->place[number];
    place_write(l2, place);
    place_unlink(l2, number);
    place->there = 0;
}

/* The place is now the newest of its half. */
static L2Place *place_use(L2 *l2, uint32_t number)
{
    L2Place *place = &l2->place[number];
    L2Half *half = &l2->half[place->key % HALVES];
    if (place->kept) place_unlink(l2, number);
    if (half->lines == l2->lines) place_leave(l2, half->oldest);
    place->older = half->newest, place->newer = 0, place->kept = 1;
    *(half->newest ? &l2->place[half->newest].newer : &half->oldest) = number;
    half->newest = number, half->lines++;
    return place;
}

/* Loads come from DRAM in pairs of sectors. */
static uint8_t pairs_of(uint8_t sectors)
{
    return (uint8_t)((sectors & 3 ? 3 : 0) | (sectors & 12 ? 12 : 0));
}

static void l2_load(L2 *l2, const L2Note *note, uint32_t home)
{
    uint8_t wanted = sectors_of(note->words, 0);
    if (l2->halves == HALVES && note->half != home) {
        L2Place *copy = place_use(l2, place_of(l2, note->line, note->half));
        uint8_t missing = wanted & (uint8_t)~copy->there;
        copy->there |= wanted;
        if (!missing) return;
        wanted = missing;
    }
    L2Place *place = place_use(l2, place_of(l2, note->line, home));
    uint8_t there = place->there | sectors_of(place->written, 1),
            fetched = pairs_of(wanted & (uint8_t)~there) & (uint8_t)~place->there;
    l2->loads += (uint64_t)__builtin_popcount(fetched);
    l2->loaded += (uint64_t)__builtin_popcount(pairs_of(wanted) & ~place->loaded);
    place->there |= fetched, place->loaded |= pairs_of(wanted);
}

/* Words of sectors of which others are neither written nor there. */
static int is_in_part(const L2Place *place)
{
    return (sectors_of(place->written, 0) & ~sectors_of(place->written, 1) & ~place->there) != 0;
}

/* A line with partially written sectors waits for the rest of them; the number of waiting lines is
 * limited. */
static void part_add(L2 *l2, uint32_t number)
{
    l2->part[l2->parts++] = number;
    while (l2->parts - l2->first_part > l2->part_lines) {
        L2Place *place = &l2->place[l2->part[l2->first_part++]];
        if (is_in_part(place)) place_write(l2, place);
    }
}

static void l2_store(L2 *l2, const L2Note *note, uint32_t home)
{
    uint8_t sectors = sectors_of(note->words, 0);
    uint32_t number = place_of(l2, note->line, home);
    if (l2->halves == HALVES) place_use(l2, place_of(l2, note->line, !home));
    L2Place *place = place_use(l2, number);
    int was_in_part = is_in_part(place);
    place->written |= note->words;
    if (!was_in_part && is_in_part(place)) part_add(l2, number);
    l2->stored += (uint64_t)__builtin_popcount(sectors & ~place->stored);
    place->stored |= sectors;
}

static uint64_t in_proportion(uint64_t sectors, uint64_t part, uint64_t of)
{
    return (uint64_t)((double)sectors * (double)part / (double)of);
}

static void note_play(L2 *l2, const L2Note *note)
{
    uint32_t home = l2_rank(note->line) % l2->halves;
    if (note->store)
        l2_store(l2, note, home);
    else
        l2_load(l2, note, home);
}

/* Scales the launch's sectors by the ratio found for the sampled lines. A written sector goes to
 * DRAM sooner or later, and its cost is assigned to the launch that wrote it. */
static void launch_tell(Launch *launch, const L2 *l2)
{
    uint64_t stored = launch->dram.stores;
    launch->dram.l2_thrashes = l2->loads > l2->loaded;
    if (l2->loaded) launch->dram.loads = in_proportion(launch->dram.loads, l2->loads, l2->loaded);
    if (!l2->stored) return;
    launch->dram.fills = in_proportion(stored, l2->fills, l2->stored);
    launch->dram.written = in_proportion(stored, l2->stores, l2->stored);
    launch->dram.rows = in_proportion(stored, l2->rows, l2->stored);
    if (l2->stores > l2->stored) launch->dram.stores = launch->dram.written;
}

int l2_play(Launch *launch, Worker *worker, uint32_t workers)
{
    const SimtMachine *machine = &launch->gpu->machine;
    L2Log log;
    L2 l2 = {0};
    if (!worker[0].l2.most ||
        (launch->dram.loads + launch->dram.stores) * SECTOR < least_bytes(launch))
        return 0;
    if (logs_merge(worker, workers, &log) != 0) return -1;
    if (!log.most) {
        free(log.note);
        return 0;
    }
    l2.halves = machine->costs.l2_halves;
    double part = ((double)log.most + 1) / 4294967296.0;
    l2.lines = (uint32_t)((double)machine->l2_bytes / LINE_BYTES / l2.halves * part) + 1;
    l2.part_lines = l2.lines * l2.halves / machine->costs.l2_part_divisor;
    int failed = l2_begin(&l2, log.count) != 0;
    for (uint32_t i = 0; i < log.count && !failed; i++)
        note_play(&l2, &log.note[i]);
    launch_tell(launch, &l2);
    free(log.note), free(l2.place), free(l2.table), free(l2.part);
    return failed ? -1 : 0;
}
