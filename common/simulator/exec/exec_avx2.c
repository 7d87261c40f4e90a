/* exec_avx2.c - the handlers for x86-64 processors with avx2. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-strict-aliasing", "no-math-errno", "no-trapping-math")
#endif
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC target("avx2,fma,bmi,bmi2,lzcnt,popcnt,f16c")
#define EXEC_TABLE exec_avx2
#include "common/simulator/exec/exec_body.h"
#else
/* Never chosen here: exec_handlers() checks for x86-64 first. */
#include "common/simulator/exec/exec_parts.h"
const Handler exec_avx2[1] = {0};
#endif
