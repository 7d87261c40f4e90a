/* digest.h - a digest of a launch: the control flow of every warp, the addresses of its accesses,
 * and the few values that change a cost.
 *
 * Two launches of a kernel with the same configuration, parameters and digest have the same
 * counters and cycles.  The digest of a launch is the sum of its blocks' digests, so that the order
 * in which host threads execute blocks does not matter.  It has 64 bits and no secret: it protects
 * against chance, not against a program that constructs a collision. */
#ifndef CONVLAB_SIMT_DIGEST_H
#define CONVLAB_SIMT_DIGEST_H

#include "common/simulator/core/core.h"

/* Parts of the digest, by instruction. */
enum {
    DIGEST_WIDE = 1,   /* 64-bit addresses in register a */
    DIGEST_NARROW = 2, /* 32-bit addresses in register a */
    DIGEST_SOURCE = 4, /* 64-bit addresses in register b, and sizes in register c */
    DIGEST_MASK = 8,   /* the lanes that execute it */
    DIGEST_FLOW = 16,  /* the next instruction and its lanes */
    DIGEST_COST = 32,  /* properties of its values that change its cost */
    DIGEST_AFTER = DIGEST_FLOW | DIGEST_COST
};

/* Builds kernel->digest_rule.  0: the cost of the kernel depends on more than the digest covers, or
 * the host has no memory. */
int digest_prepare(SimtKernel *kernel);

static inline uint64_t digest_mix(uint64_t digest, uint64_t value)
{
    const uint64_t ODD = 0x9e3779b97f4a7c15ull;
    uint64_t mixed = (digest ^ value) * ODD;
    return mixed ^ mixed >> 29;
}

static inline void digest_add(Warp *warp, uint64_t value)
{
    warp->digest = digest_mix(warp->digest, value);
}

void digest_before(Warp *warp, const Ins *ins, uint8_t how);
void digest_after(Warp *warp, const Ins *ins, const Ins *next, uint8_t how);
/* Adds the current block, whose warps have ended, to the launch's digest. */
void digest_block(Worker *worker);

#endif
