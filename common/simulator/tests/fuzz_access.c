/* fuzz_access.c - a libFuzzer target for the accesses of executed kernels. It runs kernels of a
 * dozen memory instructions with hostile random addresses, sizes, lanes and barriers, on a small
 * launch with counters and all checks on.
 *
 * fuzz_kernel.c damages texts, and most of what it makes is refused or faults at once.  Here every
 * text is right, and the bytes of the input say what it does: an instruction, where its address
 * begins, how far lanes lie apart, which lanes take part, and what each copies.  An access that is
 * wrong must end the launch with a finding; nothing may reach memory that is not the kernel's. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/texture.h"
#include "common/simulator/core/tensor_map.h"
#include "common/simulator/launch/simt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LIMIT = 4000, BYTES = 4096, TEXT = 1 << 15, STEPS = 12, EACH = 8 };

/* %rd1: this lane's address; %rd2: another one, valid; %r2: the lower half of the first; %r3: a
 * size or a count; %p1: whether this lane takes part. */
static const char *const FORM[] = {
    "@%p1 ld.global.u32 %r5, [%rd1];",
    "@%p1 ld.global.v4.u32 {%r5,%r6,%r7,%r8}, [%rd1];",
    "@%p1 ld.u64 %rd5, [%rd1];",
    "@%p1 ld.u8 %r5, [%rd1];",
    "@%p1 st.global.u32 [%rd1], %r9;",
    "@%p1 st.v2.u64 [%rd1], {%rd1,%rd2};",
    "@%p1 st.shared.u32 [%r2], %r9;",
    "@%p1 ld.shared.v4.u32 {%r5,%r6,%r7,%r8}, [%r2];",
    "@%p1 ld.shared.u16 %r5, [%rd1];",
    "@%p1 st.local.u32 [%rd1], %r9;",
    "@%p1 ld.local.u64 %rd5, [%rd1];",
    "@%p1 ld.param.u64 %rd5, [%rd1];",
    "@%p1 ld.const.u32 %r5, [%rd1];",
    "@%p1 atom.global.add.u32 %r5, [%rd1], %r9;",
    "@%p1 atom.add.u64 %rd5, [%rd1], %rd2;",
    "@%p1 atom.shared.cas.b32 %r5, [%r2], %r9, %r3;",
    "@%p1 red.global.add.f32 [%rd1], 0f3f800000;",
    "@%p1 cp.async.cg.shared.global [%r4], [%rd1], 16, %r3;",
    "@%p1 cp.async.ca.shared.global [%r2], [%rd2], 8, %r3;",
    "@%p1 cp.async.ca.shared.global [%r4], [%rd1], 4;",
    "cp.async.commit_group;",
    "cp.async.wait_group 1;",
    "cp.async.wait_all;",
    "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r5,%r6,%r7,%r8}, [%r2];",
    "wmma.load.a.sync.aligned.row.m16n16k16.f16 {%r10,%r11,%r12,%r13,%r14,%r15,%r16,%r17}, "
    "[%rd1], %r3;",
    "wmma.store.d.sync.aligned.row.m16n16k16.f32 [%rd1], {%r10,%r11,%r12,%r13,%r14,%r15,%r16,%r17},"
    " %r3;",
    "@%p1 prefetch.global.L2 [%rd1];",
    "bar.sync %r3;",
    "barrier.sync %r3, %r9;",
    "bar.arrive %r3, 64;",
    "@%p1 mbarrier.init.shared.b64 [%r2], %r3;",
    "@%p1 mbarrier.arrive.shared.b64 %rd5, [%r2], %r3;",
    "@%p1 shfl.sync.idx.b32 %r5, %r9, %r3, %r2, %r6;",
    "@%p1 match.any.sync.b32 %r5, %r9, %r3;",
    "@%p1 cvta.to.shared.u64 %rd1, %rd1;",
    "bar.warp.sync %r3;",
    "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
    "[%r4], [%rd1], %r3, [%r2];",
    "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
    "[%r2], [%rd2], 64, [%r7];",
    "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r4], 32;",
    "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r2], %r3;",
    "@%p1 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
    "[%r2], [%rd8, {%r3, %r9}], [%r7];",
    "@%p1 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
    "[%r5], [%rd1, {0, 0}], [%r7];",
    "@%p1 cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd8, {%r3, 0}], [%r2];",
    "@%p1 mbarrier.arrive.expect_tx.shared.b64 %rd5, [%r7], %r3;",
    "@%p1 mbarrier.try_wait.parity.shared.b64 %p0, [%r7], 0;",
    "@%p1 mbarrier.complete_tx.shared::cluster.b64 [%r2], %r3;",
    "fence.proxy.async;",
    "and.b64 %rd5, %rd1, 0xfff1ffffffffffff; wgmma.fence.sync.aligned; "
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0,%f1,%f2,%f3}, %rd5, %rd5, 1, 1, 1, 0, "
    "1; wgmma.commit_group.sync.aligned;",
    "cvt.u64.u32 %rd5, %r3; shl.b64 %rd5, %rd5, 60; wgmma.fence.sync.aligned; "
    "wgmma.mma_async.sync.aligned.m64n16k32.s32.s8.u8 {%r10,%r11,%r12,%r13,%r14,%r15,%r16,%r17}, "
    "{%r5,%r6,%r8,%r9}, %rd5, 1; wgmma.wait_group.sync.aligned 0;",
    "@%p1 mapa.shared::cluster.u32 %r5, %r4, %r3;",
    "@%p1 ld.shared::cluster.u32 %r5, [%r2];",
    "@%p1 st.shared::cluster.u32 [%r2], %r9;",
    "@%p1 red.shared::cluster.add.u32 [%r2], %r9;",
    "barrier.cluster.arrive; barrier.cluster.wait;",
    "mov.b32 %f0, %r3; @%p1 tex.1d.v4.u32.f32 {%r5,%r6,%r7,%r8}, [%rd7, {%f0}];",
    "@%p1 tex.1d.v4.u32.s32 {%r5,%r6,%r7,%r8}, [%rd7, {%r3}];",
    "cvt.rn.f32.s32 %f0, %r3; cvt.rn.f32.u32 %f1, %r1; "
    "@%p1 tex.2d.v4.f32.f32 {%f0,%f1,%f2,%f3}, [%rd7, {%f0,%f1}];",
    "mov.b32 %f0, %r3; cvt.rn.f32.s32 %f1, %r3; "
    "@%p1 tex.3d.v4.f32.f32 {%f0,%f1,%f2,%f3}, [%rd7, {%f1,%f0,%f1,%f1}];",
    "cvt.rn.f32.s32 %f0, %r3; "
    "@%p1 tex.a2d.v4.u32.f32 {%r5,%r6,%r7,%r8}, [%rd7, {%r3,%f0,%f1,%f1}];",
    "cvt.rn.f32.s32 %f0, %r3; cvt.rn.f32.u32 %f1, %r1; "
    "@%p1 tex.acube.v4.f32.f32 {%f0,%f1,%f2,%f3}, [%rd7, {%r3,%f0,%f1,%f2}];",
    "cvt.rn.f32.s32 %f0, %r3; cvt.rn.f32.u32 %f1, %r1; "
    "@%p1 tex.level.2d.v4.f32.f32 {%f0,%f1,%f2,%f3}, [%rd7, {%f1,%f0}], %f0;",
    "mov.b32 %f0, %r3; cvt.rn.f32.s32 %f1, %r3; "
    "@%p1 tex.grad.3d.v4.f32.f32 {%f0,%f1,%f2,%f3}, [%rd7, {%f1,%f0,%f1,%f1}], "
    "{%f0,%f1,%f2,%f2}, {%f1,%f3,%f0,%f2};",
    "cvt.rn.f32.s32 %f0, %r3; cvt.rn.f32.u32 %f1, %r1; "
    "@%p1 tld4.b.2d.v4.f32.f32 {%f0,%f1,%f2,%f3}, [%rd7, {%f1,%f0}];",
    "@%p1 tex.1d.v4.u32.s32 {%r5,%r6,%r7,%r8}, [%rd1, {%r3}];",
    "@%p1 suld.b.2d.v4.b32.trap {%r5,%r6,%r7,%r8}, [%rd7, {%r3,%r1}];",
    "@%p1 suld.b.3d.b8.clamp {%r5}, [%rd7, {%r3,%r1,%r3,%r3}];",
    "@%p1 suld.b.a1d.v2.b64.zero {%rd5,%rd6}, [%rd7, {%r3,%r3}];",
    "@%p1 sust.b.2d.v4.b32.clamp [%rd7, {%r3,%r1}], {%r5,%r6,%r7,%r8};",
    "@%p1 sust.b.a2d.b16.zero [%rd7, {%r3,%r1,%r3,%r3}], {%r5};",
    "@%p1 sust.b.1d.b64.trap [%rd7, {%r3}], {%rd5};",
    "@%p1 red.global.add.noftz.f16x2 [%rd1], %r9;",
    "@%p1 red.global.add.v4.f32 [%rd1], {%f0,%f1,%f2,%f3};",
    "@%p1 atom.global.add.v2.f32 {%f0,%f1}, [%rd1], {%f2,%f3};",
    "@%p1 atom.global.add.noftz.v4.bf16x2 {%r5,%r6,%r7,%r8}, [%rd1], {%r5,%r6,%r7,%r8};",
    "TABLE: .branchtargets L%u, L%u; brx.idx %%r3, TABLE;", /* written by step_write */
};
enum { FORMS = sizeof FORM / sizeof *FORM };

/* Base of an address. */
static void base_write(char *text, size_t room, unsigned which)
{
    static const char *const BASE[] = {
        "ld.param.u64 %rd1, [x];",
        "ld.param.u64 %rd1, [y];",
        "ld.param.u64 %rd1, [x]; add.s64 %rd1, %rd1, 4080;",
        "mov.u64 %rd3, table; cvta.const.u64 %rd1, %rd3;",
        "mov.u64 %rd3, s; cvta.shared.u64 %rd1, %rd3;",
        "mov.u64 %rd3, stack; cvta.local.u64 %rd1, %rd3;",
        "mov.u64 %rd1, s;",
        "mov.u64 %rd1, 0;",
        "mov.u64 %rd1, 0x700000000000;",
        "mov.u64 %rd1, 0x6ffffffffff0;",
        "mov.u64 %rd1, 0x60ffffffff00;",
        "mov.u64 %rd1, 0x620000000000;",
        "mov.u64 %rd1, 0xfffffffffffffff0;",
        "mov.u64 %rd1, 0x7fffffffffffff00;",
        "ld.param.u64 %rd1, [x]; add.s64 %rd1, %rd1, -16;",
        "ld.param.u64 %rd1, [x]; mov.u64 %rd3, 0x40000000000; add.s64 %rd1, %rd1, %rd3;"};
    snprintf(text, room, "%s", BASE[which % (sizeof BASE / sizeof *BASE)]);
}

/* One instruction from 8 bytes: form, base, offset, lanes' distance, lanes, size of a lane. */
static size_t step_write(char *text, size_t room, const uint8_t *b, unsigned number)
{
    static const unsigned long long STRIDE[] = {0,  4,  16, 32, 0,    4, 16,         128,
                                                16, 16, 1,  2,  4096, 8, 1ull << 40, 1ull << 63};
    char base[160], form[256];
    unsigned which = b[0] % FORMS;
    /* Half of all offsets suit any access, a quarter of all sizes are 0 in every lane. */
    int offset = b[2] & 1 ? (int8_t)b[2] : (int8_t)b[2] / 2 * 16;
    uint32_t sized = b[5] < 64 ? 0 : b[5] > 192 ? UINT32_MAX : b[5] * 0x01010101u;
    base_write(base, sizeof base, b[1]);
    if (which == FORMS - 1)
        snprintf(form, sizeof form,
                 "T%u: .branchtargets L%u, L%u; @!%%p2 bra L%u; brx.idx %%r3, T%u;", number, number,
                 number, number, number);
    else
        snprintf(form, sizeof form, "%s", FORM[which]);
    int used =
        snprintf(text, room,
                 "%s add.s64 %%rd1, %%rd1, %d; mul.wide.u32 %%rd4, %%r1, 1; "
                 "mul.lo.s64 %%rd4, %%rd4, %llu; add.s64 %%rd1, %%rd1, %%rd4; "
                 "cvt.u32.u64 %%r2, %%rd1; "
                 "shr.u32 %%r3, %u, %%r1; and.b32 %%r3, %%r3, 1; setp.ne.u32 %%p1, %%r3, 0; "
                 "shr.u32 %%r3, %u, %%r1; and.b32 %%r3, %%r3, 1; mul.lo.u32 %%r3, %%r3, %d; "
                 "%s\nL%u:\n",
                 base, offset, STRIDE[b[3] % (sizeof STRIDE / sizeof *STRIDE)],
                 b[4] > 127 ? UINT32_MAX : b[4] * 0x01010101u, sized, (int8_t)b[6], form, number);
    return used > 0 && (size_t)used < room ? (size_t)used : 0;
}

static int text_write(char *text, const uint8_t *data, size_t size)
{
    size_t used = (size_t)snprintf(
        text, TEXT,
        ".version 8.1\n.target sm_90a\n.address_size 64\n"
        ".const .align 4 .b8 table[64];\n.global .align 16 .b8 space[64];\n"
        ".visible .entry k(.param .u64 x, .param .u64 y, .param .u64 map, "
        ".param .u64 texels)\n{\n"
        ".shared .align 16 .b8 s[2048];\n.local .align 8 .b8 stack[64];\n"
        ".shared .align 8 .b8 barrier[8];\n"
        ".reg .b32 %%r<18>; .reg .b64 %%rd<9>; .reg .pred %%p<3>; .reg .f32 %%f<4>;\n"
        "mov.u32 %%r1, %%tid.x; mov.u32 %%r9, 64; ld.param.u64 %%rd2, [y];\n"
        "shl.b32 %%r4, %%r1, 4; mov.u32 %%r5, s; add.s32 %%r4, %%r4, %%r5; mov.u32 %%r6, -1;\n"
        "setp.ne.u32 %%p2, %%r1, 0; mov.u32 %%r7, barrier; ld.param.u64 %%rd8, [map];\n"
        "ld.param.u64 %%rd7, [texels];\n"
        "@!%%p2 mbarrier.init.shared.b64 [%%r7], 1; bar.sync 0;\n");
    for (size_t i = 0; i < STEPS && (i + 1) * EACH <= size; i++) {
        size_t more = step_write(text + used, TEXT - used, data + i * EACH, (unsigned)i);
        if (!more) return -1;
        used += more;
    }
    used += (size_t)snprintf(text + used, TEXT - used, "cp.async.wait_all;\nret;\n}\n");
    return used < TEXT ? 0 : -1;
}

static SimtGpu *gpu_make(void)
{
    static SimtMachine machine;
    Error error;
    SimtOptions options = {.threads = 1,
                           .initcheck = 1,
                           .racecheck = 1,
                           .count = 1,
                           .profile = 1,
                           .instruction_limit = LIMIT};
    if (!machine.sms && machine_load("common/simulator/gpus", "h200", &machine, &error)) abort();
    machine.memory_bytes = 64u << 20;
    return simt_open(&machine, &options, &error);
}

/* Two bytes of the map are others, and its digest is what it must be: anybody can forge that. */
static void map_forge(TensorMap *map, const uint8_t *data)
{
    unsigned char *byte = (unsigned char *)map;
    uint32_t hash = 2166136261u;
    byte[data[6] % offsetof(TensorMap, digest)] = data[7];
    byte[data[3] % offsetof(TensorMap, digest)] ^= data[7];
    for (size_t i = 0; i < offsetof(TensorMap, digest); i++)
        hash = (hash ^ byte[i]) * 16777619u;
    map->digest = hash;
}

/* A map of halves, of which the box and the swizzle are drawn. */
static uint64_t map_make(SimtGpu *gpu, uint64_t y, const uint8_t *data)
{
    TensorMapRequest request = {.kind = TENSOR_MAP_TILED,
                                .type = TENSOR_MAP_F16,
                                .rank = 2,
                                .address = y,
                                .dims = {64, 1u + data[1]},
                                .strides = {64 + 16u * (data[2] % 8)},
                                .element_strides = {1, 1u + data[3] % 8},
                                .box = {8, 1u + data[4] % 64},
                                .swizzle = data[5] % 4};
    TensorMap map;
    Error error;
    uint64_t address;
    if (tensor_map_encode(&request, &map, NULL, &error) != 0) abort();
    if (data[0] & 2) map_forge(&map, data);
    if (simt_alloc(gpu, sizeof map, &address, &error) != 0) return 0;
    return simt_write(gpu, address, &map, sizeof map, &error) == 0 ? address : 0;
}

/* A texture of the data at y, whose kind is random; two more bytes are arbitrary, because kernels
 * can write the descriptor. */
static uint64_t texels_make(SimtGpu *gpu, uint64_t y, const uint8_t *data)
{
    Texture texture = {.magic = TEXTURE_MAGIC,
                       .address = y,
                       .pitch = 64,
                       .slice = 256,
                       .extent = {1u + data[1] % 16, 1u + data[2] % 4, 1u + data[3] % 4},
                       .channels = 1u << data[4] % 3,
                       .channel_bytes = 1,
                       .kind = data[5] % 3,
                       .filtered = data[5] >> 2 & 1,
                       .by_fraction = data[5] >> 3 & 1,
                       .read_as_fraction = data[5] >> 4 & 1,
                       .mode = {data[6] & 3, data[6] >> 2 & 3, data[6] >> 4 & 3},
                       .border = {0.3f, -2.0f, 1e30f, 0.0f},
                       .layered = data[6] >> 7,
                       .levels = 1u + data[7] % 3,
                       .levels_filtered = data[7] >> 3 & 1,
                       .level_most = 4.0f};
    Error error;
    uint64_t address;
    texture.texel = texture.channels * texture.channel_bytes;
    if (data[0] & 4)
        for (size_t i = 1; i < 3; i++)
            ((unsigned char *)&texture)[data[2 * i] % sizeof texture] = data[2 * i + 1];
    if (simt_alloc(gpu, sizeof texture, &address, &error) != 0) return 0;
    return simt_write(gpu, address, &texture, sizeof texture, &error) == 0 ? address : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char text[TEXT];
    Error error = {""};
    struct {
        uint64_t x, y, map, texels;
    } params;
    SimtResult result;
    if (size < EACH || text_write(text, data, size) != 0) return 0;
    SimtGpu *gpu = gpu_make();
    if (!gpu) return 0;
    SimtModule *module = simt_module_load(gpu, text, strlen(text), 0, &error);
    SimtKernel *kernel = module ? simt_kernel_find(module, "k", &error) : NULL;
    if (!kernel) {
        fprintf(stderr, "%s\n%s", error.text, text);
        abort(); /* the text is ours: it must be right */
    }
    if (simt_alloc(gpu, BYTES, &params.x, &error) == 0 &&
        simt_alloc(gpu, BYTES, &params.y, &error) == 0 &&
        (params.map = map_make(gpu, params.y, data)) != 0 &&
        (params.texels = texels_make(gpu, params.y, data)) != 0) {
        SimtLaunch launch = {.grid = {2, 1, 1},
                             .block = {128, 1, 1},
                             .cluster = {data[0] & 1 ? 2 : 0, 1, 1},
                             .dynamic_shared = 256,
                             .params = &params,
                             .params_bytes = sizeof params};
        simt_launch(gpu, kernel, &launch, &result);
        if (result.report.check == SIMT_UNSUPPORTED) {
            fprintf(stderr, "%s\n%s", result.report.text, text);
            abort();
        }
    }
    simt_close(gpu);
    return 0;
}
