/* variants_all.c - variants.c with every instruction set, for tests that compare them. */
#define EXEC_BASE
#define EXEC_AVX2
#define EXEC_AVX512
#include "common/simulator/exec/variants.c"
