/* exec_base.c - the handlers for any processor. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-strict-aliasing", "no-math-errno", "no-trapping-math")
#endif
#define EXEC_TABLE exec_base
#include "common/simulator/exec/exec_body.h"
