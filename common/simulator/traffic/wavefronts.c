/* wavefronts.c - how many passes through the banks of shared memory an access takes. */
#include "common/simulator/traffic/wavefronts.h"

#include "common/simulator/core/core.h"

enum { LINE_BYTES = 128, HALF_WARP = LANES / 2 };

/* A pass gives as much as all banks hold in a row. */
static uint32_t least_passes(uint32_t mask, uint32_t bytes)
{
    return ((uint32_t)__builtin_popcount(mask) * bytes + LINE_BYTES - 1) / LINE_BYTES;
}

/* The most different words that one of the 32 banks must give to these lanes.  Each wants `words`
 * words, aligned (1, 2 or 4): so the banks of such a group give as many as one of them. */
static uint32_t bank_passes(const uint32_t *offset, uint32_t mask, uint32_t words)
{
    uint32_t group_units[32][LANES], most = 0, before = UINT32_MAX;
    unsigned char used[32] = {0};
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t unit = offset[__builtin_ctz(m)] / (4 * words), group = unit % (32 / words);
        if (unit == before) continue; /* neighbours often want the same */
        before = unit;
        uint32_t n = used[group];
        while (n && group_units[group][n - 1] != unit)
            n--;
        if (n) continue;
        group_units[group][used[group]++] = unit;
        if (used[group] > most) most = used[group];
    }
    return most;
}

/* Does each of these lanes access the same word as the lane `apart` after it? */
static int are_pairs(const uint32_t *offset, uint32_t mask, uint32_t apart)
{
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m), other = lane ^ apart;
        if (mask >> other & 1 && offset[other] != offset[lane]) return 0;
    }
    return 1;
}

/* Wavefronts of one access. An H200 handles 4-byte words of a whole warp together, 8-byte words by
 * half-warps, and 16-byte words by quarter-warps. It handles two such groups of loads at once if
 * adjacent lanes, or lanes two apart, access the same words. These counts equal those of ncu for
 * 1,156 patterns. */
uint32_t wavefronts_work_out(const uint32_t *offset, uint32_t mask, uint32_t bytes, int store,
                             uint32_t *needed)
{
    uint32_t words = bytes <= 4 ? 1 : bytes < 16 ? 2 : 4, lanes = LANES / words, passes = 0;
    if (words > 1 && !store && (are_pairs(offset, mask, 1) || are_pairs(offset, mask, 2)))
        lanes *= 2;
    uint32_t group = lanes == LANES ? FULL_MASK : (1u << lanes) - 1;
    for (uint32_t first = 0; first < LANES; first += lanes)
        passes += bank_passes(offset, mask & group << first, words);
    *needed = least_passes(mask, bytes) < passes ? least_passes(mask, bytes) : passes;
    return passes;
}

uint32_t wavefronts_of_load(const uint32_t *offset, uint32_t mask, uint32_t bytes)
{
    return bank_passes(offset, mask, bytes <= 4 ? 1 : bytes / 4);
}

/* ---- copies past the L1 ---- */

/* Parts of a copy that share a wavefront. They go from one line to one row of the banks, from
 * halves of sectors to the same halves of others, at the same distance up to whole pairs of
 * sectors. */
typedef struct CopyWave {
    uint64_t line;
    uint32_t row, half, crosses, apart;
    uint32_t from, to; /* the line's and the row's sectors that are taken */
} CopyWave;

/* Halves of one sector that go to one sector, and whether to the other side each. */
typedef struct CopyPiece {
    uint64_t from; /* sectors */
    uint32_t to, half, crosses;
} CopyPiece;

enum { COPY_BYTES = 16, COPY_SECTOR = 2 * COPY_BYTES, LINE_PIECES = LINE_BYTES / COPY_SECTOR };

static uint32_t copy_pieces(const uint32_t *to, const uint64_t *from, uint32_t mask,
                            CopyPiece *piece)
{
    uint32_t n = 0;
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m), i = 0, half = to[lane] / COPY_BYTES % 2;
        CopyPiece p = {.from = from[lane] / COPY_SECTOR,
                       .to = to[lane] / COPY_SECTOR,
                       .half = 1u << half,
                       .crosses = from[lane] / COPY_BYTES % 2 != half ? 1u << half : 0};
        while (i < n &&
               (piece[i].from != p.from || piece[i].to != p.to || !piece[i].crosses != !p.crosses))
            i++;
        if (i < n)
            piece[i].half |= p.half, piece[i].crosses |= p.crosses;
        else
            piece[n++] = p;
    }
    return n;
}

/* Each sector of a line goes to one sector of a row at a time. The result equals ncu's count for 73
 * kinds of copies on an H200 (docs/data/h200/copies.tsv), and for GEMMs that copy tiles. */
uint32_t copy_wavefronts(const uint32_t *to, const uint64_t *from, uint32_t mask, uint32_t *needed)
{
    CopyPiece piece[LANES];
    CopyWave wave[LANES];
    uint32_t pieces = copy_pieces(to, from, mask, piece), waves = 0;
    for (uint32_t i = 0; i < pieces; i++) {
        const CopyPiece *p = &piece[i];
        uint32_t k = 0, source = 1u << p->from % LINE_PIECES, target = 1u << p->to % LINE_PIECES;
        CopyWave w = {.line = p->from / LINE_PIECES,
                      .row = p->to / LINE_PIECES,
                      .half = p->half,
                      .crosses = p->crosses,
                      .apart = (uint32_t)(p->from ^ p->to) & 1};
        while (k < waves &&
               (wave[k].line != w.line || wave[k].row != w.row || wave[k].half != w.half ||
                wave[k].crosses != w.crosses || wave[k].apart != w.apart || wave[k].from & source ||
                wave[k].to & target))
            k++;
        if (k == waves) wave[waves++] = w;
        wave[k].from |= source, wave[k].to |= target;
    }
    *needed = least_passes(mask, COPY_BYTES);
    return waves;
}

/* Number of different sectors of shared memory to which these lanes' bytes go; sectors filled from
 * different units of `unit` bytes count separately. */
static uint32_t copy_targets(const uint32_t *to, const uint64_t *from, uint32_t mask, uint32_t unit)
{
    uint64_t piece[LANES];
    uint32_t sector[LANES], n = 0;
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m), i = n;
        piece[n] = from[lane] / unit, sector[n] = to[lane] / COPY_SECTOR;
        while (i && (piece[i - 1] != piece[n] || sector[i - 1] != sector[n]))
            i--;
        n += !i;
    }
    return n;
}

CopySectors copy_sectors(const uint32_t *to, const uint64_t *from, uint32_t mask)
{
    return (CopySectors){copy_targets(to, from, mask, LINE_BYTES),
                         copy_targets(to, from, mask, COPY_SECTOR)};
}

/* ---- atomics ---- */

static uint32_t bank_of(uint32_t offset, uint32_t bytes)
{
    return bytes == 8 ? offset / 8 % (LINE_BYTES / 8) : offset / 4 % (LINE_BYTES / 4);
}

/* Lanes that one bank must serve, one after the other, whichever word of it they want. */
static uint32_t atomic_bank_passes(const uint32_t *offset, uint32_t mask, uint32_t bytes)
{
    unsigned char rounds[LINE_BYTES / 4] = {0};
    uint32_t most = 0;
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t bank = bank_of(offset[__builtin_ctz(m)], bytes);
        if (++rounds[bank] > most) most = rounds[bank];
    }
    return most;
}

/* Both halves of a warp one after the other where each lane has 8 bytes. */
static uint32_t halves_count(uint32_t mask, uint32_t bytes)
{
    return bytes < 8 || !(mask >> HALF_WARP) || !(mask << HALF_WARP) ? 1 : 2;
}

void atomic_pass(const uint32_t *offset, uint32_t mask, uint32_t bytes, int swap,
                 AtomicPasses *passes)
{
    uint32_t each = swap ? 2 : 1, low = mask & ((1u << HALF_WARP) - 1), rounds;
    rounds = bytes < 8 ? atomic_bank_passes(offset, mask, bytes)
                       : atomic_bank_passes(offset, low, bytes) +
                             atomic_bank_passes(offset, mask ^ low, bytes);
    *passes = (AtomicPasses){.rounds = 1, .own = rounds * each};
    passes->needed = least_passes(mask, bytes) * each;
}

static int is_wanted(const uint32_t *offset, uint32_t mask, uint32_t wanted)
{
    for (uint32_t m = mask; m; m &= m - 1)
        if (offset[__builtin_ctz(m)] == wanted) return 1;
    return 0;
}

/* The lanes that succeed in one iteration of the loop: the first lane of each bank. With 8-byte
 * words, this is the first of each half-warp, unless the first half has just changed its word. */
static uint32_t lanes_served(const uint32_t *offset, uint32_t mask, uint32_t bytes)
{
    uint32_t banks = 0, served = 0;
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m), bank = bank_of(offset[lane], bytes);
        if (bytes == 8 && lane >= HALF_WARP) bank += HALF_WARP;
        if (!(banks >> bank & 1) && !(bytes == 8 && is_wanted(offset, served, offset[lane])))
            served |= m & -m;
        banks |= 1u << bank;
    }
    return served;
}

uint32_t atomic_round(const uint32_t *offset, uint32_t mask, uint32_t changing, uint32_t bytes,
                      AtomicPasses *passes)
{
    uint32_t needed, swaps = changing ? 2 * halves_count(changing, bytes) : 0,
                     least = 2 * least_passes(changing, bytes);
    passes->rounds++;
    passes->loads += wavefronts_work_out(offset, mask, bytes, 0, &needed);
    passes->own += swaps;
    passes->needed += needed + (least < swaps ? least : swaps);
    return lanes_served(offset, changing, bytes);
}

void atomic_loop(const uint32_t *offset, uint32_t mask, uint32_t changing, uint32_t bytes,
                 AtomicPasses *passes)
{
    *passes = (AtomicPasses){0};
    for (changing &= mask; mask; mask = changing)
        changing &= ~atomic_round(offset, mask, changing, bytes, passes);
}

void atomic_loop_16(const uint32_t *offset, uint32_t mask, AtomicPasses *passes)
{
    uint32_t word[LANES];
    for (uint32_t i = 0; i < LANES; i++)
        word[i] = offset[i] / 4 * 4;
    *passes = (AtomicPasses){0};
    passes->loads = wavefronts_work_out(word, mask, 4, 0, &passes->needed);
    while (mask) {
        uint32_t served = 0;
        for (uint32_t m = mask; m; m &= m - 1)
            if (!is_wanted(word, served, word[__builtin_ctz(m)])) served |= m & -m;
        passes->rounds++;
        passes->own += 2 * atomic_bank_passes(word, mask, 4);
        passes->needed += 2;
        mask &= ~served;
    }
}
