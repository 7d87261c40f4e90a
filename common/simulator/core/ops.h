/* ops.h - the numbers of the interpreter's operations. */
#ifndef CONVLAB_SIMT_OPS_H
#define CONVLAB_SIMT_OPS_H

#define UN(name, R, T, e)    OP_##name,
#define BIN(name, R, T, e)   OP_##name,
#define TRI(name, R, T, e)   OP_##name,
#define WIDE(name, T, e)     OP_##name,
#define SHIFT(name, R, T, e) OP_##name,
#define UNF(name, e)         OP_##name, OP_##name##_FTZ,
#define BINF(name, e)        OP_##name, OP_##name##_FTZ,
#define TRIF(name, e)        OP_##name, OP_##name##_FTZ,
#define CMP(name, T, e)      OP_##name,
#define PRED(name, e)        OP_##name,
#define OP(name)             OP_##name,
typedef enum Op {
#include "common/simulator/core/ops.def"
    OP_COUNT
} Op;
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

#endif
