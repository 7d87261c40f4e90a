/* exec_avx512.c - the handlers for x86-64 processors with avx512. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-strict-aliasing", "no-math-errno", "no-trapping-math")
#endif
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC target(                                                                                \
    "avx512f,avx512dq,avx512bw,avx512vl,avx512cd,avx2,fma,bmi,bmi2,lzcnt,popcnt,f16c",             \
    "prefer-vector-width=512")
#define EXEC_TABLE exec_avx512
#include "common/simulator/exec/exec_body.h"
#else
/* Never chosen here: exec_handlers() checks for x86-64 first. */
#include "common/simulator/exec/exec_parts.h"
const Handler exec_avx512[1] = {0};
#endif
