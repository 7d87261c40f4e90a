/* race_order.c - happens-before between blocks, for kernels with fences, volatile or ordered
 * accesses; their blocks run on one host thread, in a fixed order.
 *
 * Time counts fences and acquisitions. A block publishes what it did before its last fence when it
 * then makes an atomic or writes a flag: that is a release of the flag. Another block acquires the
 * flag when it reads the word with a volatile or acquiring load, or with an atomic whose result it
 * uses. It then knows all releases of this flag so far, and all that the releasing blocks knew, and
 * nothing else.
 *
 * A single read of a flag is not a wait. If a block reads a flag outside of a polling loop, the
 * acquisition counts only if the block is the last one: no block may release the flag afterwards
 * without waiting for this block. Therefore the last block may use the results of the others. A
 * block that reads a counter once and continues may not, although blocks that run one after the
 * other find every counter complete. One error is not detected: a block that writes a word for each
 * pair of blocks, reads it once, and continues whatever its value.
 *
 * The knowledge of a block is a vector clock: the number of known releases of each flag. Most
 * kernels have one flag or a few, so the clocks are short lists. Two accesses are ordered if the
 * first block released some flag after a fence that follows the access, and the second block knows
 * that release. A plain write to a flag starts a new flag: its readers know none of the releases
 * before. If the clocks exceed RACE_ORDER_ENTRIES, the order is lost, and the launch has that as a
 * finding. If a word has several readers, only the last one is recorded. */
#include "common/simulator/checks/race_order.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "common/simulator/core/kinds.h"

enum { LAST_INS = (1 << 15) - 1 }; /* later instructions are called this one */
static const uint64_t MOST_BLOCKS = 1u << 24;
/* Bytes of list entries that may be moved: some seconds of host time. */
static const uint64_t MOST_MOVED = 1ull << 33;

/* A word of device memory, or a byte where the kernel stores parts of words: block + 1, 0 for none;
 * times of the accesses. */
typedef struct OrderWord {
    uint32_t writer, write_time, reader, read_time;
    uint32_t flag; /* the flag that it is, + 1; 0: no block has released it */
    uint32_t read_ins : 16, write_ins : 15;
    uint32_t by_signal : 1; /* the last write was a release: blocks that have acquired since have
                             * seen it */
} OrderWord;

/* A number of releases of a flag.  Firm: the block waited for them.  Loose: it looked once, at the
 * flag `via`. */
typedef struct Known {
    uint32_t flag, firm, loose, via;
} Known;

typedef struct KnownList {
    Known *item; /* ascending by flag */
    uint32_t count, capacity;
} KnownList;

typedef struct Flag {
    uint32_t releases;
    KnownList known; /* union of the knowledge of all releasing blocks */
    /* A block, + 1, that used what it learned by looking at this flag once, how many
     * releases it had made before it looked, and where it did so. */
    uint32_t user, user_releases;
    OrderHazard use;
} Flag;

/* The block's n-th release made flag.releases `number`, after a fence at `fenced`. */
typedef struct Release {
    uint32_t flag, number, fenced;
} Release;

typedef struct BlockOrder {
    uint32_t fenced, acquired; /* times of the last ones */
    KnownList known;
    Release *release;                    /* in time order */
    uint32_t releases, capacity, looked; /* looked: number of releases before the last single
                                          * read */
    uint64_t next_used;                  /* block + 1 */
    int is_used;
} BlockOrder;

struct RaceOrder {
    OrderWord *word;
    size_t words, word_bytes, granule; /* bytes of a word: 4 or 1 */
    BlockOrder *block;
    size_t blocks, block_bytes;
    uint64_t first_used; /* block + 1, of those that have lists */
    Flag *flag;
    uint32_t flags, flag_capacity;
    uint64_t entries, moved; /* entries of all lists; bytes moved */
    uint32_t now;
    int is_lost;
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
    order->granule = launch->kernel->traits.stores_partial_words ? 1 : 4;
    order->words = launch->gpu->memory.next / order->granule + 1;
    order->word_bytes = order->words * sizeof *order->word;
    order->blocks = launch->blocks < MOST_BLOCKS ? launch->blocks : MOST_BLOCKS;
    order->is_lost = launch->blocks > MOST_BLOCKS;
    order->block_bytes = order->blocks * sizeof *order->block;
    order->word = space_reserve(order->word_bytes);
    order->block = space_reserve(order->block_bytes);
    order->now = 1;
    launch->race.order = order;
    return order->word && order->block ? 0 : -1;
}

void race_order_close(Launch *launch)
{
    RaceOrder *order = launch->race.order;
    if (!order) return;
    for (uint64_t at = order->first_used; at; at = order->block[at - 1].next_used) {
        free(order->block[at - 1].known.item);
        free(order->block[at - 1].release);
    }
    for (uint32_t i = 0; i < order->flags; i++)
        free(order->flag[i].known.item);
    free(order->flag);
    if (order->word) munmap(order->word, order->word_bytes);
    if (order->block) munmap(order->block, order->block_bytes);
    free(order);
}

static BlockOrder *block_of(const RaceOrder *order, uint64_t block)
{
    return &order->block[block % order->blocks];
}

static BlockOrder *block_use(RaceOrder *order, uint64_t block)
{
    BlockOrder *own = block_of(order, block);
    if (own->is_used) return own;
    own->is_used = 1, own->next_used = order->first_used;
    order->first_used = block % order->blocks + 1;
    return own;
}

static OrderWord *word_at(const RaceOrder *order, uint64_t address)
{
    uint64_t word = (address - DEVICE_BASE) / order->granule;
    return word < order->words ? &order->word[word] : NULL;
}

/* ---- vector clocks of blocks and flags ------------------------------------------------------ */

/* Room for one entry more; 0, or -1 and the order is lost. */
static int entry_room(RaceOrder *order, void **item, uint32_t count, uint32_t *capacity,
                      size_t bytes)
{
    if (count < *capacity) return 0;
    uint32_t wanted = *capacity ? 2 * *capacity : 4;
    void *grown =
        order->entries + wanted <= RACE_ORDER_ENTRIES ? realloc(*item, wanted * bytes) : NULL;
    if (!grown) {
        order->is_lost = 1;
        return -1;
    }
    order->entries += wanted - *capacity;
    *item = grown, *capacity = wanted;
    return 0;
}

/* Index of the flag, or its place if it is absent. */
static uint32_t known_find(const KnownList *list, uint32_t flag)
{
    uint32_t low = 0, high = list->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (list->item[middle].flag < flag)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static Known known_of(const KnownList *list, uint32_t flag)
{
    uint32_t at = known_find(list, flag);
    return at < list->count && list->item[at].flag == flag ? list->item[at]
                                                           : (Known){flag, 0, 0, 0};
}

static uint32_t known_most(const KnownList *list, uint32_t flag)
{
    Known known = known_of(list, flag);
    return known.firm > known.loose ? known.firm : known.loose;
}

static void known_add(RaceOrder *order, KnownList *list, Known what)
{
    uint32_t at = known_find(list, what.flag);
    if (at < list->count && list->item[at].flag == what.flag) {
        Known *known = &list->item[at];
        if (known->firm < what.firm) known->firm = what.firm;
        if (known->loose < what.loose) known->loose = what.loose, known->via = what.via;
        return;
    }
    void *item = list->item;
    if (entry_room(order, &item, list->count, &list->capacity, sizeof *list->item) != 0) return;
    list->item = item;
    memmove(list->item + at + 1, list->item + at, (list->count - at) * sizeof *list->item);
    order->moved += (list->count - at) * sizeof *list->item;
    list->item[at] = what;
    list->count++;
}

/* All of it; `once`: learned by looking once at the flag `via`. */
static void known_join(RaceOrder *order, KnownList *to, const KnownList *from, int once,
                       uint32_t via)
{
    order->moved += from->count * 8 * sizeof *from->item;
    if (order->moved > MOST_MOVED) order->is_lost = 1;
    for (uint32_t i = 0; i < from->count && !order->is_lost; i++) {
        Known what = from->item[i];
        if (once && what.firm >= what.loose) what.loose = what.firm, what.via = via;
        if (once) what.firm = 0;
        known_add(order, to, what);
    }
}

/* ---- releases and acquisitions -------------------------------------------------------------- */

void race_order_fence(Launch *launch, uint64_t block)
{
    if (launch->race.order) block_of(launch->race.order, block)->fenced = ++launch->race.order->now;
}

/* The flag that the word is; a new one where it is none, or begins again.  NULL: the order is
 * lost. */
static Flag *flag_of(RaceOrder *order, OrderWord *w, int is_new)
{
    if (w->flag && !is_new) return &order->flag[w->flag - 1];
    void *item = order->flag;
    if (entry_room(order, &item, order->flags, &order->flag_capacity, sizeof *order->flag) != 0)
        return NULL;
    order->flag = item;
    order->flag[order->flags] = (Flag){0};
    w->flag = ++order->flags;
    return &order->flag[w->flag - 1];
}

/* A number of releases of a flag, acquired by a wait or by a single read. */
static Known so_many(uint32_t flag, uint32_t releases, int once)
{
    return once ? (Known){flag, 0, releases, flag} : (Known){flag, releases, 0, 0};
}

static void flag_acquire(RaceOrder *order, BlockOrder *own, const OrderWord *w, int once)
{
    uint32_t number = w->flag - 1;
    const Flag *flag = &order->flag[number];
    own->acquired = ++order->now;
    if (once) own->looked = own->releases;
    Known known = known_of(&own->known, number);
    if (known.firm == flag->releases || (once && known.loose == flag->releases)) return;
    known_add(order, &own->known, so_many(number, flag->releases, once));
    known_join(order, &own->known, &flag->known, once, number);
}

/* A further release of the same flag after the same fence adds no information. */
static int is_repeated(const BlockOrder *own, uint32_t flag)
{
    const Release *last = own->releases ? &own->release[own->releases - 1] : NULL;
    return last && last->flag == flag && last->fenced == own->fenced;
}

/* Is the last write to the word a release that the block has acquired? */
static int is_seen(const RaceOrder *order, const OrderWord *w, const BlockOrder *own)
{
    if (!w->by_signal) return 0;
    if (!w->flag) return w->write_time < own->acquired;
    return known_most(&own->known, w->flag - 1) == order->flag[w->flag - 1].releases;
}

/* Has the block waited for what the user of the flag did after it had looked? */
static int waits_for_user(const RaceOrder *order, const Flag *flag, const BlockOrder *own)
{
    const BlockOrder *user = block_of(order, flag->user - 1);
    for (uint32_t i = flag->user_releases; i < user->releases; i++)
        if (known_of(&own->known, user->release[i].flag).firm >= user->release[i].number) return 1;
    return 0;
}

/* A block that reads the result of an atomic also knows the releases before it. 1: some block has
 * used results of others after a single read of this flag, and it was not the last block. */
static int flag_release(RaceOrder *order, uint64_t block, OrderWord *w, uint32_t how, int is_atomic,
                        OrderHazard *hazard)
{
    BlockOrder *own = block_of(order, block);
    int reads = (how & ORDER_READS) != 0, once = !(how & ORDER_SPINS),
        seen = is_seen(order, w, own);
    Flag *flag = flag_of(order, w, !reads && !is_atomic);
    if (!flag) return 0;
    uint32_t number = w->flag - 1;
    int early = flag->user && flag->user != block + 1 && !waits_for_user(order, flag, own);
    if (early) *hazard = flag->use;
    if (flag->user != block + 1) flag->user = 0;
    flag->releases++;
    known_join(order, &flag->known, &own->known, 0, 0);
    if (reads || seen)
        known_add(order, &own->known, so_many(number, flag->releases, reads && once));
    if (is_repeated(own, number)) return early;
    void *item = own->release;
    if (entry_room(order, &item, own->releases, &own->capacity, sizeof *own->release) != 0)
        return early;
    own->release = item;
    own->release[own->releases++] = (Release){number, flag->releases, own->fenced};
    return early;
}

int race_order_signal(Launch *launch, uint64_t block, uint64_t address, uint32_t how, int is_atomic,
                      OrderHazard *hazard)
{
    RaceOrder *order = launch->race.order;
    OrderWord *w = word_at(order, address);
    if (!w || order->is_lost) return 0;
    BlockOrder *own = block_use(order, block);
    if (how & ORDER_READS && w->flag) flag_acquire(order, own, w, !(how & ORDER_SPINS));
    if (!(how & ORDER_WRITES)) return 0;
    if (how & ORDER_RELEASES) own->fenced = ++order->now;
    return own->fenced ? flag_release(order, block, w, how, is_atomic, hazard) : 0;
}

void race_order_forget(Launch *launch, uint64_t address, uint64_t bytes)
{
    for (uint64_t at = address; launch->race.order && at < address + bytes;
         at += launch->race.order->granule) {
        OrderWord *w = word_at(launch->race.order, at);
        if (w) memset(w, 0, sizeof *w);
    }
}

int race_order_lost(const Launch *launch)
{
    return launch->race.order && launch->race.order->is_lost;
}

/* Is what block `from` did at `time` over for the block that knows so much?  *via: that it looked
 * once at this flag, + 1, is all it knows it by; else 0. */
static int is_over(const RaceOrder *order, uint64_t from, uint32_t time, const BlockOrder *to,
                   uint32_t *via)
{
    enum { FIRM_AMONG = 4096 }; /* number of releases examined after the first loose one */
    const BlockOrder *other = block_of(order, from);
    uint32_t low = 0, high = other->releases, left = UINT32_MAX;
    while (low < high) { /* the first release whose fence follows the access */
        uint32_t middle = low + (high - low) / 2;
        if (other->release[middle].fenced <= time)
            low = middle + 1;
        else
            high = middle;
    }
    *via = 0;
    for (; low < other->releases && left; low++, left--) {
        Known known = known_of(&to->known, other->release[low].flag);
        if (known.firm >= other->release[low].number) {
            *via = 0;
            return 1;
        }
        if (*via || known.loose < other->release[low].number) continue;
        *via = known.via + 1, left = FIRM_AMONG;
    }
    return *via != 0;
}

/* The block uses what another one did, and it has looked once at the flag `via` - 1. */
static void use_note(RaceOrder *order, uint32_t via, const BlockOrder *own, uint64_t block,
                     uint32_t ins, int write)
{
    if (!via) return;
    Flag *flag = &order->flag[via - 1];
    if (flag->user && flag->user != block + 1) return; /* another one is still to be looked into */
    flag->user = (uint32_t)(block + 1), flag->user_releases = own->looked;
    flag->use = (OrderHazard){block, ins < LAST_INS ? ins : LAST_INS, write};
}

int race_order_access(Launch *launch, uint64_t block, uint32_t ins, uint64_t address, int write,
                      int signals, OrderHazard *hazard)
{
    RaceOrder *order = launch->race.order;
    OrderWord *w = word_at(order, address);
    uint32_t self = (uint32_t)(block + 1);
    if (!w || order->is_lost) return 0;
    const BlockOrder *own = block_of(order, block);
    int found = 0;
    uint32_t via = 0;
    if (w->writer && w->writer != self && !(signals && is_seen(order, w, own)) &&
        !is_over(order, w->writer - 1, w->write_time, own, &via)) {
        *hazard = (OrderHazard){w->writer - 1, w->write_ins, 1};
        found = 1;
    } else if (write && w->reader && w->reader != self &&
               !is_over(order, w->reader - 1, w->read_time, own, &via)) {
        *hazard = (OrderHazard){w->reader - 1, w->read_ins, 0};
        found = 1;
    }
    use_note(order, via, own, block, ins, write);
    uint32_t number = ins < LAST_INS ? ins : LAST_INS;
    if (write) {
        w->writer = self, w->write_time = order->now, w->write_ins = number & LAST_INS;
        w->by_signal = signals != 0;
    } else {
        w->reader = self, w->read_time = order->now, w->read_ins = number & LAST_INS;
    }
    return found;
}
