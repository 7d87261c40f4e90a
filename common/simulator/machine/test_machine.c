/* test_machine.c - the descriptions of GPUs, and what is said of a wrong one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/simulator/machine/machine.h"

#define GPUS "common/simulator/gpus"

static void all_are_read(void **state)
{
    static const struct {
        const char *name;
        uint32_t cc, sms;
    } KNOWN[] = {{"a100", 80, 108},   {"gtx1080ti", 61, 28}, {"gtx480", 20, 15},
                 {"gtx980", 52, 16},  {"h100", 90, 132},     {"h200", 90, 132},
                 {"rtx3060", 86, 28}, {"rtx4060", 89, 24},   {"rtx4090", 89, 128},
                 {"t4", 75, 40},      {"titanv", 70, 80}};
    (void)state;
    for (size_t i = 0; i < sizeof KNOWN / sizeof *KNOWN; i++) {
        SimtMachine machine;
        Error error = {""};
        if (machine_load(GPUS, KNOWN[i].name, &machine, &error) != 0) fail_msg("%s", error.text);
        assert_string_equal(machine.name, KNOWN[i].name);
        assert_int_equal(machine.cc_major * 10 + machine.cc_minor, KNOWN[i].cc);
        assert_int_equal(machine.sms, KNOWN[i].sms);
        assert_int_equal(machine.max_warps_per_sm * 32, machine.max_threads_per_sm);
    }
}

/* Only where it was measured, or follows from a data sheet. */
static void the_clock_of_products_may_be_left_out(void **state)
{
    SimtMachine machine;
    Error error = {""};
    (void)state;
    assert_int_equal(machine_load(GPUS, "h200", &machine, &error), 0);
    assert_true(machine.tensor_mhz == 1800);
    assert_int_equal(machine_load(GPUS, "a100", &machine, &error), 0);
    assert_true(machine.tensor_mhz == 0);
}

static void one_may_be_like_another(void **state)
{
    SimtMachine plain, accelerators;
    Error error = {""};
    (void)state;
    if (machine_load(GPUS, "gtx480", &plain, &error) != 0 ||
        machine_load(GPUS, "gtx480-accelerators", &accelerators, &error) != 0)
        fail_msg("%s", error.text);
    assert_string_equal(accelerators.name, "gtx480-accelerators");
    assert_string_not_equal(accelerators.title, plain.title);
    assert_int_equal(plain.accelerators, 0);
    assert_int_equal(accelerators.accelerators, 1);
    memcpy(accelerators.name, plain.name, sizeof plain.name);
    memcpy(accelerators.title, plain.title, sizeof plain.title);
    accelerators.accelerators = 0;
    assert_memory_equal(&accelerators, &plain, sizeof plain);
}

static void unknown_lists_the_known(void **state)
{
    static const char *const NAMES[] = {"rtx9090", "../gpus/h200", ""};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        SimtMachine machine;
        Error error = {""};
        assert_int_equal(machine_load(GPUS, NAMES[i], &machine, &error), -1);
        assert_non_null(strstr(error.text, "gtx1080ti, gtx480, gtx480-accelerators, gtx980, h100"));
    }
}

/* The description of the h200 with `line` put first or, with `drop`, without the lines that start
 * so. */
static void expect_trouble(const char *line, const char *drop, const char *want)
{
    char folder[] = "/tmp/machine_XXXXXX", path[256], text[512];
    SimtMachine machine;
    Error error = {""};
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/x.ini", folder);
    FILE *from = fopen(GPUS "/h200.ini", "r"), *to = fopen(path, "w");
    assert_true(from && to);
    fputs(line, to);
    while (fgets(text, sizeof text, from))
        if (!drop || strncmp(text, drop, strlen(drop)) != 0) fputs(text, to);
    fclose(from);
    fclose(to);
    assert_int_equal(machine_load(folder, "x", &machine, &error), -1);
    if (!strstr(error.text, want)) fail_msg("'%s' lacks '%s'", error.text, want);
    unlink(path);
    rmdir(folder);
}

static void wrong_ones_are_refused(void **state)
{
    (void)state;
    expect_trouble("\nspeed = 3\n", NULL, "line 2: unknown key speed");
    expect_trouble("sms = many\n", "sms", "line 1: sms = many is not a number");
    expect_trouble("sms = -1\n", "sms", "line 1: sms = -1");
    expect_trouble("sms = 0\n", "sms", "line 1: sms = 0 is not a number from 1 to 4096");
    expect_trouble("sms = 1\n", NULL, "sms is given twice");
    expect_trouble("", "l2_latency", "the key l2_latency is missing");
    expect_trouble("[section]\nsms = 4\n", "sms", "no sections");
}

static void other_units_and_sizes_are_refused(void **state)
{
    static const char *const LINES[] = {"clock_mhz = 1.98",
                                        "clock_mhz = 1980000",
                                        "tensor_mhz = 1.8",
                                        "dram_gb_s = 4.5",
                                        "dram_gb_s = 4500000",
                                        "memory_bytes = 141",
                                        "memory_bytes = 99999999999999999999",
                                        "l2_bytes = 60",
                                        "l2_latency = 1e999",
                                        "l2_latency = nan",
                                        "l2_latency = inf",
                                        "l2_latency = -270",
                                        "launch_cycles = 2.6",
                                        "alu_latency = 1e17",
                                        "sms = 0x84",
                                        "sms = 1e2",
                                        "sms = 132 of them",
                                        "issue_cycles = 4294967295",
                                        "register_unit = 4294967295",
                                        "max_warps_per_sm = 4294967296"};
    (void)state;
    for (size_t i = 0; i < sizeof LINES / sizeof *LINES; i++) {
        char line[80], key[40], want[128];
        snprintf(line, sizeof line, "%s\n", LINES[i]);
        snprintf(key, sizeof key, "%.*s", (int)(strchr(LINES[i], '=') - LINES[i]), LINES[i]);
        snprintf(want, sizeof want, "line 1: %s is not a number from", LINES[i]);
        expect_trouble(line, key, want);
    }
    expect_trouble("shared_per_block = 300000\n", "shared_per_block ", "optin <=");
    expect_trouble("tensor_mhz = 2000\n", "tensor_mhz", "tensor_mhz <= clock_mhz must hold");
    expect_trouble("max_warps_per_sm = 2\n", "max_warps_per_sm", "32 max_warps_per_sm must hold");
    expect_trouble("registers_per_sm = 1024\n", "registers_per_sm", "no room for a warp");
}

/* A truncated description, for example from a full disk, gives a machine or an error message. */
static void torn_ones_are_refused(void **state)
{
    char folder[] = "/tmp/machine_XXXXXX", path[256], text[8192];
    FILE *from = fopen(GPUS "/h200.ini", "r");
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/x.ini", folder);
    const size_t bytes = fread(text, 1, sizeof text, from);
    fclose(from);
    int whole = 0;
    for (size_t kept = 0; kept <= bytes; kept++) {
        SimtMachine machine;
        Error error = {""};
        FILE *to = fopen(path, "w");
        fwrite(text, 1, kept, to);
        fclose(to);
        if (!machine_load(folder, "x", &machine, &error))
            whole++;
        else
            assert_non_null(strstr(error.text, "x.ini"));
        assert_null(strchr(error.text, '\n'));
    }
    assert_in_range(whole, 1, 3); /* all of it, and what ends in the last number */
    unlink(path);
    rmdir(folder);
}

/* By hand, for an H200: 48 registers are 1,536 a warp, a scheduler's 16,384 hold 10 warps, four
 * schedulers 40: 20 blocks of two warps.  (65,536 / 1,536 would be 42 warps.)  A block's 1,700
 * bytes and the driver's 1,024 are 2,816 in units of 128; 228 KB hold 82. */
static void room_for_blocks(void **state)
{
    (void)state;
    SimtMachine machine;
    Error error;
    assert_int_equal(machine_load("common/simulator/gpus", "h200", &machine, &error), 0);
    assert_int_equal(machine_blocks_by_registers(&machine, 48, 64), 20);
    assert_int_equal(machine_blocks_by_registers(&machine, 255, 256), 1);
    assert_int_equal(machine_blocks_by_registers(&machine, 255, 1024), 0);
    assert_int_equal(machine_blocks_by_registers(&machine, 1u << 27, 32), 0);
    assert_int_equal(machine_blocks_by_registers(&machine, UINT32_MAX, 32), 0);
    assert_int_equal(machine_blocks_by_shared(&machine, 1700), 82);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_are_read),
                                       cmocka_unit_test(the_clock_of_products_may_be_left_out),
                                       cmocka_unit_test(one_may_be_like_another),
                                       cmocka_unit_test(unknown_lists_the_known),
                                       cmocka_unit_test(wrong_ones_are_refused),
                                       cmocka_unit_test(other_units_and_sizes_are_refused),
                                       cmocka_unit_test(torn_ones_are_refused),
                                       cmocka_unit_test(room_for_blocks)};
    return cmocka_run_group_tests_name("machine", tests, NULL, NULL);
}
