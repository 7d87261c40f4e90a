/* variants.c - the handlers of this program, and the choice among them.
 *
 * The handlers are compiled once per instruction set.  A build contains those for the processor on
 * which it is made; VECTORS=all is for other processors (mk/modules.mk).  All sets give the same
 * bits. */
#include "common/simulator/exec/exec_parts.h"

#ifdef EXEC_BASE
#define BASE exec_base
#else
#define BASE NULL
#endif
#ifdef EXEC_AVX2
#define AVX2 exec_avx2
#else
#define AVX2 NULL
#endif
#ifdef EXEC_AVX512
#define AVX512 exec_avx512
#else
#define AVX512 NULL
#endif

enum { LEVELS = 3 };

int exec_level = LEVELS - 1;

/* The highest level that this processor can execute. */
static int level_of_processor(void)
{
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512cd"))
        return 2;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("lzcnt") &&
        __builtin_cpu_supports("f16c"))
        return 1;
#endif
    return 0;
}

const Handler *exec_handlers(void)
{
    static const Handler *const variants[LEVELS] = {BASE, AVX2, AVX512};
    int level = level_of_processor();
    if (level > exec_level) level = exec_level;
    /* A compiler without the instruction set leaves a table without handlers. */
    while (level >= 0 && (!variants[level] || !variants[level][0]))
        level--;
    return level < 0 ? NULL : variants[level];
}
