/* exec_bulk.h - what the tensor memory accelerator copies; included by exec_body.h.
 *
 * A copy into shared memory reads its source immediately, and its bytes stay in flight until a
 * thread has observed the completion of its mbarrier's phase: without the wait, a thread reads the
 * old contents. A copy out of shared memory is performed immediately. */

enum { MOST_ROW = 256 * 8 }; /* bytes of a box's row: 256 elements */

/* ---- operands ------------------------------------------------------------------------------- */

ALWAYS uint64_t place_address(const Warp *warp, const Place *place, uint32_t lane)
{
    if (place->base64) return REG(const uint64_t, place->slot)[lane] + (uint64_t)place->imm;
    return (uint32_t)(REG(const uint32_t, place->slot)[lane] + (uint32_t)place->imm);
}

static uint64_t shared_address(const Warp *warp, const Place *place, uint32_t lane)
{
    uint64_t address = place_address(warp, place, lane);
    return address - SHARED_WINDOW < WINDOW_BYTES ? address - SHARED_WINDOW : address;
}

static int bulk_aligned(Warp *warp, const Ins *ins, uint32_t lane, uint64_t address, uint32_t to,
                        const char *what)
{
    if (address % to == 0) return 0;
    fault_at(warp, ins, SIMT_MEMCHECK, lane, address, to,
             "Misaligned bulk copy: %s is no multiple of %u", what, to);
    return -1;
}

/* The map is a kernel parameter, or in global or constant memory. */
static const TensorMap *map_find(Warp *warp, const Ins *ins, const BulkPlan *plan, uint32_t lane,
                                 TensorMap *copy)
{
    uint64_t address =
        place_address(warp, plan->kind == BULK_STORE ? &plan->to : &plan->from, lane);
    Ins plain = *ins;
    Spot spot;
    plain.space = PTX_SPACE_NONE;
    if (address % 64) {
        fault_at(warp, ins, SIMT_MEMCHECK, lane, address, TENSOR_MAP_BYTES,
                 "Misaligned tensor map: its address is no multiple of 64");
        return NULL;
    }
    if (address - SHARED_WINDOW < WINDOW_BYTES || address - LOCAL_WINDOW < WINDOW_BYTES) {
        fault_at(warp, ins, SIMT_MEMCHECK, lane, address, TENSOR_MAP_BYTES,
                 "The tensor map lies in %s memory: it must be a __grid_constant__ parameter, or "
                 "in global or constant memory",
                 address - SHARED_WINDOW < WINDOW_BYTES ? "shared" : "local");
        return NULL;
    }
    for (uint32_t i = 0; i < TENSOR_MAP_BYTES; i += 16) {
        if (spot_find(warp, &plain, lane, address + i, 16, 0, 1, &spot) != 0) return NULL;
        memcpy((unsigned char *)copy + i, spot.host, 16);
    }
    if (address - PARAM_WINDOW >= WINDOW_BYTES)
        touch_note_read(warp, ins, lane, address, TENSOR_MAP_BYTES);
    const char *wrong = !tensor_map_is_valid(copy) ? "no tensor map was encoded there"
                        : copy->rank != plan->rank ? "the tensor map is of another rank"
                        : (copy->kind == TENSOR_MAP_IM2COL) != plan->im2col
                            ? "the tensor map is of the other mode, tiled or im2col"
                            : NULL;
    if (!wrong) return copy;
    fault_at(warp, ins, SIMT_MEMCHECK, lane, address, TENSOR_MAP_BYTES,
             "Invalid tensor map for a copy of rank %u: %s", plan->rank, wrong);
    return NULL;
}

/* ---- memory --------------------------------------------------------------------------------- */

/* Reports an access to a range of global memory to the checks: a read, a write or a reduction. */
static void bulk_noted(Warp *warp, const Ins *ins, uint64_t from, uint32_t bytes, SimtTouchKind act)
{
    static const RaceKind RACE[] = {
        [SIMT_TOUCH_WRITE] = RACE_WRITE, [SIMT_TOUCH_ATOMIC] = RACE_ATOMIC};
    const Launch *launch = warp->worker->launch;
    if (!launch->notes && !warp->worker->race.is_on) return;
    uint64_t address[LANES] = {0}, unit = from % 16 || bytes % 16 ? 4 : 16;
    for (uint64_t at = from & ~(unit - 1); at < from + bytes;) {
        uint32_t lanes = 0, mask = 0;
        for (; lanes < LANES && at < from + bytes; at += unit)
            mask |= 1u << lanes, address[lanes++] = at;
        if (launch->notes) touch_note(warp, ins, address, mask, (uint32_t)unit, act);
        if (warp->worker->race.is_on && act == SIMT_TOUCH_READ)
            global_raced(warp, ins, address, mask, (uint32_t)unit,
                         mask == FULL_MASK ? SHAPE_LINEAR : SHAPE_ANY, 0);
        else if (warp->worker->race.is_on)
            race_global(warp, ins, address, mask, (uint32_t)unit, RACE[act]);
    }
}

static void bulk_counted(Warp *warp, const Ins *ins, uint64_t from, uint32_t bytes,
                         SimtTouchKind act)
{
    if (warp->count) count_bulk(warp, ins, from, bytes, act != SIMT_TOUCH_READ);
    bulk_noted(warp, ins, from, bytes, act);
}

/* The host's bytes of global memory.  NULL after reporting that they are not all there. */
static unsigned char *bulk_global(Warp *warp, const Ins *ins, uint32_t lane, uint64_t address,
                                  uint32_t bytes, SimtTouchKind act)
{
    Spot spot;
    int writes = act != SIMT_TOUCH_READ, reads = act != SIMT_TOUCH_WRITE;
    if (spot_global(warp, ins, lane, address, bytes, writes, reads, &spot) != 0) return NULL;
    bulk_counted(warp, ins, address, bytes, act);
    return spot.host;
}

/* Are the chunks in the block's shared memory, and are all bytes that are read initialised? */
static int pieces_are_plain(const Warp *warp, const uint32_t *piece, uint32_t count, int store)
{
    const Block *block = warp->block;
    uint32_t size = block->shared_bytes, missing = 0;
    if (size < PIECE_BYTES) return 0;
    for (uint32_t i = 0; i < count; i++) {
        if (piece[i] > size - PIECE_BYTES) return 0;
        if (!store && warp->worker->initcheck)
            missing |= ~shadow_bits(block->shared_shadow, piece[i]) & 0xffff;
    }
    return !missing;
}

/* Checks the 16-byte chunks of shared memory that a copy or an MMA accesses. */
static int pieces_check(Warp *warp, const Ins *ins, uint32_t lane, const uint32_t *piece,
                        uint32_t count, int store)
{
    Spot spot;
    int plain = pieces_are_plain(warp, piece, count, store);
    for (uint32_t i = 0; i < count && !plain; i++)
        if (spot_shared(warp, ins, lane, piece[i], PIECE_BYTES, 0, !store, &spot) != 0) return -1;
    if (warp->worker->race.is_on)
        async_raced(warp, ins, lane, piece, count, store, plain ? 0 : RACE_OPEN);
    return 0;
}

static int stretch_check(Warp *warp, const Ins *ins, uint32_t lane, uint32_t to,
                         const Stretch *stretch, int store)
{
    uint32_t piece[LANES], n = 0;
    for (uint32_t i = 0; i < stretch->bytes; i += 16) {
        if (i % stretch->pitch < stretch->row) piece[n++] = swizzled(to + i, stretch->swizzle);
        if (n < LANES && i + 16 < stretch->bytes) continue;
        if (pieces_check(warp, ins, lane, piece, n, store) != 0) return -1;
        n = 0;
    }
    return 0;
}

/* ---- into shared memory --------------------------------------------------------------------- */

/* Bytes of a bulk copy that count as one instruction, because each chunk is checked. */
enum { BULK_CHARGED = 16 };

typedef struct Target {
    uint64_t to, barrier; /* as addresses of shared memory */
    Stretch stretch;
    Reduction reduction;
} Target;

/* Bytes in a row. */
ALWAYS Stretch stretch_plain(uint32_t bytes)
{
    return (Stretch){.bytes = bytes, .row = bytes, .pitch = bytes};
}

static Stretch stretch_of(const Box *box)
{
    return (Stretch){.bytes = box->rows * box->pitch,
                     .row = box->row_bytes,
                     .pitch = box->pitch,
                     .swizzle = box->map->swizzle};
}

/* Sends `data` (whose owner is the flight from now on) to one block. */
static int flight_send(Warp *warp, const Ins *ins, uint32_t lane, const Target *target,
                       const unsigned char *data)
{
    const MachineCosts *costs = &warp->worker->gpu->machine.costs;
    Mbarrier m;
    uint64_t to = target->to;
    if (mbarrier_find(warp, ins, lane, target->barrier, 0, &m) != 0) return -1;
    Block *block = shared_block(warp, &to);
    if (block != m.block) {
        fault_at(warp, ins, SIMT_SYNCCHECK, lane, 0, 0,
                 "Barrier error: a bulk copy goes to one block of the cluster and its mbarrier "
                 "lies in another");
        return -1;
    }
    Spot spot;
    uint32_t bytes = target->stretch.bytes;
    if (to + bytes > block->shared_bytes)
        return spot_shared(warp, ins, lane, target->to, bytes, 1, 0, &spot);
    if (block == warp->block && bytes % 16 == 0 &&
        stretch_check(warp, ins, lane, (uint32_t)to, &target->stretch, 1) != 0)
        return -1;
    flights_bound(block);
    if (block->flights == block->flight_room) {
        uint32_t room = block->flight_room ? block->flight_room * 2 : 16;
        Flight *grown = realloc(block->flight, room * sizeof *grown);
        if (grown) block->flight = grown, block->flight_room = room;
    }
    unsigned char *own = block->flights < block->flight_room ? malloc(bytes) : NULL;
    if (!own) {
        fault_at(warp, ins, SIMT_TRAP, lane, 0, 0, "out of host memory for a bulk copy");
        return -1;
    }
    memcpy(own, data, bytes);
    warp_charge(warp, bytes / BULK_CHARGED);
    block->flight_bytes += bytes;
    block->flight[block->flights++] = (Flight){.to = (uint32_t)to,
                                               .stretch = target->stretch,
                                               .barrier = m.offset,
                                               .phase = m.phase,
                                               .ins = (uint32_t)(ins - warp->code),
                                               .thread = warp->index * LANES + lane,
                                               .reduction = target->reduction,
                                               .data = own};
    phase_counted(warp, &m, warp->worker->gpu->machine.l2_latency + costs->bulk_cycles);
    /* The gaps that a swizzle leaves between two rows are not counted. */
    int64_t counted = (int64_t)bytes / target->stretch.pitch * target->stretch.row;
    if (mbarrier_bytes(warp, ins, lane, &m, -counted) != 0) return -1;
    mbarrier_settle(warp, &m);
    return 0;
}

/* To the block that the address names, or to all blocks of the mask, at the same place in each. */
static int flights_send(Warp *warp, const Ins *ins, const BulkPlan *plan, uint32_t lane,
                        Target *target, const unsigned char *data)
{
    target->to = shared_address(warp, &plan->to, lane);
    target->barrier = shared_address(warp, &plan->barrier, lane);
    if (bulk_aligned(warp, ins, lane, target->to, plan->rank ? 128 : 16,
                     "the address in shared memory") != 0)
        return -1;
    if (plan->mask == NO_SLOT) return flight_send(warp, ins, lane, target, data);
    uint32_t mask = REG(const uint16_t, plan->mask)[2 * lane], blocks = cluster_size(warp);
    if (mask == 0 || mask >> blocks) {
        fault_at(warp, ins, SIMT_SYNCCHECK, lane, 0, 0,
                 "A multicast to the blocks 0x%x of a cluster of %u", mask, blocks);
        return -1;
    }
    Target each = *target;
    FOR_ACTIVE(mask)
    {
        each.to = cluster_address(target->to, i),
        each.barrier = cluster_address(target->barrier, i);
        if (flight_send(warp, ins, lane, &each, data) != 0) return -1;
    }
    return 0;
}

static int box_load(Warp *warp, const Ins *ins, uint32_t lane, Box *box, unsigned char *data)
{
    for (uint32_t r = 0; r < box->rows; r++, box_next(box)) {
        unsigned char *row = data + (size_t)r * box->pitch;
        uint64_t address;
        uint32_t skip, bytes = box_inside(box, &skip, &address);
        if (bytes < box->row_bytes) fill_row(box->map, row, box->row_bytes);
        if (!bytes) continue;
        const unsigned char *host = bulk_global(warp, ins, lane, address, bytes, SIMT_TOUCH_READ);
        if (!host) return -1;
        memcpy(row + skip, host, bytes);
        convert_row(box->map, row + skip, bytes);
    }
    return 0;
}

static int row_bytes_check(Warp *warp, const Ins *ins, const BulkPlan *plan, uint32_t lane,
                           uint32_t *bytes)
{
    *bytes = REG(const uint32_t, plan->bytes)[lane];
    if (*bytes && *bytes % 16 == 0) return 0;
    fault_at(warp, ins, SIMT_MEMCHECK, lane, 0, *bytes,
             "A bulk copy of %u bytes: it must be a multiple of 16", *bytes);
    return -1;
}

/* Bytes in a row, from global memory or from the block's own shared memory. */
static int row_load(Warp *warp, const Ins *ins, const BulkPlan *plan, uint32_t lane, Target *target,
                    const unsigned char **data)
{
    uint32_t bytes;
    if (row_bytes_check(warp, ins, plan, lane, &bytes) != 0) return -1;
    target->stretch = stretch_plain(bytes);
    if (plan->kind == BULK_BETWEEN) {
        uint64_t from = shared_address(warp, &plan->from, lane);
        if (bulk_aligned(warp, ins, lane, from, 16, "the source's address") != 0) return -1;
        Spot spot;
        if (from + bytes > warp->block->shared_bytes)
            return spot_shared(warp, ins, lane, from, bytes, 0, 0, &spot);
        *data = warp->block->shared + from;
        return stretch_check(warp, ins, lane, (uint32_t)from, &target->stretch, 0);
    }
    uint64_t from = place_address(warp, &plan->from, lane);
    if (bulk_aligned(warp, ins, lane, from, 16, "the address in global memory") != 0) return -1;
    *data = bulk_global(warp, ins, lane, from, bytes, SIMT_TOUCH_READ);
    return *data ? 0 : -1;
}

/* The box that a lane names, when it is one that may be copied. */
static int box_find(Warp *warp, const Ins *ins, const BulkPlan *plan, uint32_t lane, int store,
                    TensorMap *map, Box *box)
{
    if (!map_find(warp, ins, plan, lane, map)) return -1;
    box_open(warp, plan, lane, map, box);
    return box_legal(warp, ins, lane, box, store);
}

static int bulk_load(Warp *warp, const Ins *ins, const BulkPlan *plan, uint32_t lane)
{
    Target target = {.reduction = plan->reduction};
    const unsigned char *data = NULL;
    if (!plan->rank)
        return row_load(warp, ins, plan, lane, &target, &data) == 0
                   ? flights_send(warp, ins, plan, lane, &target, data)
                   : -1;
    TensorMap map;
    Box box;
    if (box_find(warp, ins, plan, lane, 0, &map, &box) != 0) return -1;
    uint64_t bytes = (uint64_t)box.rows * box.pitch;
    if (bytes > MBARRIER_MOST) {
        fault_at(warp, ins, SIMT_MEMCHECK, lane, 0, 0,
                 "A box of %llu bytes: an mbarrier counts at most %d", (unsigned long long)bytes,
                 MBARRIER_MOST);
        return -1;
    }
    unsigned char *image = malloc(bytes);
    if (!image) {
        fault_at(warp, ins, SIMT_TRAP, lane, 0, 0, "out of host memory for a bulk copy");
        return -1;
    }
    target.stretch = stretch_of(&box);
    int result = box_load(warp, ins, lane, &box, image) == 0
                     ? flights_send(warp, ins, plan, lane, &target, image)
                     : -1;
    free(image);
    return result;
}

/* ---- out of shared memory ------------------------------------------------------------------- */

ALWAYS SimtTouchKind store_act(const BulkPlan *plan)
{
    return plan->reduction.present ? SIMT_TOUCH_ATOMIC : SIMT_TOUCH_WRITE;
}

/* The stretch may be read until its thread has waited.  -1: no memory. */
static int departure_note(Warp *warp, const Ins *ins, uint32_t lane, uint32_t from,
                          const Stretch *stretch)
{
    Block *block = warp->block;
    if (!warp->worker->race.is_on) return 0;
    if (block->departures == FLIGHTS_MOST) block->departures = 0; /* more than racecheck tracks */
    if (block->departures == block->departure_room) {
        uint32_t room = block->departure_room ? block->departure_room * 2 : 16;
        Departure *grown = realloc(block->departure, room * sizeof *grown);
        if (!grown) {
            fault_at(warp, ins, SIMT_TRAP, lane, 0, 0, "out of host memory for a bulk copy");
            return -1;
        }
        block->departure = grown, block->departure_room = room;
    }
    block->departure[block->departures++] = (Departure){.stretch = *stretch,
                                                        .from = from,
                                                        .ins = (uint32_t)(ins - warp->code),
                                                        .thread = warp->index * LANES + lane};
    return 0;
}

/* A lane commits its copies as a group, or waits until only the latest `left` groups are open. */
static void departures_turn(Block *block, uint32_t thread, int waits, uint32_t left)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < block->departures; i++) {
        Departure *departure = &block->departure[i];
        int own = departure->thread == thread;
        departure->groups += (uint32_t)(own && !waits);
        if (own && waits && departure->groups > left) continue;
        block->departure[kept++] = *departure;
    }
    block->departures = kept;
}

HANDLER(BULK_GROUP)
{
    Block *block = warp->block;
    warp_charge(warp, block->departures * (uint64_t)__builtin_popcount(warp->mask) / 16);
    FOR_ACTIVE(warp->mask)
    if (block->departures)
        departures_turn(block, warp->index * LANES + i, ins->aux != 0, ins->aux - 1);
    return ins + 1;
}

/* A box's rows, from shared memory as the map's swizzle has them. */
static int rows_store(Warp *warp, const Ins *ins, const BulkPlan *plan, uint32_t lane, Box *box,
                      const Reduction *reduction, uint32_t from)
{
    unsigned char row[MOST_ROW];
    for (uint32_t r = 0; r < box->rows; r++, box_next(box)) {
        uint64_t address;
        uint32_t skip, bytes = box_inside(box, &skip, &address);
        if (!bytes) continue;
        unsigned char *host = bulk_global(warp, ins, lane, address, bytes, store_act(plan));
        if (!host) return -1;
        for (uint32_t i = 0; i < bytes; i++)
            row[i] =
                warp->block->shared[swizzled(from + r * box->pitch + skip + i, box->map->swizzle)];
        if (reduction->present)
            values_join(reduction, host, row, bytes);
        else
            memcpy(host, row, bytes);
    }
    return 0;
}

static int box_store(Warp *warp, const Ins *ins, const BulkPlan *plan, uint32_t lane, uint32_t from)
{
    TensorMap map;
    Box box;
    if (box_find(warp, ins, plan, lane, 1, &map, &box) != 0) return -1;
    uint64_t size = (uint64_t)box.rows * box.pitch;
    Spot spot;
    warp_charge(warp, size / BULK_CHARGED);
    if (from + size > warp->block->shared_bytes)
        return spot_shared(warp, ins, lane, from, (uint32_t)(size < 1u << 30 ? size : 1u << 30), 0,
                           0, &spot);
    Stretch stretch = stretch_of(&box);
    if (stretch_check(warp, ins, lane, from, &stretch, 0) != 0 ||
        departure_note(warp, ins, lane, from, &stretch) != 0)
        return -1;
    Reduction reduction = plan->reduction;
    if (reduction.present && map_reduction(&map, &reduction) != 0) {
        fault_at(warp, ins, SIMT_MEMCHECK, lane, 0, 0,
                 "Invalid bulk copy: it cannot reduce elements of that type with that operation");
        return -1;
    }
    return rows_store(warp, ins, plan, lane, &box, &reduction, from);
}

static int bulk_store(Warp *warp, const Ins *ins, const BulkPlan *plan, uint32_t lane)
{
    uint64_t from = shared_address(warp, &plan->from, lane);
    Spot spot;
    uint32_t bytes;
    if (bulk_aligned(warp, ins, lane, from, plan->rank ? 128 : 16,
                     "the address in shared memory") != 0)
        return -1;
    if (from >= warp->block->shared_bytes)
        return spot_shared(warp, ins, lane, from, 16, 0, 0, &spot);
    if (plan->rank) return box_store(warp, ins, plan, lane, (uint32_t)from);
    uint64_t to = place_address(warp, &plan->to, lane);
    if (row_bytes_check(warp, ins, plan, lane, &bytes) != 0 ||
        bulk_aligned(warp, ins, lane, to, 16, "the address in global memory") != 0)
        return -1;
    if (from + bytes > warp->block->shared_bytes)
        return spot_shared(warp, ins, lane, from, bytes, 0, 0, &spot);
    Stretch stretch = stretch_plain(bytes);
    if (stretch_check(warp, ins, lane, (uint32_t)from, &stretch, 0) != 0 ||
        departure_note(warp, ins, lane, (uint32_t)from, &stretch) != 0)
        return -1;
    unsigned char *host = bulk_global(warp, ins, lane, to, bytes, store_act(plan));
    if (host && plan->reduction.present)
        values_join(&plan->reduction, host, warp->block->shared + from, bytes);
    else if (host)
        memcpy(host, warp->block->shared + from, bytes);
    warp_charge(warp, bytes / BULK_CHARGED);
    return host ? 0 : -1;
}

/* A prefetch moves nothing that a program can see; its map has to be one all the same. */
static int bulk_prefetch(Warp *warp, const Ins *ins, const BulkPlan *plan, uint32_t lane)
{
    TensorMap copy;
    return !plan->rank || map_find(warp, ins, plan, lane, &copy) ? 0 : -1;
}

HANDLER(BULK_COPY)
{
    const BulkPlan *plan = &warp->worker->kernel->plans.bulk[ins->aux];
    warp->counts.bulk_sectors = 0;
    int counts = plan->kind == BULK_LOAD || plan->kind == BULK_BETWEEN;
    if (counts && warp->worker->gpu->options.warns && !warp->worker->kernel->traits.has_init_fence)
        warning_add(warp, ins, SIMT_SYNCCHECK, first_lane(warp->mask), 0, 0,
                    "The mbarrier of this copy was initialised without a fence: the copy may find "
                    "it uninitialised. fence.mbarrier_init or fence.proxy.async comes after "
                    "mbarrier.init, in the thread that executes it");
    FOR_ACTIVE(warp->mask)
    {
        int result = plan->kind == BULK_STORE      ? bulk_store(warp, ins, plan, i)
                     : plan->kind == BULK_PREFETCH ? bulk_prefetch(warp, ins, plan, i)
                                                   : bulk_load(warp, ins, plan, i);
        if (result != 0) return NULL;
    }
    /* The replay needs the sectors of a copy, of which there are more than an access has. */
    uint32_t sectors = warp->counts.bulk_sectors < 0xffff ? warp->counts.bulk_sectors : 0xffff;
    warp->step.kind = STEP_ASYNC;
    warp->step.bulk_sectors_low = sectors & 0xff,
    warp->step.bulk_sectors_high = (uint16_t)(sectors >> 8);
    return ins + 1;
}

/* A lane's values to a block of the cluster, where an mbarrier counts their bytes. */
static int values_send(Warp *warp, const Ins *ins, const BulkPlan *plan, uint32_t lane)
{
    unsigned char data[16];
    uint32_t bytes = plan->values * plan->width;
    Target target = {.to = shared_address(warp, &plan->to, lane),
                     .barrier = shared_address(warp, &plan->barrier, lane),
                     .stretch = stretch_plain(bytes),
                     .reduction = plan->reduction};
    for (uint32_t i = 0; i < bytes; i += plan->width)
        if (plan->width == 8)
            memcpy(data + i % 16, &REG(const uint64_t, plan->value[i / 8])[lane], 8);
        else
            memcpy(data + i % 16, &REG(const uint32_t, plan->value[i / 4])[lane], 4);
    if (bulk_aligned(warp, ins, lane, target.to, bytes, "the address in shared memory") != 0)
        return -1;
    return flight_send(warp, ins, lane, &target, data);
}

HANDLER(VALUES_SEND)
{
    const BulkPlan *plan = &warp->worker->kernel->plans.bulk[ins->aux];
    if (!warp->worker->launch->cluster_blocks)
        return fault_at(warp, ins, SIMT_MEMCHECK, first_lane(warp->mask), 0, 0,
                        "Invalid instruction: st.async and red.async need a launch with clusters; "
                        "clusters of one block are enough");
    FOR_ACTIVE(warp->mask)
    if (values_send(warp, ins, plan, i) != 0) return NULL;
    return ins + 1;
}

/* Orders the threads' own writes before reads by the accelerator or by a warpgroup's MMA. */
HANDLER(PROXY_FENCE)
{
    warp->proxy.count++;
    warp->proxy.epoch = warp->worker->epoch;
    return ins + 1;
}
