/* race_order.c - happens-before between blocks, for kernels with fences, volatile or ordered
 * accesses; their blocks run on one host thread, in a fixed order.
 *
 * Time counts fences and acquisitions.  A block publishes what it did before its last fence when it
 * then makes an atomic or writes a flag; another acquires that when an atomic of its own, whose
 * result it uses, or a volatile or acquiring load finds a word that was so written.  Two accesses
 * are ordered if the first was published and the second's block has acquired since.  So a fence or
 * an atomic that has nothing to do with a word orders nothing for it, but for one thing: which
 * publication a block acquired is not kept, only when it last did.  That may miss a race; it
 * invents none.  Of several readers of a word the last is remembered. */
#include "common/simulator/checks/race_order.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "common/simulator/core/kinds.h"

/* Blocks beyond so many share their times with an earlier one. */
static const uint64_t MOST_BLOCKS = 1u << 24;
#define SEVERAL UINT32_MAX
enum { LAST_INS = (1 << 15) - 1 }; /* later instructions are called this one */

/* A word of device memory: block + 1, 0 for none; times of the accesses. */
typedef struct OrderWord {
    uint32_t writer, write_time, reader, read_time;
    uint32_t signal; /* who published by writing this word, or SEVERAL */
    uint32_t read_ins : 16, write_ins : 15;
    uint32_t by_signal : 1; /* the last write was one itself: who acquired since has seen it */
} OrderWord;

typedef struct BlockTimes {
    uint32_t fenced, published, acquired;
} BlockTimes;

struct RaceOrder {
    OrderWord *word;
    size_t words, word_bytes;
    BlockTimes *times;
    size_t blocks, times_bytes;
    uint32_t now;
};

/* Address space: pages come with the first touch. */
static void *space_reserve(size_t bytes)
{
    void *space = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return space == MAP_FAILED ? NULL : space;
}

int race_order_open(Launch *launch)
{
    RaceOrder *order = calloc(1, sizeof *order);
    if (!order) return -1;
    order->words = launch->gpu->memory.next / 4 + 1;
    order->word_bytes = order->words * sizeof *order->word;
    order->blocks = launch->blocks < MOST_BLOCKS ? launch->blocks : MOST_BLOCKS;
    order->times_bytes = order->blocks * sizeof *order->times;
    order->word = space_reserve(order->word_bytes);
    order->times = space_reserve(order->times_bytes);
    order->now = 1;
    launch->order = order;
    return order->word && order->times ? 0 : -1;
}

void race_order_close(Launch *launch)
{
    RaceOrder *order = launch->order;
    if (!order) return;
    if (order->word) munmap(order->word, order->word_bytes);
    if (order->times) munmap(order->times, order->times_bytes);
    free(order);
}

static BlockTimes *times_of(const RaceOrder *order, uint64_t block)
{
    return &order->times[block % order->blocks];
}

static OrderWord *word_at(const RaceOrder *order, uint64_t address)
{
    uint64_t word = (address - DEVICE_BASE) / 4;
    return word < order->words ? &order->word[word] : NULL;
}

void race_order_fence(Launch *launch, uint64_t block)
{
    if (launch->order) times_of(launch->order, block)->fenced = ++launch->order->now;
}

void race_order_signal(Launch *launch, uint64_t block, uint64_t address, uint32_t how)
{
    RaceOrder *order = launch->order;
    OrderWord *w = word_at(order, address);
    BlockTimes *times = times_of(order, block);
    uint32_t self = (uint32_t)(block + 1);
    if (!w) return;
    if (how & ORDER_READS && w->signal && w->signal != self) times->acquired = ++order->now;
    if (!(how & ORDER_WRITES)) return;
    if (how & ORDER_RELEASES) times->fenced = ++order->now;
    if (!times->fenced) return;
    times->published = times->fenced;
    w->signal = w->signal && w->signal != self ? SEVERAL : self;
}

void race_order_forget(Launch *launch, uint64_t address, uint64_t bytes)
{
    for (uint64_t at = address; launch->order && at < address + bytes; at += 4) {
        OrderWord *w = word_at(launch->order, at);
        if (w) memset(w, 0, sizeof *w);
    }
}

/* Is what block `from` did at `time` over for the block whose times these are? */
static int is_over(const RaceOrder *order, uint64_t from, uint32_t time, const BlockTimes *to)
{
    return time < times_of(order, from)->published && time < to->acquired;
}

int race_order_access(Launch *launch, uint64_t block, uint32_t ins, uint64_t address, int write,
                      int signals, OrderHazard *hazard)
{
    RaceOrder *order = launch->order;
    OrderWord *w = word_at(order, address);
    uint32_t self = (uint32_t)(block + 1);
    if (!w) return 0;
    const BlockTimes *times = times_of(order, block);
    int found = 0;
    int seen = w->by_signal && signals && w->write_time < times->acquired;
    if (w->writer && w->writer != self && !seen &&
        !is_over(order, w->writer - 1, w->write_time, times)) {
        *hazard = (OrderHazard){w->writer - 1, w->write_ins, 1};
        found = 1;
    } else if (write && w->reader && w->reader != self &&
               !is_over(order, w->reader - 1, w->read_time, times)) {
        *hazard = (OrderHazard){w->reader - 1, w->read_ins, 0};
        found = 1;
    }
    uint32_t number = ins < LAST_INS ? ins : LAST_INS;
    if (write) {
        w->writer = self, w->write_time = order->now, w->write_ins = number & LAST_INS;
        w->by_signal = signals != 0;
    } else {
        w->reader = self, w->read_time = order->now, w->read_ins = number & LAST_INS;
    }
    return found;
}
