/* warp_sync.h - lanes of one warp that execute a matching .sync instruction at different places.
 *
 * A .sync instruction waits for all lanes that its mask names, wherever in the program they execute
 * one: an instruction of the same kind in the other branch matches. The first lanes wait on the
 * stack of paths while another path of the warp runs; the last lanes perform the operation for all.
 * If no path is left that could continue, the report names a lane that never arrives. */

/* The lanes here that name the same. */
ALWAYS uint32_t group_of(const Warp *warp, const uint32_t *members, uint32_t named)
{
    uint32_t group = 0;
    FOR_ACTIVE(warp->mask) group |= (uint32_t)(members[i] == named) << i;
    return group;
}

static const Ins *sync_fault(Warp *warp, const Ins *ins, uint32_t named, uint32_t absent)
{
    return fault_at(warp, ins, SIMT_SYNCCHECK, first_lane(warp->mask), 0, 0,
                    "Divergent threads in a warp: the mask 0x%08x names lane %u, which does not "
                    "execute this instruction",
                    named, first_lane(absent));
}

/* The value that a shuffle gets from an inactive lane: undefined on a GPU, and here a NaN, or an
 * integer that no program uses. */
enum { UNDEFINED_SHUFFLE_VALUE = 0x7fffdead };

/* `lanes` of those in `mask` read from an inactive lane; `t` is the value for each lane. In a tree
 * of shfl.down over a part of a warp, the far lanes get such values, but the program does not use
 * them. Therefore only the lane with the final result is reported: the first, or with shfl.up the
 * last. */
__attribute__((noinline)) static void shuffle_strange(Warp *warp, const Ins *ins, uint32_t mask,
                                                      uint32_t lanes, uint32_t *t)
{
    int valid;
    FOR_ACTIVE(lanes) t[i] = UNDEFINED_SHUFFLE_VALUE;
    if (ins->aux == SHFL_DOWN) lanes &= mask & (0 - mask);
    if (ins->aux == SHFL_UP) lanes &= 1u << (LANES - 1 - __builtin_clz(mask));
    if (!lanes || !warp->worker->initcheck) return;
    uint32_t i = first_lane(lanes);
    uint32_t j = shuffle_source((int)ins->aux, i, REG(uint32_t, ins->b)[i],
                                REG(uint32_t, ins->c)[i], &valid);
    finding_add(warp, ins, SIMT_INITCHECK, i, 0, 0,
                "Undefined value: this shuffle reads from lane %u, which does not execute it", j);
}

/* ---- done for all --------------------------------------------------------------------------- */

typedef struct SyncGroup {
    uint32_t mask;
    const Ins *at[LANES]; /* the instruction of each of them */
} SyncGroup;

ALWAYS void lane_store(Warp *warp, uint32_t slot, uint32_t lane, uint32_t value)
{
    if (slot != NO_SLOT) REG(uint32_t, slot)[lane] = value;
}

ALWAYS void lane_decide(Warp *warp, uint32_t slot, uint32_t lane, uint32_t bit)
{
    if (slot != NO_SLOT) PREDICATE(slot) = (PREDICATE(slot) & ~(1u << lane)) | bit << lane;
}

static void sync_shuffle(Warp *warp, const SyncGroup *m)
{
    uint32_t t[LANES], valid_mask = 0;
    FOR_ACTIVE(m->mask)
    {
        const Ins *own = m->at[i];
        int valid;
        uint32_t j = shuffle_source((int)own->aux, i, REG(uint32_t, own->b)[i],
                                    REG(uint32_t, own->c)[i], &valid) &
                     31;
        int here = m->mask >> j & 1;
        t[i] = REG(uint32_t, here ? m->at[j]->a : own->a)[j];
        if (!here && valid) shuffle_strange(warp, own, m->mask, 1u << i, t);
        valid_mask |= (uint32_t)valid << i;
    }
    FOR_ACTIVE(m->mask)
    {
        lane_store(warp, m->at[i]->d, i, t[i]);
        lane_decide(warp, m->at[i]->v[1], i, valid_mask >> i & 1);
    }
}

static void sync_vote(Warp *warp, const SyncGroup *m)
{
    uint32_t yes = 0;
    FOR_ACTIVE(m->mask)
    yes |= ((PREDICATE(m->at[i]->a) >> i & 1) ^ (m->at[i]->imm != 0)) << i;
    FOR_ACTIVE(m->mask)
    {
        uint32_t how = m->at[i]->aux;
        if (how == VOTE_BALLOT)
            lane_store(warp, m->at[i]->d, i, yes);
        else
            lane_decide(warp, m->at[i]->d, i,
                        how == VOTE_ALL   ? yes == m->mask
                        : how == VOTE_ANY ? yes != 0
                                          : yes == 0 || yes == m->mask);
    }
}

static uint64_t lane_value(const Warp *warp, const Ins *ins, uint32_t lane)
{
    return ins->bytes == 8 ? REG(uint64_t, ins->a)[lane] : REG(uint32_t, ins->a)[lane];
}

static void sync_match(Warp *warp, const SyncGroup *m)
{
    uint32_t same[LANES], all = m->mask, values = 0;
    FOR_ACTIVE(m->mask)
    {
        same[i] = 0;
        for (uint32_t j = 0; j < LANES; j++)
            if (m->mask >> j & 1 && lane_value(warp, m->at[i], i) == lane_value(warp, m->at[j], j))
                same[i] |= 1u << j;
        values += first_lane(same[i]) == i;
        all &= same[i];
    }
    warp->step.kind = STEP_MATCH;
    warp->step.values = m->at[first_lane(m->mask)]->aux ? 1 : values;
    FOR_ACTIVE(m->mask)
    {
        const Ins *own = m->at[i];
        int agree = all == m->mask;
        lane_store(warp, own->d, i, !own->aux ? same[i] : agree ? m->mask : 0);
        if (own->aux) lane_decide(warp, own->v[1], i, (uint32_t)agree);
    }
}

static void sync_redux(Warp *warp, const SyncGroup *m)
{
    uint32_t first = first_lane(m->mask), r = REG(uint32_t, m->at[first]->a)[first];
    FOR_ACTIVE(m->mask & (m->mask - 1))
    r = reduced(m->at[i]->aux, r, REG(uint32_t, m->at[i]->a)[i]);
    FOR_ACTIVE(m->mask) lane_store(warp, m->at[i]->d, i, r);
}

static void sync_run(Warp *warp, const SyncGroup *m, uint16_t op)
{
    if (op == OP_SHFL) sync_shuffle(warp, m);
    if (op == OP_VOTE) sync_vote(warp, m);
    if (op == OP_MATCH) sync_match(warp, m);
    if (op == OP_REDUX) sync_redux(warp, m);
}

/* ---- lanes that wait for other lanes --------------------------------------------------------- */

static uint32_t members_slot(const Ins *ins)
{
    return ins->op == OP_WARPSYNC ? ins->a : ins->v[0];
}

/* Does the path wait at the same kind of instruction, and name the same? */
static int path_agrees(const Warp *warp, const Path *path, const Ins *ins, uint32_t named)
{
    const Ins *other = warp->code + path->pc;
    uint32_t lanes = path->mask & warp->alive;
    return path->waits && lanes && other->op == ins->op && other->aux == ins->aux &&
           other->bytes == ins->bytes &&
           REG(uint32_t, members_slot(other))[first_lane(lanes)] == named;
}

/* Performs the operation if all lanes are here; the waiting lanes may then continue. */
static int sync_hold(Warp *warp, const Ins *ins, uint32_t named)
{
    SyncGroup m = {.mask = warp->mask};
    FOR_ACTIVE(m.mask) m.at[i] = ins;
    for (uint32_t k = 0; k < warp->depth; k++) {
        const Path *path = &warp->stack[k];
        if (!path_agrees(warp, path, ins, named)) continue;
        FOR_ACTIVE(path->mask & warp->alive) m.at[i] = warp->code + path->pc;
        m.mask |= path->mask & warp->alive;
    }
    if ((named & warp->alive) != m.mask) return 0;
    sync_run(warp, &m, ins->op);
    warp->syncs++, warp->has_unsynced = 0;
    for (uint32_t k = 0; k < warp->depth; k++) {
        Path *path = &warp->stack[k];
        if (!path_agrees(warp, path, ins, named)) continue;
        path->pc++;
        path->waits = 0;
    }
    return 1;
}

/* A join that is twice on the stack, from two iterations of a loop, is left unchanged. */
static int path_is_unique(const Warp *warp, uint32_t at)
{
    for (uint32_t k = at + 1; k < warp->depth; k++)
        if (warp->stack[k].pc == warp->stack[at].pc) return 0;
    return 1;
}

/* The last path on the stack that can continue and has lanes of `wanted`; `lanes` of it are in no
 * other path. */
static int path_choose(const Warp *warp, uint32_t wanted, uint32_t *lanes)
{
    uint32_t covered = warp->mask;
    for (uint32_t k = warp->depth; k-- > 0;) {
        const Path *path = &warp->stack[k];
        uint32_t own = path->mask & warp->alive;
        *lanes = own & ~covered;
        if (*lanes & wanted && !path->waits && (*lanes == own || path_is_unique(warp, k)))
            return (int)k;
        covered |= own;
    }
    return -1;
}

/* The current lanes wait while others continue. If the others are already past the reconvergence
 * point, the lanes no longer reconverge there. */
static const Ins *lanes_park(Warp *warp, const Ins *ins, uint32_t named, uint32_t absent)
{
    uint32_t lanes;
    int at = path_choose(warp, absent, &lanes);
    if (at < 0) at = path_choose(warp, FULL_MASK, &lanes);
    if (at < 0) return sync_fault(warp, ins, named, absent);
    Path chosen = warp->stack[at];
    Path mine = {(uint32_t)(ins - warp->code), warp->mask, warp->rpc, absent};
    warp->depth--;
    memmove(&warp->stack[at], &warp->stack[at + 1],
            (warp->depth - (uint32_t)at) * sizeof *warp->stack);
    warp->stack[warp->depth++] = mine;
    int is_join = lanes != (chosen.mask & warp->alive);
    for (uint32_t k = (uint32_t)at; is_join && k < warp->depth; k++)
        if (warp->stack[k].rpc == chosen.pc) warp->stack[k].rpc = chosen.rpc;
    warp->mask = lanes, warp->rpc = chosen.rpc;
    warp->yield.has_switched = 1;
    return warp->code + chosen.pc;
}

/* 0: each lane's partners are here. 1: *next is the warp's next instruction; NULL after a fault. */
__attribute__((noinline)) static int lanes_meet(Warp *warp, const Ins *ins, const uint32_t *members,
                                                const Ins **next)
{
    uint32_t awaited = warp->yield.awaited, group;
    warp->yield.awaited = 0;
    *next = NULL;
    for (uint32_t left = warp->mask; left; left &= ~group) {
        uint32_t named = members[first_lane(left)], here = warp->mask;
        group = group_of(warp, members, named);
        if (group & ~named) {
            uint32_t lane = first_lane(group & ~named);
            fault_at(warp, ins, SIMT_SYNCCHECK, lane, 0, 0,
                     "Invalid arguments: the mask 0x%08x does not name the calling thread (lane "
                     "%u)",
                     named, lane);
            return 1;
        }
        uint32_t absent = named & ~group & warp->alive;  /* exited lanes are not waited for */
        uint32_t ended = awaited & named & ~warp->alive; /* ... unless it was here all the time */
        if (absent & here) {
            uint32_t other = first_lane(absent & here);
            fault_at(warp, ins, SIMT_SYNCCHECK, first_lane(left), 0, 0,
                     "Invalid arguments: the mask 0x%08x names lane %u, whose own mask is 0x%08x",
                     named, other, members[other]);
            return 1;
        }
        if (ended || (absent && ins->guard != NO_SLOT)) {
            sync_fault(warp, ins, named, ended ? ended : absent);
            return 1;
        }
        if (!absent) continue;
        if (group != here &&
            path_push(warp, ins, (uint32_t)(ins - warp->code), here & ~group, warp->rpc) != 0)
            return 1;
        warp->mask = group;
        *next = sync_hold(warp, ins, named) ? ins + 1 : lanes_park(warp, ins, named, absent);
        return 1;
    }
    return 0;
}
