/* test_simt_watch.c - what is kept of the first blocks' accesses: lanes, addresses, elements. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/simulator/tests/simt_fixture.h"

/* y[i] = x[2 * i] of each block's 32 threads; the first 8 lanes go another way in between, which
 * reads one word of constant memory. */
static const char STRIDED[] =
    HEAD ".const .align 4 .b8 table[8] = {1, 0, 0, 0, 2, 0, 0, 0};\n"
         ".visible .entry k(.param .u64 x, .param .u64 y)\n"
         "{\n"
         ".reg .pred %p<2>; .reg .b32 %r<6>; .reg .b64 %rd<6>; .reg .f32 %f<2>;\n"
         ".shared .align 4 .b8 s[8192];\n"
         "ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y];\n"
         "mov.u32 %r1, %tid.x;\n"
         "mul.wide.u32 %rd3, %r1, 8; add.u64 %rd3, %rd1, %rd3;\n"
         "ld.global.f32 %f1, [%rd3];\n"
         "shl.b32 %r3, %r1, 7; mov.u32 %r4, s; add.u32 %r4, %r4, %r3;\n"
         "st.shared.f32 [%r4], %f1;\n"
         "setp.lt.u32 %p1, %r1, 8;\n"
         "@%p1 bra AWAY;\n"
         "mul.wide.u32 %rd4, %r1, 4; add.u64 %rd4, %rd2, %rd4;\n"
         "st.global.f32 [%rd4], %f1;\n"
         "bra END;\n"
         "AWAY:\n"
         "ld.const.u32 %r5, [table+4];\n"
         "END:\n"
         "ret;\n"
         "}\n";

enum { LANES = 32, ELEMENTS = 64 };

typedef struct Seen {
    SimtGpu *gpu;
    uint64_t x, y;
    const SimtProfile *profile;
} Seen;

static void name(SimtGpu *gpu, uint64_t address, const char *letter, uint64_t elements)
{
    ArrayName array = {.rank = 1, .dim = {elements}, .axis = {'i'}};
    Error error = {""};
    snprintf(array.name, sizeof array.name, "%s", letter);
    if (simt_name(gpu, address, &array, &error) != 0) fail_msg("%s", error.text);
}

static Seen see(int threads, const uint32_t grid[3])
{
    SimtOptions options = {.threads = threads, .count = 1, .profile = 1};
    Error error = {""};
    float zeros[ELEMENTS] = {0};
    SimtResult result;
    Seen seen = {.gpu = simt_open(&SMALL, &options, &error)};
    if (!seen.gpu) fail_msg("%s", error.text);
    seen.x = device_data(seen.gpu, zeros, sizeof zeros);
    seen.y = device_data(seen.gpu, zeros, sizeof zeros);
    name(seen.gpu, seen.x, "x", ELEMENTS);
    name(seen.gpu, seen.y, "y", LANES);
    uint64_t params[2] = {seen.x, seen.y};
    SimtModule *module = simt_module_load(seen.gpu, STRIDED, strlen(STRIDED), 0, &error);
    if (!module) fail_msg("%s", error.text);
    SimtKernel *kernel = simt_kernel_find(module, "k", &error);
    if (!kernel) fail_msg("%s", error.text);
    SimtLaunch launch = {.grid = {grid[0], grid[1], grid[2]},
                         .block = {LANES, 1, 1},
                         .params = params,
                         .params_bytes = sizeof params};
    if (simt_launch(seen.gpu, kernel, &launch, &result) != 0) fail_msg("%s", result.report.text);
    seen.profile = simt_profile(seen.gpu);
    assert_non_null(seen.profile);
    return seen;
}

static const SimtSight *find(const SimtWatch *watch, SimtSightKind kind, int store)
{
    const SimtSight *found = NULL;
    for (uint32_t i = 0; i < watch->sights; i++) {
        if (watch->sight[i].kind != kind || watch->sight[i].store != store) continue;
        assert_null(found); /* each happens once */
        found = &watch->sight[i];
    }
    assert_non_null(found);
    return found;
}

static void lanes_and_addresses_are_recorded(void **state)
{
    (void)state;
    Seen seen = see(1, (uint32_t[3]){1, 1, 1});
    assert_int_equal(seen.profile->watches, 1);
    const SimtWatch *watch = &seen.profile->watch[0];
    assert_int_equal(watch->sights, 5);
    assert_int_equal(watch->left_out, 0);
    const SimtSight *load = find(watch, SIGHT_GLOBAL, 0), *put = find(watch, SIGHT_SHARED, 1),
                    *branch = find(watch, SIGHT_BRANCH, 0), *store = find(watch, SIGHT_GLOBAL, 1),
                    *table = find(watch, SIGHT_CONSTANT, 0);
    assert_true(load->mask == 0xffffffff && load->bytes == 4 && load->warp == 0);
    assert_string_equal(seen.profile->instruction[load->instruction].opcode, "ld.global.f32");
    for (uint64_t i = 0; i < LANES; i++) {
        assert_int_equal(load->address[i], seen.x + 8 * i);
        assert_int_equal(put->address[i], 128 * i); /* every lane in bank 0 */
    }
    assert_true(branch->mask == 0xffffffff && branch->taken == 0xff);
    assert_true(store->mask == 0xffffff00);
    for (uint64_t i = 8; i < LANES; i++)
        assert_int_equal(store->address[i], seen.y + 4 * i);
    assert_true(table->mask == 0xff && table->address[0] == table->address[7]);
    assert_true(load->order < put->order && put->order < branch->order);
    simt_close(seen.gpu);
}

static void touched_elements_are_counted(void **state)
{
    (void)state;
    Seen seen = see(1, (uint32_t[3]){1, 1, 1});
    const SimtWatch *watch = &seen.profile->watch[0];
    assert_int_equal(watch->arrays, 2);
    const SimtTouched *x = &watch->touched[0], *y = &watch->touched[1];
    assert_string_equal(x->array.name, "x");
    assert_string_equal(y->array.name, "y");
    for (int i = 0; i < ELEMENTS; i++)
        assert_true(x->reads[i] == (i % 2 == 0) && x->writes[i] == 0);
    for (int i = 0; i < LANES; i++)
        assert_true(y->reads[i] == 0 && y->writes[i] == (i >= 8));
    simt_close(seen.gpu);
}

static void the_first_block_and_its_neighbours(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 3; threads += 2) {
        Seen seen = see(threads, (uint32_t[3]){5, 3, 2});
        static const uint32_t WANTED[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
        assert_int_equal(seen.profile->watches, 4);
        for (int i = 0; i < 4; i++) {
            assert_memory_equal(seen.profile->watch[i].block, WANTED[i], sizeof WANTED[i]);
            assert_int_equal(seen.profile->watch[i].sights, 5);
        }
        simt_close(seen.gpu);
    }
    Seen seen = see(2, (uint32_t[3]){3, 1, 1});
    assert_int_equal(seen.profile->watches, 3);
    simt_close(seen.gpu);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanes_and_addresses_are_recorded),
        cmocka_unit_test(touched_elements_are_counted),
        cmocka_unit_test(the_first_block_and_its_neighbours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
