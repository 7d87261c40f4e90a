/* race_order.h - the order that a kernel creates between its blocks with fences, atomics and flags;
 * race.c uses it for kernels with such instructions. */
#ifndef CONVLAB_SIMT_CHECKS_RACE_ORDER_H
#define CONVLAB_SIMT_CHECKS_RACE_ORDER_H

#include "common/simulator/core/core.h"

/* Entries of all clocks together: 16 bytes each at most. */
enum { RACE_ORDER_ENTRIES = 1 << 25 };

/* Do blocks of the kernel order one another, or share words without sharing bytes? */
static inline int race_orders(const SimtKernel *kernel)
{
    return kernel->traits.has_fences || kernel->traits.stores_partial_words;
}

int race_order_open(Launch *launch);
void race_order_close(Launch *launch);

/* The block executed a fence: what it did before can be published from now on. */
void race_order_fence(Launch *launch, uint64_t block);
/* The other side of a hazard between two blocks. */
typedef struct OrderHazard {
    uint64_t block;
    uint32_t ins;
    int wrote;
} OrderHazard;

/* An atomic, volatile or ordered access of this word; ORDER_* as in kinds.h.  Before
 * race_order_access of the same instruction.  1: a block (*hazard, where it did so) has used what
 * others wrote after it had looked once at this word, and this block did not wait for that one. */
int race_order_signal(Launch *launch, uint64_t block, uint64_t address, uint32_t order,
                      int is_atomic, OrderHazard *hazard);
/* The blocks synchronise more than is followed: no race was looked for from then on. */
int race_order_lost(const Launch *launch);

/* The memory has a new owner from now on. */
void race_order_forget(Launch *launch, uint64_t address, uint64_t bytes);

/* A block reads or writes the word; 1 when another block did so before, one of them wrote, and
 * nothing orders the two.  Notes the access either way.  `signals`: it is a volatile or ordered
 * one. */
int race_order_access(Launch *launch, uint64_t block, uint32_t ins, uint64_t address, int write,
                      int signals, OrderHazard *hazard);

#endif
