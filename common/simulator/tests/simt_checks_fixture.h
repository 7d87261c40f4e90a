/* simt_checks_fixture.h - kernels that are wrong, and what is reported of them. */
#ifndef CONVLAB_SIMT_CHECKS_FIXTURE_H
#define CONVLAB_SIMT_CHECKS_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "common/simulator/tests/simt_fixture.h"

/* A kernel of one pointer; %rd1 is it, %r1 the thread, %r2 the block, %rd2 the thread's own word of
 * the output. */
#define KERNEL(shared, body)                                                                       \
    HEAD ".file 1 \"dir/conv.cu\"\n" shared ".visible .entry k(.param .u64 out)\n{\n"              \
         ".reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .pred %p<10>; .reg .f32 %f<10>;\n"             \
         "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, "     \
         "%ntid.x;\n"                                                                              \
         "mad.lo.s32 %r4, %r2, %r3, %r1; mul.wide.u32 %rd2, %r4, 4; add.s64 %rd2, %rd1, "          \
         "%rd2;\n" body "\nret;\n}\n"

static const char COLLATZ[] =
    KERNEL("", "add.s32 %r5, %r1, 1; mov.u32 %r6, 0;\n"
               "LOOP: setp.eq.s32 %p1, %r5, 1; @%p1 bra DONE;\n"
               "and.b32 %r7, %r5, 1; setp.eq.s32 %p2, %r7, 0; @%p2 bra EVEN;\n"
               "mad.lo.s32 %r5, %r5, 3, 1; bra NEXT;\n"
               "EVEN: shr.u32 %r5, %r5, 1;\n"
               "NEXT: add.s32 %r6, %r6, 1; bra LOOP;\n"
               "DONE: st.global.u32 [%rd2], %r6;");

/* A kernel that multiplies on tensor cores, and one that is compiled for small blocks. */
#define PRODUCT                                                                                    \
    KERNEL("", "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r1, "     \
               "%r1}, {%r1}, {%f1, %f2, %f3, %f4};")
#define SMALL_BLOCKS HEAD ".visible .entry k(.param .u64 out)\n.maxntid 64\n{\nret;\n}\n"
#define PAIRS                                                                                      \
    ".version 8.0\n.target sm_90\n.address_size 64\n"                                              \
    ".visible .entry k(.param .u64 out)\n.reqnctapercluster 2, 1, 1\n{\nret;\n}\n"
#define LARGE_TILE                                                                                 \
    HEAD ".visible .entry k(.param .u64 out)\n{\n.shared .align 4 .b8 tile[70000];\n"              \
         ".reg .b32 %r<2>;\nst.shared.u32 [tile], %r1;\nret;\n}\n"

/* Launches that CUDA refuses before a kernel starts; of each the words. */
static const struct {
    const char *text;
    uint32_t grid[3], block[3], shared, params_bytes, cluster[3];
    int cooperative, hopper, no_tensor_cores;
    SimtCheck check;
    const char *words;
} REFUSED[] = {
    {.text = KERNEL("", ""),
     .grid = {1, 1, 1},
     .block = {1025, 1, 1},
     .check = SIMT_BAD_LAUNCH,
     .words = "a block of 1025 x 1 x 1 = 1025 threads: a small GPU takes at most 1024"},
    {.text = KERNEL("", ""),
     .grid = {1, 1, 1},
     .block = {1, 1, 65},
     .check = SIMT_BAD_LAUNCH,
     .words = "(z: 64)"},
    {.text = KERNEL("", ""),
     .grid = {0, 1, 1},
     .block = {32, 1, 1},
     .check = SIMT_BAD_LAUNCH,
     .words = "k with a grid of 0 x 1 x 1 blocks of 32 x 1 x 1 threads: no dimension may be 0"},
    {.text = KERNEL("", ""),
     .grid = {1, 65536, 1},
     .block = {32, 1, 1},
     .check = SIMT_BAD_LAUNCH,
     .words = "grid 1 x 65536 x 1: a small GPU takes at most 2147483647 x 65535 x 65535 blocks"},
    {.text = KERNEL("", ""),
     .grid = {1, 1, 1},
     .block = {32, 1, 1},
     .params_bytes = 4,
     .check = SIMT_BAD_LAUNCH,
     .words = "the kernel takes 8 bytes of parameters, the launch gives 4"},
    {.text = KERNEL("", ""),
     .grid = {1, 1, 1},
     .block = {32, 1, 1},
     .shared = 70000,
     .check = SIMT_BAD_SHARED,
     .words = "70000 bytes of dynamic shared memory: k may use at most 65536 in addition to its 0 "
              "static"},
    {.text = LARGE_TILE,
     .grid = {1, 1, 1},
     .block = {32, 1, 1},
     .check = SIMT_BAD_RESOURCES,
     .words = "k has 70000 static bytes of shared memory: a small GPU allows 65536 a block"},
    {.text = SMALL_BLOCKS,
     .grid = {1, 1, 1},
     .block = {65, 1, 1},
     .check = SIMT_BAD_RESOURCES,
     .words = "a block of 65 threads: k is compiled for at most 64 (__launch_bounds__)"},
    {.text = PRODUCT,
     .grid = {1, 1, 1},
     .block = {32, 1, 1},
     .no_tensor_cores = 1,
     .check = SIMT_UNSUPPORTED,
     .words = "the kernel uses tensor cores (mma, wmma or ldmatrix), which a small GPU does not"},
    {.text = KERNEL("", ""),
     .grid = {1000, 1, 1},
     .block = {1024, 1, 1},
     .cooperative = 1,
     .check = SIMT_BAD_COOPERATIVE,
     .words = "a cooperative grid of 1000 blocks: a small GPU holds 8 of them at once, 2 on each"},
    {.text = KERNEL("", ""),
     .grid = {4, 1, 1},
     .block = {32, 1, 1},
     .cluster = {2, 1, 1},
     .check = SIMT_UNSUPPORTED,
     .words = "has no clusters of blocks (clusters = 0)"},
    {.text = KERNEL("", ""),
     .grid = {32, 1, 1},
     .block = {32, 1, 1},
     .cluster = {32, 1, 1},
     .hopper = 1,
     .check = SIMT_BAD_LAUNCH,
     .words = "a cluster of 32 blocks: at most 16 are possible"},
    {.text = KERNEL("", ""),
     .grid = {5, 1, 1},
     .block = {32, 1, 1},
     .cluster = {2, 1, 1},
     .hopper = 1,
     .check = SIMT_BAD_LAUNCH,
     .words = "a grid of 5 x 1 x 1 blocks is no whole number of clusters of 2 x 1 x 1"},
    {.text = PAIRS,
     .grid = {4, 1, 1},
     .block = {32, 1, 1},
     .cluster = {4, 1, 1},
     .hopper = 1,
     .check = SIMT_BAD_LAUNCH,
     .words = "a cluster of 4 x 1 x 1 blocks: the kernel is compiled for 2 x 1 x 1"},
    {.text = PAIRS,
     .grid = {4, 1, 1},
     .block = {32, 1, 1},
     .cooperative = 1,
     .hopper = 1,
     .check = SIMT_UNSUPPORTED,
     .words = "a cooperative grid of clusters is not supported"},
};

#endif
