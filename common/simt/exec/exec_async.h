/* exec_async.h - copies of a thread that arrive later; included by exec_body.h.
 *
 * A copy reads its source when it is asked for, and its bytes lie with the warp until a wait lets
 * them into shared memory: so a kernel that forgets the wait finds what was there before.  A lane
 * whose src-size is 0 reads nothing, whatever its source is, and writes zeros. */

/* Copies that a warp may leave in flight; with more, all that are there land, as they may at any
 * time. */
enum { COPIES_IN_FLIGHT = 1 << 14 };

static void copy_land(Warp *warp, const AsyncCopy *copy)
{
    uint32_t offset[LANES], written;
    unsigned char *shadow = warp->block->shared_shadow + copy->to / 8;
    offset[copy->lane] = copy->to;
    if (warp->worker->racecheck)
        shared_raced(warp, &warp->code[copy->ins], offset, 1u << copy->lane, copy->bytes, SHAPE_ANY,
                     1, 0);
    memcpy(warp->block->shared + copy->to, copy->data, copy->bytes);
    if (!warp->worker->initcheck) return;
    memcpy(&written, shadow, sizeof written);
    written |= ((1u << copy->bytes) - 1) << copy->to % 8;
    memcpy(shadow, &written, sizeof written);
}

/* Lands what belongs to groups before `group`; the others stay, in their order. */
static void copies_land(Warp *warp, uint32_t group)
{
    uint32_t left = 0;
    warp_charge(warp, warp->asyncs / 16);
    for (uint32_t i = 0; i < warp->asyncs; i++)
        if ((int32_t)(warp->async[i].group - group) < 0)
            copy_land(warp, &warp->async[i]);
        else
            warp->async[left++] = warp->async[i];
    warp->asyncs = left;
}

static AsyncCopy *copy_new(Warp *warp)
{
    if (warp->asyncs >= COPIES_IN_FLIGHT) copies_land(warp, warp->async_group + 1);
    if (warp->asyncs == warp->async_room) {
        uint32_t room = warp->async_room ? warp->async_room * 2 : 64;
        AsyncCopy *grown = realloc(warp->async, room * sizeof *grown);
        if (!grown) return NULL;
        warp->async = grown, warp->async_room = room;
    }
    return &warp->async[warp->asyncs++];
}

HANDLER(CP_ASYNC)
{
    uint64_t from[LANES] = {0};
    uint32_t to[LANES] = {0}, reading = 0,
             whole = 0; /* lanes with bytes to read, with all of them */
    FOR_ACTIVE(warp->mask)
    {
        uint32_t size = ins->bytes;
        Spot target, source;
        if (ins->c != NO_SLOT && REG(const uint32_t, ins->c)[i] < size)
            size = REG(const uint32_t, ins->c)[i];
        uint64_t address = lane_address(warp, ins, i);
        from[i] = REG(const uint64_t, ins->b)[i] + (uint64_t)(int64_t)(int32_t)ins->target;
        if (address - SHARED_WINDOW < WINDOW_BYTES) address -= SHARED_WINDOW;
        if ((address | from[i]) & (ins->bytes - 1u)) {
            int target_is = (address & (ins->bytes - 1u)) != 0;
            return fault_at(warp, ins, SIMT_MEMCHECK, i, target_is ? address : from[i], ins->bytes,
                            "Misaligned copy of %u bytes: %s is no multiple of %u", ins->bytes,
                            target_is ? "its target's offset in shared memory" : "its source",
                            ins->bytes);
        }
        if (spot_shared(warp, ins, i, address, ins->bytes, 0, 0, &target) != 0 ||
            (size && spot_global(warp, ins, i, from[i], size, 0, 1, &source) != 0))
            return NULL;
        AsyncCopy *copy = copy_new(warp);
        if (!copy)
            return fault_at(warp, ins, SIMT_TRAP, i, 0, 0, "out of host memory for cp.async");
        to[i] = (uint32_t)address;
        *copy = (AsyncCopy){.to = to[i],
                            .lane = (uint8_t)i,
                            .bytes = ins->bytes,
                            .group = warp->async_group,
                            .ins = (uint32_t)(ins - warp->code)};
        if (size) memcpy(copy->data, source.host, size);
        reading |= (uint32_t)(size > 0) << i;
        whole |= (uint32_t)(size == ins->bytes) << i;
    }
    if (warp->worker->launch->notes)
        touch_note(warp, ins, from, whole, ins->bytes, SIMT_TOUCH_READ);
    if (warp->worker->racecheck && whole)
        global_raced(warp, ins, from, whole, ins->bytes, SHAPE_ANY, 0);
    if (warp->count) {
        if (reading) count_global(warp, ins, from, reading, 0);
        count_shared(warp, ins, to, warp->mask, 1);
    }
    return ins + 1;
}

HANDLER(CP_COMMIT)
{
    warp->async_group++;
    return ins + 1;
}

HANDLER(CP_WAIT)
{
    copies_land(warp, ins->imm ? warp->async_group + 1 : warp->async_group - ins->aux);
    return ins + 1;
}
