/* exec_memory.h - loads, stores and atomics.
 *
 * One range check serves a whole warp: an idle lane borrows the first active lane's address,
 * offsets are taken from the allocation that the same instruction touched last, and a single sign
 * bit tells whether any lane left it.  Only then is every lane looked at, and the first that is
 * wrong is named. */
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

/* The address lies in no memory that is there, or not wholly. */
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

/* ---- what was written ------------------------------------------------------------------------ */

/* Is what was read stored again to the same place soon, on the same line?  That is +=. */
static int adds_in_place(const Warp *warp, const Ins *ins)
{
    enum { SOON = 16 };
    const SimtKernel *kernel = warp->worker->kernel;
    const Ins *end = kernel->code + kernel->count;
    const uint32_t line = source_own_line(kernel, ins->from);
    if (ins->class == CLASS_ATOMIC) return 1;
    for (const Ins *next = ins + 1; line && next < end && next <= ins + SOON; next++)
        if (next->class == CLASS_STORE && next->a == ins->a && next->imm == ins->imm &&
            source_own_line(kernel, next->from) == line)
            return 1;
    return 0;
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
    if (space[2] == 'g' && finding_is_told(warp, SIMT_INITCHECK)) {
        size_t n = 0;
        snprintf(near, sizeof near, ": ");
        n = strlen(near);
        origin_describe(warp, ins, address, near + n, sizeof near - n);
        n = strlen(near);
        if (adds_in_place(warp, ins)) snprintf(near + n, sizeof near - n, "; this line adds to it");
    }
    finding_add(warp, ins, SIMT_INITCHECK, lane, address, bytes,
                "Uninitialized %s memory read of %u bytes%s", space, bytes, near);
}

__attribute__((noinline)) static void init_check(Warp *warp, const Ins *ins, const Reach *reach,
                                                 Shape shape, uint32_t bytes)
{
    const Memory *memory = &warp->worker->gpu->memory;
    uint64_t start = (uint64_t)(reach->host - memory->host);
    uint32_t missing = 0;
    if (shape == SHAPE_LINEAR &&
        memory_is_written(memory, DEVICE_BASE + start + reach->off[0], (uint64_t)bytes * LANES))
        return;
    FOR_ACTIVE(warp->mask)
    {
        missing |= (uint32_t)elements_lack(
                       warp, ins, shadow_bits(memory->shadow, start + reach->off[i]), bytes)
                   << i;
    }
    if (missing) {
        uint32_t lane = first_lane(missing);
        init_report(warp, ins, lane, DEVICE_BASE + start + reach->off[lane], bytes, "__global__");
    }
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
    if (warp->worker->racecheck) blocks_prefetch(warp->worker->launch, address, store);
    if (warp->count) count_global(warp, ins, address, warp->mask, store);
    if (warp->worker->launch->notes)
        touch_note(warp, ins, address, warp->mask, bytes,
                   store ? SIMT_TOUCH_WRITE : SIMT_TOUCH_READ);
    if (warp->worker->racecheck && !ins->read_only)
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
        if (mask == FULL_MASK)                                                                     \
            memcpy(warp->file + slot, t, sizeof t);                                                \
        else                                                                                       \
            blend_64(REG(uint64_t, slot), t, mask);                                                \
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
    if (mask == FULL_MASK)                                                                         \
        memcpy(warp->file + slot, t, sizeof t);                                                    \
    else                                                                                           \
        blend_32(REG(uint32_t, slot), t, mask);

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
    if (warp->count || warp->worker->racecheck) global_counted(warp, ins, &reach, shape, 0);
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
    if (warp->count || warp->worker->racecheck) global_counted(warp, ins, &reach, shape, 1);
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

ALWAYS int shared_init_check(Warp *warp, const Ins *ins, const uint32_t *off, uint32_t bytes)
{
    const unsigned char *shadow = warp->block->shared_shadow;
    uint32_t want = (1u << bytes) - 1, missing = 0;
    if (bytes == 16) /* a piece has two bytes of the shadow to itself */
        for (int i = 0; i < LANES; i++)
            missing |= ~shadow_bits(shadow, off[i] & ~7u) & 0xffff;
    else
        FOR_LANES missing |= ~shadow_bits(shadow, off[i]) & want;
    if (__builtin_expect(missing == 0, 1)) return 1;
    FOR_ACTIVE(warp->mask)
    {
        if (!elements_lack(warp, ins, shadow_bits(shadow, off[i]), bytes)) continue;
        init_report(warp, ins, i, off[i], bytes, "__shared__");
        break;
    }
    return 0;
}

ALWAYS const Ins *shared_load(Warp *warp, const Ins *ins, uint32_t bytes, int vector)
{
    uint32_t off[LANES];
    uint32_t count = vector ? ins->vector : 1, element = vector ? ins->bytes : bytes,
             total = element * count;
    Shape shape = reach_shared(warp, ins, total, 0, off);
    if (__builtin_expect(shape == SHAPE_FAULT, 0)) return NULL;
    if (!warp->worker->racecheck || !race_is_settled(warp, ins, off, total, shape)) {
        int written = !warp->worker->initcheck || shared_init_check(warp, ins, off, total);
        if (warp->worker->racecheck)
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
    if (warp->worker->racecheck) shared_raced(warp, ins, off, warp->mask, total, shape, 1, 0);
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

/* ---- any space, one lane at a time -------------------------------------------------------- */
typedef struct Spot {
    unsigned char *host;
    int shared;
} Spot;

/* Where a lane's local byte lies: each lane has its own stretch. */
ALWAYS unsigned char *local_at(Warp *warp, uint32_t lane, uint64_t off)
{
    return warp->local + (size_t)lane * warp->worker->launch->local_bytes + off;
}

/* The same of a stretch that may be longer: a bulk copy's. */
static int stretch_lacks(const Warp *warp, const Ins *ins, uint64_t address, uint32_t bytes)
{
    enum { PART = 16 };
    const Memory *memory = &warp->worker->gpu->memory;
    if (bytes > PART && memory_is_written(memory, address, bytes)) return 0;
    for (uint32_t at = 0; at < bytes; at += PART)
        if (elements_lack(warp, ins, shadow_bits(memory->shadow, address + at - DEVICE_BASE),
                          bytes - at < PART ? bytes - at : PART))
            return 1;
    return 0;
}

__attribute__((noinline)) static int spot_global(Warp *warp, const Ins *ins, uint32_t lane,
                                                 uint64_t address, uint32_t bytes, int store,
                                                 int load, Spot *spot)
{
    const Memory *memory = &warp->worker->gpu->memory;
    Allocation *a = memory_find(memory, address);
    if (!a || a->freed || a->address + a->bytes - address < bytes || (store && a->read_only)) {
        outside_fault(warp, ins, lane, address, bytes, store);
        return -1;
    }
    spot->host = a->host + (address - a->address);
    spot->shared = 0;
    if (!warp->worker->initcheck || a->initialised) return 0;
    if (load && stretch_lacks(warp, ins, address, bytes))
        init_report(warp, ins, lane, address, bytes, "__global__");
    if (store) memory_mark(&warp->worker->gpu->memory, address, bytes, 1);
    return 0;
}

ALWAYS uint32_t cluster_size(const Warp *warp)
{
    return warp->worker->peers ? warp->worker->peers : 1;
}

ALWAYS uint64_t cluster_address(uint64_t address, uint32_t rank)
{
    return (address & ((1u << RANK_SHIFT) - 1)) | (uint64_t)(rank + 1) << RANK_SHIFT;
}

/* The block in whose shared memory the address lies, which becomes an offset there. */
ALWAYS Block *shared_block(const Warp *warp, uint64_t *address)
{
    uint64_t rank = *address >> RANK_SHIFT;
    if (!rank || rank > cluster_size(warp)) return warp->block;
    *address &= (1u << RANK_SHIFT) - 1;
    return warp->worker->peers ? &warp->worker->peer[rank - 1]->block : warp->block;
}

static int block_has_ended(const Block *block)
{
    for (uint32_t w = 0; w < block->warps; w++)
        if (block->warp[w].state != WARP_DONE) return 0;
    return 1;
}

static int spot_shared(Warp *warp, const Ins *ins, uint32_t lane, uint64_t off, uint32_t bytes,
                       int store, int load, Spot *spot)
{
    Block *block = warp->block;
    if (__builtin_expect(off >> RANK_SHIFT != 0, 0)) block = shared_block(warp, &off);
    uint32_t size = block->shared_bytes;
    if (off > size || bytes > size - off) {
        fault_at(warp, ins, SIMT_MEMCHECK, lane, off, bytes,
                 "Invalid __shared__ %s of %u bytes: offset %llu lies outside the %s's %u bytes",
                 access_name(store), bytes, (unsigned long long)off,
                 block == warp->block ? "block" : "other block", size);
        return -1;
    }
    if (__builtin_expect(block != warp->block, 0) && block_has_ended(block)) {
        fault_at(warp, ins, SIMT_MEMCHECK, lane, off, bytes,
                 "Invalid __shared__ %s of %u bytes at offset %llu of another block of the "
                 "cluster: that block has ended, and its shared memory no longer exists; all "
                 "blocks must synchronise (cluster.sync) before the first one ends",
                 access_name(store), bytes, (unsigned long long)off);
        return -1;
    }
    spot->host = block->shared + off;
    spot->shared = 1;
    if (!warp->worker->initcheck) return 0;
    uint32_t want = (1u << bytes) - 1, word;
    memcpy(&word, block->shared_shadow + off / 8, 4);
    if (load && elements_lack(warp, ins, word >> (off & 7), bytes))
        init_report(warp, ins, lane, off, bytes, "__shared__");
    word |= store ? want << (off & 7) : 0;
    memcpy(block->shared_shadow + off / 8, &word, 4);
    return 0;
}

/* Finds the bytes behind an address of `space`; -1 after reporting the fault. */
static int spot_find(Warp *warp, const Ins *ins, uint32_t lane, uint64_t address, uint32_t bytes,
                     int store, int load, Spot *spot)
{
    int space = ins->space;
    if (space == PTX_SPACE_NONE) {
        if (address - SHARED_WINDOW < WINDOW_BYTES)
            space = PTX_SHARED, address -= SHARED_WINDOW;
        else if (address - LOCAL_WINDOW < WINDOW_BYTES)
            space = PTX_LOCAL, address -= LOCAL_WINDOW;
        else if (address - PARAM_WINDOW < WINDOW_BYTES)
            space = PTX_PARAM, address -= PARAM_WINDOW;
    }
    if (address & (bytes - 1)) {
        fault_at(warp, ins, SIMT_MEMCHECK, lane, address, bytes,
                 "Misaligned %s of %u bytes: the address is no multiple of %u", access_name(store),
                 bytes, bytes);
        return -1;
    }
    if (space == PTX_SHARED) return spot_shared(warp, ins, lane, address, bytes, store, load, spot);
    if (space == PTX_GLOBAL || space == PTX_CONST || space == PTX_SPACE_NONE)
        return spot_global(warp, ins, lane, address, bytes, store, load, spot);
    uint64_t size =
        space == PTX_LOCAL ? warp->worker->launch->local_bytes : warp->worker->params_bytes;
    if (address > size || bytes > size - address || (store && space == PTX_PARAM)) {
        fault_at(warp, ins, SIMT_MEMCHECK, lane, address, bytes,
                 "Invalid %s %s of %u bytes: offset %lld of %llu bytes%s",
                 space == PTX_LOCAL ? "__local__" : "parameter", access_name(store), bytes,
                 (long long)address, (unsigned long long)size,
                 space == PTX_LOCAL ? ", which are this thread's own arrays" : "");
        return -1;
    }
    /* Parameters are never written through this pointer: stores were refused above. */
    spot->host = space == PTX_LOCAL ? local_at(warp, lane, address)
                                    : (unsigned char *)warp->worker->params + address;
    spot->shared = 0;
    return 0;
}

ALWAYS uint64_t lane_address(const Warp *warp, const Ins *ins, uint32_t lane)
{
    if (ins->base64) return REG(const uint64_t, ins->a)[lane] + (uint64_t)ins->imm;
    return (uint32_t)(REG(const uint32_t, ins->a)[lane] + (uint32_t)ins->imm);
}

/* Is this address in the block's own shared memory, and where?  What another block of the cluster
 * is asked for is not checked for races. */
static uint32_t own_shared(const Warp *warp, uint64_t address, uint32_t *offset)
{
    address &= WINDOW_BYTES - 1;
    int own = shared_block(warp, &address) == warp->block;
    *offset = (uint32_t)address;
    return (uint32_t)own;
}

static void lanes_raced(Warp *warp, const Ins *ins, const uint64_t *global, uint32_t in_global,
                        const uint32_t *shared, uint32_t in_shared, int store)
{
    uint32_t bytes = ins->bytes * (ins->vector > 1 ? ins->vector : 1u);
    RaceKind kind = ins->op == OP_ATOM ? RACE_ATOMIC : store ? RACE_WRITE : RACE_READ;
    if (in_global && kind == RACE_WRITE && lanes_may_meet(ins, in_global, SHAPE_ANY))
        global_lanes_raced(warp, ins, global, in_global);
    if (in_global && !ins->read_only) race_global(warp, ins, global, in_global, bytes, kind);
    if (in_shared && kind == RACE_ATOMIC) race_shared(warp, ins, shared, in_shared, bytes, kind);
    if (in_shared && kind != RACE_ATOMIC)
        shared_raced(warp, ins, shared, in_shared, bytes, SHAPE_ANY, store, RACE_OPEN);
}

static void lanes_counted(Warp *warp, const Ins *ins, const uint64_t *address, int store)
{
    uint64_t global[LANES] = {0}, local[LANES] = {0};
    uint32_t shared[LANES] = {0}, in_global = 0, in_shared = 0, in_local = 0, in_others = 0;
    FOR_ACTIVE(warp->mask)
    {
        uint64_t a = address[i];
        int space = ins->space;
        if (space == PTX_SPACE_NONE)
            space = a - SHARED_WINDOW < WINDOW_BYTES  ? PTX_SHARED
                    : a - LOCAL_WINDOW < WINDOW_BYTES ? PTX_LOCAL
                    : a - PARAM_WINDOW < WINDOW_BYTES ? PTX_PARAM
                                                      : PTX_GLOBAL;
        if (space == PTX_SHARED) {
            uint32_t own = own_shared(warp, a, &shared[i]);
            in_shared |= own << i, in_others |= (uint32_t)!own << i;
        }
        if (space == PTX_LOCAL) in_local |= 1u << i, local[i] = a & (WINDOW_BYTES - 1);
        if (space == PTX_GLOBAL || space == PTX_CONST) in_global |= 1u << i, global[i] = a;
    }
    if (warp->worker->racecheck)
        lanes_raced(warp, ins, global, in_global, shared, in_shared, store);
    if (in_global && warp->worker->launch->notes)
        touch_note(warp, ins, global, in_global, ins->bytes * (ins->vector > 1 ? ins->vector : 1u),
                   store ? SIMT_TOUCH_WRITE : SIMT_TOUCH_READ);
    if (!warp->count) return;
    if (in_global) count_global(warp, ins, global, in_global, store);
    if (in_shared) count_shared(warp, ins, shared, in_shared, store);
    if (in_local) count_local(warp, ins, local, in_local, store);
    if (in_others) count_remote(warp, ins, address, in_others);
}

ALWAYS const Ins *lanes_access(Warp *warp, const Ins *ins, int store)
{
    uint32_t count = ins->vector > 1 ? ins->vector : 1, bytes = ins->bytes, mask = warp->mask;
    uint64_t address[LANES] = {0}; /* a load may overwrite its own base */
    Spot spot[LANES];
    FOR_ACTIVE(mask)
    {
        address[i] = lane_address(warp, ins, i);
        if (spot_find(warp, ins, i, address[i], bytes * count, store, !store, &spot[i]) != 0)
            return NULL;
    }
    /* Before the access is done: racecheck compares what a store finds. */
    if (warp->count || warp->worker->racecheck) lanes_counted(warp, ins, address, store);
    FOR_ACTIVE(mask)
    {
        for (uint32_t k = 0; k < count; k++) {
            uint32_t slot = ins->vector > 1 ? ins->v[k] : ins->d;
            if (slot == NO_SLOT) continue;
            unsigned char *at = spot[i].host + k * bytes;
            if (store)
                memcpy(at,
                       bytes == 8 ? (void *)(REG(uint64_t, slot) + i)
                                  : (void *)(REG(uint32_t, slot) + i),
                       bytes);
            else if (bytes == 8)
                REG(uint64_t, slot)[i] = read_64(at);
            else
                REG(uint32_t, slot)
            [i] = bytes == 4 ? read_32(at) : narrow_read(at, bytes, ins->is_signed);
        }
    }
    return ins + 1;
}

/* An array in local memory is mostly read and written by all lanes at one place, each in its own
 * stretch.  0: this is none of these accesses, or a wrong one. */
ALWAYS int local_access(Warp *warp, const Ins *ins, int store)
{
    uint32_t count = ins->vector > 1 ? ins->vector : 1, bytes = ins->bytes, mask = warp->mask;
    uint64_t stride = warp->worker->launch->local_bytes, total = bytes * count;
    uint64_t at = lane_address(warp, ins, first_lane(mask)), differ = 0, off[LANES], own[LANES];
    FOR_LANES differ |= mask & BIT64[i] ? lane_address(warp, ins, (uint32_t)i) ^ at : 0;
    at -= ins->space == PTX_LOCAL ? 0 : LOCAL_WINDOW;
    if (differ || at > stride || total > stride - at || at & (total - 1)) return 0;
    FOR_LANES off[i] = at;
    FOR_LANES own[i] = at + (uint64_t)i * stride;
    if (warp->count) count_local(warp, ins, off, mask, store);
    for (uint32_t k = 0; k < count; k++) {
        uint32_t slot = ins->vector > 1 ? ins->v[k] : ins->d;
        unsigned char *host = warp->local + k * bytes;
        if (slot == NO_SLOT) continue;
        if (store)
            move_out(warp, slot, host, own, mask, SHAPE_ANY, bytes);
        else
            move_in(warp, slot, host, own, mask, SHAPE_ANY, bytes, ins->is_signed);
    }
    return 1;
}

HANDLER(LD_LOCAL)
{
    return local_access(warp, ins, 0) ? ins + 1 : lanes_access(warp, ins, 0);
}
HANDLER(ST_LOCAL)
{
    return local_access(warp, ins, 1) ? ins + 1 : lanes_access(warp, ins, 1);
}

/* The value is in a register here: it costs what the access to memory does. */
HANDLER(SPILL)
{
    uint64_t offset[LANES];
    if (!warp->count) return ins + 1;
    FOR_LANES offset[i] = (uint64_t)ins->imm;
    count_local(warp, ins, offset, warp->mask, ins->class == CLASS_STORE);
    return ins + 1;
}

/* A generic access whose lanes all point at device memory is a global one. */
ALWAYS int all_global(const Warp *warp, const Ins *ins)
{
    uint64_t outside = 0;
    FOR_LANES
    {
        uint64_t a = REG(const uint64_t, ins->a)[i] + (uint64_t)ins->imm;
        outside |= warp->mask & BIT64[i] ? (a < DEVICE_BASE) : 0;
    }
    return !outside;
}

HANDLER(LD_GENERIC)
{
    if (!all_global(warp, ins)) return h_LD_LOCAL(warp, ins);
    if (ins->vector > 1) return h_LD_GLOBAL_V(warp, ins);
    switch (ins->bytes) {
    case 1:
        return h_LD_GLOBAL_8(warp, ins);
    case 2:
        return h_LD_GLOBAL_16(warp, ins);
    case 4:
        return h_LD_GLOBAL_32(warp, ins);
    default:
        return h_LD_GLOBAL_64(warp, ins);
    }
}

HANDLER(ST_GENERIC)
{
    if (!all_global(warp, ins)) return h_ST_LOCAL(warp, ins);
    if (ins->vector > 1) return h_ST_GLOBAL_V(warp, ins);
    switch (ins->bytes) {
    case 1:
        return h_ST_GLOBAL_8(warp, ins);
    case 2:
        return h_ST_GLOBAL_16(warp, ins);
    case 4:
        return h_ST_GLOBAL_32(warp, ins);
    default:
        return h_ST_GLOBAL_64(warp, ins);
    }
}

/* ---- atomics: lanes in order, so that sums of floats are the same every time -------------- */
ALWAYS uint64_t atom_integer(int op, int format, uint64_t old, uint64_t b, uint64_t c)
{
    int wide = format == FORMAT_U64 || format == FORMAT_S64;
    int64_t so = wide ? (int64_t)old : (int32_t)old, sb = wide ? (int64_t)b : (int32_t)b;
    int is_signed = format == FORMAT_S32 || format == FORMAT_S64;
    int less = is_signed ? sb < so : b < old;
    switch (op) {
    case ATOM_ADD:
        return old + b;
    case ATOM_MIN:
        return less ? b : old;
    case ATOM_MAX:
        return less ? old : b;
    case ATOM_INC:
        return old >= b ? 0 : old + 1;
    case ATOM_DEC:
        return old == 0 || old > b ? b : old - 1;
    case ATOM_AND:
        return old & b;
    case ATOM_OR:
        return old | b;
    case ATOM_XOR:
        return old ^ b;
    case ATOM_EXCH:
        return b;
    default:
        return old == b ? c : old;
    }
}

/* The lesser or the greater of two halves; of a NaN and a number the number. */
static uint32_t best_half(int op, int format, uint32_t old, uint32_t b)
{
    uint32_t x = format == FORMAT_F16 ? f16_to_f32(old) : old << 16,
             y = format == FORMAT_F16 ? f16_to_f32(b) : b << 16;
    int x_none = (x & 0x7fffffffu) > 0x7f800000u, y_none = (y & 0x7fffffffu) > 0x7f800000u;
    if (x_none || y_none) return x_none && y_none ? 0x7fff : x_none ? b : old;
    /* Zeros have an order, too: by sign, as all numbers. */
    int less = float_of(y) < float_of(x) || (float_of(x) == float_of(y) && y >> 31 > x >> 31);
    return less == (op == ATOM_MIN) ? b : old;
}

static uint32_t half_sum(int format, uint32_t old, uint32_t b)
{
    if (format == FORMAT_F16)
        return f32_to_f16(bits_of(canonical(float_of(f16_to_f32(old)) + float_of(f16_to_f32(b)))),
                          ROUND_N);
    return f32_to_bf16(bits_of(canonical(float_of(old << 16) + float_of(b << 16))), 0);
}

/* One or two halves; the upper of one is nothing and stays nothing. */
static uint64_t atom_halves(int op, int format, uint64_t old, uint64_t b)
{
    uint32_t joined = 0;
    for (int shift = 0; shift < 32; shift += 16) {
        uint32_t x = old >> shift & 0xffff, y = b >> shift & 0xffff;
        joined |= (op == ATOM_ADD ? half_sum(format, x, y) : best_half(op, format, x, y)) << shift;
    }
    return joined;
}

/* A card's global memory flushes subnormal floats and passes a double's NaN on as it is; its shared
 * memory adds as the arithmetic does. */
ALWAYS uint64_t atom_result(int op, int format, int global, uint64_t old, uint64_t b, uint64_t c)
{
    if (format == FORMAT_F16 || format == FORMAT_BF16) return atom_halves(op, format, old, b);
    if (op != ATOM_ADD || format < FORMAT_F16) return atom_integer(op, format, old, b, c);
    float x = float_of((uint32_t)old), y = float_of((uint32_t)b);
    if (format == FORMAT_F32)
        return bits_of(global ? flushed(canonical(flushed(x) + flushed(y))) : canonical(x + y));
    if (global && is_nan_64(b)) return b;
    if (is_nan_64(old)) return global ? old : quiet_64(old);
    return bits_of_double(double_of(old) + double_of(b));
}

static void atomics_raced(Warp *warp, const Ins *ins, const uint64_t *address)
{
    uint64_t global[LANES] = {0};
    uint32_t shared[LANES] = {0}, in_global = 0, in_shared = 0;
    FOR_ACTIVE(warp->mask)
    {
        if (ins->space == PTX_SHARED || address[i] - SHARED_WINDOW < WINDOW_BYTES)
            in_shared |= own_shared(warp, address[i], &shared[i]) << i;
        else
            in_global |= 1u << i, global[i] = address[i];
    }
    lanes_raced(warp, ins, global, in_global, shared, in_shared, 1);
}

/* The lanes whose address lies in the shared memory of another block. */
static uint32_t others_wanted(const Warp *warp, const Ins *ins, const uint64_t *address)
{
    uint32_t others = 0, offset;
    if (cluster_size(warp) == 1) return 0;
    FOR_ACTIVE(warp->mask)
    {
        int shared = ins->space == PTX_SHARED || address[i] - SHARED_WINDOW < WINDOW_BYTES;
        if (shared && !own_shared(warp, address[i], &offset)) others |= 1u << i;
    }
    return others;
}

ALWAYS int is_local(const Ins *ins, uint64_t address)
{
    return ins->space == PTX_LOCAL ||
           (ins->space == PTX_SPACE_NONE && address - LOCAL_WINDOW < WINDOW_BYTES);
}

/* What is told of an atomic once its lanes are done; those of `changed` wrote another value. */
static void atomics_done(Warp *warp, const Ins *ins, const uint64_t *address, uint32_t changed)
{
    if (warp->worker->racecheck) atomics_raced(warp, ins, address);
    if (warp->worker->launch->notes && ins->space != PTX_SHARED)
        touch_note(warp, ins, address, warp->mask, ins->bytes, SIMT_TOUCH_ATOMIC);
    if (warp->count) {
        uint32_t others = others_wanted(warp, ins, address);
        count_atomic(warp, ins, address, warp->mask & ~others, changed);
        if (others) count_remote(warp, ins, address, others);
    }
}

static int atomic_is_local(Warp *warp, const Ins *ins, uint32_t lane, uint64_t address)
{
    if (!is_local(ins, address)) return 0;
    fault_at(warp, ins, SIMT_MEMCHECK, lane, address, ins->bytes,
             "Invalid atomic operation on __local__ memory, which no other thread can see");
    return 1;
}

/* An exchange, or a comparison and exchange, of 128 bits. */
static const Ins *atomics_wide(Warp *warp, const Ins *ins)
{
    uint32_t b[] = {ins->b, upper_half(ins->b)}, c[] = {ins->c, upper_half(ins->c)}, changed = 0;
    int compares = (ins->aux & 15) == ATOM_CAS;
    uint64_t address[LANES];
    FOR_ACTIVE(warp->mask)
    {
        Spot spot;
        uint64_t old[2], fresh[2] = {REG(uint64_t, b[0])[i], REG(uint64_t, b[1])[i]};
        address[i] = lane_address(warp, ins, i);
        if (atomic_is_local(warp, ins, i, address[i]) ||
            spot_find(warp, ins, i, address[i], sizeof old, 1, 1, &spot) != 0)
            return NULL;
        memcpy(old, spot.host, sizeof old);
        if (compares) {
            int same = memcmp(old, fresh, sizeof old) == 0;
            fresh[0] = same ? REG(uint64_t, c[0])[i] : old[0];
            fresh[1] = same ? REG(uint64_t, c[1])[i] : old[1];
        }
        changed |= (uint32_t)(memcmp(old, fresh, sizeof old) != 0) << i;
        memcpy(spot.host, fresh, sizeof fresh);
        if (ins->d == NO_SLOT) continue;
        REG(uint64_t, ins->d)[i] = old[0], REG(uint64_t, upper_half(ins->d))[i] = old[1];
    }
    atomics_done(warp, ins, address, changed);
    return ins + 1;
}

HANDLER(ATOM)
{
    int op = (int)(ins->aux & 15), format = (int)(ins->aux >> 8 & 15), wide = ins->bytes == 8;
    uint64_t address[LANES];
    uint32_t changed = 0;
    if (ins->bytes == 16) return atomics_wide(warp, ins);
    FOR_ACTIVE(warp->mask)
    {
        Spot spot;
        address[i] = lane_address(warp, ins, i);
        if (atomic_is_local(warp, ins, i, address[i])) return NULL;
        if (spot_find(warp, ins, i, address[i], ins->bytes, 1, 1, &spot) != 0) return NULL;
        uint64_t b = wide ? REG(uint64_t, ins->b)[i] : REG(uint32_t, ins->b)[i];
        uint64_t c = wide ? REG(uint64_t, ins->c)[i] : REG(uint32_t, ins->c)[i];
        uint64_t old = wide              ? read_64(spot.host)
                       : ins->bytes == 4 ? read_32(spot.host)
                                         : narrow_read(spot.host, ins->bytes, 0);
        if (ins->bytes == 2) b &= 0xffff;
        int global = ins->space != PTX_SHARED && address[i] - SHARED_WINDOW >= WINDOW_BYTES;
        uint64_t fresh = atom_result(op, format, global, old, b, c);
        uint32_t narrow = (uint32_t)fresh;
        changed |= (uint32_t)(fresh != old) << i;
        memcpy(spot.host, wide ? (void *)&fresh : (void *)&narrow, ins->bytes);
        if (ins->d == NO_SLOT) continue;
        if (wide)
            REG(uint64_t, ins->d)[i] = old;
        else
            REG(uint32_t, ins->d)[i] = (uint32_t)old;
    }
    atomics_done(warp, ins, address, changed);
    return ins + 1;
}
