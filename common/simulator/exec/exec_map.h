/* exec_map.h - tensor maps that a kernel changes (tensormap.replace) and passes to other threads;
 * included by exec_body.h. */

static void map_noted(Warp *warp, const Ins *ins, uint32_t lane, uint64_t address, int shared,
                      int store)
{
    uint32_t offset[LANES] = {0};
    if (!shared) {
        bulk_noted(warp, ins, address, TENSOR_MAP_BYTES,
                   store ? SIMT_TOUCH_WRITE : SIMT_TOUCH_READ);
        return;
    }
    if (!warp->worker->race.is_on || !own_shared(warp, address, &offset[lane])) return;
    for (uint32_t i = 0; i < TENSOR_MAP_BYTES; i += 4, offset[lane] += 4)
        race_shared(warp, ins, offset, 1u << lane, 4, store ? RACE_WRITE : RACE_READ);
}

/* The 128 bytes at an address in shared or global memory, of which checks hear.  NULL: a fault. */
static unsigned char *map_bytes(Warp *warp, const Ins *ins, uint32_t lane, uint64_t address,
                                int store)
{
    Spot first, other;
    if (address % 64) {
        fault_at(warp, ins, SIMT_MEMCHECK, lane, address, TENSOR_MAP_BYTES,
                 "Misaligned tensor map: its address is no multiple of 64");
        return NULL;
    }
    for (uint32_t i = 0; i < TENSOR_MAP_BYTES; i += 16)
        if (spot_find(warp, ins, lane, address + i, 16, store, 1, i ? &other : &first) != 0)
            return NULL;
    map_noted(warp, ins, lane, address, first.shared, store);
    return first.host;
}

/* aux: the field, and which of several of its kind. */
HANDLER(MAP_REPLACE)
{
    FOR_ACTIVE(warp->mask)
    {
        TensorMap map;
        uint64_t address = lane_address(warp, ins, i), value;
        unsigned char *at = map_bytes(warp, ins, i, address, 1);
        if (!at) return NULL;
        value = ins->bytes == 8 ? REG(const uint64_t, ins->b)[i] : REG(const uint32_t, ins->b)[i];
        memcpy(&map, at, sizeof map);
        if (tensor_map_replace(&map, (TensorMapField)(ins->aux & 255), ins->aux >> 8, value) != 0)
            return fault_at(warp, ins, SIMT_MEMCHECK, i, address, TENSOR_MAP_BYTES,
                            "Invalid tensor map: none was encoded there");
        memcpy(at, &map, sizeof map);
    }
    return ins + 1;
}

/* From shared to global memory; a warp does it together. */
HANDLER(MAP_PUBLISH)
{
    uint32_t lane = first_lane(warp->mask);
    if (warp->mask != warp->alive)
        return fault_at(warp, ins, SIMT_SYNCCHECK, lane, 0, 0,
                        "Barrier error: divergent threads in a warp: %d of its %d threads are at "
                        "tensormap.cp_fenceproxy",
                        __builtin_popcount(warp->mask), __builtin_popcount(warp->alive));
    Ins from = *ins, to = *ins;
    from.space = PTX_SHARED, from.a = ins->b, from.imm = ins->target, from.base64 = ins->c & 1;
    to.space = PTX_GLOBAL;
    const unsigned char *source = map_bytes(warp, &from, lane, lane_address(warp, &from, lane), 0);
    if (!source) return NULL;
    unsigned char *target = map_bytes(warp, &to, lane, lane_address(warp, &to, lane), 1);
    if (!target) return NULL;
    memcpy(target, source, TENSOR_MAP_BYTES);
    return ins + 1;
}
