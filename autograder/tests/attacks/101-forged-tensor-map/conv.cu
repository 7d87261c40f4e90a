/* A tensor map that nobody encoded: its digest is right, and its element strides are 0. */
#include <convlab/conv.h>

#include <stddef.h>

/* As the simulator has it. */
struct alignas(64) Map {
    unsigned magic;
    unsigned char kind, type, rank, swizzle;
    unsigned long long address;
    unsigned last[5], fill;
    unsigned long long strides[4];
    unsigned short box[5];
    unsigned char element_strides[5], promotion;
    short lower[3], upper[3];
    unsigned reserved[4], digest;
};

__global__ void copy_kernel(const __grid_constant__ Map map)
{
    __shared__ alignas(128) unsigned char box[4096];
    __shared__ unsigned long long barrier;
    unsigned at = (unsigned)__cvta_generic_to_shared(&barrier);
    unsigned to = (unsigned)__cvta_generic_to_shared(box);
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at));
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {0, 0}], [%2];" ::"r"(to),
                 "l"(&map), "r"(at)
                 : "memory");
}

void conv_forward(const ConvProblem *p, const float *x, const float *w, float *y,
                  cudaStream_t stream)
{
    Map map = {0x70616d74, 0, 2, 2, 1, (unsigned long long)x, {63, 15}, 0, {128}, {8, 8}, {1, 0}};
    const unsigned char *byte = (const unsigned char *)&map;
    unsigned hash = 2166136261u;
    for (size_t i = 0; i < offsetof(Map, digest); i++)
        hash = (hash ^ byte[i]) * 16777619u;
    map.digest = hash;
    copy_kernel<<<1, 1, 0, stream>>>(map);
}
