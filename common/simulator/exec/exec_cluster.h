/* exec_cluster.h - blocks of a cluster, and what else Hopper has of small instructions; included by
 * exec_body.h. */

/* A warpgroup releases or requests registers. The registers are not counted here; the decoder has
 * checked that the number is valid on a GPU. */
HANDLER(SETMAXNREG)
{
    if (!warpgroup_whole(warp, ins)) return NULL;
    return ins + 1;
}

/* Elects one of the lanes: the lowest, as on a GPU. */
HANDLER(ELECT)
{
    const uint32_t *members = REG(const uint32_t, ins->a);
    MEET(members);
    uint32_t t[LANES], chosen = 0;
    memset(t, 0, sizeof t);
    FOR_GROUPS(members)
    {
        uint32_t leader = first_lane(mask);
        chosen |= 1u << leader;
        FOR_ACTIVE(mask) t[i] = leader;
    }
    uint32_t *p = &PREDICATE(ins->c);
    *p = (*p & ~warp->mask) | chosen;
    if (ins->d == NO_SLOT) return ins + 1;
    FINISH_32(t);
}

/* The address of the same place in another block of the cluster.  aux: the result is generic. */
HANDLER(MAPA)
{
    FOR_ACTIVE(warp->mask)
    {
        uint32_t rank = REG(const uint32_t, ins->b)[i];
        uint64_t a = ins->bytes == 8 ? REG(const uint64_t, ins->a)[i]
                                     : REG(const uint32_t, ins->a)[i],
                 window = a - SHARED_WINDOW < WINDOW_BYTES ? SHARED_WINDOW : 0;
        if (rank >= cluster_size(warp))
            return fault_at(warp, ins, SIMT_MEMCHECK, i, a, 0, "mapa: block %u of a cluster of %u",
                            rank, cluster_size(warp));
        a = window + cluster_address(a - window, rank);
        if (ins->bytes == 8)
            REG(uint64_t, ins->d)[i] = a;
        else
            REG(uint32_t, ins->d)[i] = (uint32_t)a;
    }
    return ins + 1;
}

/* The rank of the block whose shared memory contains an address. */
HANDLER(GETRANK)
{
    uint32_t t[LANES] = {0};
    FOR_ACTIVE(warp->mask)
    {
        uint64_t a =
            ins->bytes == 8 ? REG(const uint64_t, ins->a)[i] : REG(const uint32_t, ins->a)[i];
        if (a - SHARED_WINDOW < WINDOW_BYTES) a -= SHARED_WINDOW;
        uint64_t rank = a >> RANK_SHIFT;
        t[i] = rank && rank <= cluster_size(warp) ? (uint32_t)rank - 1 : warp->worker->cluster.rank;
    }
    FINISH_32(t);
}

/* aux 0: the next launch may begin, 1: waits for the one before. */
HANDLER(DEPENDENTS)
{
    if (ins->aux)
        race_early_over(warp);
    else
        __atomic_fetch_or(&warp->worker->launch->tells,
                          race_early_waited(warp) ? TELLS_AFTER : TELLS_AFTER | TELLS_BEFORE,
                          __ATOMIC_RELAXED);
    return ins + 1;
}

/* aux 0: arrive, 1: wait for all warps of the cluster. */
HANDLER(CLUSTER_BARRIER)
{
    if (warp->mask != warp->alive)
        return fault_at(warp, ins, SIMT_SYNCCHECK, first_lane(warp->mask), 0, 0,
                        "Barrier error: divergent threads in a warp: %d of its %d threads are at "
                        "the cluster's barrier",
                        __builtin_popcount(warp->mask), __builtin_popcount(warp->alive));
    if (!ins->aux) {
        if (warp->barrier.cluster_arrivals != warp->barrier.cluster_waits)
            return fault_at(warp, ins, SIMT_SYNCCHECK, first_lane(warp->mask), 0, 0,
                            "Barrier error: a second barrier.cluster.arrive without a wait");
        warp->barrier.cluster_arrivals++;
        return ins + 1;
    }
    if (warp->barrier.cluster_arrivals == warp->barrier.cluster_waits)
        return fault_at(warp, ins, SIMT_SYNCCHECK, first_lane(warp->mask), 0, 0,
                        "Barrier error: barrier.cluster.wait without barrier.cluster.arrive");
    warp->phase.ins = ins;
    return warp_stop(warp, WARP_CLUSTER, ins + 1);
}
