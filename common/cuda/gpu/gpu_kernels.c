#include "common/cuda/gpu/gpu_engine.h"

/* The engine's own kernels, in PTX so that any driver can compile them for its GPU.
 *
 * nothing    an empty kernel
 * fma_chain  16 independent multiply-adds in flight per thread: they hide their own latency
 * read_all   reads a buffer once, 16 bytes per thread and load, four loads in flight
 *
 * The stores are never executed (the sums would have to equal one value); they prevent the
 * compiler from removing the work. */

/* clang-format off */
#define FMA(r)  "fma.rn.f32 %f" #r ", %f" #r ", %f16, %f17;\n"
#define FMA_16  FMA(0) FMA(1) FMA(2)  FMA(3)  FMA(4)  FMA(5)  FMA(6)  FMA(7) \
                FMA(8) FMA(9) FMA(10) FMA(11) FMA(12) FMA(13) FMA(14) FMA(15)
#define FMA_128 FMA_16 FMA_16 FMA_16 FMA_16 FMA_16 FMA_16 FMA_16 FMA_16
#define NEXT(r, before) "add.f32 %f" #r ", %f" #before ", 0f3F800000;\n"
#define SUM(r)  "add.f32 %f0, %f0, %f" #r ";\n"
#define LOAD(a, b, c, d, from) \
    "ld.global.cg.v4.u32 {%r" #a ", %r" #b ", %r" #c ", %r" #d "}, [%d" #from "];\n"
#define XOR(r)  "xor.b32 %r0, %r0, %r" #r ";\n"

static const char kernels_ptx[] =
    ".version 7.5\n.target sm_75\n.address_size 64\n"
    ".visible .entry nothing() { ret; }\n"

    ".visible .entry fma_chain(.param .u64 never, .param .u32 rounds) {\n"
    ".reg .f32 %f<18>; .reg .b32 %r<2>; .reg .b64 %d<1>; .reg .pred %p<2>;\n"
    "ld.param.u64 %d0, [never]; ld.param.u32 %r1, [rounds]; mov.u32 %r0, %tid.x;\n"
    "cvt.rn.f32.u32 %f0, %r0;\n"
    NEXT(1, 0) NEXT(2, 1) NEXT(3, 2) NEXT(4, 3) NEXT(5, 4) NEXT(6, 5) NEXT(7, 6) NEXT(8, 7)
    NEXT(9, 8) NEXT(10, 9) NEXT(11, 10) NEXT(12, 11) NEXT(13, 12) NEXT(14, 13) NEXT(15, 14)
    "mul.f32 %f16, %f0, 0f3A83126F; mul.f32 %f17, %f0, 0f3C23D70A;\n" /* tid / 1000, tid / 100 */
    "again:\n" FMA_128
    "sub.u32 %r1, %r1, 1; setp.ne.u32 %p0, %r1, 0; @%p0 bra again;\n"
    SUM(1) SUM(2) SUM(3) SUM(4) SUM(5) SUM(6) SUM(7) SUM(8)
    SUM(9) SUM(10) SUM(11) SUM(12) SUM(13) SUM(14) SUM(15)
    "setp.neu.f32 %p1, %f0, 0f4640E400; @%p1 bra done;\n"
    "st.global.f32 [%d0], %f0;\n"
    "done: ret;\n}\n"

    ".visible .entry read_all(.param .u64 from, .param .u64 bytes, .param .u64 never) {\n"
    ".reg .b64 %d<10>; .reg .b32 %r<21>; .reg .pred %p<3>;\n"
    "ld.param.u64 %d0, [from]; ld.param.u64 %d1, [bytes]; add.u64 %d1, %d0, %d1;\n"
    "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mov.u32 %r4, %nctaid.x;\n"
    "mad.lo.u32 %r1, %r1, %r2, %r3; mul.wide.u32 %d2, %r1, 16; add.u64 %d0, %d0, %d2;\n"
    "mul.lo.u32 %r4, %r4, %r2; mul.wide.u32 %d3, %r4, 16; mov.u32 %r0, 0;\n"
    "four: add.u64 %d4, %d0, %d3; add.u64 %d5, %d4, %d3; add.u64 %d6, %d5, %d3;\n"
    "setp.ge.u64 %p0, %d6, %d1; @%p0 bra one;\n"
    LOAD(5, 6, 7, 8, 0) LOAD(9, 10, 11, 12, 4) LOAD(13, 14, 15, 16, 5) LOAD(17, 18, 19, 20, 6)
    XOR(5) XOR(6) XOR(7) XOR(8) XOR(9) XOR(10) XOR(11) XOR(12)
    XOR(13) XOR(14) XOR(15) XOR(16) XOR(17) XOR(18) XOR(19) XOR(20)
    "add.u64 %d0, %d6, %d3; bra four;\n"
    "one: setp.ge.u64 %p1, %d0, %d1; @%p1 bra end;\n"
    LOAD(5, 6, 7, 8, 0) XOR(5) XOR(6) XOR(7) XOR(8)
    "add.u64 %d0, %d0, %d3; bra one;\n"
    "end: setp.ne.u32 %p2, %r0, 0x9e3779b9; @%p2 bra done2;\n"
    "ld.param.u64 %d7, [never]; st.global.u32 [%d7], %r0;\n"
    "done2: ret;\n}\n";
/* clang-format on */

DriverResult gpu_kernels_load(GpuDevice *device)
{
    static const char *const name[KERNELS] = {"nothing", "fma_chain", "read_all"};
    const GpuDriver *driver = device->driver;
    if (device->kernels) return DRIVER_SUCCESS;
    DriverResult result = driver->module_load(&device->kernels, kernels_ptx, 0, NULL, NULL);
    for (int i = 0; i < KERNELS && !result; i++)
        result = driver->module_function(&device->kernel[i], device->kernels, name[i]);
    return result;
}

enum { THREADS = 256, FMA_PER_ROUND = 128, FMA_WAVES = 4 };

/* Number of blocks that fill the GPU once. */
static unsigned full_grid(const GpuDevice *device)
{
    return device->properties.sms * (device->properties.max_threads_per_sm / THREADS);
}

DriverResult gpu_kernel_read(GpuDevice *device, DriverAddress from, uint64_t bytes)
{
    void *parameters[] = {&from, &bytes, &from};
    return device->driver->launch(device->kernel[KERNEL_READ], full_grid(device), 1, 1, THREADS, 1,
                                  1, 0, device->timing_stream, parameters, NULL);
}

DriverResult gpu_kernel_fma(GpuDevice *device, DriverAddress never, unsigned rounds, double *flops)
{
    unsigned blocks = full_grid(device) * FMA_WAVES;
    void *parameters[] = {&never, &rounds};
    *flops = 2.0 * FMA_PER_ROUND * rounds * THREADS * blocks;
    return device->driver->launch(device->kernel[KERNEL_FMA], blocks, 1, 1, THREADS, 1, 1, 0,
                                  device->timing_stream, parameters, NULL);
}
