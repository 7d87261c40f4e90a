/* race.h - hazards between threads that nothing orders.
 *
 * race.c         within a block: two warps touch a word between two barriers, and one writes it
 * race_blocks.c  between the blocks of a launch, in global memory
 * race_order.c   the same for kernels with fences, which may order their blocks
 * race_async.c   between threads and what copies and multiplies beside them */
#ifndef CONVLAB_SIMT_CHECKS_RACE_H
#define CONVLAB_SIMT_CHECKS_RACE_H

#include "common/simt/core/core.h"

typedef enum RaceKind { RACE_READ, RACE_WRITE, RACE_ATOMIC } RaceKind;

/* A 4-byte word since the last barrier: epochs are numbers of barriers, counted over all blocks of
 * a worker, so that nothing has to be cleared. */
typedef struct RaceWord {
    uint64_t wrote, read; /* epoch of the last write, of the last reads */
    uint64_t word;        /* which one, in the table for global memory */
    uint32_t write_ins, read_ins, other_ins;
    uint32_t stamp;                 /* of the instruction that wrote */
    uint16_t writer, reader, other; /* threads; other: a reader of another warp */
    uint8_t write_bytes, read_bytes, atomic;
    uint8_t by_proxy; /* written by the tensor memory accelerator */
    uint32_t fences;  /* of the writer's warp between proxies, when it wrote */
} RaceWord;

/* What race_settled holds of a word whose reads need not be looked at any more: the epoch, and
 * whose reads, a warp's or anybody's; 0: nobody's. */
enum { RACE_WARP_BITS = 6, RACE_ANY_WARP = 62, RACE_EPOCH_BITS = 32 - RACE_WARP_BITS };

static inline uint32_t race_tag(uint64_t epoch, uint32_t warp)
{
    return (uint32_t)(epoch << RACE_WARP_BITS) | (warp + 1);
}

int race_open(Worker *worker);

/* Called before the access is done.  `bytes` of each lane from offset or address on. */
void race_shared(Warp *warp, const Ins *ins, const uint32_t *offset, uint32_t mask, uint32_t bytes,
                 RaceKind kind);
/* The same of pieces of 16 bytes of shared memory that the tensor memory accelerator or a
 * warpgroup's product touches for `lane`: what threads wrote there must be fenced. */
void race_async(Warp *warp, const Ins *ins, uint32_t lane, const uint32_t *piece, uint32_t count,
                int store);
/* Hazards with bulk copies that are under way to the block's shared memory. */
void race_flights(Warp *warp, const Ins *ins, const uint32_t *offset, uint32_t mask, uint32_t bytes,
                  int read);
/* A block has ended: what works beside its threads must be done with its shared memory. */
void race_unfinished(Worker *worker);
/* Writes where bulk copies may still have to read. */
void race_departures(Warp *warp, const Ins *ins, const uint32_t *offset, uint32_t mask,
                     uint32_t bytes);
void race_global(Warp *warp, const Ins *ins, const uint64_t *address, uint32_t mask, uint32_t bytes,
                 RaceKind kind);

/* Who of the launch's blocks wrote and read each word of global memory. */
int race_blocks_open(Launch *launch);
void race_blocks_close(Launch *launch);
void race_blocks_add(Launch *launch, uint64_t block, uint32_t ins, uint64_t address, int write);
/* `value`: what a write leaves in the word. */
void race_blocks_value(Launch *launch, uint64_t address, uint32_t value);
/* The memory is somebody else's from now on. */
void race_blocks_forget(Launch *launch, uint64_t address, uint64_t bytes);
/* After the launch: reports the first word that one block wrote and another touched; returns how
 * many there are. */
uint64_t race_blocks_find(Launch *launch, SimtReport *report);

#endif
