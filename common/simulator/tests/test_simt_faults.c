/* test_simt_faults.c - every planted fault of faults/ is found, by the right check and on the right
 * line; the clean kernels give no finding. */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/simulator/core/core.h"
#include "common/simulator/core/tensor_map.h"
#include "common/simulator/tests/simt_fixture.h"
#include "common/simulator/ptx/test_nvcc.h"

enum { FLOATS = 256, ROW = 16, BOX_ROWS = 4 };

/* A file of faults, what it is compiled for, and how many it has at least. */
static const struct {
    const char *name, *arch;
    uint32_t cc_major;
    size_t faults, clean;
} FILES[] = {{"faults.cu", "compute_75", 8, 80, 52}, {"hopper.cu", "compute_90a", 9, 50, 15}};
enum { FILES_COUNT = sizeof FILES / sizeof *FILES };

typedef struct Case {
    char name[64], check[32], words[128];
    unsigned line, other; /* line of the fault; line of a race's other side */
    unsigned blocks, threads, shared;
    unsigned file;
} Case;

static Case cases[300];
static size_t count;

static const char *const CHECK[] = {[SIMT_OK] = "",
                                    [SIMT_BAD_LAUNCH] = "launch",
                                    [SIMT_UNSUPPORTED] = "unsupported",
                                    [SIMT_MEMCHECK] = "memcheck",
                                    [SIMT_INITCHECK] = "initcheck",
                                    [SIMT_SYNCCHECK] = "synccheck",
                                    [SIMT_TIMEOUT] = "timeout",
                                    [SIMT_TRAP] = "trap",
                                    [SIMT_RACECHECK] = "racecheck"};

static void line_read(const char *line, unsigned number, unsigned file)
{
    const char *kernel = strstr(line, "KERNEL("), *fault = strstr(line, "// FAULT "),
               *shape = strstr(line, "// <<<");
    if (line[0] == 'K' && kernel) {
        assert_true(count < sizeof cases / sizeof *cases);
        Case *c = &cases[count++];
        *c = (Case){.blocks = 2, .threads = 64, .file = file};
        assert_int_equal(sscanf(kernel, "KERNEL(%63[a-z0-9_])", c->name), 1);
        if (shape) sscanf(shape, "// <<<%u, %u, %u", &c->blocks, &c->threads, &c->shared);
    }
    if (!count) return;
    if (fault) {
        assert_int_equal(cases[count - 1].line, 0);
        cases[count - 1].line = number;
        assert_int_equal(sscanf(fault, "// FAULT %31[a-z]: %127[^\n]", cases[count - 1].check,
                                cases[count - 1].words),
                         2);
    }
    if (strstr(line, "// AND")) cases[count - 1].other = number;
}

static int cases_read(void **state)
{
    char line[400];
    if (nvcc_open(state)) return -1;
    for (unsigned i = 0; i < FILES_COUNT; i++) {
        snprintf(line, sizeof line, "common/simulator/tests/faults/%s", FILES[i].name);
        FILE *file = fopen(line, "r");
        if (!file) return -1;
        for (unsigned number = 1; fgets(line, sizeof line, file); number++)
            line_read(line, number, i);
        fclose(file);
    }
    return 0;
}

/* x as a matrix, for hopper.cu; with boxes of `rows` rows, and of 256 matrices if `deep`. */
static TensorMap map_make(uint64_t x, uint32_t rows, int deep)
{
    TensorMapRequest request = {.kind = TENSOR_MAP_TILED,
                                .type = TENSOR_MAP_F32,
                                .rank = deep ? 3 : 2,
                                .address = x,
                                .dims = {ROW, FLOATS / ROW, 1},
                                .strides = {ROW * sizeof(float), FLOATS * sizeof(float)},
                                .element_strides = {1, 1, 1},
                                .box = {ROW, rows, 256}};
    TensorMap map;
    Error error = {""};
    if (tensor_map_encode(&request, &map, NULL, &error) != 0) fail_msg("%s", error.text);
    return map;
}

/* Accesses of a launch that writes all of x. */
static SimtTouch x_written(const SimtGpu *gpu, uint64_t x)
{
    SimtTouch touch;
    assert_int_equal(simt_touch_open(gpu, &touch), 0);
    uint64_t first = (x - simt_memory_begin()) / sizeof(float);
    for (uint64_t word = first; word < first + FLOATS; word++)
        touch.bits[SIMT_TOUCH_WRITE][word / 64] |= 1ull << word % 64;
    return touch;
}

static void case_run(const char *ptx, int threads, int counted, const Case *c, SimtResult *result)
{
    Error error = {""};
    SimtOptions options = {
        .threads = threads, .initcheck = 1, .racecheck = 1, .warp_sync = 1, .count = counted};
    SimtMachine machine = *small_machine(FILES[c->file].cc_major);
    SimtGpu *gpu = simt_open(&machine, &options, &error);
    assert_non_null(gpu);
    float data[FLOATS];
    for (int i = 0; i < FLOATS; i++)
        data[i] = (float)i;
    uint64_t x = device_data(gpu, data, sizeof data), empty = device_data(gpu, NULL, sizeof data),
             gone = device_data(gpu, data, sizeof data);
    assert_int_equal(simt_free(gpu, gone, &error), 0);
    SimtModule *module = simt_module_load(gpu, ptx, strlen(ptx), 0, &error);
    SimtKernel *kernel = module ? simt_kernel_find(module, c->name, &error) : NULL;
    if (!kernel) fail_msg("%s: %s", c->name, error.text);
    unsigned char params[512] = {0};
    const uint64_t address[] = {x, empty, gone, FLOATS};
    TensorMap map[] = {map_make(x, BOX_ROWS, 0), map_make(x, 256, 1)};
    memcpy(params, address, sizeof address);
    for (uint32_t i = 4; i < kernel->info.params; i++) /* addresses depend on the toolkit */
        memcpy(params + kernel->info.param_offset[i], &map[i - 4], sizeof map[0]);
    SimtLaunch launch = {.grid = {c->blocks, 1, 1},
                         .block = {c->threads, 1, 1},
                         .dynamic_shared = c->shared,
                         .params = params,
                         .params_bytes = sizeof params};
    SimtTouch before = x_written(gpu, x);
    if (!strncmp(c->name, "early_", strlen("early_")))
        launch.early = &before, launch.early_name = "before";
    simt_launch(gpu, kernel, &launch, result);
    simt_touch_close(&before);
    simt_close(gpu);
}

/* "faults.cu:41" somewhere in the text, not as part of 410. */
static int names_line(const Case *c, const char *text, unsigned line)
{
    char place[40];
    snprintf(place, sizeof place, "%s:%u", FILES[c->file].name, line);
    for (const char *at = text; (at = strstr(at, place)); at++)
        if (!isdigit((unsigned char)at[strlen(place)])) return 1;
    return 0;
}

static int judge(const Case *c, const SimtResult *result)
{
    const SimtReport *r = &result->report;
    const char *why = NULL;
    if (strcmp(CHECK[r->check], c->check))
        why = "another check";
    else if (*c->check && !strstr(r->text, c->words))
        why = "other words";
    else if (*c->check && !names_line(c, r->text, c->line))
        why = "another line";
    else if (c->other && !names_line(c, r->text, c->other))
        why = "not the other line";
    if (!why) return 0;
    printf("%s: %s: wanted %s at line %u (and %u) with '%s', got %s: %s\n", c->name, why,
           *c->check ? c->check : "nothing", c->line, c->other, c->words, CHECK[r->check], r->text);
    return 1;
}

static char *ptx_make(const char *nvcc, unsigned file)
{
    char root[1024];
    size_t bytes;
    assert_non_null(getcwd(root, sizeof root));
    if (nvcc_run("%s -O3 -std=c++17 -arch=%s -lineinfo -w -ptx %s/common/simulator/tests/faults/%s "
                 "-o f.ptx",
                 nvcc, FILES[file].arch, root, FILES[file].name))
        nvcc_explain(FILES[file].name);
    return nvcc_read("f.ptx", &bytes);
}

/* 1 if the reports of 1 host thread that counts and of 4 that do not differ, or if they are not as
 * planted.
 */
static int case_fails(const char *ptx, const Case *c)
{
    SimtResult one, four;
    case_run(ptx, 1, 1, c, &one);
    case_run(ptx, 4, 0, c, &four);
    int wrong = judge(c, &one);
    if (!strcmp(one.report.text, four.report.text)) return wrong;
    printf("%s: with one thread: %s\nwith four: %s\n", c->name, one.report.text, four.report.text);
    return 1;
}

static void every_fault_is_found_on_its_line(void **state)
{
    const char *nvcc = nvcc_find();
    int wrong = 0;
    (void)state;
    if (!nvcc) skip();
    for (unsigned file = 0; file < FILES_COUNT; file++) {
        size_t faults = 0, clean = 0;
        char *ptx = ptx_make(nvcc, file);
        for (size_t i = 0; i < count; i++) {
            if (cases[i].file != file) continue;
            wrong += case_fails(ptx, &cases[i]);
            *(*cases[i].check ? &faults : &clean) += 1;
        }
        free(ptx);
        printf("%s: %zu faults, %zu clean kernels\n", FILES[file].name, faults, clean);
        assert_true(faults >= FILES[file].faults);
        assert_true(clean >= FILES[file].clean);
    }
    assert_int_equal(wrong, 0);
}

/* Errors without a kernel: the host's own mistakes. */
static void host_mistakes_are_rejected(void **state)
{
    (void)state;
    Error error = {""};
    SimtGpu *gpu = gpu_open(1, 1, 0);
    float data[64] = {0};
    uint64_t at = device_data(gpu, data, sizeof data);
    assert_int_equal(simt_write(gpu, at + 4, data, sizeof data, &error), -1);
    assert_non_null(strstr(error.text, "256-byte allocation"));
    assert_int_equal(simt_read(gpu, at + 252, data, 8, &error), -1);
    assert_int_equal(simt_copy(gpu, at, at + 200, 100, &error), -1);
    assert_int_equal(simt_free(gpu, at + 4, &error), -1);
    char leaks[200];
    uint64_t other = device_data(gpu, NULL, 100);
    assert_int_equal(simt_leaks(gpu, leaks, sizeof leaks), 2);
    assert_int_equal(simt_free(gpu, at, &error), 0);
    assert_int_equal(simt_leaks(gpu, leaks, sizeof leaks), 1);
    assert_memory_equal(leaks, "100 bytes at 0x", 15);
    assert_int_equal(simt_free(gpu, other, &error), 0);
    assert_int_equal(simt_leaks(gpu, leaks, sizeof leaks), 0);
    assert_int_equal(simt_free(gpu, at, &error), -1);
    assert_non_null(strstr(error.text, "free"));
    assert_int_equal(simt_write(gpu, at, data, 4, &error), -1);
    simt_close(gpu);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_fault_is_found_on_its_line),
                                       cmocka_unit_test(host_mistakes_are_rejected)};
    return cmocka_run_group_tests_name("planted faults", tests, cases_read, nvcc_close);
}
