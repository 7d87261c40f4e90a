/* exec_quads.h - vector accesses: 16 bytes of each lane are words of four registers; included by
 * exec_body.h.
 *
 * The words of four lanes by four registers form a 4 x 4 matrix, and moving them is a
 * transposition. A host vector of n quarters transposes n of these matrices at once. */
#ifdef __SSE2__
#define QUADS_TRANSPOSED 1

#if defined(__AVX512F__)
typedef __m512i QuadVector;
#define QUAD_VECTOR(what) _mm512_##what
#elif defined(__AVX2__)
typedef __m256i QuadVector;
#define QUAD_VECTOR(what) _mm256_##what
#else
typedef __m128i QuadVector;
#define QUAD_VECTOR(what) _mm_##what
#endif

enum { QUAD_VECTOR_LANES = sizeof(QuadVector) / 4 };

ALWAYS __m128i quad_load(const unsigned char *from)
{
    return _mm_loadu_si128((const __m128i *)(const void *)from);
}

/* The quads of every fourth lane. */
ALWAYS QuadVector quads_load(const unsigned char *const *from)
{
#if defined(__AVX512F__)
    QuadVector quads = _mm512_castsi128_si512(quad_load(from[0]));
    quads = _mm512_inserti32x4(quads, quad_load(from[4]), 1);
    quads = _mm512_inserti32x4(quads, quad_load(from[8]), 2);
    return _mm512_inserti32x4(quads, quad_load(from[12]), 3);
#elif defined(__AVX2__)
    return _mm256_inserti128_si256(_mm256_castsi128_si256(quad_load(from[0])), quad_load(from[4]),
                                   1);
#else
    return quad_load(from[0]);
#endif
}

ALWAYS void quads_transpose_vectors(QuadVector row[4])
{
    QuadVector a = QUAD_VECTOR(unpacklo_epi32)(row[0], row[1]),
               b = QUAD_VECTOR(unpackhi_epi32)(row[0], row[1]),
               c = QUAD_VECTOR(unpacklo_epi32)(row[2], row[3]),
               d = QUAD_VECTOR(unpackhi_epi32)(row[2], row[3]);
    row[0] = QUAD_VECTOR(unpacklo_epi64)(a, c), row[1] = QUAD_VECTOR(unpackhi_epi64)(a, c);
    row[2] = QUAD_VECTOR(unpacklo_epi64)(b, d), row[3] = QUAD_VECTOR(unpackhi_epi64)(b, d);
}

/* Idle lanes' addresses can be read, too. */
ALWAYS void quads_in(Warp *warp, const Ins *ins, const unsigned char *const *from)
{
    uint32_t value[4][LANES];
    for (uint32_t i = 0; i < LANES; i += QUAD_VECTOR_LANES) {
        QuadVector row[4];
        for (uint32_t k = 0; k < 4; k++)
            row[k] = quads_load(from + i + k);
        quads_transpose_vectors(row);
        for (uint32_t k = 0; k < 4; k++) {
            uint32_t *to = warp->mask != FULL_MASK || ins->v[k] == NO_SLOT
                               ? value[k]
                               : REG(uint32_t, ins->v[k]);
            memcpy(to + i, &row[k], sizeof row[k]);
        }
    }
    for (uint32_t k = 0; k < 4 && warp->mask != FULL_MASK; k++)
        if (ins->v[k] != NO_SLOT) blend_32(REG(uint32_t, ins->v[k]), value[k], warp->mask);
}

/* In the order of the lanes: where two write one address, the higher wins. */
ALWAYS void quads_out(Warp *warp, const Ins *ins, unsigned char *const *to)
{
    QuadVector row[LANES / QUAD_VECTOR_LANES][4];
    for (uint32_t i = 0; i < LANES / QUAD_VECTOR_LANES; i++) {
        for (uint32_t k = 0; k < 4; k++)
            memcpy(&row[i][k], REG(uint32_t, ins->v[k]) + i * QUAD_VECTOR_LANES, sizeof row[i][k]);
        quads_transpose_vectors(row[i]);
    }
    FOR_ACTIVE(warp->mask)
    memcpy(to[i], (char *)&row[i / QUAD_VECTOR_LANES][i % 4] + i % QUAD_VECTOR_LANES / 4 * 16, 16);
}
#else
#define QUADS_TRANSPOSED 0
ALWAYS void quads_in(Warp *warp, const Ins *ins, const unsigned char *const *from)
{
    (void)warp, (void)ins, (void)from;
}
ALWAYS void quads_out(Warp *warp, const Ins *ins, unsigned char *const *to)
{
    (void)warp, (void)ins, (void)to;
}
#endif

/* Are these four registers of 32 bits? */
ALWAYS int are_quads(const Ins *ins, uint32_t element)
{
    return QUADS_TRANSPOSED && ins->vector == 4 && element == 4;
}
