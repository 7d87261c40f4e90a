/* Counters and cycles of texture reads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/base/texture.h"
#include "common/simulator/tests/simt_fixture.h"

enum { SIDE = 64, SLICES = 2, WARPS = 32 };

/* An array of SIDE x SIDE texels of `channels` floats, in two slices. */
static Texture array_of(uint32_t channels)
{
    uint32_t texel = 4 * channels;
    return (Texture){.magic = TEXTURE_MAGIC,
                     .in_pieces = 1,
                     .pitch = texture_pitch(SIDE * texel),
                     .slice = texture_pitch(SIDE * texel) * SIDE,
                     .extent = {SIDE, SIDE, SLICES},
                     .channels = channels,
                     .channel_bytes = 4,
                     .texel = texel,
                     .kind = TEXEL_FLOAT,
                     .mode = {TEXTURE_CLAMP, TEXTURE_CLAMP, TEXTURE_CLAMP},
                     .levels = 1};
}

static Texture filtered(Texture texture)
{
    texture.filtered = 1;
    return texture;
}

/* Memory without rows. */
static Texture words(void)
{
    Texture texture = array_of(1);
    texture.linear_memory = 1, texture.in_pieces = 0;
    texture.extent[0] = SIDE * SIDE * SLICES, texture.extent[1] = texture.extent[2] = 1;
    return texture;
}

/* One block of a kernel in which %f1 is the lane's number, %f2 and %f3 are zero, %r2 is the lane's
 * number; `begin` once, then `body` `times` times. The results of reads are in %f5 to %f8. */
static void read_run(const Texture *from, const char *begin, const char *body, int times,
                     uint32_t threads, SimtResult *result)
{
    static const char OPEN[] =
        HEAD ".visible .entry k(.param .u64 texture, .param .u64 out)\n{\n"
             ".reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<12>;\n"
             "ld.param.u64 %rd1, [texture]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %tid.x;\n"
             "and.b32 %r2, %r1, 31; cvt.rn.f32.u32 %f1, %r2; mov.f32 %f2, 0f00000000;\n"
             "mov.f32 %f3, 0f00000000; mov.f32 %f9, 0f00000000;\n";
    static const char CLOSE[] = "mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd2, %rd3;\n"
                                "st.global.f32 [%rd4], %f9; ret;\n}\n";
    Texture texture = *from;
    uint64_t params[2];
    char *text = malloc(sizeof OPEN + strlen(begin) + strlen(body) * (size_t)times + sizeof CLOSE);
    if (!text) fail_msg("out of memory");
    char *at = text + sprintf(text, "%s%s", OPEN, begin);
    for (int i = 0; i < times; i++)
        at += sprintf(at, "%s", body);
    strcpy(at, CLOSE);
    SimtGpu *gpu = gpu_open(1, 0, 1);
    texture.address = device_data(gpu, NULL, texture.slice * SLICES);
    params[0] = device_data(gpu, &texture, sizeof texture);
    params[1] = device_data(gpu, NULL, WARPS * 32 * sizeof(float));
    if (run(gpu, text, 1, threads, 0, params, sizeof params, result))
        fail_msg("%s", result->report.text);
    simt_close(gpu);
    free(text);
}

#define TO       "{%f5, %f6, %f7, %f8}, [%rd1, "
#define READ     "tex.2d.v4.f32.f32 " TO "{%f1, %f2}];\n"
#define READ_3D  "tex.3d.v4.f32.f32 " TO "{%f1, %f2, %f3, %f3}];\n"
#define GATHER   "tld4.r.2d.v4.f32.f32 " TO "{%f1, %f2}];\n"
#define FETCH    "tex.1d.v4.f32.s32 " TO "{%r2}];\n"
#define COORD(n) "mov.f32 " n ";\n"

/* Four lanes are looked up together, or two; a sector of an array is 16 bytes of two rows. */
static void sectors_are_of_two_rows(void **state)
{
    static const char DOWN[] = "mov.f32 %f2, %f1; mov.f32 %f1, 0f00000000;\n";
    const Texture array = array_of(1), wide = array_of(4), memory = words();
    const Texture linear = filtered(array), wide_linear = filtered(wide);
    Texture rows = array;
    rows.in_pieces = 0;
    const struct {
        const char *what;
        const Texture *texture;
        const char *begin, *body;
        uint64_t sectors;
    } CASE[] = {
        {"a row", &array, "", READ, 8},
        {"a column", &array, DOWN, READ, 8 * 2},
        {"a column of memory with rows", &rows, DOWN, READ, 32},
        /* Between the lanes' texels and those before, of which the first has none. */
        {"a filter in rows 0 and 1", &linear, COORD("%f2, 0f3F800000"), READ, 15},
        {"a filter in rows 1 and 2", &linear, COORD("%f2, 0f40000000"), READ, 30},
        /* Pairs of lanes, with a column of 16 bytes more than lanes, looked up twice. */
        {"a filter of float4", &wide_linear, COORD("%f2, 0f3F800000"), READ, 2 * (16 * 3 - 1)},
        /* Pairs of lanes, half of which want a second column, from two slices. */
        {"a filter in a volume", &linear, COORD("%f2, 0f3F800000") COORD("%f3, 0f3F800000"),
         READ_3D, 2 * (16 + 7)},
        {"words", &memory, "", FETCH, 4},
        {"words a sector apart", &memory, "shl.b32 %r2, %r2, 3;\n", FETCH, 32},
    };
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        SimtResult result;
        read_run(CASE[i].texture, CASE[i].begin, CASE[i].body, 1, 32, &result);
        if (result.counters.texture_sectors != CASE[i].sectors)
            fail_msg("%s: %d sectors", CASE[i].what, (int)result.counters.texture_sectors);
        assert_int_equal(result.counters.texture_requests, 1);
        assert_int_equal(result.counters.global_load_sectors, 0);
        assert_int_equal(result.counters.global_load_requests, 0);
    }
    (void)state;
}

/* Cycles of one more iteration of `body`. */
static double slope(const Texture *texture, const char *begin, const char *body, uint32_t threads)
{
    enum { FEW = 20, MANY = 60 };
    SimtResult few, many;
    read_run(texture, begin, body, FEW, threads, &few);
    read_run(texture, begin, body, MANY, threads, &many);
    return (double)(many.cycles - few.cycles) / (MANY - FEW);
}

/* If warps contend: four lanes per cycle and 32 bits of each texel. */
static void texture_units_have_their_rate(void **state)
{
    static const char SUM[] = "add.f32 %f9, %f9, %f5;\n";
    const Texture array = array_of(1), wide = array_of(4), memory = words();
    const Texture linear = filtered(array), wide_linear = filtered(wide);
    const struct {
        const Texture *texture;
        const char *begin, *body;
        uint32_t cycles;
    } CASE[] = {
        {&array, "", READ, 8},
        {&linear, "", READ, 8},
        {&wide_linear, "", READ, 32},
        {&linear, "", READ_3D, 16},
        {&array, "", GATHER, 16},
        {&memory, "", FETCH, 4},
        /* Two lines per cycle. */
        {&memory, "shl.b32 %r2, %r2, 5;\n", FETCH, 16},
    };
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        char body[200];
        snprintf(body, sizeof body, "%s%s", CASE[i].body, SUM);
        double each = slope(CASE[i].texture, CASE[i].begin, body, 32 * WARPS) / WARPS;
        if (each < 0.98 * CASE[i].cycles || each > 1.02 * CASE[i].cycles)
            fail_msg("%zu: %.2f cycles a read, not %u", i, each, CASE[i].cycles);
    }
    (void)state;
}

/* Each coordinate depends on the previous read. */
static void a_texture_read_has_its_latency(void **state)
{
    static const char BODY[] = READ "add.f32 %f2, %f5, %f2;\n";
    const Texture array = array_of(1);
    double each = slope(&array, "", BODY, 32);
    assert_in_range((int)each, (int)(SMALL.texture_latency + SMALL.alu_latency),
                    (int)(SMALL.texture_latency + SMALL.alu_latency) + 1);
    (void)state;
}

/* The first read waits for what the texture is, and how it is read. */
static void a_texture_has_to_be_described(void **state)
{
    static const char LOAD[] = "add.u64 %rd5, %rd2, 64; ld.global.f32 %f9, [%rd5];\n",
                      ONE[] = READ "add.f32 %f9, %f9, %f5;\n";
    const Texture array = array_of(1);
    SimtResult load, read;
    read_run(&array, "", LOAD, 1, 32, &load);
    read_run(&array, "", ONE, 1, 32, &read);
    uint64_t more =
        2 * (uint64_t)SMALL.dram_latency + (uint64_t)(SMALL.texture_latency - SMALL.l1_latency);
    /* DRAM answers sooner or later by the place. */
    uint64_t about = (uint64_t)SMALL.dram_latency / 2;
    assert_in_range(read.cycles - load.cycles, more - about, more + about);
    (void)state;
}

/* ---- questions ------------------------------------------------------------------------------ */

/* The values of %r3 to %r6 in lane 0 after `body`; the texture holds 0, 1, 2 ... */
static void ask(Texture texture, const char *body, uint32_t lanes, uint32_t *out)
{
    enum { BYTES = 512 * 7 * 3 };
    static float texel[BYTES / 4];
    char text[2048];
    uint64_t params[2];
    SimtResult result;
    for (uint32_t i = 0; i < 13 * 7 * 3; i++)
        texel[i / 13 * 128 + i % 13] = (float)i;
    snprintf(text, sizeof text,
             "%s.visible .entry k(.param .u64 texture, .param .u64 out)\n{\n"
             ".reg .b32 %%r<9>; .reg .b64 %%rd<9>; .reg .f32 %%f<12>; .reg .pred %%p<3>;\n"
             "ld.param.u64 %%rd1, [texture]; ld.param.u64 %%rd2, [out]; mov.u32 %%r1, %%tid.x;\n"
             "mul.wide.u32 %%rd3, %%r1, 16; add.u64 %%rd2, %%rd2, %%rd3;\n"
             "mov.u32 %%r3, 9; mov.u32 %%r4, 9; mov.u32 %%r5, 9; mov.u32 %%r6, 9;\n%s\n"
             "st.global.v4.u32 [%%rd2], {%%r3, %%r4, %%r5, %%r6};\nret;\n}\n",
             HEAD, body);
    SimtGpu *gpu = gpu_open(1, 0, 1);
    texture.address = device_data(gpu, texel, sizeof texel);
    params[0] = device_data(gpu, &texture, sizeof texture);
    params[1] = device_data(gpu, NULL, lanes * 16);
    if (run(gpu, text, 1, lanes, 0, params, sizeof params, &result))
        fail_msg("%s", result.report.text);
    device_fetch(gpu, params[1], out, lanes * 16);
    simt_close(gpu);
}

/* 13 x 7 texels in 3 layers. */
static Texture layers_of_floats(void)
{
    return (Texture){.magic = TEXTURE_MAGIC,
                     .pitch = 512,
                     .slice = 512 * 7,
                     .extent = {13, 7, 3},
                     .told = {7, 3},
                     .layered = 1,
                     .channels = 1,
                     .channel_bytes = 4,
                     .texel = 4,
                     .kind = TEXEL_FLOAT,
                     .mode = {TEXTURE_CLAMP, TEXTURE_CLAMP, TEXTURE_CLAMP},
                     .levels = 1};
}

/* As an H200 answers, driver 580.159; of what is no object it says 0, and here it is a fault. */
static void sizes_are_reported(void **state)
{
    static const char SIZES[] = "txq.width.b32 %r3, [%rd1]; txq.height.b32 %r4, [%rd1];"
                                "suq.depth.b32 %r5, [%rd1]; txq.level.width.b32 %r6, [%rd1], 1;",
                      LEVELS[] = "txq.level.width.b32 %r3, [%rd1], 1; mov.u32 %r7, 2;"
                                 "txq.level.height.b32 %r4, [%rd1], 1;"
                                 "txq.level.width.b32 %r5, [%rd1], %r7;"
                                 "txq.level.width.b32 %r6, [%rd1], 9;";
    static const uint32_t LAYERS[] = {13, 7, 3, 0}, LESS[] = {6, 3, 3, 0};
    Texture mipmap = layers_of_floats();
    uint32_t out[4];
    (void)state;
    ask(layers_of_floats(), SIZES, 1, out);
    assert_memory_equal(out, LAYERS, sizeof out);
    mipmap.layered = 0, mipmap.told[1] = 0, mipmap.extent[2] = 1, mipmap.levels = 3;
    ask(mipmap, LEVELS, 1, out);
    assert_memory_equal(out, LESS, sizeof out);
}

/* It says so of every texel, and of CUDA's objects that they are of no kind. */
static void texels_are_read(void **state)
{
    uint32_t out[4];
    (void)state;
    ask(layers_of_floats(),
        "mov.f32 %f1, 0f40200000; istypep.texref %p1, %rd1; selp.u32 %r3, 1, 0, %p1;\n"
        "tex.2d.v4.f32.f32 {%f5, %f6, %f7, %f8}|%p1, [%rd1, {%f1, %f1}];\n"
        "selp.u32 %r4, 1, 0, %p1; mov.b32 %r5, %f5;\n"
        "tld4.r.2d.v4.f32.f32 {%f5, %f6, %f7, %f8}|%p2, [%rd1, {%f1, %f1}];\n"
        "selp.u32 %r6, 1, 0, %p2;",
        1, out);
    assert_int_equal(out[0], 0);
    assert_int_equal(out[1], 1);
    assert_int_equal(out[2], 0x41e00000); /* 28: texel 2 of row 2 */
    assert_int_equal(out[3], 1);
}

/* Four texels of a layer, and of the last one where there is no such: what an H200 gave. */
static void layers_are_gathered(void **state)
{
    static const float WANTED[][4] = {
        {182, 182, 182, 182}, {0, 1, 1, 0},         {104, 105, 92, 91}, {196, 197, 184, 183},
        {210, 211, 198, 197}, {211, 212, 199, 198}, {29, 30, 17, 16},   {134, 135, 122, 121}};
    enum { LANES_ASKED = sizeof WANTED / sizeof *WANTED };
    float out[LANES_ASKED][4];
    (void)state;
    ask(layers_of_floats(),
        "cvt.rn.f32.u32 %f1, %r1; mul.f32 %f2, %f1, 0f3ECCCCCD; mul.f32 %f1, %f1, 0f3F333333;\n"
        "rem.u32 %r2, %r1, 5; sub.s32 %r2, %r2, 1;\n"
        "tld4.r.a2d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%rd1, {%r2, %f1, %f2, %f2}];\n"
        "mov.b32 %r3, %f5; mov.b32 %r4, %f6; mov.b32 %r5, %f7; mov.b32 %r6, %f8;",
        LANES_ASKED, (uint32_t *)out);
    assert_memory_equal(out, WANTED, sizeof out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sectors_are_of_two_rows),
        cmocka_unit_test(texture_units_have_their_rate),
        cmocka_unit_test(a_texture_read_has_its_latency),
        cmocka_unit_test(a_texture_has_to_be_described),
        cmocka_unit_test(sizes_are_reported),
        cmocka_unit_test(texels_are_read),
        cmocka_unit_test(layers_are_gathered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
