/* test_simt.c - hand-written PTX, one instruction form at a time, on every instruction set of the
 * host. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/simulator/core/core.h"
#include "common/simulator/exec/exec.h"
#include "common/base/texture.h"
#include "common/simulator/tests/simt_fixture.h"

typedef struct Form {
    const char *body;
    char result; /* r: 32 bits, d: 64, h: 16, p: predicate */
    uint64_t a, b, c, want;
} Form;

static const Form FORMS[] = {
#include "common/simulator/tests/test_simt_forms.inc"
#include "common/simulator/tests/test_simt_video.inc"
};

#define PROLOGUE                                                                                   \
    HEAD ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n"                                 \
         ".reg .b32 %r<10>; .reg .b64 %rd<20>; .reg .b16 %h<10>; .reg .f32 %f<10>; .reg .f64 "     \
         "%fd<10>;\n"                                                                              \
         ".reg .pred %p<10>;\n"                                                                    \
         "ld.param.u64 %rd10, [in]; ld.param.u64 %rd11, [out]; mov.u32 %r0, %tid.x; mul.wide.u32 " \
         "%rd12, %r0, 8;\n"                                                                        \
         "add.s64 %rd11, %rd11, %rd12; ld.global.u64 %rd1, [%rd10]; ld.global.u64 %rd2, "          \
         "[%rd10+8];\n"                                                                            \
         "ld.global.u64 %rd3, [%rd10+16]; cvt.u32.u64 %r1, %rd1; cvt.u32.u64 %r2, %rd2; "          \
         "cvt.u32.u64 %r3, %rd3;\n"                                                                \
         "mov.b32 %f1, %r1; mov.b32 %f2, %r2; mov.b32 %f3, %r3; mov.b64 %fd1, %rd1; mov.b64 "      \
         "%fd2, %rd2;\n"                                                                           \
         "mov.b64 %fd3, %rd3; cvt.u16.u32 %h1, %r1; cvt.u16.u32 %h2, %r2; cvt.u16.u32 %h3, %r3;\n"

static const char *epilogue_of(const Form *form)
{
    int is_float = strstr(form->body, "%f9") != NULL,
        is_double = strstr(form->body, "%fd9") != NULL;
    switch (form->result) {
    case 'r':
        return is_float ? "mov.b32 %r9, %f9; cvt.u64.u32 %rd9, %r9;" : "cvt.u64.u32 %rd9, %r9;";
    case 'd':
        return is_double ? "mov.b64 %rd9, %fd9;" : "";
    case 'h':
        return "cvt.u64.u16 %rd9, %h9;";
    default:
        return "selp.u64 %rd9, 1, 0, %p9;";
    }
}

static void form_check(SimtGpu *gpu, const Form *form, uint32_t threads)
{
    char text[4096];
    uint64_t in, out, operands[3] = {form->a, form->b, form->c}, got[32];
    snprintf(text, sizeof text, "%s%s\n%s\nst.global.u64 [%%rd11], %%rd9;\nret;\n}\n", PROLOGUE,
             form->body, epilogue_of(form));
    in = device_data(gpu, operands, sizeof operands);
    memset(got, 0xee, sizeof got);
    out = device_data(gpu, got, sizeof got);
    uint64_t params[2] = {in, out};
    SimtResult result;
    if (run(gpu, text, 1, threads, 0, params, sizeof params, &result) != 0)
        fail_msg("%s: %s", form->body, result.report.text);
    device_fetch(gpu, out, got, sizeof got);
    for (uint32_t i = 0; i < 32; i++) {
        uint64_t want = i < threads ? form->want : 0xeeeeeeeeeeeeeeeeu;
        if (got[i] != want)
            fail_msg("%s of 0x%llx, 0x%llx, 0x%llx in thread %u of %u: 0x%llx, not 0x%llx",
                     form->body, (unsigned long long)form->a, (unsigned long long)form->b,
                     (unsigned long long)form->c, i, threads, (unsigned long long)got[i],
                     (unsigned long long)want);
    }
}

static void forms_on(int level)
{
    exec_level = level;
    SimtGpu *gpu = gpu_open(1, 1, 0);
    for (size_t i = 0; i < sizeof FORMS / sizeof *FORMS; i++) {
        form_check(gpu, &FORMS[i], 32);
        form_check(gpu, &FORMS[i], 19);
    }
    simt_close(gpu);
    exec_level = 2;
}

static void forms_base(void **state)
{
    (void)state;
    forms_on(0);
}

static void forms_avx2(void **state)
{
    (void)state;
    forms_on(1);
}

static void forms_avx512(void **state)
{
    (void)state;
    forms_on(2);
}

/* Lane i has the bits of i: bit 0 makes the value, bit 1 is the predicate that joins. */
static void a_predicate_of_lop3(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t lanes; /* lanes (of four) whose predicate is set */
        uint32_t value;
    } CASE[] = {{"lop3.or.b32 %r9|%p2, %r2, 12, 10, 0xE8, %p1;", 0xf, 8},
                {"lop3.and.b32 %r9|%p2, %r2, 12, 10, 0xE8, %p1;", 0xc, 8},
                {"lop3.or.b32 %r9|%p2, %r2, %r2, 0, 0xC0, %p1;", 0xe, 0},
                {"lop3.and.b32 %r9|%p2, %r2, %r2, 0, 0xC0, !%p1;", 0x2, 0},
                {"lop3.or.b32 _|%p2, %r2, %r2, 0, 0xC0, !%p1;", 0xb, 0},
                {"lop3.and.b32 %r9|%p1, %r2, %r2, 0, 0xC0, %p1; mov.pred %p2, %p1;", 0x8, 0}};
    SimtGpu *gpu = gpu_open(1, 0, 0);
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        char text[1024];
        uint32_t out[2] = {0};
        uint64_t to = device_data(gpu, out, sizeof out);
        SimtResult result;
        snprintf(text, sizeof text,
                 HEAD ".visible .entry k(.param .u64 out)\n{\n"
                      ".reg .b32 %%r<12>; .reg .b64 %%rd<2>; .reg .pred %%p<4>;\n"
                      "ld.param.u64 %%rd1, [out]; mov.u32 %%r1, %%tid.x; and.b32 %%r2, %%r1, 1;\n"
                      "and.b32 %%r3, %%r1, 2; setp.ne.u32 %%p1, %%r3, 0; mov.u32 %%r9, 0;\n"
                      "%s\n"
                      "vote.sync.ballot.b32 %%r4, %%p2, 15; st.global.u32 [%%rd1], %%r4;\n"
                      "setp.eq.u32 %%p3, %%r1, 0; @%%p3 st.global.u32 [%%rd1+4], %%r9;\nret;\n}\n",
                 CASE[i].text);
        if (run(gpu, text, 1, 4, 0, &to, sizeof to, &result)) fail_msg("%s", result.report.text);
        device_fetch(gpu, to, out, sizeof out);
        if (out[0] != CASE[i].lanes || out[1] != CASE[i].value)
            fail_msg("%s: lanes 0x%x, value %u", CASE[i].text, out[0], out[1]);
    }
    simt_close(gpu);
}

/* Gradients of a texture may be constants; who asks for words of a texture of floats gets bits. */
static void words_of_a_texture_level_by_constant_gradients(void **state)
{
    (void)state;
    static const char READ[] =
        HEAD ".visible .entry k(.param .u64 texture, .param .u64 out)\n{\n"
             ".reg .b32 %r<5>; .reg .b64 %rd<3>; .reg .f32 %f<2>;\n"
             "ld.param.u64 %rd1, [texture]; ld.param.u64 %rd2, [out]; mov.f32 %f1, 0f3F000000;\n"
             "tex.grad.2d.v4.u32.f32 {%r1, %r2, %r3, %r4}, [%rd1, {%f1, %f1}], "
             "{0f40000000, 0f00000000}, {0f00000000, 0f40000000};\n"
             "st.global.u32 [%rd2], %r1;\nret;\n}\n";
    const float level[2][128] = {{1, 2}, {-2}};
    Texture texture = {.magic = TEXTURE_MAGIC,
                       .pitch = 512,
                       .slice = 512,
                       .extent = {2, 1, 1},
                       .channels = 1,
                       .channel_bytes = 4,
                       .texel = 4,
                       .kind = TEXEL_FLOAT,
                       .levels = 2,
                       .level_most = 1};
    uint64_t params[2];
    uint32_t got = 0;
    SimtResult result;
    SimtGpu *gpu = gpu_open(1, 1, 1);
    texture.address = device_data(gpu, level, sizeof level);
    params[0] = device_data(gpu, &texture, sizeof texture);
    params[1] = device_data(gpu, NULL, sizeof got);
    if (run(gpu, READ, 1, 1, 0, params, sizeof params, &result)) fail_msg("%s", result.report.text);
    device_fetch(gpu, params[1], &got, sizeof got);
    assert_int_equal(got, 0xc0000000u);
    simt_close(gpu);
}

/* Unsupported instructions and modifiers must be rejected with their name and line. */
#define Q          ".reg .b128 %q<2>; "
#define SPARSE     "mma.sp.sync.aligned."
#define HALVES     ".row.col.f16.f16.f16.f16 {%r1, %r2}"
#define CHOICE     "that choice of lanes for the metadata"
#define SAYS_OTHER "ptxas and the PTX ISA say different things"

static void unknown_instructions_are_rejected(void **state)
{
    static const char *const BODIES[][2] = {
        {"wgmma.fence.sync.aligned;", "has no wgmma (wgmma = 0)"},
        {"cp.async.bulk.commit_group;",
         "has no tensor memory accelerator (cp.async.bulk) (tma = 0)"},
        {"setmaxnreg.inc.sync.aligned.u32 240;", "has no setmaxnreg (register_reallocation = 0)"},
        {"barrier.cluster.arrive;", "has no clusters of blocks (clusters = 0)"},
        {"tcgen05.wait::ld.sync.aligned;", "tensor cores and their memory (tcgen05) are not"},
        {"add.foo.s32 %r1, %r1, %r1;", ".foo"},
        {"ld.global.v8.f32 %f1, [%rd1];", "v8"},
        {"mov.u32 %r1, %nosuch;", "%nosuch"},
        {"add.s32 %r1, %rd1, 1;", "width"},
        {"add.s32 %r1.h0, %r1, 1;", "a part of a register"},
        {"add.s32 %r1, %r1.b1, 1;", "a part of a register"},
        {"add.s32 %r1, -%r1, 1;", "a register with a minus"},
        {"add.s32 %r1, -k, 1;", "'-' before something that is no register"},
        {"st.global.u32 [%rd1], -%r1;", "a register with a minus"},
        {Q "add.s32 %r1, %q1, 1;", "width"},
        {Q "mov.b128 %q1, %rd1;", "what is no register of 128 bits"},
        {Q "mov.b128 %q1, {%rd1, %q1};", "width"},
        {Q "mov.b128 {%rd1, %rd1, %rd1}, %q1;", "a vector of that shape"},
        {Q "ld.global.v2.b128 {%q1, %q0}, [%rd1];", "more than 16 bytes at once"},
        {Q "ld.global.b128 %rd1, [%rd1];", "what is no register of 128 bits"},
        {SPARSE "m16n8k16" HALVES ", {%r1, %r1}, {%r1, %r1}, {%r1, %r1}, %r1, 4;", CHOICE},
        {SPARSE "m16n8k32" HALVES ", {%r1, %r1, %r1, %r1}, {%r1, %r1, %r1, %r1}, {%r1, %r1}, %r1, "
                "2;",
         CHOICE},
        {SPARSE "m16n8k16" HALVES ", {%r1, %r1}, {%r1, %r1}, {%r1, %r1}, %r1, %r1;", CHOICE},
        {SPARSE "m16n8k16" HALVES ", {%r1, %r1}, {%r1, %r1}, {%r1, %r1}, %r1;", "too few operands"},
        {SPARSE "m16n8k16" HALVES ", {%r1, %r1, %r1, %r1}, {%r1, %r1}, {%r1, %r1}, %r1, 0;",
         "a fragment of 4 registers for a 16 x 8 matrix"},
        {SPARSE "m16n8k8" HALVES ", {%r1}, {%r1}, {%r1, %r1}, %r1, 0;", "that shape"},
        {"mma.sync.aligned.m16n8k16.col.col.f16.f16.f16.f16 {%r1, %r2}, {%r1, %r1, %r1, %r1}, "
         "{%r1, %r1}, {%r1, %r1};",
         "mma in a layout other than row.col"},
        {"wmma.load.a.sync.aligned.col.m8n8k32.global.s4 {%r1}, [%rd1], 32;",
         "parts of bytes in a layout other than row.col"},
        {"multimem.red.relaxed.gpu.global.add.u32 [%rd1], %r1;", "memory of several GPUs"},
        {"sured.b.add.2d.u32.trap [%rd1, {%r1, %r1}], %r1;", "use atomics there"},
        {"txq.filter_mode.b32 %r1, [%rd1];", "other than for width, height and depth"},
        {"tensormap.replace.tile.rank.global.b1024.b32 [%rd1], 3;", "(tma = 0)"},
        {"alloca.u64 %rd1, %rd1, 24;", "an alignment of the stack"},
        {"alloca.u16 %rd1, %rd1;", "a stack pointer of that type"},
        {"mov.u32 %r1, %envreg32;", "the special register %envreg32 is not supported"},
        {"mov.u64 %rd1, %smid;", "%smid where 64 bits are wanted"},
        {Q "atom.global.exch.b128 %q1, [%rd1], %q0;", "no atomics of 128 bits (wide_atomics = 0)"},
        {"vadd.s32.s32.s32 %r1, %r1.b4, %r1;", "no part '.b4'"},
        {"vadd.s32.s32.s32 %r1, -%r1, %r1;", "a register with a minus"},
        {"vadd.s32.s32.s32 %r1, %r1, %r1, %r1;", "number of operands"},
        {"vadd.s32.s32.s32.add %r1, %r1, %r1;", "number of operands"},
        {"vadd.s32.s32.s32.add %r1.h0, %r1, %r1, %r1;", "a part of the result"},
        {"vsub.u32.s32.s32.max %r1, %r1, %r1, %r1;", SAYS_OTHER},
        {"vshr.u32.u32.u32.sat.clamp.min %r1, %r1, %r1, %r1;", SAYS_OTHER},
        {"vmin.u32.s32.s32.min %r1, %r1, %r1, %r1;", SAYS_OTHER},
        {"vabsdiff.s32.s32.s32.sat %r1.h1, %r1, %r1, %r1;", SAYS_OTHER},
        {"vadd.s32.s32.s32.sat %r1.b0, %r1, %r1, %r1;", SAYS_OTHER},
        {"vshl.u32.u32.u32.sat.clamp %r1, %r1, %r1;", SAYS_OTHER},
        {"vshl.u32.u32.u32.clamp.max %r1, %r1, %r1, %r1;", SAYS_OTHER},
        {"vmad.u32.u32.u32.sat %r1, %r1.b0, %r1.b0, %r1;", SAYS_OTHER},
        {"vmad.s32.u32.s32.shr7 %r1, %r1, %r1.b0, %r1;", SAYS_OTHER},
        {"vshl.u32.u32.s32.clamp %r1, %r1, %r1;", "a shift by a number with a sign"},
        {"vshl.u32.u32.u32 %r1, %r1, %r1;", "neither clamp nor wrap"},
        {"vset.u32.u32 %r1, %r1, %r1;", "no comparison"},
        {"vmad.s32.s32.s32 %r1, -%r1, %r1, -%r1;", "a negated factor and a negated addend"},
        {"vadd4.s32.s32.s32.sat.add %r1, %r1, %r1, %r1;", "not with .sat"},
        {"vadd4.s32.s32.s32 %r1.b11, %r1, %r1, %r1;", "'.b11' is no choice of elements"},
        {"vadd2.s32.s32.s32 %r1, %r1.h14, %r1, %r1;", "no part '.h14' of two registers"},
        {"vadd2.s32.s32.s32 %r1, %r1.h1, %r1, %r1;", "'.h1' does not name 2 parts"},
        {"vmad2.s32.s32.s32 %r1, %r1, %r1, %r1;", "the instruction is unknown"},
        {"red.global.min.noftz.f16x2 [%rd1], %r1;", "that atomic on halves"},
        {"mov.b32 %r1, {%r1, %r1, %r1};", "a vector of that shape"},
        {"frobnicate.b32 %r1;", "frobnicate"}};
    (void)state;
    SimtGpu *gpu = gpu_open(1, 0, 0);
    for (size_t i = 0; i < sizeof BODIES / sizeof *BODIES; i++) {
        char text[1024];
        Error error = {""};
        snprintf(text, sizeof text,
                 "%s.visible .entry k()\n{\n.reg .b32 %%r<4>; .reg .b64 %%rd<4>; .reg .f32 "
                 "%%f<4>;\n%s\nret;\n}\n",
                 HEAD, BODIES[i][0]);
        SimtModule *module = simt_module_load(gpu, text, strlen(text), 0, &error);
        if (module) {
            assert_null(simt_kernel_find(module, "k", &error));
            assert_non_null(strstr(error.text, "kernel k"));
            assert_non_null(strstr(error.text, "PTX line 7"));
        }
        if (!strstr(error.text, BODIES[i][1])) fail_msg("%s: %s", BODIES[i][0], error.text);
    }
    simt_close(gpu);
}

/* The error of a kernel with this instruction on the machine. */
static void refusal_find(const SimtMachine *machine, const char *body, Error *error)
{
    char text[1024];
    SimtOptions options = {.threads = 1};
    SimtGpu *gpu = simt_open(machine, &options, error);
    assert_non_null(gpu);
    snprintf(text, sizeof text,
             "%s.visible .entry k()\n{\n.reg .b32 %%r<4>; .reg .b64 %%rd<4>; .reg .pred %%p<3>; "
             ".reg .f64 %%d<9>; .reg .b128 %%q<2>;\n%s\nret;\n}\n",
             HEAD, body);
    SimtModule *module = simt_module_load(gpu, text, strlen(text), 0, error);
    if (module && simt_kernel_find(module, "k", error)) error->text[0] = 0;
    simt_close(gpu);
}

/* An instruction is rejected by the key of its feature, and by no other: what the compute
 * capability is does not matter. */
static void features_are_rejected_by_their_key(void **state)
{
#define LACKS(key) offsetof(SimtMachine, has.key), #key
#define HALF_SUMS  "{%r0, %r0}, {%r1, %r1, %r1, %r1}, {%r1, %r1}, {%r1, %r1};"
    static const struct {
        size_t offset;
        const char *key, *body;
    } FEATURES[] = {
        {LACKS(dp4a), "dp4a.u32.u32 %r0, %r1, %r1, %r1;"},
        {LACKS(dp4a), "dp2a.lo.u32.u32 %r0, %r1, %r1, %r1;"},
        {LACKS(match), "match.any.sync.b32 %r0, %r1, %r1;"},
        {LACKS(nanosleep), "nanosleep.u32 100;"},
        {LACKS(wmma), "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r0, %r0, %r0, %r0, %r0, "
                      "%r0, %r0, %r0}, [%rd1];"},
        {LACKS(ldmatrix), "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [%r1];"},
        {LACKS(ldmatrix), "movmatrix.sync.aligned.m8n8.trans.b16 %r0, %r1;"},
        {LACKS(stmatrix), "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r1], {%r0};"},
        {LACKS(mma_m16n8), "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r0, %r0}, {%r1, "
                           "%r1}, {%r1}, {%r1, %r1};"},
        {LACKS(mma_m16n8k16), "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 " HALF_SUMS},
        {LACKS(mma_integer), "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r0, %r0}, {%r1}, "
                             "{%r1}, {%r1, %r1};"},
        {LACKS(mma_f64), "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%d0, %d1}, {%d2}, "
                         "{%d3}, {%d4, %d5};"},
        {LACKS(mma_sparse), "mma.sp.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%r0, %r0}, "
                            "{%r1, %r1}, {%r1, %r1}, {%r1, %r1}, %r1, 0;"},
        {LACKS(cp_async), "cp.async.ca.shared.global [%r1], [%rd1], 4;"},
        {LACKS(redux), "redux.sync.add.s32 %r0, %r1, %r1;"},
        {LACKS(mbarrier), "mbarrier.init.shared.b64 [%r1], %r1;"},
        {LACKS(transaction_barriers), "mbarrier.expect_tx.relaxed.cta.shared.b64 [%r1], %r1;"},
        {LACKS(clusters), "barrier.cluster.arrive;"},
        {LACKS(tma), "cp.async.bulk.commit_group;"},
        {LACKS(wgmma), "wgmma.fence.sync.aligned;"},
        {LACKS(register_reallocation), "setmaxnreg.inc.sync.aligned.u32 240;"},
        {LACKS(dependent_launches), "griddepcontrol.wait;"},
        {LACKS(elect), "elect.sync %r0|%p1, %r1;"},
        {LACKS(wide_atomics), "atom.global.exch.b128 %q1, [%rd1], %q0;"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof FEATURES / sizeof *FEATURES; i++) {
        SimtMachine machine = *small_machine(9);
        Error error = {""};
        char want[200];
        refusal_find(&machine, FEATURES[i].body, &error);
        if (error.text[0]) fail_msg("%s: %s", FEATURES[i].key, error.text);
        machine.cc_major = 10;
        memset((char *)&machine + FEATURES[i].offset, 0, sizeof(uint32_t));
        refusal_find(&machine, FEATURES[i].body, &error);
        snprintf(want, sizeof want, "of compute capability 10.0, has no %s (%s = 0)",
                 machine_feature(FEATURES[i].key), FEATURES[i].key);
        if (!strstr(error.text, want)) fail_msg("'%s' lacks '%s'", error.text, want);
    }
}

/* A generation can execute PTX of an older one, and of no newer one. */
static void newer_targets_are_rejected(void **state)
{
    static const char TEXT[] =
        ".version 8.6\n.target sm_100a\n.address_size 64\n.visible .entry k()\n{\nret;\n}\n";
    SimtOptions options = {.threads = 1};
    (void)state;
    for (uint32_t major = 9; major <= 10; major++) {
        SimtMachine machine = *small_machine(9);
        Error error = {""};
        machine.cc_major = major;
        SimtGpu *gpu = simt_open(&machine, &options, &error);
        assert_non_null(gpu);
        SimtModule *module = simt_module_load(gpu, TEXT, strlen(TEXT), 0, &error);
        assert_int_equal(module != NULL, major == 10);
        if (!module)
            assert_non_null(strstr(error.text, "PTX for compute capability 10.0 (sm_100)"));
        simt_close(gpu);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(newer_targets_are_rejected),
        cmocka_unit_test(forms_base),
        cmocka_unit_test(forms_avx2),
        cmocka_unit_test(forms_avx512),
        cmocka_unit_test(a_predicate_of_lop3),
        cmocka_unit_test(words_of_a_texture_level_by_constant_gradients),
        cmocka_unit_test(unknown_instructions_are_rejected),
        cmocka_unit_test(features_are_rejected_by_their_key)};
    return cmocka_run_group_tests_name("simt forms", tests, NULL, NULL);
}
