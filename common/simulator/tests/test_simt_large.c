/* test_simt_large.c - large kernels: their findings, and the time to decode them. */
#include "common/simulator/tests/simt_checks_fixture.h"

enum { LARGE = 5000 };

/* A kernel that adds 4 to its pointer `adds` times, in LARGE registers after each other. */
static char *long_way(uint32_t adds, const char *rest)
{
    size_t room = 1000 + (size_t)adds * 40, used;
    char *text = malloc(room);
    assert_non_null(text);
    used =
        (size_t)snprintf(text, room,
                         HEAD ".visible .entry k(.param .u64 out)\n{\n.reg .b64 %%rd<%u>;\n"
                              ".reg .b32 %%r<9>; .reg .pred %%p<9>; ld.param.u64 %%rd0, [out];\n",
                         LARGE + 1);
    for (uint32_t i = 0; i < adds; i++)
        used += (size_t)snprintf(text + used, room - used, "add.s64 %%rd%u, %%rd%u, 4;\n",
                                 i % LARGE + 1, i % LARGE);
    snprintf(text + used, room - used, "%s\nret;\n}\n", rest);
    return text;
}

static void large_run(SimtGpu *gpu, uint32_t adds, const char *rest, SimtResult *result)
{
    enum { SECONDS = 3, BYTES = 4 * LARGE + 64 };
    char *text = long_way(adds, rest);
    uint64_t out = device_data(gpu, NULL, BYTES);
    device_data(gpu, NULL, BYTES); /* nearer to the allocation after both */
    clock_t begin = clock();
    run(gpu, text, 1, 1, 0, &out, 8, result);
    if (clock() - begin > SECONDS * CLOCKS_PER_SEC)
        fail_msg("%.1f s", (double)(clock() - begin) / CLOCKS_PER_SEC);
    free(text);
}

/* The origin of a finding's address is found in a kernel of any length, and is searched only if the
 * finding is reported. */
static void findings_of_large_kernels(void **state)
{
    (void)state;
    SimtGpu *gpu = gpu_open(1, 1, 0);
    SimtResult result;
    large_run(gpu, 40 * LARGE, "ld.global.u32 %r1, [%rd5000+100000];", &result);
    if (!strstr(result.report.text, "the address is 99936 bytes past the end of a 20064-byte"))
        fail_msg("%s", result.report.text);
    large_run(gpu, LARGE,
              "mov.u32 %r1, 0;\nMORE: ld.global.u32 %r2, [%rd5000]; add.u32 %r1, %r1, 1;\n"
              "st.global.u32 [%rd0], %r2;\n"
              "setp.lt.u32 %p1, %r1, 5000; @%p1 bra MORE;",
              &result);
    assert_int_equal(result.findings, 5000);
    if (!strstr(result.report.text, "20000 bytes into a 20064-byte"))
        fail_msg("%s", result.report.text);
    simt_close(gpu);
}

/* Within seconds, or refused. */
static const char *large_decode(const char *text)
{
    enum { SECONDS = 5 };
    static Error error;
    SimtGpu *gpu = gpu_open(1, 1, 0);
    clock_t begin = clock();
    SimtModule *module = simt_module_load(gpu, text, strlen(text), 0, &error);
    if (!module) fail_msg("%s", error.text);
    SimtKernel *kernel = simt_kernel_find(module, "k", &error);
    if (clock() - begin > SECONDS * CLOCKS_PER_SEC)
        fail_msg("%.1f s", (double)(clock() - begin) / CLOCKS_PER_SEC);
    simt_close(gpu);
    return kernel ? "" : error.text;
}

static void loops_in_loops_are_decoded(void **state)
{
    enum { LOOPS = 100000, LINE = 12 };
    (void)state;
    static char text[1000 + LOOPS * LINE];
    size_t used = (size_t)snprintf(text, sizeof text,
                                   HEAD ".visible .entry k()\n{\n.reg .pred %%p<2>;\n"
                                        "setp.eq.u32 %%p1, 1, 2;\nL:\n");
    for (int i = 0; i < LOOPS; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "@%%p1 bra L;");
    snprintf(text + used, sizeof text - used, "ret;\n}\n");
    assert_string_equal(large_decode(text), "");
}

static void tables_of_jumps_have_an_end(void **state)
{
    enum { TARGETS = 2100, LINE = 40 };
    (void)state;
    static char text[1000 + TARGETS * LINE];
    size_t used = (size_t)snprintf(text, sizeof text,
                                   HEAD ".visible .entry k()\n{\n.reg .u32 %%r<2>;\n"
                                        "mov.u32 %%r1, %%tid.x;\nT: .branchtargets END");
    for (int i = 0; i < TARGETS; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, ", L%d", i);
    used += (size_t)snprintf(text + used, sizeof text - used, ";\n");
    for (int i = 0; i < TARGETS; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "L%d: brx.idx %%r1, T;\n", i);
    snprintf(text + used, sizeof text - used, "END: ret;\n}\n");
    const char *refused = large_decode(text);
    if (!strstr(refused, "more than 4194304 targets of jumps by table")) fail_msg("%s", refused);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_in_loops_are_decoded),
        cmocka_unit_test(tables_of_jumps_have_an_end),
        cmocka_unit_test(findings_of_large_kernels),
    };
    return cmocka_run_group_tests_name("simt large", tests, NULL, NULL);
}
