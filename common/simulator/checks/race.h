/* race.h - hazards between threads that nothing orders.
 *
 * race.c         within a block: two warps touch a word between two barriers, and one writes it
 * race_blocks.c  between the blocks of a launch, in global memory
 * race_order.c   the same for kernels with fences, which may order their blocks
 * race_copies.c  between the copies that one warp has in flight
 * race_async.c   between threads and the asynchronous units (TMA, tensor cores)
 * race_cluster.c between the end of a block and accesses by other blocks of its cluster */
#ifndef CONVLAB_SIMT_CHECKS_RACE_H
#define CONVLAB_SIMT_CHECKS_RACE_H

#include "common/simulator/core/core.h"

typedef enum RaceKind { RACE_READ, RACE_WRITE, RACE_ATOMIC } RaceKind;

/* Shadow of 4-byte words: their accesses since the last barrier, in columns; an access checks rows
 * of them (race_rows.h). A tag holds the warp and the epoch, which counts the barriers of all
 * blocks of a worker, so that the shadow needs no clearing. A place holds the instruction and the
 * thread for messages. */
struct RaceWords {
    uint32_t *read, *wrote;                  /* tags */
    uint32_t *read_at, *other_at, *wrote_at; /* places; other: of a reader of another warp */
    uint32_t *fences; /* race_fences of the writer's warp, and RACE_BY_PROXY */
    /* If the place does not cover the whole word: each byte's reader; the bytes written. */
    uint32_t *readers;
    uint8_t *wrote_part;
    uint32_t *page; /* which words, in the table for global memory */
};

/* A tag: the lower bits of an epoch, the accessing warp (+ 1, or RACE_ANY_WARP; 0: none), and a
 * flag. In a tag of a read, the flag says that later reads by the same warp must be checked again.
 * In a tag of a write, it says that the write was an atomic. */
enum { RACE_WHO_BITS = 6, RACE_EPOCH_SHIFT = RACE_WHO_BITS + 1, RACE_ANY_WARP = 62 };
enum { RACE_EPOCH_BITS = 32 - RACE_EPOCH_SHIFT, RACE_OPEN = 1, RACE_BY_ATOMIC = 1 };

static inline uint32_t race_tag(uint64_t epoch, uint32_t warp)
{
    return (uint32_t)(epoch << RACE_EPOCH_SHIFT) | (warp + 1) << 1;
}

/* A place: instruction, thread, and whether it was the whole word. */
enum { RACE_WHOLE = 1, RACE_THREAD = 2, RACE_INS_SHIFT = 11 };
/* Readers of a word's bytes, 8 bits each: a warp as in a tag, READER_ANY for several, 0 for
 * none. */
enum { READER_ANY = 0xff };
/* Fences: whether the tensor memory accelerator wrote, and the fences. */
enum { RACE_BY_PROXY = 1, RACE_SYNC_SHIFT = 1, RACE_FENCE_SHIFT = 16 };

/* The proxy fences of a warp and the synchronisations of its lanes, modulo powers of two. */
static inline uint32_t race_fences(const Warp *warp)
{
    uint32_t syncs = warp->syncs << RACE_SYNC_SHIFT & ((1u << RACE_FENCE_SHIFT) - 1);
    return warp->proxy.count << RACE_FENCE_SHIFT | syncs;
}

static inline uint32_t race_place(uint32_t ins, uint32_t thread, int whole)
{
    uint32_t most = (1u << (32 - RACE_INS_SHIFT)) - 1;
    return (ins < most ? ins : most) << RACE_INS_SHIFT | thread * RACE_THREAD |
           (whole ? RACE_WHOLE : 0);
}

static inline uint32_t place_thread(uint32_t place)
{
    return place / RACE_THREAD % (1u << (RACE_INS_SHIFT - 1));
}

/* Words of the table for global memory. */
enum { RACE_TABLE = 1 << 12 };

int race_open(Worker *worker);

/* Are tags of an earlier era left, which would look like those of this one? */
static inline int race_era_ended(const Worker *worker)
{
    return worker->epoch >> RACE_EPOCH_BITS != worker->race.era;
}

/* Called before the access is done.  `bytes` of each lane from offset or address on. */
void race_shared(Warp *warp, const Ins *ins, const uint32_t *offset, uint32_t mask, uint32_t bytes,
                 RaceKind kind);
/* The same without a look at bulk copies: of an access that orders nothing. */
void race_words(Warp *warp, const Ins *ins, const uint32_t *offset, uint32_t mask, uint32_t bytes,
                RaceKind kind);
/* Is a missing synchronisation of lanes reported, as a warning or as a finding? */
static inline int race_sees_lanes(const Warp *warp)
{
    const SimtOptions *options = &warp->worker->gpu->options;
    return options->warns || options->warp_sync;
}

/* Warns if a lane reads what another lane of its warp stored, without a synchronisation of the
 * lanes in between.  Since Volta the lanes of a warp need not run in lockstep. */
void race_unsynced(Warp *warp, const Ins *ins, const uint32_t *offset, uint32_t mask,
                   uint32_t bytes);
/* Do lanes of one plain store write different values to one address, or offset of shared memory? */
void race_lanes(Warp *warp, const Ins *ins, const uint64_t *address, uint32_t mask, int shared);
/* Are the threads' writes fenced in a 16-byte chunk of shared memory that the tensor memory
 * accelerator or a warpgroup's MMA reads for `lane`? Returns 0 after reporting that they are
 * not. */
int race_fenced(Warp *warp, const Ins *ins, uint32_t lane, uint32_t piece);
/* Is a bulk copy in flight that may access bytes [low, high) of the block's shared memory? `store`:
 * also one that reads, or an MMA that reads. */
int race_copies_near(const Block *block, uint32_t low, uint32_t high, int store);
/* Hazards with bulk copies in flight to the block's shared memory. */
void race_flights(Warp *warp, const Ins *ins, const uint32_t *offset, uint32_t mask, uint32_t bytes,
                  int read);
/* Checks at a block's end that no asynchronous unit still accesses its shared memory. */
void race_unfinished(Worker *worker);
/* A lane accesses the shared memory of another block of the cluster, or arrives at an mbarrier
 * there, which is in this phase. */
void race_visit(Warp *warp, const Ins *ins, uint32_t lane, Block *block, uint32_t offset,
                int store);
void race_arrival(Warp *warp, const Ins *ins, uint32_t lane, Block *block, uint32_t barrier,
                  uint32_t phase);
/* A thread of the worker's block has observed that one of its mbarriers is now in this phase.  Only
 * if block.visit is not NULL. */
void race_arrivals_known(Worker *worker, uint32_t barrier, uint32_t phase);
/* Checks at a block's end that no other block may still access its shared memory.  Only if
 * block.visit is not NULL. */
void race_visits_find(Worker *worker);
/* Writes where bulk copies may still have to read. */
void race_departures(Warp *warp, const Ins *ins, const uint32_t *offset, uint32_t mask,
                     uint32_t bytes);
/* The warp's copies of groups before `group` are about to land. */
void race_copies(Warp *warp, uint32_t group);
/* An MMA of the warp reads 16-byte chunks until the warp has waited for its group. */
void race_product_reads(Warp *warp, const Ins *ins, const uint32_t *piece, uint32_t count);
/* Checks writes to locations that MMAs may still have to read. */
void race_products(Warp *warp, const Ins *ins, const uint32_t *offset, uint32_t mask,
                   uint32_t bytes);
/* Were words of these copies (cp.async) read while the copies were in flight? A barrier separates
 * such a read from the issue of the copy, which has not landed. */
void race_copies_read(Warp *warp, const AsyncCopy *copy, uint32_t count);
/* Words about a copy in flight to `offset` of the block's shared memory; "": there is none. */
void race_copy_describe(const Warp *warp, uint32_t offset, char *text, size_t bytes);
void race_global(Warp *warp, const Ins *ins, const uint64_t *address, uint32_t mask, uint32_t bytes,
                 RaceKind kind);

/* Shadow of global memory: the blocks of the launch that wrote and read each word. */
int race_blocks_open(Launch *launch);
void race_blocks_close(Launch *launch);
void race_shadow_free(RaceShadow *shadow);
/* A block and an instruction: lower ones are preferred; RACE_MANY: other blocks did it, too. */
enum { RACE_SIDE_BLOCK = 20, RACE_SIDE_INS = 11 };
#define RACE_MANY (1u << 31)

static inline uint32_t race_side(uint64_t block, uint32_t ins)
{
    uint32_t most = (1u << RACE_SIDE_INS) - 1;
    return (uint32_t)(block % ((1u << RACE_SIDE_BLOCK) - 1) + 1) << RACE_SIDE_INS |
           (ins < most ? ins : most);
}

/* Words of shadow that are taken together (launch->taken), and what of them was. */
enum { RACE_STRETCH = 1 << 11 };
enum { RACE_READERS = 1, RACE_WRITERS = 2 };

/* The first of `count` words in the shadow; -1: they have none, or not all of them. */
static inline int64_t race_shadow(const Launch *launch, uint64_t address, uint32_t count)
{
    uint64_t word = (address - DEVICE_BASE) / 4;
    return word < launch->race.words && count <= launch->race.words - word ? (int64_t)word : -1;
}

/* Does shadow of these words say anything yet?  At most a row of them. */
static inline int race_taken(const Launch *launch, uint64_t word, uint32_t count, int which)
{
    const unsigned char *taken = launch->race.taken;
    return __atomic_load_n(&taken[word / RACE_STRETCH], __ATOMIC_ACQUIRE) &
           __atomic_load_n(&taken[(word + count - 1) / RACE_STRETCH], __ATOMIC_ACQUIRE) & which;
}

/* A block reads `count` words of shadow. */
void race_blocks_read(Launch *launch, uint32_t side, uint64_t word, uint32_t count);
/* ... or writes these values. */
void race_blocks_write(Launch *launch, uint32_t side, uint64_t word, uint32_t count,
                       const uint32_t *value);
/* ... or each lane of `mask` writes `each` of its own, 1, 2 or 4 next to each other. */
void race_blocks_pieces(Launch *launch, uint32_t side, const uint64_t *address, uint32_t mask,
                        uint32_t each, const uint32_t *value);
/* The memory has a new owner from now on. */
void race_blocks_forget(Launch *launch, uint64_t address, uint64_t bytes);
/* After the launch: reports the words that one block wrote and another touched, grouped by their
 * lines in `all`, which has room for SIMT_FINDINGS; returns the number of words. */
uint64_t race_blocks_find(Launch *launch, FindingGroup *all, uint32_t *count);

#endif
