/* test_simt_counters.c - counters of accesses, branches and copies, which do not depend on the
 * number of host threads. */
#include "common/simulator/tests/simt_checks_fixture.h"

/* PTX ISA, cp.async.mbarrier.arrive: without .noinc the pending count is raised by one before the
 * arrival, so that a barrier of two still waits for two; with it, for one. */
#define ARRIVING(form)                                                                             \
    KERNEL(".shared .align 8 .b64 s;\n",                                                           \
           "mov.u32 %r5, s; mov.u32 %r6, 2; mbarrier.init.shared.b64 [%r5], %r6;\n"                \
           "cp.async.mbarrier.arrive" form ".shared.b64 [%r5];\n"                                  \
           "mbarrier.arrive.shared.b64 %rd4, [%r5];\n"                                             \
           "mbarrier.pending_count.b64 %r7, %rd4; st.global.u32 [%rd2], %r7;")

static void copies_that_complete(void **state)
{
    static const char *const TEXT[] = {ARRIVING(""), ARRIVING(".noinc")};
    (void)state;
    for (uint32_t counted = 0; counted < 2; counted++) {
        SimtGpu *gpu = gpu_open(1, 0, 0);
        uint64_t out = device_data(gpu, NULL, 4);
        uint32_t pending;
        SimtResult result;
        assert_int_equal(run(gpu, TEXT[counted], 1, 1, 0, &out, 8, &result), 0);
        device_fetch(gpu, out, &pending, sizeof pending);
        assert_int_equal(pending, 2 - counted);
        simt_close(gpu);
    }
}

/* Runs these accesses by one warp.  %r1: the thread, %r2: an array of 8 KB in shared memory. */
static Counters shared_counters(const char *access)
{
    char text[2048];
    SimtResult result;
    SimtGpu *gpu = gpu_open(1, 0, 1);
    snprintf(text, sizeof text,
             "%s.visible .entry k(.param .u64 out)\n{\n.shared .align 16 .b8 s[8192];\n"
             ".reg .b32 %%r<14>; .reg .b64 %%rd<9>; .reg .pred %%p<2>; .reg .b16 %%h<7>;\n"
             "ld.param.u64 %%rd1, [out];\n"
             "mov.u32 %%r1, %%tid.x; mov.u32 %%r2, s; mov.u32 %%r5, 0; mov.u32 %%r6, 0; "
             "mov.u32 %%r7, 0; mov.u32 %%r8, 0; mov.u32 %%r9, 0; mov.u64 %%rd6, 0;\n"
             "%s ret;\n}\n",
             HEAD, access);
    uint64_t out = device_data(gpu, NULL, 8192);
    if (run(gpu, text, 1, 32, 0, &out, sizeof out, &result) != 0)
        fail_msg("%s", result.report.text);
    simt_close(gpu);
    return result.counters;
}

static void assert_wavefronts(const char *access, uint64_t want)
{
    uint64_t wavefronts = shared_counters(access).shared_wavefronts;
    if (wavefronts != want) fail_msg("%s %llu wavefronts", access, (unsigned long long)wavefronts);
}

static void shared_conflicts(void **state)
{
    /* Words between lanes, and type: 32 banks of a word each. */
    static const struct {
        uint32_t stride;
        const char *type, *reg;
        uint64_t want;
    } PATTERNS[] = {
        {0, "u32", "%r6", 1},  {4, "u32", "%r6", 1},    {8, "u32", "%r6", 2},
        {16, "u32", "%r6", 4}, {128, "u32", "%r6", 32}, {132, "u32", "%r6", 1},
        {8, "u64", "%rd6", 2}, {16, "u64", "%rd6", 4},  {16, "v4.u32", "{%r6,%r7,%r8,%r9}", 4}};
    (void)state;
    for (size_t i = 0; i < sizeof PATTERNS / sizeof *PATTERNS; i++) {
        char access[200];
        snprintf(access, sizeof access, "mad.lo.s32 %%r3, %%r1, %u, %%r2; ld.shared.%s %s, [%%r3];",
                 PATTERNS[i].stride, PATTERNS[i].type, PATTERNS[i].reg);
        assert_wavefronts(access, PATTERNS[i].want);
    }
}

/* As ncu counts them on an H200. */
static void wide_accesses_are_split_into_parts_of_a_warp(void **state)
{
    static const struct {
        const char *place, *access; /* %r4: which of the units each lane wants */
        uint32_t stride;
        uint64_t want;
    } PATTERNS[] = {
        /* Half-warps apart, but where neighbours want the same. */
        {"and.b32 %r4, %r1, 15;", "ld.shared.u64 %rd6, [%r3];", 8, 2},
        {"shr.u32 %r4, %r1, 1;", "ld.shared.u64 %rd6, [%r3];", 8, 1},
        {"and.b32 %r4, %r1, 13;", "ld.shared.u64 %rd6, [%r3];", 8, 1}, /* next but one */
        {"shr.u32 %r4, %r1, 1;", "st.shared.u64 [%r3], %rd6;", 8, 2},
        /* Quarters. */
        {"and.b32 %r4, %r1, 7;", "ld.shared.v4.u32 {%r6,%r7,%r8,%r9}, [%r3];", 16, 4},
        {"shr.u32 %r4, %r1, 1;", "ld.shared.v4.u32 {%r6,%r7,%r8,%r9}, [%r3];", 16, 2},
        {"mov.u32 %r4, 0;", "st.shared.v4.u32 [%r3], {%r6,%r7,%r8,%r9};", 16, 4},
        /* Parts of a vector that are read: one word, a pair, two words, or all of it. */
        {"mov.u32 %r4, %r1;",
         "ld.shared.v4.u32 {%r10,%r11,%r12,%r13}, [%r3]; add.u32 %r5, %r5, %r12;", 16, 4},
        {"mov.u32 %r4, %r1;", "ld.shared.v2.u32 {%r10,%r11}, [%r3]; add.u32 %r5, %r5, %r11;", 8, 2},
        {"mov.u32 %r4, %r1;",
         "ld.shared.v4.u32 {%r10,%r11,%r12,%r13}, [%r3]; add.u32 %r5, %r12, %r13;", 16, 4},
        {"mov.u32 %r4, %r1;",
         "ld.shared.v4.u32 {%r10,%r11,%r12,%r13}, [%r3]; add.u32 %r5, %r10, %r13;", 16, 8},
        {"mov.u32 %r4, %r1;",
         "ld.volatile.shared.v4.u32 {%r10,%r11,%r12,%r13}, [%r3]; add.u32 %r5, %r10, %r13;", 16, 4},
        /* Neighbours are joined, if nothing between them may touch them. */
        {"mov.u32 %r4, %r1;", "st.shared.u32 [%r3], %r6; st.shared.u32 [%r3+4], %r7;", 8, 2},
        {"mov.u32 %r4, %r1;",
         "st.shared.u32 [%r3], %r6; ld.shared.u32 %r8, [%r3]; st.shared.u32 [%r3+4], %r7;", 8, 6},
        {"mov.u32 %r4, %r1;",
         "st.shared.v2.u32 [%r3+8], {%r6,%r7}; st.shared.v2.u32 [%r3], {%r8,%r9};", 16, 4},
        {"mov.u32 %r4, %r1;", "st.shared.u32 [%r3], %r6; st.shared.u32 [%r3+4], %r7;", 12, 2},
    };
    (void)state;
    for (size_t i = 0; i < sizeof PATTERNS / sizeof *PATTERNS; i++) {
        char access[400];
        snprintf(access, sizeof access, "%s mad.lo.s32 %%r3, %%r4, %u, %%r2;\n%s",
                 PATTERNS[i].place, PATTERNS[i].stride, PATTERNS[i].access);
        assert_wavefronts(access, PATTERNS[i].want);
    }
}

#define HALVES                                                                                     \
    ".reg .f32 %f<2>; ld.shared.b16 %h1, [%r3]; ld.shared.b16 %h2, [%r3+2]; "                      \
    "ld.shared.b16 %h3, [%r3+4]; ld.shared.b16 %h4, [%r3+6]; "

/* Accesses in SASS for sm_75, sm_80 and sm_90. */
static void accesses_are_merged_and_removed(void **state)
{
    static const struct {
        const char *access;
        uint64_t want; /* %r3: a multiple of 16 */
    } PATTERNS[] = {
        /* If three words are read, all four are loaded. */
        {"ld.shared.u32 %r6, [%r3+4]; ld.shared.u32 %r7, [%r3]; ld.shared.u32 %r8, [%r3+12];", 1},
        {"ld.shared.u32 %r6, [%r3]; ld.shared.u32 %r7, [%r3+4]; ld.shared.u32 %r8, [%r3+8]; "
         "ld.shared.u32 %r9, [%r3+12]; ld.shared.u32 %r5, [%r3+16];",
         2},
        {"ld.shared.u32 %r6, [%r3+4]; ld.shared.u32 %r7, [%r3+8];", 2},
        {"ld.shared.u32 %r6, [%r3]; ld.shared.u32 %r7, [%r3+12];", 2},
        {"st.shared.u32 [%r3+4], %r6; st.shared.u32 [%r3+8], %r7; st.shared.u32 [%r3+12], %r8;", 2},
        /* Up to four halves, which nothing makes integers. */
        {HALVES "fma.rn.f16 %h5, %h1, %h2, %h3; cvt.f32.f16 %f1, %h4;", 1},
        {HALVES "ld.shared.b16 %h6, [%r3+8]; mov.b32 %r6, {%h6,%h6}; mov.b32 %r7, {%h1,%h2};", 2},
        {HALVES "mov.b32 %r5, {%h1,%h2}; cvt.u32.u16 %r6, %h3; cvt.u32.u16 %r7, %h4;", 3},
        {HALVES "add.u16 %h5, %h1, %h2; add.u16 %h5, %h3, %h4;", 4},
        {"ld.shared.b16 %h1, [%r3+6]; ld.shared.b16 %h2, [%r3+4]; add.f16 %h3, %h1, %h2;", 1},
        {"ld.shared.b16 %h1, [%r3+2]; ld.shared.b16 %h2, [%r3+4]; add.f16 %h3, %h1, %h2;", 2},
        {"st.shared.b16 [%r3], %h1; st.shared.b16 [%r3+2], %h2; st.shared.b16 [%r3+4], %h3; "
         "st.shared.b16 [%r3+6], %h4;",
         1},
        {"st.shared.b16 [%r3], %h1; st.shared.b16 [%r3+2], %h2; st.shared.b16 [%r3+4], %h3;", 2},
        /* Variables are placed in the order of their declaration. */
        {".shared .align 4 .b8 w[16]; .shared .align 4 .u32 n; st.shared.u32 [n], %r6; "
         "ld.shared.u32 %r6, [w]; ld.shared.u32 %r7, [w+4]; ld.shared.u32 %r8, [w+8]; "
         "ld.shared.u32 %r9, [w+12];",
         2},
        {".shared .align 4 .u32 n; .shared .align 4 .b8 w[16]; ld.shared.u32 %r6, [w]; "
         "ld.shared.u32 %r7, [w+4]; st.shared.u32 [n], %r6;",
         3},
        /* A loaded value is not loaded again ... */
        {"ld.shared.u32 %r6, [%r3]; ld.shared.u32 %r7, [%r3];", 1},
        {"ld.shared.u32 %r6, [%r3]; ld.shared.u32 %r6, [%r3]; ld.shared.u32 %r6, [%r3];", 1},
        {"ld.shared.v2.u32 {%r6,%r7}, [%r3]; dp4a.s32.s32 %r5, %r6, %r7, %r5;"
         "ld.shared.v2.u32 {%r8,%r9}, [%r3]; dp4a.s32.s32 %r5, %r8, %r9, %r5;",
         1},
        {"ld.shared.u32 %r6, [%r3]; st.global.u32 [%rd1], %r6; ld.shared.u32 %r7, [%r3];", 1},
        /* ... but where something may be written or heard between the two. */
        {"ld.shared.u32 %r6, [%r3]; st.shared.u32 [%r3+4], %r5; ld.shared.u32 %r7, [%r3];", 3},
        {"ld.shared.u32 %r6, [%r3]; st.u32 [%rd1], %r5; ld.shared.u32 %r7, [%r3];", 2},
        {"ld.shared.u32 %r6, [%r3]; bar.sync 0; ld.shared.u32 %r7, [%r3];", 2},
        {"ld.shared.u32 %r6, [%r3]; bar.warp.sync -1; ld.shared.u32 %r7, [%r3];", 2},
        {"ld.shared.u32 %r6, [%r3]; fence.acq_rel.cta; ld.shared.u32 %r7, [%r3];", 2},
        {"ld.volatile.shared.u32 %r6, [%r3]; ld.shared.u32 %r7, [%r3];", 2},
        {"ld.shared.u32 %r6, [%r3]; ld.volatile.shared.u32 %r7, [%r3];", 2},
        /* Not the same. */
        {"ld.shared.u32 %r6, [%r3]; ld.shared.u32 %r7, [%r3+32];", 2},
        {"ld.shared.u32 %r6, [%r3]; ld.shared.u8 %r7, [%r3];", 2},
        {"ld.shared.u32 %r6, [%r3]; add.u32 %r3, %r3, 16; ld.shared.u32 %r7, [%r3];", 2},
        {"st.shared.u32 [%r3], %r3; ld.shared.u32 %r3, [%r3]; ld.shared.u32 %r7, [%r3];", 3},
        {"ld.shared.u32 %r6, [%r3]; setp.eq.u32 %p1, %r1, 0; @%p1 ld.shared.u32 %r7, [%r3];", 2},
        {"mov.u32 %r6, 0; LOOP: add.u32 %r6, %r6, 1; ld.shared.u32 %r7, [%r3];"
         "setp.lt.u32 %p1, %r6, 3; @%p1 bra LOOP; ld.shared.u32 %r8, [%r3];",
         4}};
    (void)state;
    for (size_t i = 0; i < sizeof PATTERNS / sizeof *PATTERNS; i++) {
        char access[500];
        snprintf(access, sizeof access, "mad.lo.s32 %%r3, %%r1, 64, %%r2;\n%s", PATTERNS[i].access);
        Counters counters = shared_counters(access);
        uint64_t all = counters.shared_load_requests + counters.shared_store_requests;
        if (all != PATTERNS[i].want) fail_msg("%s %llu requests", access, (unsigned long long)all);
    }
}

/* Values of ncu on an H200, including wavefronts beyond the minimum for the bytes. A bank serves
 * one lane after the other, a compare-and-swap takes twice as long, and each iteration of a loop
 * serves one lane of each bank. */
static void atomics_pass_by_banks(void **state)
{
    static const struct {
        const char *place, *access;
        uint32_t stride;
        uint64_t want, conflicts;
    } PATTERNS[] = {
        {"mov.u32 %r4, %r1;", "red.shared.add.u32 [%r3], %r1;", 4, 1, 0},
        {"mov.u32 %r4, %r1;", "red.shared.add.u32 [%r3], %r1;", 8, 2, 1},
        {"shr.u32 %r4, %r1, 2;", "red.shared.or.b32 [%r3], %r1;", 4, 4, 3},
        {"shr.u32 %r4, %r1, 3;", "red.shared.max.s32 [%r3], %r1;", 128, 32, 31},
        {"mov.u32 %r4, %r1;", "atom.shared.cas.b32 %r5, [%r3], %r1, 7;", 4, 2, 0},
        {"shr.u32 %r4, %r1, 2;", "atom.shared.cas.b32 %r5, [%r3], %r1, 7;", 4, 8, 6},
        {"mov.u32 %r4, %r1;", "atom.shared.cas.b32 %r5, [%r3], %r1, 7;", 128, 64, 62},
        {"mov.u32 %r4, %r1;", "red.shared.add.f32 [%r3], 0f3f800000;", 4, 1 + 2, 0},
        {"shr.u32 %r4, %r1, 1;", "red.shared.add.f32 [%r3], 0f3f800000;", 4, 2 * 3, 0},
        {"shr.u32 %r4, %r1, 5;", "red.shared.add.f32 [%r3], 0f3f800000;", 4, 32 * 3, 0},
        {"shr.u32 %r4, %r1, 2;", "red.shared.add.f32 [%r3], 0f3f800000;", 128, 144 + 64, 112},
        {"mov.u32 %r4, %r1;", "red.shared.add.f64 [%r3], 0d3ff0000000000000;", 8, 2 + 4, 0},
        {"shr.u32 %r4, %r1, 3;", "red.shared.add.u64 [%r3], 12345;", 8, 8 + 32, 8},
        {"and.b32 %r4, %r1, 3;", "red.shared.add.f64 [%r3], 0d3ff0000000000000;", 8, 12 + 24, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof PATTERNS / sizeof *PATTERNS; i++) {
        char access[400];
        snprintf(access, sizeof access, "%s mad.lo.s32 %%r3, %%r4, %u, %%r2;\n%s",
                 PATTERNS[i].place, PATTERNS[i].stride, PATTERNS[i].access);
        Counters counters = shared_counters(access);
        uint64_t all = counters.shared_wavefronts + counters.shared_atomic_wavefronts;
        if (all != PATTERNS[i].want || counters.bank_conflicts != PATTERNS[i].conflicts)
            fail_msg("%s %llu wavefronts, %llu too many", access, (unsigned long long)all,
                     (unsigned long long)counters.bank_conflicts);
    }
}

/* The loads and stores of wmma are tested as ptxas compiles them. Inputs of halves and bytes are
 * loaded as by ldmatrix, bytes in the other layout one by one, and accumulators in pairs of a
 * row. */
static void matrices_are_accessed_as_by_machine_code(void **state)
{
    static const struct {
        const char *access;
        uint32_t pitch; /* elements */
        uint64_t requests, want;
    } PATTERNS[] = {
        {"wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {H}, [%r2], P;", 40, 1, 4},
        {"wmma.load.b.sync.aligned.row.m16n16k16.shared.f16 {H}, [%r2], P;", 72, 1, 4},
        {"wmma.load.a.sync.aligned.col.m16n16k16.shared.f16 {H}, [%r2], P;", 64, 1, 32},
        {"wmma.load.b.sync.aligned.col.m8n32k16.shared.f16 {H}, [%r2], P;", 24, 2, 8},
        {"wmma.load.a.sync.aligned.row.m8n32k16.shared.f16 {H}, [%r2], P;", 16, 1, 4},
        {"wmma.load.a.sync.aligned.row.m16n16k16.shared.s8 {%r5,%r6}, [%r2], P;", 16, 1, 2},
        {"wmma.load.a.sync.aligned.col.m16n16k16.shared.s8 {%r5,%r6}, [%r2], P;", 16, 8, 16},
        {"wmma.load.b.sync.aligned.col.m32n8k16.shared.u8 {%r5}, [%r2], P;", 16, 1, 1},
        {"wmma.load.b.sync.aligned.row.m32n8k16.shared.u8 {%r5}, [%r2], P;", 64, 4, 16},
        {"wmma.load.a.sync.aligned.row.m16n16k8.shared.tf32 {Q}, [%r2], P;", 8, 4, 8},
        {"wmma.load.a.sync.aligned.col.m16n16k8.shared.tf32 {Q}, [%r2], P;", 16, 4, 8},
        {"wmma.load.c.sync.aligned.row.m16n16k16.shared.f32 {H}, [%r2], P;", 16, 4, 16},
        {"wmma.load.c.sync.aligned.col.m16n16k16.shared.f32 {H}, [%r2], P;", 20, 8, 8},
        {"wmma.load.c.sync.aligned.row.m16n16k16.shared.f16 {Q}, [%r2], P;", 24, 4, 4},
        {"wmma.load.b.sync.aligned.row.m8n32k16.shared.s8 {Q}, [%r2], P;", 32, 16, 64},
        {"wmma.store.d.sync.aligned.col.m8n32k16.shared.s32 [%r2], {H}, P;", 8, 4, 8},
        {"wmma.store.d.sync.aligned.row.m8n32k16.shared.s32 [%r2], {H}, P;", 36, 8, 8}};
    (void)state;
    for (size_t i = 0; i < sizeof PATTERNS / sizeof *PATTERNS; i++) {
        char access[400] = "";
        for (const char *c = PATTERNS[i].access; *c; c++) {
            char part[60] = {*c, '\0'};
            if (*c == 'H') strcpy(part, "%r5,%r6,%r7,%r8,%r9,%r10,%r11,%r12");
            if (*c == 'Q') strcpy(part, "%r5,%r6,%r7,%r8");
            if (*c == 'P') snprintf(part, sizeof part, "%u", PATTERNS[i].pitch);
            strcat(access, part);
        }
        Counters c = shared_counters(access);
        uint64_t requests = c.shared_load_requests + c.shared_store_requests;
        if (requests != PATTERNS[i].requests || c.shared_wavefronts != PATTERNS[i].want)
            fail_msg("%s %llu accesses, %llu wavefronts", access, (unsigned long long)requests,
                     (unsigned long long)c.shared_wavefronts);
    }
}

/* Values of ncu on an H200. Halves of sectors share a wavefront if they come from one line, go to
 * one row and stay halves of the same kind; a sector goes to one place at a time. The hardware
 * counts sectors of shared memory once for each source line; ncu's source page counts them once for
 * each source sector. */
static void copies_that_bypass_the_l1_count_sectors(void **state)
{
    static const struct {
        uint32_t pitch, begin, stride, lanes;
        uint64_t want, loaded, copied;
    } PATTERNS[] = {
        {16, 0, 16, 32, 4, 16, 16},   {16, 16, 16, 32, 12, 20, 32}, {16, 32, 16, 32, 8, 16, 16},
        {16, 48, 16, 32, 16, 20, 32}, {64, 0, 16, 32, 32, 32, 32},  {144, 0, 16, 32, 32, 32, 32},
        {32, 0, 16, 32, 32, 32, 32},  {48, 0, 16, 32, 24, 32, 32},  {48, 48, 16, 32, 28, 32, 32},
        {16, 0, 32, 32, 32, 16, 32},  {64, 0, 64, 32, 16, 32, 32},  {128, 0, 48, 32, 32, 32, 32},
        {16, 16, 16, 2, 2, 2, 2},     {16, 0, 16, 2, 1, 1, 1}};
    (void)state;
    for (size_t i = 0; i < sizeof PATTERNS / sizeof *PATTERNS; i++) {
        char text[2048];
        SimtResult result;
        SimtGpu *gpu = gpu_open(1, 0, 1);
        uint64_t from = device_data(gpu, NULL, 8192);
        snprintf(text, sizeof text,
                 "%s.visible .entry k(.param .u64 from)\n{\n.shared .align 128 .b8 s[8192];\n"
                 ".reg .b32 %%r<5>; .reg .b64 %%rd<4>; .reg .pred %%p;\n"
                 "ld.param.u64 %%rd1, [from]; mov.u32 %%r1, %%tid.x; mov.u32 %%r2, s;\n"
                 "mad.lo.s32 %%r2, %%r1, %u, %%r2; mul.wide.u32 %%rd2, %%r1, %u;\n"
                 "add.s64 %%rd3, %%rd1, %%rd2; setp.lt.u32 %%p, %%r1, %u;\n"
                 "@%%p cp.async.cg.shared.global [%%r2+%u], [%%rd3], 16;\n"
                 "cp.async.wait_all; ret;\n}\n",
                 HEAD, PATTERNS[i].pitch, PATTERNS[i].stride, PATTERNS[i].lanes, PATTERNS[i].begin);
        assert_int_equal(run(gpu, text, 1, 32, 0, &from, 8, &result), 0);
        if (result.counters.shared_wavefronts != PATTERNS[i].want)
            fail_msg("pitch %u from %u, stride %u: %llu wavefronts", PATTERNS[i].pitch,
                     PATTERNS[i].begin, PATTERNS[i].stride,
                     (unsigned long long)result.counters.shared_wavefronts);
        assert_int_equal(result.counters.global_load_sectors, PATTERNS[i].loaded);
        assert_int_equal(result.counters.copied_sectors, PATTERNS[i].copied);
        simt_close(gpu);
    }
}

/* A copy with an explicit size first writes zeros everywhere, as a store would, and then the data.
 * The values are those of ncu for the waiting copies of access-patterns.cu. */
static void copies_that_may_be_short_write_zeros_first(void **state)
{
    static const struct {
        const char *there; /* r3 is 16, r4 0, r5 0 where p holds, of half the lanes; q: of all */
        uint32_t pitch, stride;
        uint64_t want, conflicts;
    } SIZES[] = {{"16", 16, 16, 4, 0},    {"%r3", 16, 16, 8, 0}, {"%r3", 64, 64, 32, 24},
                 {"%r3", 80, 16, 36, 28}, {"%r4", 16, 16, 4, 0}, {"0", 16, 16, 4, 0},
                 {"8", 16, 16, 8, 0},     {"%p", 16, 16, 8, 2},  {"%q", 16, 16, 4, 0},
                 {"%r5", 16, 16, 8, 2}};
    (void)state;
    for (size_t i = 0; i < sizeof SIZES / sizeof *SIZES; i++) {
        char text[2048];
        SimtResult result;
        SimtGpu *gpu = gpu_open(1, 0, 1);
        uint64_t from = device_data(gpu, NULL, 8192);
        snprintf(text, sizeof text,
                 "%s.visible .entry k(.param .u64 from)\n{\n.shared .align 128 .b8 s[8192];\n"
                 ".reg .b32 %%r<7>; .reg .b64 %%rd<4>; .reg .pred %%p, %%q;\n"
                 "ld.param.u64 %%rd1, [from]; mov.u32 %%r1, %%tid.x; mov.u32 %%r2, s;\n"
                 "mad.lo.s32 %%r2, %%r1, %u, %%r2; mad.wide.u32 %%rd3, %%r1, %u, %%rd1;\n"
                 "mov.u32 %%r3, 16; mov.u32 %%r4, 0; shr.u32 %%r6, 0xf00ff0f0, %%r1;\n"
                 "and.b32 %%r6, %%r6, 1; setp.ne.u32 %%p, %%r6, 0; setp.ne.u32 %%q, %%r3, 0;\n"
                 "selp.u32 %%r5, 0, 16, %%p;\n"
                 "cp.async.cg.shared.global [%%r2], [%%rd3], 16, %s;\n"
                 "cp.async.wait_all; ret;\n}\n",
                 HEAD, SIZES[i].pitch, SIZES[i].stride, SIZES[i].there);
        assert_int_equal(run(gpu, text, 1, 32, 0, &from, 8, &result), 0);
        if (result.counters.shared_wavefronts != SIZES[i].want ||
            result.counters.bank_conflicts != SIZES[i].conflicts)
            fail_msg("%s, pitch %u: %llu wavefronts, %llu conflicts", SIZES[i].there,
                     SIZES[i].pitch, (unsigned long long)result.counters.shared_wavefronts,
                     (unsigned long long)result.counters.bank_conflicts);
        simt_close(gpu);
    }
}

/* Repeated copies hit in the L1, unless they bypass it. */
static void copies_that_bypass_the_l1_never_hit(void **state)
{
    static const char *const WAY[] = {"ca", "cg"};
    (void)state;
    for (uint32_t past = 0; past < 2; past++) {
        char text[2048];
        SimtResult result;
        SimtGpu *gpu = gpu_open(1, 0, 1);
        uint64_t from = device_data(gpu, NULL, 8192);
        snprintf(text, sizeof text,
                 "%s.visible .entry k(.param .u64 from)\n{\n.shared .align 128 .b8 s[1024];\n"
                 ".reg .b32 %%r<3>; .reg .b64 %%rd<4>;\n"
                 "ld.param.u64 %%rd1, [from]; mov.u32 %%r1, %%tid.x; mov.u32 %%r2, s;\n"
                 "mad.lo.s32 %%r2, %%r1, 16, %%r2; mad.wide.u32 %%rd3, %%r1, 16, %%rd1;\n"
                 "cp.async.%s.shared.global [%%r2], [%%rd3], 16;\n"
                 "cp.async.%s.shared.global [%%r2+512], [%%rd3], 16; cp.async.wait_all; ret;\n}\n",
                 HEAD, WAY[past], WAY[past]);
        assert_int_equal(run(gpu, text, 1, 32, 0, &from, 8, &result), 0);
        assert_int_equal(result.counters.global_load_sectors, 2 * 16);
        assert_int_equal(result.counters.l1_hit_sectors, past ? 0 : 16);
        assert_int_equal(result.counters.copied_sectors, past ? 2 * 16 : 0);
        simt_close(gpu);
    }
}

/* ptxas joins neighbouring stores of two bytes and more, where another access by the same register
 * shows that they are aligned and nothing between them may read them or write them. */
static void neighbouring_stores_are_merged(void **state)
{
#define PAIR "st.global.u16 [%rd2+12], %h1; st.global.v2.u8 [%rd2+14], {%h1,%h1};"
    static const struct {
        const char *text;
        uint64_t requests, sectors; /* 16 bytes per lane */
    } STORES[] = {
        {PAIR, 2, 32},
        {"st.global.u32 [%rd2], %r1; " PAIR, 2, 32},
        {PAIR "st.global.u32 [%rd2+8], %r1;", 2, 32},
        {"st.global.f64 [%rd2], %d1; st.global.u32 [%rd2+8], %r1; " PAIR, 3, 48},
        {"st.global.f64 [%rd2], %d1; st.global.u32 [%rd2+8], %r1; st.global.u32 [%rd2+12], %r1;", 2,
         32},
        {"st.global.u32 [%rd2+8], %r1; st.global.u32 [%rd2+12], %r1;", 2, 32},
        {"st.global.f64 [%rd2+8], %d1; st.global.u16 [%rd2], %h1; st.global.u16 [%rd2+2], %h1; "
         "st.global.u16 [%rd2+4], %h1; st.global.u16 [%rd2+6], %h1;",
         2, 32},
        {"st.global.u32 [%rd2], %r1; st.global.u8 [%rd2+4], %h1; st.global.u8 [%rd2+5], %h1;", 3,
         48},
        {"st.global.u32 [%rd2], %r1; st.global.u16 [%rd2+6], %h1; st.global.u16 [%rd2+8], %h1;", 3,
         48},
        {"st.global.u32 [%rd2], %r1; st.global.u16 [%rd2+12], %h1; ld.global.u32 %r1, [%rd1]; "
         "st.global.u16 [%rd2+14], %h1;",
         3, 48},
        {"st.global.u32 [%rd2], %r1; st.global.u16 [%rd2+12], %h1; st.global.u32 [%rd1], %r1; "
         "st.global.u16 [%rd2+14], %h1;",
         4, 49},
        {"st.volatile.global.u32 [%rd2+8], %r1; st.volatile.global.u32 [%rd2+12], %r1; "
         "st.global.f64 [%rd2], %d1;",
         3, 48},
    };
#undef PAIR
    (void)state;
    SimtGpu *gpu = gpu_open(1, 0, 1);
    uint64_t out = device_data(gpu, NULL, 8192);
    for (size_t i = 0; i < sizeof STORES / sizeof *STORES; i++) {
        char text[2048];
        SimtResult result;
        snprintf(text, sizeof text,
                 "%s.visible .entry k(.param .u64 out)\n{\n.reg .b64 %%rd<4>; .reg .b32 %%r<4>; "
                 ".reg .b16 %%h<4>; .reg .f64 %%d<4>;\n"
                 "ld.param.u64 %%rd1, [out]; mov.u32 %%r1, %%tid.x; mul.wide.u32 %%rd2, %%r1, 16;\n"
                 "add.s64 %%rd2, %%rd1, %%rd2; mov.u16 %%h1, 3; mov.f64 %%d1, "
                 "0d0000000000000000;\n%s\nret;\n}\n",
                 HEAD, STORES[i].text);
        assert_int_equal(run(gpu, text, 1, 32, 0, &out, 8, &result), 0);
        if (result.counters.global_store_requests != STORES[i].requests ||
            result.counters.global_store_sectors != STORES[i].sectors)
            fail_msg("%s %llu stores, %llu sectors", STORES[i].text,
                     (unsigned long long)result.counters.global_store_requests,
                     (unsigned long long)result.counters.global_store_sectors);
    }
    simt_close(gpu);
}

/* Two words of each vector of four are two loads, each of which touches every sector. */
static void unused_words_are_not_loaded(void **state)
{
    (void)state;
    SimtGpu *gpu = gpu_open(1, 0, 1);
    uint64_t out = device_data(gpu, NULL, 8192);
    static const char TEXT[] =
        HEAD ".visible .entry k(.param .u64 out)\n{\n.reg .b64 %rd<4>; .reg .b32 %r<6>;\n"
             "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 16;\n"
             "add.s64 %rd3, %rd1, %rd2; ld.global.v4.u32 {%r2,%r3,%r4,%r5}, [%rd3];\n"
             "add.u32 %r2, %r2, %r5; st.global.u32 [%rd3], %r2; ret;\n}\n";
    SimtResult result;
    assert_int_equal(run(gpu, TEXT, 1, 32, 0, &out, 8, &result), 0);
    assert_int_equal(result.counters.global_load_requests, 2);
    assert_int_equal(result.counters.global_load_sectors, 2 * 16);
    assert_int_equal(result.counters.global_load_bytes, 2 * 128);
    assert_int_equal(result.counters.l1_hit_sectors, 16);
    simt_close(gpu);
}

static void branches_are_counted(void **state)
{
    (void)state;
    SimtGpu *gpu = gpu_open(1, 0, 1);
    uint64_t out = device_data(gpu, NULL, 64);
    SimtResult result;
    static const char TEXT[] = KERNEL(
        "",
        "setp.lt.u32 %p1, %r1, 40; @%p1 bra A; bar.sync 0; bra B;\nA: mov.u32 %r5, 1; bra B;\nB:");
    static const char CLEAN[] = KERNEL("", "setp.lt.u32 %p1, %r1, 40; @%p1 bra A; mov.u32 %r5, 2; "
                                           "bra B;\nA: mov.u32 %r5, 1;\nB: bar.sync 0;");
    assert_int_equal(run(gpu, CLEAN, 1, 96, 0, &out, 8, &result), 0);
    assert_int_equal(result.counters.divergent_branches, 1);
    assert_int_equal(result.counters.branches,
                     3 + 2); /* three warps at the first, two with lanes at the second */
    assert_int_equal(result.counters.barriers, 3);
    assert_int_equal(run(gpu, TEXT, 1, 96, 0, &out, 8, &result), -1);
    assert_int_equal(result.report.check, SIMT_SYNCCHECK);
    simt_close(gpu);
}

/* ---- host threads ------------------------------------------------------------------------- */
static void host_threads_do_not_show(void **state)
{
    static const int THREADS[] = {1, 2, 3, 7};
    (void)state;
    SimtResult first;
    static uint32_t words[4][6400];
    for (int i = 0; i < 4; i++) {
        SimtGpu *gpu = gpu_open(THREADS[i], 1, 1);
        uint64_t out = device_data(gpu, NULL, sizeof words[i]);
        SimtResult result;
        assert_int_equal(run(gpu, COLLATZ, 64, 100, 0, &out, 8, &result), 0);
        device_fetch(gpu, out, words[i], sizeof words[i]);
        if (i == 0) first = result;
        assert_memory_equal(&result, &first, sizeof result);
        assert_memory_equal(words[i], words[0], sizeof words[0]);
        assert_true(result.cycles > 1000);
        simt_close(gpu);
    }
}

/* 64 blocks load 256 bytes each, eight blocks the same ones, a megabyte from the next ones; each
 * stores 256 bytes that no other does. */
static void traffic_of_all_workers_is_one(void **state)
{
    (void)state;
    enum { SECTOR = 32, LOADED = 8 * 256 / SECTOR, STORED = 64 * 256 / SECTOR };
    static const char TEXT[] =
        KERNEL("", "and.b32 %r5, %r2, 7; mul.wide.u32 %rd3, %r5, 1048576; add.s64 %rd3, %rd1, "
                   "%rd3;\n"
                   "mul.wide.u32 %rd4, %r1, 4; add.s64 %rd3, %rd3, %rd4;\n"
                   "ld.global.u32 %r6, [%rd3]; shr.u32 %r7, %r2, 3; mul.wide.u32 %rd5, %r7, 256;\n"
                   "add.s64 %rd5, %rd3, %rd5; st.global.u32 [%rd5+524288], %r6;");
    for (int threads = 1; threads <= 9; threads += 4) {
        SimtGpu *gpu = gpu_open(threads, 0, 1);
        uint64_t data = device_data(gpu, NULL, 8 << 20);
        SimtResult result;
        assert_int_equal(run(gpu, TEXT, 64, 64, 0, &data, 8, &result), 0);
        assert_int_equal(result.counters.dram_bytes, (LOADED + STORED) * SECTOR);
        simt_close(gpu);
    }
}

/* Races between blocks are detected, too, when the search runs concurrently with the replay: in a
 * megabyte. */
static void races_do_not_depend_on_threads(void **state)
{
    (void)state;
    enum { BLOCKS = 2048, THREADS = 128 };
    static const char TEXT[] = KERNEL(
        "",
        "st.global.u32 [%rd2], %r4; setp.eq.u32 %p1, %r1, 5; @%p1 st.global.u32 [%rd1+8], %r2;");
    SimtResult first;
    for (int threads = 1; threads <= 9; threads += 4) {
        SimtOptions options = {.threads = threads, .initcheck = 1, .racecheck = 1, .count = 1};
        Error error;
        SimtGpu *gpu = simt_open(&SMALL, &options, &error);
        uint64_t out = device_data(gpu, NULL, BLOCKS * THREADS * 4);
        SimtResult result;
        assert_int_equal(run(gpu, TEXT, BLOCKS, THREADS, 0, &out, 8, &result), 0);
        if (threads == 1) first = result;
        assert_memory_equal(&result, &first, sizeof result);
        assert_int_equal(result.report.check, SIMT_RACECHECK);
        assert_int_equal(result.findings, 1); /* word 2 */
        simt_close(gpu);
    }
}

/* The launch's verdict with this number of host threads and this limit (0: practically none). */
static SimtCheck check_with(const char *text, int threads, uint64_t limit, uint64_t *executed)
{
    SimtOptions options = {.threads = threads, .instruction_limit = limit};
    Error error;
    SimtGpu *gpu = simt_open(&SMALL, &options, &error);
    uint64_t out = device_data(gpu, NULL, 64 * 100 * 4);
    SimtResult result;
    run(gpu, text, 64, 100, 0, &out, 8, &result);
    *executed = result.counters.warp_instructions;
    simt_close(gpu);
    return result.report.check;
}

/* The limit applies to the sum over all host threads, to the last instruction: for short warps, and
 * for one that executes 20000 iterations before others start. */
static void a_limit_is_exact(void **state)
{
    (void)state;
    static const char TURNS[] =
        KERNEL("", "mov.u32 %r5, 20000;\nLOOP: sub.u32 %r5, %r5, 1; setp.ne.u32 %p1, %r5, 0;\n"
                   "@%p1 bra LOOP;");
    for (int i = 0; i < 2; i++) {
        const char *text = i ? TURNS : COLLATZ;
        uint64_t first, executed;
        assert_int_equal(check_with(text, 1, 0, &first), SIMT_OK);
        assert_true(first > 64 * 4 * 100);
        for (int threads = 1; threads <= 9; threads += 4) {
            assert_int_equal(check_with(text, threads, first, &executed), SIMT_OK);
            assert_int_equal(executed, first);
            assert_int_equal(check_with(text, threads, first - 1, &executed), SIMT_TIMEOUT);
        }
    }
}

/* Two runs of one launch are alike in every number, and the count of host threads is no input of
 * the fault either. */
static void first_fault_wins(void **state)
{
    (void)state;
    static const char TEXT[] = KERNEL(
        "", "setp.lt.u32 %p1, %r2, 37; @%p1 bra FINE; st.global.u32 [%rd1+4096], %r1;\nFINE:");
    for (int threads = 1; threads <= 7; threads += 3)
        for (int again = 0; again < 5; again++) {
            SimtGpu *gpu = gpu_open(threads, 0, 0);
            uint64_t out = device_data(gpu, NULL, 64);
            SimtResult result;
            assert_int_equal(run(gpu, TEXT, 400, 64, 0, &out, 8, &result), -1);
            assert_int_equal(result.report.block[0], 37);
            simt_close(gpu);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_that_complete),
        cmocka_unit_test(shared_conflicts),
        cmocka_unit_test(wide_accesses_are_split_into_parts_of_a_warp),
        cmocka_unit_test(accesses_are_merged_and_removed),
        cmocka_unit_test(atomics_pass_by_banks),
        cmocka_unit_test(matrices_are_accessed_as_by_machine_code),
        cmocka_unit_test(copies_that_bypass_the_l1_count_sectors),
        cmocka_unit_test(copies_that_may_be_short_write_zeros_first),
        cmocka_unit_test(copies_that_bypass_the_l1_never_hit),
        cmocka_unit_test(neighbouring_stores_are_merged),
        cmocka_unit_test(unused_words_are_not_loaded),
        cmocka_unit_test(branches_are_counted),
        cmocka_unit_test(host_threads_do_not_show),
        cmocka_unit_test(traffic_of_all_workers_is_one),
        cmocka_unit_test(races_do_not_depend_on_threads),
        cmocka_unit_test(a_limit_is_exact),
        cmocka_unit_test(first_fault_wins)};
    return cmocka_run_group_tests_name("simt checks", tests, NULL, NULL);
}
