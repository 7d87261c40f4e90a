#include "common/operations/operation/verdict.h"

#include <math.h>

static double gamma_of(double terms, double unit)
{
    double mu = terms * unit;
    return mu < 0.5 ? mu / (1 - mu) : 2 * mu;
}

double verdict_bound(Precision precision, double reach, double terms)
{
    double relative = gamma_of(terms, UNIT_FP32);
    double input = precision == PRECISION_FP32 ? 0 : UNIT_ELEVEN_BITS;
    return VERDICT_SAFETY * (relative + 2 * input + input * input) * reach;
}

double verdict_least_terms(Algorithm algorithm)
{
    switch (algorithm) {
    case ALGORITHM_WINOGRAD_4X4:
        return (48.0 / 8) * (48.0 / 8) * 9;
    case ALGORITHM_FFT_64X64:
        return 3 * log2(64 * 64) * (1 + 4 * sqrt(2));
    default:
        return 0;
    }
}

double verdict_rms_bound(Algorithm algorithm, double reach, double terms)
{
    double limit =
        fmax(algorithm == ALGORITHM_WINOGRAD_4X4 ? 64 : 48, fmin(48 * sqrt(terms / 4096), 128));
    return terms > 0 ? limit * UNIT_FP32 * reach / sqrt(sqrt(terms)) : 0;
}

const char *fault_name(Fault fault)
{
    static const char *const name[] = {
        [FAULT_NONE] = "none",
        [FAULT_UNWRITTEN] = "unwritten",
        [FAULT_NAN] = "nan",
        [FAULT_GUARD_BAND] = "guard-band",
        [FAULT_INPUT_CHANGED] = "input-changed",
        [FAULT_FLIPPED_FILTER] = "flipped-filter",
        [FAULT_TRANSPOSED_FILTER] = "transposed-filter",
        [FAULT_HALO] = "halo",
        [FAULT_PADDING_EDGE] = "padding-edge",
        [FAULT_TILE_EDGE] = "tile-edge",
        [FAULT_LAST_BLOCK] = "last-block",
        [FAULT_ONE_CHANNEL] = "one-channel",
        [FAULT_ONE_FILTER] = "one-filter",
        [FAULT_ONE_IMAGE] = "one-image",
        [FAULT_STRIDE] = "stride",
        [FAULT_TAP_DROPPED] = "tap-dropped",
        [FAULT_ACCUMULATED] = "accumulated",
        [FAULT_PRECISION] = "precision",
        [FAULT_AXES] = "axes",
        [FAULT_POINTS] = "points",
        [FAULT_LAYOUT] = "layout",
        [FAULT_RACE] = "race",
        [FAULT_RACE_GLOBAL] = "race-global",
        [FAULT_TWO_WRITERS] = "two-writers",
        [FAULT_STREAMS] = "streams",
        [FAULT_DIFFER] = "runs-differ",
        [FAULT_READ_OUTSIDE] = "read-outside",
        [FAULT_WORKSPACE] = "workspace",
        [FAULT_SHARED_MEMORY] = "shared-memory",
        [FAULT_BARRIER] = "barrier",
        [FAULT_MISALIGNED] = "misaligned",
        [FAULT_LAUNCH] = "launch",
        [FAULT_REPEAT] = "repeat",
        [FAULT_STATE] = "state",
        [FAULT_FORWARD] = "forward",
        [FAULT_GRADIENT] = "gradient",
        [FAULT_UPDATE] = "update",
        [FAULT_FORMULA] = "formula",
        [FAULT_OVERFLOW] = "overflow",
        [FAULT_ROUNDING] = "rounding",
        [FAULT_SATURATION] = "saturation",
        [FAULT_SCALE] = "scale",
        [FAULT_SIGN] = "sign",
        [FAULT_BYTE_ORDER] = "byte-order",
        [FAULT_EVERYWHERE] = "everywhere",
    };
    unsigned index = (unsigned)fault;
    return index < sizeof name / sizeof *name ? name[index] : "unknown";
}
