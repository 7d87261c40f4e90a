/* exec_matrix.h - loads, stores and transposition of matrices (wmma, ldmatrix, stmatrix,
 * movmatrix); included by exec_body.h. */

/* Address of the matrix: the first lane's address is valid for all lanes. */
ALWAYS uint64_t matrix_base(const Warp *warp, const Ins *ins)
{
    return lane_address(warp, ins, first_lane(warp->mask));
}

/* Addresses of the lanes in access `j` of the accesses in SASS; lines are `pitch` bytes apart.
 * Returns the active lanes. */
static uint32_t matrix_lanes(const TensorPlan *plan, uint32_t j, uint32_t width, uint64_t base,
                             uint64_t pitch, uint64_t *address)
{
    enum { TILE_LINES = 8, GROUP = 4 };
    uint32_t high = plan->way == WAY_ACROSS ? GROUP * plan->run : TILE_LINES,
             down = plan->lines / high; /* tiles below each other */
    for (uint32_t lane = 0; lane < LANES; lane++) {
        uint32_t tile = j, line = lane / GROUP, along = lane % GROUP;
        if (plan->way == WAY_ROWS)
            tile = j * plan->tiles + lane / TILE_LINES % plan->tiles, line = lane % TILE_LINES,
            along = 0;
        if (plan->way == WAY_ACROSS)
            tile = j / plan->run, line = lane % GROUP * plan->run + j % plan->run,
            along = lane / GROUP;
        uint32_t beside = plan->way == WAY_ROWS ? 1 : plan->way == WAY_ALONG ? GROUP : TILE_LINES;
        address[lane] = base + (tile % down * high + line) * pitch +
                        (uint64_t)(tile / down * beside + along) * width;
    }
    return plan->way == WAY_ROWS && plan->tiles < LANES / TILE_LINES
               ? (1u << plan->tiles * TILE_LINES) - 1
               : FULL_MASK;
}

/* Counts the accesses in SASS; -1 after reporting an invalid address. */
static int matrix_counted(Warp *warp, const Ins *ins, const TensorPlan *plan, uint64_t base,
                          uint64_t pitch, int store)
{
    uint32_t bytes = ins->bytes, whole = warp->mask;
    uint64_t address[LANES];
    int misaligned = ((base | pitch) & (bytes - 1)) != 0;
    if (!warp->count && !warp->worker->race.is_on && !misaligned) return 0;
    for (uint32_t j = 0; j < plan->accesses; j++) {
        uint32_t mask = matrix_lanes(plan, j, bytes, base, pitch, address);
        Spot spot;
        if (misaligned) FOR_ACTIVE(mask)
        if (spot_find(warp, ins, i, address[i], bytes, store, !store, &spot) != 0) return -1;
        warp->mask = mask;
        lanes_counted(warp, ins, address, store);
        warp->mask = whole;
    }
    return 0;
}

/* Loads or stores a matrix of doubles: one element per register. */
static const Ins *matrix_doubles(Warp *warp, const Ins *ins, const TensorPlan *plan)
{
    int store = plan->kind == TENSOR_STORE;
    const Fragment *f = store ? &plan->c : &plan->d;
    uint32_t dense = plan->by_column ? plan->rows : plan->columns;
    uint64_t base = matrix_base(warp, ins),
             stride = plan->stride == NO_SLOT ? dense : REG(const uint32_t, plan->stride)[0];
    for (uint32_t r = 0; r < f->count; r++) {
        for (uint32_t lane = 0; lane < LANES; lane++) {
            uint64_t *value = &REG(uint64_t, f->slot[r])[lane];
            uint32_t i = (r * LANES + lane) % (plan->rows * plan->columns);
            uint64_t row = i / plan->columns, column = i % plan->columns, address;
            Spot spot;
            address = base + 8 * (plan->by_column ? column * stride + row : row * stride + column);
            if (spot_find(warp, ins, lane, address, 8, store, !store, &spot) != 0) return NULL;
            if (store)
                memcpy(spot.host, value, sizeof *value);
            else
                memcpy(value, spot.host, sizeof *value);
        }
    }
    return matrix_counted(warp, ins, plan, base, 8 * stride, store) != 0 ? NULL : ins + 1;
}

/* A matrix in memory; `written`: its bitmap of what is written, where that has to be looked at. */
typedef struct Matrix {
    uint64_t base, at; /* at: the first bit in the bitmap */
    unsigned char *host, *written;
    uint32_t bytes, elements; /* bytes: of an element */
    int global;
    uint64_t off[TENSOR_MOST], span; /* offset of each element, row by row; extent of all */
} Matrix;

static void matrix_open(Matrix *m, const TensorPlan *plan, uint64_t base, uint64_t stride,
                        uint32_t bytes)
{
    uint64_t down = bytes * (plan->by_column ? 1 : stride),
             right = bytes * (plan->by_column ? stride : 1);
    m->base = base, m->bytes = bytes, m->elements = plan->rows * plan->columns, m->global = 0;
    m->host = m->written = NULL, m->at = 0;
    m->span = (plan->rows - 1) * down + (plan->columns - 1) * right + bytes;
    for (uint32_t row = 0; row < plan->rows; row++)
        for (uint32_t column = 0; column < plan->columns; column++)
            m->off[row * plan->columns + column] = row * down + column * right;
}

/* Is everything from the first to the last element in one allocation, so that single elements need
 * no check? */
static int matrix_find(const Warp *warp, const Ins *ins, int store, Matrix *m)
{
    const Memory *memory = &warp->worker->gpu->memory;
    const Block *block = warp->block;
    uint64_t at = m->base, span = m->span;
    int shared = ins->space == PTX_SHARED;
    if (at & (m->bytes - 1)) return 0;
    if (ins->space == PTX_SPACE_NONE && at - SHARED_WINDOW < WINDOW_BYTES)
        shared = 1, at -= SHARED_WINDOW;
    if (shared) {
        m->host = block->shared + at, m->at = at;
        m->written = warp->worker->initcheck ? block->shared_shadow : NULL;
        return at <= block->shared_bytes && span <= block->shared_bytes - at;
    }
    const Allocation *a = at >= DEVICE_BASE ? memory_find(memory, at) : NULL;
    if (!a || a->freed || (store && a->read_only) || span > a->bytes - (at - a->address)) return 0;
    m->host = a->host + (at - a->address), m->at = at - DEVICE_BASE, m->global = 1;
    m->written = warp->worker->initcheck && !a->initialised ? memory->shadow : NULL;
    return 1;
}

ALWAYS void matrix_mark(Warp *warp, const Matrix *m, uint64_t off)
{
    uint64_t at = m->at + off;
    uint32_t bits = (1u << m->bytes) - 1;
    if (m->global)
        memory_mark(&warp->worker->gpu->memory, DEVICE_BASE + at, m->bytes, 1);
    else
        m->written[at / 8] = (unsigned char)(m->written[at / 8] | bits << at % 8);
}

/* A register of each lane, from or to memory. */
ALWAYS void matrix_move(Warp *warp, const Matrix *m, uint32_t r, uint32_t slot, uint32_t each,
                        int store)
{
    uint32_t *value = REG(uint32_t, slot), bytes = 4 / each, i = r * LANES * each % m->elements;
    for (uint32_t lane = 0; lane < LANES; lane++) {
        uint32_t bits = store ? value[lane] : 0;
        for (uint32_t e = 0; e < each; e++) {
            unsigned char *host = m->host + m->off[i];
            uint32_t shift = 8 * bytes * e, part = bits >> shift;
            if (store)
                memcpy(host, &part, bytes);
            else
                bits |= (bytes == 4 ? read_32(host) : narrow_read(host, bytes, 0)) << shift;
            if (store && m->written) matrix_mark(warp, m, m->off[i]);
            i = i + 1 < m->elements ? i + 1 : 0;
        }
        if (!store) value[lane] = bits;
    }
}

ALWAYS int matrix_is_written(const Matrix *m)
{
    uint32_t want = (1u << m->bytes) - 1, missing = 0;
    for (uint32_t i = 0; i < m->elements && m->written; i++)
        missing |= ~shadow_bits(m->written, m->at + m->off[i]) & want;
    return !missing;
}

/* Element by element, of which each may be elsewhere.  -1 after reporting a fault. */
static int matrix_slowly(Warp *warp, const Ins *ins, const Matrix *m, uint32_t r, uint32_t slot,
                         uint32_t each, int store)
{
    for (uint32_t lane = 0; lane < LANES; lane++) {
        uint32_t *reg = &REG(uint32_t, slot)[lane], bits = store ? *reg : 0;
        for (uint32_t e = 0; e < each; e++) {
            uint64_t at = m->base + m->off[((r * LANES + lane) * each + e) % m->elements];
            Spot spot;
            if (spot_find(warp, ins, lane, at, m->bytes, store, !store, &spot) != 0) return -1;
            uint32_t part = bits >> 8 * m->bytes * e % 32;
            if (store)
                memcpy(spot.host, &part, m->bytes);
            else
                bits |= (m->bytes == 4 ? read_32(spot.host) : narrow_read(spot.host, m->bytes, 0))
                        << 8 * m->bytes * e % 32;
        }
        if (!store) *reg = bits;
    }
    return 0;
}

HANDLER(TENSOR_MATRIX)
{
    const TensorPlan *plan = &warp->worker->kernel->plans.tensor[ins->aux];
    int store = plan->kind == TENSOR_STORE;
    const Fragment *f = store ? &plan->c : &plan->d;
    uint32_t each = type_elements(f->type), bytes = 4 / each;
    uint32_t dense = plan->by_column ? plan->rows : plan->columns;
    if (!lanes_whole(warp, ins)) return NULL;
    if (f->type == TYPE_F64) return matrix_doubles(warp, ins, plan);
    uint64_t stride =
        plan->stride == NO_SLOT ? dense : REG(const uint32_t, plan->stride)[0] / plan->packed;
    Matrix m;
    matrix_open(&m, plan, matrix_base(warp, ins), stride, bytes);
    int plain = matrix_find(warp, ins, store, &m) && (store || matrix_is_written(&m));
    for (uint32_t r = 0; r < f->count; r++) {
        if (!plain && matrix_slowly(warp, ins, &m, r, f->slot[r], each, store) != 0) return NULL;
        if (plain && each == 1) matrix_move(warp, &m, r, f->slot[r], 1, store);
        if (plain && each == 2) matrix_move(warp, &m, r, f->slot[r], 2, store);
        if (plain && each == 4) matrix_move(warp, &m, r, f->slot[r], 4, store);
    }
    return matrix_counted(warp, ins, plan, m.base, stride * bytes, store) != 0 ? NULL : ins + 1;
}

/* Row i of matrix j is 16 bytes at lane 8*j + i's address. */
HANDLER(LDMATRIX)
{
    const TensorPlan *plan = &warp->worker->kernel->plans.tensor[ins->aux];
    uint16_t half[4][8][8];
    uint64_t address[LANES] = {0};
    uint32_t taking = plan->d.count * 8;
    if (!lanes_whole(warp, ins)) return NULL;
    for (uint32_t lane = 0; lane < taking; lane++) {
        Spot spot;
        address[lane] = lane_address(warp, ins, lane);
        if (spot_find(warp, ins, lane, address[lane], 16, 0, 1, &spot) != 0) return NULL;
        memcpy(half[lane / 8][lane % 8], spot.host, 16);
    }
    for (uint32_t j = 0; j < plan->d.count; j++)
        for (uint32_t lane = 0; lane < LANES; lane++) {
            uint32_t row = lane / 4, column = lane % 4 * 2;
            uint32_t low = plan->transposed ? half[j][column][row] : half[j][row][column];
            uint32_t high = plan->transposed ? half[j][column + 1][row] : half[j][row][column + 1];
            REG(uint32_t, plan->d.slot[j])[lane] = low | high << 16;
        }
    if (warp->observed) {
        uint32_t mask = warp->mask;
        warp->mask = taking == 32 ? FULL_MASK : (1u << taking) - 1;
        lanes_counted(warp, ins, address, 0);
        warp->mask = mask;
    }
    return ins + 1;
}

/* The other way: what lanes have goes to the rows. */
HANDLER(STMATRIX)
{
    const TensorPlan *plan = &warp->worker->kernel->plans.tensor[ins->aux];
    uint64_t address[LANES] = {0};
    uint32_t giving = plan->c.count * 8, mask = warp->mask;
    if (!lanes_whole(warp, ins)) return NULL;
    for (uint32_t lane = 0; lane < giving; lane++) {
        const uint32_t *value = REG(const uint32_t, plan->c.slot[lane / 8]);
        uint16_t half[8];
        Spot spot;
        address[lane] = lane_address(warp, ins, lane);
        if (spot_find(warp, ins, lane, address[lane], 16, 1, 0, &spot) != 0) return NULL;
        for (uint32_t column = 0; column < 8; column++) {
            uint32_t row = lane % 8, i = plan->transposed ? column * 8 + row : row * 8 + column;
            half[column] = (uint16_t)(value[i / 2] >> 16 * (i % 2));
        }
        memcpy(spot.host, half, sizeof half);
    }
    warp->mask = giving == 32 ? FULL_MASK : (1u << giving) - 1;
    if (warp->observed) lanes_counted(warp, ins, address, 1);
    warp->mask = mask;
    return ins + 1;
}

/* Lane i has elements 2i and 2i + 1 of a matrix of 8 x 8 halves, and gets them of its transpose. */
HANDLER(MOVMATRIX)
{
    enum { SIDE = 8 };
    uint16_t half[LANES * 2];
    if (!lanes_whole(warp, ins)) return NULL;
    memcpy(half, REG(uint32_t, ins->a), sizeof half);
    FOR_LANES
    {
        const uint16_t *low = half + i % 4 * 2 * SIDE + i / 4;
        REG(uint32_t, ins->d)[i] = low[0] | (uint32_t)low[SIDE] << 16;
    }
    return ins + 1;
}
