/* exec_atomics.h - atomics: lanes in order, so that sums of floats are the same every time;
 * included by exec_body.h. */

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

/* In global memory, a GPU flushes subnormal floats and leaves a double's NaN unchanged; in shared
 * memory, addition follows the arithmetic units. */
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

/* The lanes whose address is in the shared memory of another block. */
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

/* Reports an atomic to the checks and counters when its lanes are done; the lanes of `changed`
 * wrote another value. */
static void atomics_done(Warp *warp, const Ins *ins, const uint64_t *address, uint32_t changed)
{
    if (warp->worker->race.is_on) atomics_raced(warp, ins, address);
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
