/* exec_generic.h - accesses by generic address and to local memory, one lane at a time; included by
 * exec_body.h. */

typedef struct Spot {
    unsigned char *host;
    int shared;
} Spot;

/* Host address of a lane's local memory: each lane has its own range. */
ALWAYS unsigned char *local_at(Warp *warp, uint32_t lane, uint64_t off)
{
    return warp->local + (size_t)lane * warp->worker->launch->local_bytes + off;
}

/* One lane reads what nothing has written. */
static void spot_lacks(Warp *warp, const Ins *ins, uint32_t lane, uint64_t address, uint32_t bytes,
                       uint32_t marks, PtxSpace space)
{
    uint64_t of_lane[LANES] = {0};
    uint32_t marks_of_lane[LANES] = {0};
    of_lane[lane] = address, marks_of_lane[lane] = marks;
    init_lacks(warp, ins, 1u << lane, of_lane, marks_of_lane, bytes, space);
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
        spot_lacks(warp, ins, lane, address, bytes,
                   shadow_bits(memory->shadow, address - DEVICE_BASE), PTX_GLOBAL);
    if (store) memory_mark(&warp->worker->gpu->memory, address, bytes, 1);
    return 0;
}

ALWAYS uint32_t cluster_size(const Warp *warp)
{
    return warp->worker->cluster.peers ? warp->worker->cluster.peers : 1;
}

ALWAYS uint64_t cluster_address(uint64_t address, uint32_t rank)
{
    return (address & ((1u << RANK_SHIFT) - 1)) | (uint64_t)(rank + 1) << RANK_SHIFT;
}

/* The block whose shared memory contains the address, which becomes an offset there. */
ALWAYS Block *shared_block(const Warp *warp, uint64_t *address)
{
    uint64_t rank = *address >> RANK_SHIFT;
    if (!rank || rank > cluster_size(warp)) return warp->block;
    *address &= (1u << RANK_SHIFT) - 1;
    return warp->worker->cluster.peers ? &warp->worker->cluster.peer[rank - 1]->block : warp->block;
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
                 "cluster: that block has ended, and its shared memory no longer exists. All "
                 "blocks must synchronise (cluster.sync) before the first one ends",
                 access_name(store), bytes, (unsigned long long)off);
        return -1;
    }
    if (__builtin_expect(block != warp->block, 0) && (store || load))
        race_visit(warp, ins, lane, block, (uint32_t)off, store);
    spot->host = block->shared + off;
    spot->shared = 1;
    if (!warp->worker->initcheck) return 0;
    uint32_t want = (1u << bytes) - 1, word;
    memcpy(&word, block->shared_shadow + off / 8, 4);
    if (load && elements_lack(warp, ins, word >> (off & 7), bytes))
        spot_lacks(warp, ins, lane, off, bytes, word >> (off & 7), PTX_SHARED);
    word |= store ? want << (off & 7) : 0;
    memcpy(block->shared_shadow + off / 8, &word, 4);
    return 0;
}

/* Finds the host bytes of an address of `space`; -1 after reporting the fault. */
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
    /* Code for a debugger keeps arrays in memory that optimised code has in registers, and accesses
     * them by 16 bytes at any alignment. */
    if (address & (bytes - 1) && !(space == PTX_LOCAL && warp->worker->gpu->debug)) {
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

/* Is this address in the block's own shared memory? Sets its offset. Accesses to other blocks of
 * the cluster are not checked for races. */
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
    if (in_global && kind == RACE_WRITE && lanes_may_overlap(ins, in_global, SHAPE_ANY))
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
    if (warp->worker->race.is_on)
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

/* The kernel's own variables in local memory: a load of unwritten bytes is followed, a store marks
 * the bytes as written.  `offset` per lane, for the lanes of `mask`. */
__attribute__((noinline)) static void
local_definedness(Warp *warp, const Ins *ins, const uint64_t *offset, uint32_t mask, int store)
{
    uint32_t own = warp->worker->kernel->local_bytes, at[LANES] = {0}, marks[LANES] = {0},
             lanes = 0;
    uint32_t bytes = ins->bytes * (ins->vector > 1 ? ins->vector : 1u), missing = 0;
    unsigned char *shadow = warp->worker->local_shadow + (size_t)warp->index * LANES * own / 8;
    FOR_ACTIVE(mask)
    {
        uint32_t word;
        if (offset[i] + bytes > own) continue;
        at[i] = i * own + (uint32_t)offset[i], lanes |= 1u << i;
        memcpy(&word, shadow + at[i] / 8, sizeof word);
        marks[i] = word >> at[i] % 8;
        word |= store ? ((1u << bytes) - 1) << at[i] % 8 : 0;
        memcpy(shadow + at[i] / 8, &word, sizeof word);
        missing |= (uint32_t)elements_lack(warp, ins, marks[i], bytes) << i;
    }
    if (store && warp->undefined.is_followed) undefined_stored(warp, ins, shadow, at, lanes);
    if (!store && missing) init_lacks(warp, ins, missing, offset, marks, bytes, PTX_LOCAL);
}

/* Arguments and results of functions count as defined. */
ALWAYS int checks_local(const Warp *warp, const Ins *ins)
{
    return warp->worker->local_shadow && ins->class != CLASS_FREE;
}

/* Lanes of a store by generic address to the block's own shared memory. */
static void lanes_undefined_stored(Warp *warp, const Ins *ins, const uint64_t *address)
{
    uint32_t offset[LANES] = {0}, lanes = 0;
    FOR_ACTIVE(warp->mask)
    if (ins->space == PTX_SHARED ||
        (ins->space == PTX_SPACE_NONE && address[i] - SHARED_WINDOW < WINDOW_BYTES))
        lanes |= own_shared(warp, address[i], &offset[i]) << i;
    undefined_stored(warp, ins, warp->block->shared_shadow, offset, lanes);
}

static void lanes_local_checked(Warp *warp, const Ins *ins, const uint64_t *address, int store)
{
    uint64_t offset[LANES] = {0};
    uint32_t lanes = 0;
    FOR_ACTIVE(warp->mask)
    if (ins->space == PTX_LOCAL ||
        (ins->space == PTX_SPACE_NONE && address[i] - LOCAL_WINDOW < WINDOW_BYTES))
        offset[i] = address[i] & (WINDOW_BYTES - 1), lanes |= 1u << i;
    if (lanes) local_definedness(warp, ins, offset, lanes, store);
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
    if (store && warp->undefined.is_followed) lanes_undefined_stored(warp, ins, address);
    if (checks_local(warp, ins)) lanes_local_checked(warp, ins, address, store);
    /* Before the access is done: racecheck compares what a store finds. */
    if (warp->observed) lanes_counted(warp, ins, address, store);
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
    if (checks_local(warp, ins)) local_definedness(warp, ins, off, mask, store);
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
