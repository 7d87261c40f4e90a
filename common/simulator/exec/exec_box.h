/* exec_box.h - boxes of tensors, row by row: tiles, and columns of pixels (im2col); included by
 * exec_body.h. */

/* A box of a tensor: `at` are the coordinates of the row in hand, its first element's. */
typedef struct Box {
    const TensorMap *map;
    int im2col;
    uint32_t rank, element, row_bytes, pitch, rows, step[TENSOR_MAP_RANK], steps[TENSOR_MAP_RANK];
    int64_t at[TENSOR_MAP_RANK], first[TENSOR_MAP_RANK], offset[TENSOR_MAP_RANK];
} Box;

static void box_open(const Warp *warp, const BulkPlan *plan, uint32_t lane, const TensorMap *map,
                     Box *box)
{
    *box = (Box){.map = map, .im2col = plan->im2col, .rank = map->rank};
    box->element = tensor_map_element(map->type);
    box->row_bytes = map->box[0] * box->element;
    /* A row of a swizzled box has a row of the swizzle to itself. */
    box->pitch = map->swizzle ? 16u << map->swizzle : box->row_bytes;
    box->rows = plan->im2col ? map->box[1] : 1;
    for (uint32_t i = 0; i < map->rank; i++) {
        box->at[i] = box->first[i] = REG(const int32_t, plan->coordinate[i])[lane];
        if (i == 0) continue;
        if (plan->im2col) {
            if (i + 1 < map->rank && plan->kind != BULK_STORE)
                box->offset[i] = REG(const uint16_t, plan->offset[i - 1])[2 * lane];
            continue;
        }
        box->steps[i] = (map->box[i] + map->element_strides[i] - 1u) / map->element_strides[i];
        box->rows *= box->steps[i];
    }
}

/* A GPU reports an illegal instruction if the first coordinate is not aligned to 16 bytes, or if a
 * coordinate of a store is negative. */
static int box_legal(Warp *warp, const Ins *ins, uint32_t lane, const Box *box, int store)
{
    for (uint32_t i = 0; store && i < box->rank; i++)
        if (box->at[i] < 0) {
            fault_at(warp, ins, SIMT_MEMCHECK, lane, 0, 0,
                     "Invalid bulk copy: a box is stored at coordinate %lld of dimension %u, which "
                     "must not be negative",
                     (long long)box->at[i], i);
            return -1;
        }
    if (box->at[0] * box->element % 16 == 0) return 0;
    fault_at(warp, ins, SIMT_MEMCHECK, lane, 0, 0,
             "Misaligned bulk copy: its first coordinate is %lld, which of elements of %u bytes is "
             "no multiple of 16 bytes",
             (long long)box->at[0], box->element);
    return -1;
}

/* The next row of a tile, or the next pixel of im2col: where a row of the picture ends, the next
 * one begins. */
static void box_next(Box *box)
{
    const TensorMap *map = box->map;
    for (uint32_t i = 1; i < box->rank; i++) {
        if (box->im2col && i + 1 == box->rank) {
            box->at[i]++;
            return;
        }
        box->at[i] += map->element_strides[i];
        if (box->im2col) {
            if (box->at[i] <= (int64_t)map->last[i] + map->upper[i - 1]) return;
            box->at[i] = map->lower[i - 1];
        } else {
            if (++box->step[i] < box->steps[i]) return;
            box->step[i] = 0, box->at[i] = box->first[i];
        }
    }
}

/* The bytes of the row that are inside the tensor: [*skip, *skip + result) of it, at *address. */
static uint32_t box_inside(const Box *box, uint32_t *skip, uint64_t *address)
{
    const TensorMap *map = box->map;
    int64_t low = box->at[0], high = low + map->box[0], last = map->last[0];
    uint64_t at = map->address;
    for (uint32_t i = 1; i < box->rank; i++) {
        int64_t c = box->at[i] + box->offset[i];
        if (c < 0 || c > (int64_t)map->last[i]) return 0;
        at += (uint64_t)c * map->strides[i - 1];
    }
    if (high > last + 1) high = last + 1;
    int64_t from = low < 0 ? 0 : low;
    if (from >= high) return 0;
    *skip = (uint32_t)(from - low) * box->element;
    *address = at + (uint64_t)from * box->element;
    return (uint32_t)(high - from) * box->element;
}

/* Writes the fill value for elements outside of the tensor. */
static void fill_row(const TensorMap *map, unsigned char *row, uint32_t bytes)
{
    memset(row, 0, bytes);
    if (!map->fill) return;
    for (uint32_t i = 0; i < bytes; i++) /* NaNs of any type with this number of bytes */
        row[i] = i % 2 ? 0x7f : 0xf7;
}

/* TF32 is rounded during the copy. Subnormals are kept, even for the _FTZ type. */
static void convert_row(const TensorMap *map, unsigned char *row, uint32_t bytes)
{
    int rounds = map->type == TENSOR_MAP_TF32 || map->type == TENSOR_MAP_TF32_FTZ;
    for (uint32_t i = 0; rounds && i < bytes; i += 4) {
        uint32_t bits = read_32(row + i), size = bits & 0x7fffffffu;
        if (size > 0x7f800000u)
            bits = 0x7fffe000u;
        else
            bits = (bits + 0x1000) & 0xffffe000u;
        memcpy(row + i, &bits, 4);
    }
}
