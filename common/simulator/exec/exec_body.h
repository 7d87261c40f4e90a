/* exec_body.h - the handlers; compiled once for each instruction set by the exec_*.c that include
 * it.
 *
 * A handler executes one instruction for the 32 lanes of a warp.  Loops have a fixed length and no
 * calls, so that the compiler turns them into vector code; a lane that is off keeps its register.
 * Results are the same for every instruction set. */
#include <stdio.h>

#include "common/simulator/checks/race.h"
#include "common/simulator/checks/race_order.h"
#include "common/simulator/checks/definedness.h"
#include "common/simulator/checks/origin.h"
#include "common/simulator/checks/report.h"
#include "common/simulator/checks/race_early.h"
#include "common/simulator/checks/touch.h"
#include "common/simulator/core/accelerator.h"
#include "common/simulator/core/async.h"
#include "common/simulator/core/ops.h"
#include "common/simulator/exec/exec_math.h"
#include "common/simulator/exec/exec_parts.h"
#include "common/simulator/timing/critical_path.h"
#include "common/simulator/timing/cost.h"
#include "common/simulator/timing/phases.h"
#include "common/simulator/timing/access_log.h"

#ifdef __SSE2__
#include <immintrin.h>
#endif

#define ALWAYS         static inline __attribute__((always_inline))
#define REG(T, offset) ((T *)(void *)(warp->file + (offset)))
#define PREDICATE(o)   (*REG(uint32_t, o))
#ifdef __clang__
#define FOR_LANES for (int i = 0; i < LANES; i++)
#else
#define FOR_LANES _Pragma("GCC ivdep") for (int i = 0; i < LANES; i++)
#endif
#define FOR_ACTIVE(mask)                                                                           \
    for (uint32_t m_ = (mask), i; m_ && (i = (uint32_t)__builtin_ctz(m_), 1); m_ &= m_ - 1)

#define B4(T, n)  (T)1 << (n), (T)1 << ((n) + 1), (T)1 << ((n) + 2), (T)1 << ((n) + 3)
#define B16(T, n) B4(T, n), B4(T, (n) + 4), B4(T, (n) + 8), B4(T, (n) + 12)
static const uint32_t BIT32[LANES] = {B16(uint32_t, 0), B16(uint32_t, 16)};
static const uint64_t BIT64[LANES] = {B16(uint64_t, 0), B16(uint64_t, 16)};

/* The active lanes of a warp that has idle ones.  Not inline, because copies in three hundred
 * handlers would make compilation longer. */
__attribute__((noinline)) static void blend_32(uint32_t *d, const uint32_t *t, uint32_t mask)
{
    FOR_LANES d[i] = mask & BIT32[i] ? t[i] : d[i];
}

__attribute__((noinline)) static void blend_64(uint64_t *d, const uint64_t *t, uint32_t mask)
{
    FOR_LANES d[i] = mask & BIT64[i] ? t[i] : d[i];
}

/* Writes a register of the active lanes; `t` has the values of all lanes. */
ALWAYS void lanes_write(void *d, const void *t, size_t bytes, uint32_t mask)
{
    if (__builtin_expect(mask == FULL_MASK, 1))
        memcpy(d, t, LANES * bytes);
    else if (bytes == 4)
        blend_32(d, t, mask);
    else
        blend_64(d, t, mask);
}

/* The sign bits of 32 lanes as a mask. */
ALWAYS uint32_t mask_of(const int32_t *t)
{
    uint32_t mask = 0;
#if defined(__AVX512DQ__)
    for (int i = 0; i < LANES; i += 16)
        mask |= (uint32_t)_mm512_movepi32_mask(_mm512_loadu_si512((const void *)(t + i))) << i;
#elif defined(__AVX2__)
    for (int i = 0; i < LANES; i += 8)
        mask |= (uint32_t)_mm256_movemask_ps(_mm256_loadu_ps((const float *)(const void *)(t + i)))
                << i;
#elif defined(__SSE2__)
    for (int i = 0; i < LANES; i += 4)
        mask |= (uint32_t)_mm_movemask_ps(_mm_loadu_ps((const float *)(const void *)(t + i))) << i;
#else
    for (int i = 0; i < LANES; i++)
        mask |= (uint32_t)(t[i] < 0) << i;
#endif
    return mask;
}

#define HANDLER(name) static const Ins *h_##name(Warp *warp, const Ins *ins)

#define LANE_OP(name, R, LOADS, e)                                                                 \
    HANDLER(name)                                                                                  \
    {                                                                                              \
        R *d = REG(R, ins->d), t[LANES];                                                           \
        FOR_LANES                                                                                  \
        {                                                                                          \
            LOADS;                                                                                 \
            t[i] = (R)(e);                                                                         \
        }                                                                                          \
        lanes_write(d, t, sizeof *t, warp->mask);                                                  \
        return ins + 1;                                                                            \
    }

#define A_(T)   const T a = REG(const T, ins->a)[i]
#define B_(T)   const T b = REG(const T, ins->b)[i]
#define C_(T)   const T c = REG(const T, ins->c)[i]
#define FTZ_(x) const float x = flushed(x##_raw)
#define AF_                                                                                        \
    const float a_raw = REG(const float, ins->a)[i];                                               \
    FTZ_(a)
#define BF_                                                                                        \
    const float b_raw = REG(const float, ins->b)[i];                                               \
    FTZ_(b)
#define CF_                                                                                        \
    const float c_raw = REG(const float, ins->c)[i];                                               \
    FTZ_(c)

#define UN(name, R, T, e)    LANE_OP(name, R, A_(T), e)
#define BIN(name, R, T, e)   LANE_OP(name, R, A_(T); B_(T), e)
#define TRI(name, R, T, e)   LANE_OP(name, R, A_(T); B_(T); C_(T), e)
#define WIDE(name, T, e)     LANE_OP(name, uint64_t, A_(T); B_(T); C_(uint64_t), e)
#define SHIFT(name, R, T, e) LANE_OP(name, R, A_(T); B_(uint32_t), e)
#define UNF(name, e)                                                                               \
    LANE_OP(name, float, A_(float), canonical(e))                                                  \
    LANE_OP(name##_FTZ, float, AF_, flushed(canonical(e)))
#define BINF(name, e)                                                                              \
    LANE_OP(name, float, A_(float); B_(float), canonical(e))                                       \
    LANE_OP(name##_FTZ, float, AF_; BF_, flushed(canonical(e)))
#define TRIF(name, e)                                                                              \
    LANE_OP(name, float, A_(float); B_(float); C_(float), canonical(e))                            \
    LANE_OP(name##_FTZ, float, AF_; BF_; CF_, flushed(canonical(e)))
#define CMP(name, T, e)                                                                            \
    HANDLER(name)                                                                                  \
    {                                                                                              \
        int32_t t[LANES];                                                                          \
        FOR_LANES                                                                                  \
        {                                                                                          \
            A_(T);                                                                                 \
            B_(T);                                                                                 \
            t[i] = -(int32_t)(e);                                                                  \
        }                                                                                          \
        return compare_store(warp, ins, mask_of(t));                                               \
    }
#define PRED(name, e)                                                                              \
    HANDLER(name)                                                                                  \
    {                                                                                              \
        uint32_t a = PREDICATE(ins->a), b = PREDICATE(ins->b), *d = &PREDICATE(ins->d);            \
        *d = (*d & ~warp->mask) | ((e)&warp->mask);                                                \
        return ins + 1;                                                                            \
    }
#define OP(name)

/* setp d|q, a, b, c: d = cmp BOOL c and q = !cmp BOOL c; `aux` is 0 for no c, 1 and, 2 or, 3 xor,
 * +4 for !c. */
ALWAYS const Ins *compare_store(Warp *warp, const Ins *ins, uint32_t result)
{
    uint32_t *d = &PREDICATE(ins->d), mask = warp->mask, other = ~result;
    if (__builtin_expect(ins->aux != 0, 0)) {
        uint32_t c = PREDICATE(ins->c) ^ (ins->aux & 4 ? FULL_MASK : 0);
        int how = ins->aux & 3;
        result = how == 1 ? result & c : how == 2 ? result | c : result ^ c;
        other = how == 1 ? other & c : how == 2 ? other | c : other ^ c;
    }
    *d = (*d & ~mask) | (result & mask);
    if (__builtin_expect(ins->v[0] != NO_SLOT, 0)) {
        uint32_t *q = &PREDICATE(ins->v[0]);
        *q = (*q & ~mask) | (other & mask);
    }
    return ins + 1;
}

#include "common/simulator/core/ops.def"
#undef UN
#undef BIN
#undef TRI
#undef WIDE
#undef SHIFT
#undef UNF
#undef BINF
#undef TRIF
#undef CMP
#undef PRED
#undef OP

/* Arithmetic, loads and stores have full optimisation (mk/modules.mk), because kernels consist of
 * them.  The handlers below would take half of the compilation and are a small part of a run. */
#if defined(__GNUC__) && !defined(__clang__)
#define OPTIMIZED(level) _Pragma("GCC push_options") _Pragma(level)
#define OPTIMIZED_END    _Pragma("GCC pop_options")
#else
#define OPTIMIZED(level)
#define OPTIMIZED_END
#endif

#include "common/simulator/exec/exec_special.h"

OPTIMIZED("GCC optimize(\"O2\")")
#include "common/simulator/exec/exec_convert.h"
OPTIMIZED_END

OPTIMIZED("GCC optimize(\"O1\")")
#include "common/simulator/exec/exec_video.h"
OPTIMIZED_END

#include "common/simulator/exec/exec_memory.h"

OPTIMIZED("GCC optimize(\"O1\")")
#include "common/simulator/exec/exec_generic.h"

#include "common/simulator/exec/exec_atomics.h"
OPTIMIZED_END

OPTIMIZED("GCC optimize(\"O2\")")
#include "common/simulator/exec/exec_sums.h"

#include "common/simulator/exec/exec_tensor.h"

#include "common/simulator/exec/exec_matrix.h"
OPTIMIZED_END

OPTIMIZED("GCC optimize(\"O1\")")
#include "common/simulator/exec/exec_sparse.h"

#include "common/simulator/exec/mma_m8n8k4.h"
OPTIMIZED_END

OPTIMIZED("GCC optimize(\"O2\")")
#include "common/simulator/exec/exec_control.h"

#include "common/simulator/exec/exec_async.h"

#include "common/simulator/exec/bulk_reduce.h"

#include "common/simulator/exec/exec_mbarrier.h"
OPTIMIZED_END

OPTIMIZED("GCC optimize(\"O1\")")
#include "common/simulator/exec/exec_box.h"

#include "common/simulator/exec/exec_bulk.h"
OPTIMIZED_END

OPTIMIZED("GCC optimize(\"O2\")")
#include "common/simulator/exec/exec_wgmma.h"
OPTIMIZED_END

OPTIMIZED("GCC optimize(\"O1\")")
#include "common/simulator/exec/exec_cluster.h"
#include "common/simulator/exec/exec_map.h"
OPTIMIZED_END

#define UN(name, R, T, e)    h_##name,
#define BIN(name, R, T, e)   h_##name,
#define TRI(name, R, T, e)   h_##name,
#define WIDE(name, T, e)     h_##name,
#define SHIFT(name, R, T, e) h_##name,
#define UNF(name, e)         h_##name, h_##name##_FTZ,
#define BINF(name, e)        h_##name, h_##name##_FTZ,
#define TRIF(name, e)        h_##name, h_##name##_FTZ,
#define CMP(name, T, e)      h_##name,
#define PRED(name, e)        h_##name,
#define OP(name)             h_##name,
const Handler EXEC_TABLE[OP_COUNT] = {
#include "common/simulator/core/ops.def"
};
