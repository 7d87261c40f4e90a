/* exec_memory.h - loads, stores and atomics.
 *
 * One range check serves a whole warp: an idle lane borrows the first active lane's address, and
 * offsets are relative to the allocation that the same instruction accessed last. A single sign bit
 * shows whether any lane left the allocation. Only then is every lane checked, and the first
 * invalid lane is reported. */
#include "common/simulator/core/kinds.h"

typedef enum Shape { SHAPE_FAULT, SHAPE_ANY, SHAPE_UNIFORM, SHAPE_LINEAR } Shape;

typedef struct Reach {
    uint64_t off[LANES];
    unsigned char *host;
    Allocation *allocation; /* NULL: lanes touch several */
} Reach;

ALWAYS uint32_t first_lane(uint32_t mask)
{
    return (uint32_t)__builtin_ctz(mask);
}

#include "common/simulator/exec/exec_quads.h"
#include "common/simulator/exec/exec_race.h"

/* The bits of `bytes` (up to 16) from bit `at` of a bitmap that is readable a little past its
 * end. */
ALWAYS uint32_t shadow_bits(const unsigned char *shadow, uint64_t at)
{
    uint32_t word;
    memcpy(&word, shadow + at / 8, 4);
    return word >> (at & 7);
}

static const char *access_name(int store)
{
    return store ? "write" : "read";
}

/* Reports an address that is not, or not completely, in existing memory. */
__attribute__((noinline)) static void outside_fault(Warp *warp, const Ins *ins, uint32_t lane,
                                                    uint64_t address, uint32_t bytes, int store)
{
    const Allocation *a = memory_find(&warp->worker->gpu->memory, address);
    char near[400];
    origin_describe(warp, ins, address, near, sizeof near);
    if (a && a->freed)
        fault_at(warp, ins, SIMT_MEMCHECK, lane, address, bytes,
                 "Use after free: invalid __global__ %s of %u bytes in memory that %s: the address "
                 "is %s",
                 access_name(store), bytes,
                 a->heap ? "free() took back" : "cudaFree freed before this launch", near);
    else
        fault_at(warp, ins, SIMT_MEMCHECK, lane, address, bytes,
                 "Invalid %s %s of %u bytes: the address is %s",
                 ins->space == PTX_CONST ? "__constant__" : "__global__", access_name(store), bytes,
                 near);
}

/* Lane by lane: names the lane that is wrong, or finds each lane's own allocation. */
__attribute__((noinline)) static Shape reach_slowly(Warp *warp, const Ins *ins,
                                                    const uint64_t *base, uint32_t bytes, int store,
                                                    Reach *reach)
{
    const Memory *memory = &warp->worker->gpu->memory;
    uint64_t idle = 0;
    FOR_ACTIVE(warp->mask)
    {
        uint64_t address = base[i] + (uint64_t)ins->imm;
        char near[400];
        if (address & (bytes - 1)) {
            origin_describe(warp, ins, address, near, sizeof near);
            fault_at(
                warp, ins, SIMT_MEMCHECK, i, address, bytes,
                "Misaligned __global__ %s of %u bytes: the address is no multiple of %u; it is %s",
                access_name(store), bytes, bytes, near);
            return SHAPE_FAULT;
        }
        Allocation *a = memory_find(memory, address);
        if (!a || a->freed || a->address + a->bytes - address < bytes) {
            outside_fault(warp, ins, i, address, bytes, store);
            return SHAPE_FAULT;
        }
        if (store && a->read_only) {
            fault_at(warp, ins, SIMT_MEMCHECK, i, address, bytes,
                     "Invalid __global__ write of %u bytes: %s is __constant__", bytes,
                     a->name ? a->name : "it");
            return SHAPE_FAULT;
        }
        reach->off[i] = address - DEVICE_BASE;
        idle = reach->off[i];
    }
    for (uint32_t i = 0; i < LANES; i++)
        if (!(warp->mask >> i & 1)) reach->off[i] = idle;
    reach->host = memory->host;
    reach->allocation = NULL;
    return SHAPE_ANY;
}

ALWAYS Shape reach_global(Warp *warp, const Ins *ins, uint32_t bytes, int store, Reach *reach)
{
    const uint64_t *base = REG(const uint64_t, ins->a);
    Allocation *allocation = warp->worker->hit[ins->mem];
    uint32_t mask = warp->mask, first = first_lane(mask);
    for (int attempt = 0; attempt < 2; attempt++) {
        uint64_t delta = (uint64_t)ins->imm - allocation->address,
                 limit = allocation->bytes - bytes;
        uint64_t origin = base[first] + delta, bad = 0, low = 0, uniform = 0, linear = 0;
        if (__builtin_expect(mask == FULL_MASK, 1)) {
            FOR_LANES
            {
                uint64_t o = base[i] + delta;
                reach->off[i] = o;
                bad |= o | (limit - o);
                low |= o;
                uniform |= o ^ origin;
                linear |= o ^ (origin + (uint64_t)i * bytes);
            }
        } else {
            FOR_LANES
            {
                uint64_t o = mask & BIT64[i] ? base[i] + delta : origin;
                reach->off[i] = o;
                bad |= o | (limit - o);
                low |= o;
                uniform |= o ^ origin;
            }
            linear = 1;
        }
        if (__builtin_expect(
                allocation->bytes >= bytes && (int64_t)bad >= 0 && !(low & (bytes - 1)), 1)) {
            if (store && allocation->read_only) break;
            reach->host = allocation->host;
            reach->allocation = allocation;
            return !uniform ? SHAPE_UNIFORM : !linear ? SHAPE_LINEAR : SHAPE_ANY;
        }
        Allocation *other =
            memory_find(&warp->worker->gpu->memory, base[first] + (uint64_t)ins->imm);
        if (!other || other->freed || other == allocation) break;
        allocation = warp->worker->hit[ins->mem] = other;
    }
    return reach_slowly(warp, ins, base, bytes, store, reach);
}

/* Whether something was read that nothing wrote; `marks` has a bit for each byte of the access,
 * which is one lane's.  With `gaps` an element counts where a part of it is written: as a struct
 * with gaps is copied. */
ALWAYS int elements_lack(const Warp *warp, const Ins *ins, uint32_t marks, uint32_t bytes)
{
    uint32_t one = (1u << ins->bytes) - 1, all = (1u << bytes) - 1;
    if (!warp->worker->gpu->options.gaps) return (marks & all) != all;
    for (uint32_t at = 0; at < bytes; at += ins->bytes)
        if (!(marks >> at & one)) return 1;
    return 0;
}

__attribute__((noinline)) static void init_report(Warp *warp, const Ins *ins, uint32_t lane,
                                                  uint64_t address, uint32_t bytes,
                                                  const char *space)
{
    char near[440] = "";
    if (space[2] == 'g' && finding_is_described(warp, ins, SIMT_INITCHECK)) {
        size_t n = 0;
        snprintf(near, sizeof near, ": ");
        n = strlen(near);
        origin_describe(warp, ins, address, near + n, sizeof near - n);
        n = strlen(near);
        if (adds_in_place(warp->worker->kernel, ins))
            snprintf(near + n, sizeof near - n, "; this line adds to it");
    }
    if (space[2] == 's' && finding_is_described(warp, ins, SIMT_INITCHECK))
        race_copy_describe(warp, (uint32_t)address, near, sizeof near);
    finding_add(warp, ins, SIMT_INITCHECK, lane, address, bytes,
                "Uninitialized %s memory read of %u bytes%s", space, bytes, near);
}

/* The lanes of `mask` read what nothing has written: follows the values, or reports the first read.
 * `marks` has a bit per byte of each lane's access. */
__attribute__((noinline)) static void init_lacks(Warp *warp, const Ins *ins, uint32_t mask,
                                                 const uint64_t *address, const uint32_t *marks,
                                                 uint32_t bytes, PtxSpace space)
{
    UndefinedRead read = {.address = address, .bytes = bytes, .space = space};
    uint32_t lane = first_lane(mask);
    int follows = undefined_can_follow(warp, ins);
    for (uint32_t k = 0; follows && k * ins->bytes < bytes; k++)
        FOR_ACTIVE(mask)
    read.lanes[k] |= (uint32_t)elements_lack(warp, ins, marks[i] >> k * ins->bytes, ins->bytes)
                     << i;
    if ((!follows || undefined_read(warp, ins, &read) != 0) && space != PTX_LOCAL)
        init_report(warp, ins, lane, address[lane], bytes,
                    space == PTX_SHARED ? "__shared__" : "__global__");
}

__attribute__((noinline)) static void init_check(Warp *warp, const Ins *ins, const Reach *reach,
                                                 Shape shape, uint32_t bytes)
{
    const Memory *memory = &warp->worker->gpu->memory;
    uint64_t start = (uint64_t)(reach->host - memory->host), address[LANES] = {0};
    uint32_t missing = 0, marks[LANES] = {0};
    if (shape == SHAPE_LINEAR &&
        memory_is_written(memory, DEVICE_BASE + start + reach->off[0], (uint64_t)bytes * LANES))
        return;
    FOR_ACTIVE(warp->mask)
    {
        marks[i] = shadow_bits(memory->shadow, start + reach->off[i]);
        address[i] = DEVICE_BASE + start + reach->off[i];
        missing |= (uint32_t)elements_lack(warp, ins, marks[i], bytes) << i;
    }
    if (missing) init_lacks(warp, ins, missing, address, marks, bytes, PTX_GLOBAL);
}

/* Marks 64 bytes of memory, in which other host threads may mark others. */
ALWAYS void marks_add(uint64_t *marks, uint64_t bits)
{
    if ((__atomic_load_n(marks, __ATOMIC_RELAXED) & bits) != bits)
        __atomic_fetch_or(marks, bits, __ATOMIC_RELAXED);
}

__attribute__((noinline)) static void init_mark(Warp *warp, const Reach *reach, Shape shape,
                                                uint32_t bytes)
{
    Memory *memory = &warp->worker->gpu->memory;
    uint64_t start = (uint64_t)(reach->host - memory->host);
    uint32_t want = (1u << bytes) - 1;
    if (shape == SHAPE_LINEAR) {
        memory_mark(memory, DEVICE_BASE + start + reach->off[0], (uint64_t)bytes * LANES, 1);
        return;
    }
    uint64_t *marks = (uint64_t *)(void *)memory->shadow, now = start / 64, bits = 0;
    FOR_ACTIVE(warp->mask)
    {
        uint64_t at = start + reach->off[i];
        if (at / 64 != now) {
            if (bits) marks_add(&marks[now], bits);
            now = at / 64, bits = 0;
        }
        bits |= (uint64_t)want << at % 64;
    }
    if (bits) marks_add(&marks[now], bits);
}

ALWAYS int needs_init(const Warp *warp, const Reach *reach)
{
    return warp->worker->initcheck && !(reach->allocation && reach->allocation->initialised);
}

__attribute__((noinline)) static void global_counted(Warp *warp, const Ins *ins, const Reach *reach,
                                                     Shape shape, int store)
{
    uint64_t address[LANES],
        start = DEVICE_BASE + (uint64_t)(reach->host - warp->worker->gpu->memory.host);
    uint32_t bytes = ins->bytes * (ins->vector > 1 ? ins->vector : 1u);
    for (int i = 0; i < LANES; i++)
        address[i] = start + reach->off[i];
    if (warp->worker->race.is_on) blocks_prefetch(warp->worker->launch, address, store);
    if (warp->count) count_global(warp, ins, address, warp->mask, store);
    if (warp->worker->launch->notes)
        touch_note(warp, ins, address, warp->mask, bytes,
                   store ? SIMT_TOUCH_WRITE : SIMT_TOUCH_READ);
    if (warp->worker->race.is_on && !ins->read_only)
        global_raced(warp, ins, address, warp->mask, bytes, shape, store);
}

/* ---- moving the data ---------------------------------------------------------------------- */
ALWAYS uint32_t narrow_read(const unsigned char *at, uint32_t bytes, int is_signed)
{
    if (bytes == 1) return is_signed ? (uint32_t)(int32_t)(int8_t)at[0] : at[0];
    uint16_t half;
    memcpy(&half, at, 2);
    return is_signed ? (uint32_t)(int32_t)(int16_t)half : half;
}

ALWAYS uint32_t read_32(const unsigned char *at)
{
    uint32_t u;
    memcpy(&u, at, 4);
    return u;
}

ALWAYS uint64_t read_64(const unsigned char *at)
{
    uint64_t u;
    memcpy(&u, at, 8);
    return u;
}

#define MOVE_IN(OFF)                                                                               \
    if (bytes == 8) {                                                                              \
        uint64_t t[LANES];                                                                         \
        uint64_t value = read_64(host + (OFF)[0]);                                                 \
        if (shape == SHAPE_LINEAR)                                                                 \
            memcpy(t, host + (OFF)[0], sizeof t);                                                  \
        else if (shape == SHAPE_UNIFORM)                                                           \
            FOR_LANES t[i] = value;                                                                \
        else                                                                                       \
            FOR_LANES t[i] = read_64(host + (OFF)[i]);                                             \
        lanes_write(warp->file + slot, t, sizeof *t, mask);                                        \
        return;                                                                                    \
    }                                                                                              \
    uint32_t t[LANES];                                                                             \
    if (bytes == 4) {                                                                              \
        if (shape == SHAPE_LINEAR) {                                                               \
            memcpy(t, host + (OFF)[0], sizeof t);                                                  \
        } else if (shape == SHAPE_UNIFORM) {                                                       \
            uint32_t value = read_32(host + (OFF)[0]);                                             \
            FOR_LANES t[i] = value;                                                                \
        } else {                                                                                   \
            FOR_LANES t[i] = read_32(host + (OFF)[i]);                                             \
        }                                                                                          \
    } else {                                                                                       \
        FOR_LANES t[i] = narrow_read(host + (OFF)[i], bytes, is_signed);                           \
    }                                                                                              \
    lanes_write(warp->file + slot, t, sizeof *t, mask);

ALWAYS void move_in(Warp *warp, uint32_t slot, const unsigned char *host, const uint64_t *off,
                    uint32_t mask, Shape shape, uint32_t bytes, int is_signed){MOVE_IN(off)}

ALWAYS
    void move_in_shared(Warp *warp, uint32_t slot, const unsigned char *host, const uint32_t *off,
                        uint32_t mask, Shape shape, uint32_t bytes, int is_signed){MOVE_IN(off)}

/* Stores keep the order of the lanes: where two lanes write one address, the higher wins. */
#define MOVE_OUT(OFF)                                                                              \
    const uint32_t *value = REG(const uint32_t, slot);                                             \
    if (shape == SHAPE_LINEAR && bytes >= 4) {                                                     \
        memcpy(host + (OFF)[0], value, (size_t)bytes * LANES);                                     \
        return;                                                                                    \
    }                                                                                              \
    if (mask == FULL_MASK) {                                                                       \
        for (int i = 0; i < LANES; i++)                                                            \
            memcpy(host + (OFF)[i],                                                                \
                   bytes == 8 ? (const void *)(REG(const uint64_t, slot) + i) : value + i, bytes); \
        return;                                                                                    \
    }                                                                                              \
    FOR_ACTIVE(mask)                                                                               \
    memcpy(host + (OFF)[i],                                                                        \
           bytes == 8 ? (const void *)(REG(const uint64_t, slot) + i) : value + i, bytes);

ALWAYS void move_out(Warp *warp, uint32_t slot, unsigned char *host, const uint64_t *off,
                     uint32_t mask, Shape shape, uint32_t bytes){MOVE_OUT(off)}

ALWAYS void move_out_shared(Warp *warp, uint32_t slot, unsigned char *host, const uint32_t *off,
                            uint32_t mask, Shape shape, uint32_t bytes){MOVE_OUT(off)}

/* ---- global
   ------------------------------------------------------------------------------------------ */
ALWAYS const Ins *global_load(Warp *warp, const Ins *ins, uint32_t bytes, int vector)
{
    Reach reach;
    uint32_t count = vector ? ins->vector : 1, element = vector ? ins->bytes : bytes,
             total = element * count;
    Shape shape = reach_global(warp, ins, total, 0, &reach);
    if (__builtin_expect(shape == SHAPE_FAULT, 0)) return NULL;
    if (needs_init(warp, &reach)) init_check(warp, ins, &reach, shape, total);
    if (warp->observed) global_counted(warp, ins, &reach, shape, 0);
    if (!vector) {
        move_in(warp, ins->d, reach.host, reach.off, warp->mask, shape, bytes, ins->is_signed);
        return ins + 1;
    }
    if (are_quads(ins, element)) {
        const unsigned char *from[LANES];
        FOR_LANES from[i] = reach.host + reach.off[i];
        quads_in(warp, ins, from);
        return ins + 1;
    }
    for (uint32_t k = 0; k < count; k++) {
        const unsigned char *host = reach.host + k * element;
        if (ins->v[k] == NO_SLOT) continue;
        if (element == 8)
            move_in(warp, ins->v[k], host, reach.off, warp->mask, SHAPE_ANY, 8, 0);
        else if (element == 4)
            move_in(warp, ins->v[k], host, reach.off, warp->mask, SHAPE_ANY, 4, 0);
        else
            move_in(warp, ins->v[k], host, reach.off, warp->mask, SHAPE_ANY, element,
                    ins->is_signed);
    }
    return ins + 1;
}

ALWAYS const Ins *global_store(Warp *warp, const Ins *ins, uint32_t bytes, int vector)
{
    Reach reach;
    uint32_t count = vector ? ins->vector : 1, element = vector ? ins->bytes : bytes,
             total = element * count;
    Shape shape = reach_global(warp, ins, total, 1, &reach);
    if (__builtin_expect(shape == SHAPE_FAULT, 0)) return NULL;
    if (needs_init(warp, &reach)) init_mark(warp, &reach, shape, total);
    if (warp->observed) global_counted(warp, ins, &reach, shape, 1);
    if (!vector) {
        move_out(warp, ins->d, reach.host, reach.off, warp->mask, shape, bytes);
        return ins + 1;
    }
    if (are_quads(ins, element)) {
        unsigned char *to[LANES];
        FOR_LANES to[i] = reach.host + reach.off[i];
        quads_out(warp, ins, to);
        return ins + 1;
    }
    for (uint32_t k = 0; k < count; k++) {
        unsigned char *host = reach.host + k * element;
        if (element == 8)
            move_out(warp, ins->v[k], host, reach.off, warp->mask, SHAPE_ANY, 8);
        else
            move_out(warp, ins->v[k], host, reach.off, warp->mask, SHAPE_ANY, element);
    }
    return ins + 1;
}

HANDLER(LD_GLOBAL_8)
{
    return global_load(warp, ins, 1, 0);
}
HANDLER(LD_GLOBAL_16)
{
    return global_load(warp, ins, 2, 0);
}
HANDLER(LD_GLOBAL_32)
{
    return global_load(warp, ins, 4, 0);
}
HANDLER(LD_GLOBAL_64)
{
    return global_load(warp, ins, 8, 0);
}
HANDLER(LD_GLOBAL_V)
{
    return global_load(warp, ins, 0, 1);
}
HANDLER(ST_GLOBAL_8)
{
    return global_store(warp, ins, 1, 0);
}
HANDLER(ST_GLOBAL_16)
{
    return global_store(warp, ins, 2, 0);
}
HANDLER(ST_GLOBAL_32)
{
    return global_store(warp, ins, 4, 0);
}
HANDLER(ST_GLOBAL_64)
{
    return global_store(warp, ins, 8, 0);
}
HANDLER(ST_GLOBAL_V)
{
    return global_store(warp, ins, 0, 1);
}

/* ---- shared ------------------------------------------------------------------------------- */
__attribute__((noinline)) static void shared_fault(Warp *warp, const Ins *ins, uint32_t bytes,
                                                   int store)
{
    uint32_t size = warp->block->shared_bytes;
    FOR_ACTIVE(warp->mask)
    {
        uint64_t a = (ins->base64 ? REG(uint64_t, ins->a)[i] : REG(uint32_t, ins->a)[i]) +
                     (uint64_t)ins->imm;
        if (!ins->base64) a = (uint32_t)a;
        if (a <= size && bytes <= size - a && !(a & (bytes - 1))) continue;
        if (a & (bytes - 1))
            fault_at(warp, ins, SIMT_MEMCHECK, i, a, bytes,
                     "Misaligned __shared__ %s of %u bytes: offset %llu is no multiple of %u",
                     access_name(store), bytes, (unsigned long long)a, bytes);
        else if (a - size < (1u << 30))
            fault_at(warp, ins, SIMT_MEMCHECK, i, a, bytes,
                     "Invalid __shared__ %s of %u bytes: offset %llu is %llu bytes past the end of "
                     "the block's %u bytes",
                     access_name(store), bytes, (unsigned long long)a,
                     (unsigned long long)(a - size), size);
        else
            fault_at(
                warp, ins, SIMT_MEMCHECK, i, a, bytes,
                "Invalid __shared__ %s of %u bytes: offset %lld lies outside the block's %u bytes",
                access_name(store), bytes, ins->base64 ? (long long)a : (long long)(int32_t)a,
                size);
        return;
    }
}

/* Offsets of all lanes; idle ones borrow the first active lane's. */
ALWAYS Shape reach_shared(Warp *warp, const Ins *ins, uint32_t bytes, int store, uint32_t *off)
{
    uint32_t mask = warp->mask, first = first_lane(mask), size = warp->block->shared_bytes;
    uint32_t low = 0, high = 0, uniform = 0, linear = 0;
    uint64_t wide = 0;
    if (__builtin_expect(ins->base64, 0)) {
        for (int i = 0; i < LANES; i++) {
            uint64_t a =
                REG(uint64_t, ins->a)[mask >> i & 1 ? (uint32_t)i : first] + (uint64_t)ins->imm;
            wide |= a >> 32;
            off[i] = (uint32_t)a;
        }
    } else {
        const uint32_t *base = REG(const uint32_t, ins->a);
        uint32_t origin = base[first] + (uint32_t)ins->imm;
        if (mask == FULL_MASK)
            FOR_LANES off[i] = base[i] + (uint32_t)ins->imm;
        else
            FOR_LANES off[i] = mask & BIT32[i] ? base[i] + (uint32_t)ins->imm : origin;
    }
    uint32_t origin = off[first];
    FOR_LANES
    {
        uint32_t o = off[i];
        low |= o;
        high = o > high ? o : high;
        uniform |= o ^ origin;
        linear |= o ^ (origin + (uint32_t)i * bytes);
    }
    if (__builtin_expect(wide || size < bytes || high > size - bytes || (low & (bytes - 1)), 0)) {
        shared_fault(warp, ins, bytes, store);
        return SHAPE_FAULT;
    }
    return !uniform ? SHAPE_UNIFORM : !linear && mask == FULL_MASK ? SHAPE_LINEAR : SHAPE_ANY;
}

__attribute__((noinline)) static void shared_init_mark(Warp *warp, const uint32_t *off,
                                                       uint32_t bytes, Shape shape)
{
    unsigned char *shadow = warp->block->shared_shadow;
    uint32_t bits = (1u << bytes) - 1;
    if (bytes >= 8) { /* a lane has whole bytes of the bitmap */
        FOR_ACTIVE(warp->mask)
        if (bytes == 8)
            shadow[off[i] / 8] = 0xff;
        else
            memset(shadow + off[i] / 8, 0xff, 2);
        return;
    }
    if (shape == SHAPE_LINEAR && off[0] % 8 == 0) {
        memset(shadow + off[0] / 8, 0xff, LANES * bytes / 8);
        return;
    }
    FOR_ACTIVE(warp->mask)
    {
        unsigned char *at = shadow + off[i] / 8;
        *at = (unsigned char)(*at | bits << off[i] % 8);
    }
}

__attribute__((noinline)) static void shared_lacks(Warp *warp, const Ins *ins, const uint32_t *off,
                                                   uint32_t bytes)
{
    uint32_t missing = 0, marks[LANES] = {0};
    uint64_t offset[LANES] = {0};
    FOR_ACTIVE(warp->mask)
    {
        marks[i] = shadow_bits(warp->block->shared_shadow, off[i]);
        offset[i] = off[i];
        missing |= (uint32_t)elements_lack(warp, ins, marks[i], bytes) << i;
    }
    if (missing) init_lacks(warp, ins, missing, offset, marks, bytes, PTX_SHARED);
}

ALWAYS int shared_init_check(Warp *warp, const Ins *ins, const uint32_t *off, uint32_t bytes)
{
    const unsigned char *shadow = warp->block->shared_shadow;
    uint32_t want = (1u << bytes) - 1, missing = 0;
    if (bytes == 16) /* a 16-byte chunk has two bytes of the shadow of its own */
        for (int i = 0; i < LANES; i++)
            missing |= ~shadow_bits(shadow, off[i] & ~7u) & 0xffff;
    else
        FOR_LANES missing |= ~shadow_bits(shadow, off[i]) & want;
    if (__builtin_expect(missing == 0, 1)) return 1;
    shared_lacks(warp, ins, off, bytes);
    return 0;
}

ALWAYS const Ins *shared_load(Warp *warp, const Ins *ins, uint32_t bytes, int vector)
{
    uint32_t off[LANES];
    uint32_t count = vector ? ins->vector : 1, element = vector ? ins->bytes : bytes,
             total = element * count;
    Shape shape = reach_shared(warp, ins, total, 0, off);
    if (__builtin_expect(shape == SHAPE_FAULT, 0)) return NULL;
    if (!warp->worker->race.is_on || warp->has_unsynced ||
        !race_is_settled(warp, ins, off, total, shape)) {
        int written = !warp->worker->initcheck || shared_init_check(warp, ins, off, total);
        if (warp->worker->race.is_on)
            shared_raced(warp, ins, off, warp->mask, total, shape, 0, written ? 0 : RACE_OPEN);
    }
    if (warp->count) count_shared(warp, ins, off, warp->mask, 0);
    const unsigned char *host = warp->block->shared;
    if (!vector) {
        move_in_shared(warp, ins->d, host, off, warp->mask, shape, bytes, ins->is_signed);
        return ins + 1;
    }
    if (are_quads(ins, element)) {
        const unsigned char *from[LANES];
        FOR_LANES from[i] = host + off[i];
        quads_in(warp, ins, from);
        return ins + 1;
    }
    for (uint32_t k = 0; k < count; k++) {
        if (ins->v[k] == NO_SLOT) continue;
        if (element == 8)
            move_in_shared(warp, ins->v[k], host + k * 8, off, warp->mask, SHAPE_ANY, 8, 0);
        else if (element == 4)
            move_in_shared(warp, ins->v[k], host + k * 4, off, warp->mask, SHAPE_ANY, 4, 0);
        else
            move_in_shared(warp, ins->v[k], host + k * element, off, warp->mask, SHAPE_ANY, element,
                           ins->is_signed);
    }
    return ins + 1;
}

ALWAYS const Ins *shared_store(Warp *warp, const Ins *ins, uint32_t bytes, int vector)
{
    uint32_t off[LANES];
    uint32_t count = vector ? ins->vector : 1, element = vector ? ins->bytes : bytes,
             total = element * count;
    Shape shape = reach_shared(warp, ins, total, 1, off);
    if (__builtin_expect(shape == SHAPE_FAULT, 0)) return NULL;
    if (warp->worker->initcheck) shared_init_mark(warp, off, total, shape);
    if (__builtin_expect(warp->undefined.is_followed, 0))
        undefined_stored(warp, ins, warp->block->shared_shadow, off, warp->mask);
    if (warp->worker->race.is_on) shared_raced(warp, ins, off, warp->mask, total, shape, 1, 0);
    if (warp->count) count_shared(warp, ins, off, warp->mask, 1);
    unsigned char *host = warp->block->shared;
    if (!vector) {
        move_out_shared(warp, ins->d, host, off, warp->mask, shape, bytes);
        return ins + 1;
    }
    if (are_quads(ins, element)) {
        unsigned char *to[LANES];
        FOR_LANES to[i] = host + off[i];
        quads_out(warp, ins, to);
        return ins + 1;
    }
    for (uint32_t k = 0; k < count; k++) {
        if (element == 8)
            move_out_shared(warp, ins->v[k], host + k * 8, off, warp->mask, SHAPE_ANY, 8);
        else
            move_out_shared(warp, ins->v[k], host + k * element, off, warp->mask, SHAPE_ANY,
                            element);
    }
    return ins + 1;
}

HANDLER(LD_SHARED_8)
{
    return shared_load(warp, ins, 1, 0);
}
HANDLER(LD_SHARED_16)
{
    return shared_load(warp, ins, 2, 0);
}
HANDLER(LD_SHARED_32)
{
    return shared_load(warp, ins, 4, 0);
}
HANDLER(LD_SHARED_64)
{
    return shared_load(warp, ins, 8, 0);
}
HANDLER(LD_SHARED_V)
{
    return shared_load(warp, ins, 0, 1);
}
HANDLER(ST_SHARED_8)
{
    return shared_store(warp, ins, 1, 0);
}
HANDLER(ST_SHARED_16)
{
    return shared_store(warp, ins, 2, 0);
}
HANDLER(ST_SHARED_32)
{
    return shared_store(warp, ins, 4, 0);
}
HANDLER(ST_SHARED_64)
{
    return shared_store(warp, ins, 8, 0);
}
HANDLER(ST_SHARED_V)
{
    return shared_store(warp, ins, 0, 1);
}

/* ---- parameters: the same for all threads ------------------------------------------------- */
__attribute__((noinline)) static const Ins *param_fault(Warp *warp, const Ins *ins,
                                                        const uint64_t *off, uint32_t total)
{
    uint32_t size = warp->worker->params_bytes;
    FOR_ACTIVE(warp->mask)
    if (off[i] > size || total > size - off[i])
        return fault_at(warp, ins, SIMT_MEMCHECK, i, off[i], total,
                        "Invalid parameter read of %u bytes at offset %llu of %u", total,
                        (unsigned long long)off[i], size);
    return NULL;
}

HANDLER(LD_PARAM)
{
    const uint64_t *base = REG(const uint64_t, ins->a);
    uint32_t mask = warp->mask, count = ins->vector > 1 ? ins->vector : 1;
    uint32_t total = ins->bytes * count, size = warp->worker->params_bytes;
    uint64_t origin = base[first_lane(mask)] + (uint64_t)ins->imm, limit = (uint64_t)size - total;
    uint64_t off[LANES], bad = limit, differ = 0;
    FOR_LANES
    {
        uint64_t o = mask & BIT64[i] ? base[i] + (uint64_t)ins->imm : origin;
        off[i] = o;
        bad |= o | (limit - o);
        differ |= o ^ origin;
    }
    if (__builtin_expect((int64_t)bad < 0, 0)) return param_fault(warp, ins, off, total);
    for (uint32_t k = 0; k < count; k++) {
        uint32_t slot = ins->vector > 1 ? ins->v[k] : ins->d;
        if (slot != NO_SLOT)
            move_in(warp, slot, warp->worker->params + k * ins->bytes, off, mask,
                    differ ? SHAPE_ANY : SHAPE_UNIFORM, ins->bytes, ins->is_signed);
    }
    return ins + 1;
}
