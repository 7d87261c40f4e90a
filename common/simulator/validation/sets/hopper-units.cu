/* hopper-units.cu - kernels that use Hopper's own units, one property each: mbarriers, bulk and
 * tensor copies, warpgroup MMAs, clusters, launches that overlap.
 *
 * The regression launches of a family were written and simulated before any was measured. Each
 * kernel stores results that depend on all data that it reads. */
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/simulator/validation/sets/entries.cuh"

enum { WARP = 32, GROUP = 128, ROW = 128 /* bytes of a row that is swizzled */ };

static float *source, *target; /* 8 M floats each */

#include "common/simulator/validation/sets/hopper-units/mbarriers.cuh"
#include "common/simulator/validation/sets/hopper-units/bulk_copies.cuh"
#include "common/simulator/validation/sets/hopper-units/tensor_copies.cuh"
#include "common/simulator/validation/sets/hopper-units/wgmma.cuh"
#include "common/simulator/validation/sets/hopper-units/gemm.cuh"
#include "common/simulator/validation/sets/hopper-units/clusters.cuh"
#include "common/simulator/validation/sets/hopper-units/dependent_launches.cuh"

int main(int argc, char **argv)
{
    measure_open(argc, argv);
    source = array_make(8 * MB);
    target = array_make(8 * MB);
    ENTER(FIT, "empty", "empty", empty_kernel<<<1, 32>>>());
    ping_pong();
    bulk();
    boxes();
    products();
    gemms();
    clusters();
    chains();
    return measure_close();
}
