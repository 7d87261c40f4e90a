/* exec_async.h - asynchronous copies by threads (cp.async); included by exec_body.h.
 *
 * A copy reads its source when it is issued. The warp buffers its bytes until a wait stores them to
 * shared memory, so a kernel without the wait reads the old contents. A lane whose src-size is 0
 * reads nothing, whatever its source is, and writes zeros. */

/* Limit on the copies in flight per warp; beyond it all of them complete, as they may at any
 * time. */
enum { COPIES_IN_FLIGHT = 1 << 14 };

/* The lanes of the copies from `copy` on that one instruction issued and that complete together;
 * one copy per lane. */
static uint32_t copies_together(const AsyncCopy *copy, uint32_t count, uint32_t group)
{
    uint32_t mask = 0;
    for (uint32_t i = 0; i < count && i < LANES; i++) {
        uint32_t lane = 1u << copy[i].lane;
        if (copy[i].ins != copy->ins || copy[i].group != group || mask >= lane) break;
        mask |= lane;
    }
    return mask;
}

/* Each copy is a separate write, which may have a hazard of its own. */
static void copies_raced(Warp *warp, const AsyncCopy *copy, const uint32_t *offset, uint32_t mask)
{
    const Ins *ins = &warp->code[copy->ins];
    uint32_t bytes = copy->bytes, linear = 0;
    for (uint32_t i = 0; i < LANES; i++)
        linear |= offset[i] ^ (offset[0] + i * bytes);
    Shape shape = mask == FULL_MASK && !linear ? SHAPE_LINEAR : SHAPE_ANY;
    uint32_t left = shared_rows(warp, ins, offset, mask, bytes, shape, 1, 0);
    FOR_ACTIVE(left)
    race_shared(warp, ins, offset, 1u << i, bytes, RACE_WRITE);
}

/* Completes copies that one instruction issued. */
static void copies_arrive(Warp *warp, const AsyncCopy *copy, uint32_t mask)
{
    Block *block = warp->block;
    uint32_t offset[LANES] = {0}, bytes = copy->bytes, written;
    const AsyncCopy *of_lane = copy;
    FOR_ACTIVE(mask)
    offset[i] = of_lane++->to;
    if (warp->worker->race.is_on) {
        race_copies_read(warp, copy, (uint32_t)(of_lane - copy));
        copies_raced(warp, copy, offset, mask);
    }
    for (; copy < of_lane; copy++) {
        if (bytes == sizeof copy->data)
            memcpy(block->shared + copy->to, copy->data, sizeof copy->data);
        else
            memcpy(block->shared + copy->to, copy->data, bytes);
        if (!warp->worker->initcheck) continue;
        unsigned char *shadow = block->shared_shadow + copy->to / 8;
        memcpy(&written, shadow, sizeof written);
        written |= ((1u << bytes) - 1) << copy->to % 8;
        memcpy(shadow, &written, sizeof written);
    }
}

/* Lands what belongs to groups before `group`; the others stay, in their order. */
static void copies_land(Warp *warp, uint32_t group)
{
    uint32_t left = 0, all = warp->copies.count;
    warp_charge(warp, all / 16);
    if (warp->worker->race.is_on) race_copies(warp, group);
    for (uint32_t i = 0; i < all;) {
        AsyncCopy *copy = &warp->copies.copy[i];
        if ((int32_t)(copy->group - group) >= 0) {
            warp->copies.copy[left++] = *copy;
            i++;
            continue;
        }
        uint32_t mask = copies_together(copy, all - i, copy->group);
        copies_arrive(warp, copy, mask);
        i += (uint32_t)__builtin_popcount(mask);
    }
    warp->copies.count = left;
}

/* Makes space for one more copy per lane; NULL: out of memory. */
static AsyncCopy *copies_room(Warp *warp)
{
    if (warp->copies.count + LANES > COPIES_IN_FLIGHT) copies_land(warp, warp->copies.group + 1);
    if (warp->copies.count + LANES > warp->copies.room) {
        uint32_t room = warp->copies.room ? warp->copies.room * 2 : 128;
        AsyncCopy *grown = realloc(warp->copies.copy, room * sizeof *grown);
        if (!grown) return NULL;
        warp->copies.copy = grown, warp->copies.room = room;
    }
    return warp->copies.copy + warp->copies.count;
}

/* A lane's target becomes its offset in the block's own shared memory. -1 after reporting that it
 * is outside. */
ALWAYS int copy_target(Warp *warp, const Ins *ins, uint32_t lane, uint64_t *address)
{
    uint64_t size = warp->block->shared_bytes, off = *address;
    Spot target;
    if (__builtin_expect(off <= size && ins->bytes <= size - off, 1)) return 0;
    if (spot_shared(warp, ins, lane, off, ins->bytes, 1, 0, &target) != 0) return -1;
    if (shared_block(warp, address) == warp->block) return 0;
    fault_at(warp, ins, SIMT_MEMCHECK, lane, off, ins->bytes,
             "Invalid __shared__ write of %u bytes: cp.async copies into the block's own shared "
             "memory, and this address lies in that of another block of the cluster",
             ins->bytes);
    return -1;
}

/* Host address of a lane's source bytes, mostly in the allocation of the previous lane. -1 after
 * reporting the fault. */
ALWAYS int copy_source(Warp *warp, const Ins *ins, uint32_t lane, uint64_t from, uint32_t bytes,
                       const unsigned char **host)
{
    Allocation **hit = &warp->worker->hit[ins->mem], *a = *hit;
    const Memory *memory = &warp->worker->gpu->memory;
    uint64_t at = from - a->address;
    uint32_t want = (1u << bytes) - 1;
    Spot source;
    if (a->bytes >= bytes && at <= a->bytes - bytes && !a->freed &&
        (a->initialised || !warp->worker->initcheck ||
         (shadow_bits(memory->shadow, from - DEVICE_BASE) & want) == want)) {
        *host = a->host + at;
        return 0;
    }
    if (spot_global(warp, ins, lane, from, bytes, 0, 1, &source) != 0) return -1;
    *host = source.host, *hit = memory_find(memory, from);
    return 0;
}

/* Sources are distant from each other, and rarely in a cache. */
ALWAYS void copies_prefetch(const Warp *warp, const Ins *ins, const uint64_t *from)
{
    const Allocation *a = warp->worker->hit[ins->mem];
    FOR_ACTIVE(warp->mask)
    __builtin_prefetch((const char *)((uintptr_t)a->host + (uintptr_t)(from[i] - a->address)));
    if (warp->worker->race.is_on) blocks_prefetch(warp->worker->launch, from, 0);
}

/* Reports the reads of lanes that copy fewer bytes than the instruction's size to the checks. */
__attribute__((noinline)) static void copies_partial(Warp *warp, const Ins *ins,
                                                     const uint64_t *from, const uint32_t *size,
                                                     uint32_t mask)
{
    FOR_ACTIVE(mask)
    {
        if (warp->worker->launch->notes)
            touch_note(warp, ins, from, 1u << i, size[i], SIMT_TOUCH_READ);
        if (warp->worker->race.is_on) race_global(warp, ins, from, 1u << i, size[i], RACE_READ);
    }
}

HANDLER(CP_ASYNC)
{
    uint64_t from[LANES], linear = 0;
    uint32_t to[LANES] = {0}, size_of[LANES] = {0}, reading = 0, bytes = ins->bytes,
             whole = 0; /* lanes with bytes to read, with all of them */
    AsyncCopy *copy = copies_room(warp);
    FOR_LANES from[i] = REG(const uint64_t, ins->b)[i] + (uint64_t)(int64_t)(int32_t)ins->target;
    copies_prefetch(warp, ins, from);
    if (!copy)
        return fault_at(warp, ins, SIMT_TRAP, first_lane(warp->mask), 0, 0,
                        "out of host memory for cp.async");
    FOR_ACTIVE(warp->mask)
    {
        uint32_t size = bytes;
        const unsigned char *host = NULL;
        if (ins->c != NO_SLOT && REG(const uint32_t, ins->c)[i] < size)
            size = REG(const uint32_t, ins->c)[i];
        uint64_t address = lane_address(warp, ins, i);
        if (address - SHARED_WINDOW < WINDOW_BYTES) address -= SHARED_WINDOW;
        if ((address | from[i]) & (bytes - 1u)) {
            int target_is = (address & (bytes - 1u)) != 0;
            return fault_at(warp, ins, SIMT_MEMCHECK, i, target_is ? address : from[i], bytes,
                            "Misaligned copy of %u bytes: %s is no multiple of %u", bytes,
                            target_is ? "its target's offset in shared memory" : "its source",
                            bytes);
        }
        if (copy_target(warp, ins, i, &address) != 0 ||
            (size && copy_source(warp, ins, i, from[i], size, &host) != 0))
            return NULL;
        to[i] = (uint32_t)address;
        linear |= from[i] ^ (from[0] + (uint64_t)i * bytes);
        copy->to = to[i], copy->group = warp->copies.group;
        copy->ins = (uint32_t)(ins - warp->code), copy->lane = (uint8_t)i, copy->bytes = ins->bytes;
        copy->epoch = (uint32_t)warp->worker->epoch;
        if (size < bytes) memset(copy->data, 0, bytes);
        if (size == sizeof copy->data)
            memcpy(copy->data, host, sizeof copy->data);
        else if (size)
            memcpy(copy->data, host, size);
        copy++, warp->copies.count++;
        size_of[i] = size;
        reading |= (uint32_t)(size > 0) << i;
        whole |= (uint32_t)(size == bytes) << i;
    }
    if (warp->worker->launch->notes) touch_note(warp, ins, from, whole, bytes, SIMT_TOUCH_READ);
    if (warp->worker->race.is_on && whole)
        global_raced(warp, ins, from, whole, bytes,
                     whole == FULL_MASK && !linear ? SHAPE_LINEAR : SHAPE_ANY, 0);
    if (reading & ~whole) copies_partial(warp, ins, from, size_of, reading & ~whole);
    if (warp->count) count_copied(warp, ins, from, to, reading, warp->mask);
    return ins + 1;
}

HANDLER(CP_COMMIT)
{
    warp->copies.group++;
    return ins + 1;
}

HANDLER(CP_WAIT)
{
    copies_land(warp, ins->imm ? warp->copies.group + 1 : warp->copies.group - ins->aux);
    return ins + 1;
}
