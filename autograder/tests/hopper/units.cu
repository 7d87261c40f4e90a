// units.cu - digests of the results of Hopper's units: MMAs of warpgroups, tensor copies, clusters,
// reducing copies; and integers of 128 bits, which are functions, not instructions.
//
// Shared and global memory are filled by a hash, so that every descriptor, swizzle and coordinate
// affects the result.  Each line is a form's name and a digest of its result; the same program runs
// on a GPU, where the lines of vectors.txt were recorded, and on the simulator
// (docs/simulator/conformance.md).  ./units [`products`|tiles|clusters|joins|wide [NAME]]
#include "joins.h"
#include "products.h"
#include "wide.h"

int main(int argc, char **argv)
{
    const char *group = argc > 1 ? argv[1] : "";
    only = argc > 2 ? argv[2] : "";
    check(cudaMallocManaged(&y, 1 << 20), "memory");
    check(cudaMallocManaged(&tensor, 1 << 20), "memory");
    for (uint32_t i = 0; i < (1 << 20) / 4; i++)
        tensor[i] = hash(i);
    tiled = (Tiled *)driver("cuTensorMapEncodeTiled");
    im2col = (Im2col *)driver("cuTensorMapEncodeIm2col");
    if (!*group || !strcmp(group, "products")) products();
    if (!*group || !strcmp(group, "tiles")) tiles(), columns();
    if (!*group || !strcmp(group, "clusters")) clusters();
    if (!*group || !strcmp(group, "joins")) joins();
    if (!*group || !strcmp(group, "wide")) wide();
    return failures;
}
