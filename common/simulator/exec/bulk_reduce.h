/* bulk_reduce.h - reductions by bulk copies, which combine their values with those at the
 * destination (cp.reduce.async.bulk); included by exec_body.h. */

static const uint8_t JOINED_BYTES[] = {
    [FORMAT_U32] = 4, [FORMAT_U64] = 8,  [FORMAT_S32] = 4, [FORMAT_S64] = 8,
    [FORMAT_F16] = 2, [FORMAT_BF16] = 2, [FORMAT_F32] = 4, [FORMAT_F64] = 8};

/* Combines `bytes` of values at `to` with those at `from`. Subnormal floats are kept, unlike in a
 * thread's atomic, which flushes them. */
static void values_join(const Reduction *reduction, unsigned char *to, const unsigned char *from,
                        uint32_t bytes)
{
    int op = reduction->op, format = reduction->format;
    uint32_t size = JOINED_BYTES[format];
    for (uint32_t i = 0; i < bytes; i += size) {
        uint64_t old = 0, b = 0;
        memcpy(&old, to + i, size), memcpy(&b, from + i, size);
        uint64_t joined = atom_result(op, format, format == FORMAT_F64, old, b, b);
        memcpy(to + i, &joined, size);
    }
}

/* Reduction of a tensor's elements. Returns -1 if it does not exist: floats have only sums; halves
 * have sums, minima and maxima. */
static int map_reduction(const TensorMap *map, Reduction *reduction)
{
    static const uint8_t FORMATS[TENSOR_MAP_TYPES] = {
        [TENSOR_MAP_U32] = FORMAT_U32,      [TENSOR_MAP_S32] = FORMAT_S32,
        [TENSOR_MAP_U64] = FORMAT_U64,      [TENSOR_MAP_S64] = FORMAT_S64,
        [TENSOR_MAP_F16] = FORMAT_F16,      [TENSOR_MAP_BF16] = FORMAT_BF16,
        [TENSOR_MAP_F32] = FORMAT_F32,      [TENSOR_MAP_F64] = FORMAT_F64,
        [TENSOR_MAP_F32_FTZ] = FORMAT_F32,  [TENSOR_MAP_TF32] = FORMAT_F32,
        [TENSOR_MAP_TF32_FTZ] = FORMAT_F32,
    };
    int format = FORMATS[map->type], op = reduction->op;
    int halves = format == FORMAT_F16 || format == FORMAT_BF16,
        floats = format == FORMAT_F32 || format == FORMAT_F64;
    if (!format || (floats && op != ATOM_ADD) || (halves && op > ATOM_MAX)) return -1;
    reduction->format = (uint8_t)format;
    return 0;
}
