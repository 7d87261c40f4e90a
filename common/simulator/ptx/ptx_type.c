/* ptx_type.c - the sizes of PTX's types. */
#include "common/simulator/ptx/ptx.h"

unsigned ptx_type_bytes(PtxType type)
{
    switch (type) {
    case PTX_NONE:
        return 0;
    case PTX_PRED:
    case PTX_B8:
    case PTX_U8:
    case PTX_S8:
        return 1;
    case PTX_B16:
    case PTX_U16:
    case PTX_S16:
    case PTX_F16:
    case PTX_BF16:
        return 2;
    case PTX_B32:
    case PTX_U32:
    case PTX_S32:
    case PTX_F16X2:
    case PTX_BF16X2:
    case PTX_TF32:
    case PTX_F32:
        return 4;
    case PTX_B64:
    case PTX_U64:
    case PTX_S64:
    case PTX_F64:
        return 8;
    case PTX_B128:
        return 16;
    }
    return 0;
}
