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
#include <ini.h>

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
static void the_clock_of_mma_may_be_omitted(void **state)
{
    SimtMachine machine;
    Error error = {""};
    (void)state;
    assert_int_equal(machine_load(GPUS, "h200", &machine, &error), 0);
    assert_true(machine.tensor_mhz == 1800);
    assert_int_equal(machine_load(GPUS, "a100", &machine, &error), 0);
    assert_true(machine.tensor_mhz == 0);
}

static void a_machine_may_copy_another(void **state)
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

/* A folder of machines with the described architectures. */
static void folder_make(char *folder)
{
    char link[256], *architectures = realpath(GPUS "/architectures", NULL);
    assert_non_null(mkdtemp(folder));
    snprintf(link, sizeof link, "%s/architectures", folder);
    assert_int_equal(symlink(architectures, link), 0);
    free(architectures);
}

static void folder_remove(const char *folder)
{
    char command[300];
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

/* Copies a description with `line` before it and, with `drop`, without the lines that start so. */
static void description_copy(const char *source, const char *target, const char *line,
                             const char *drop)
{
    char text[512];
    FILE *from = fopen(source, "r"), *to = fopen(target, "w");
    assert_true(from && to);
    fputs(line, to);
    while (fgets(text, sizeof text, from))
        if (!drop || strncmp(text, drop, strlen(drop)) != 0) fputs(text, to);
    fclose(from);
    fclose(to);
}

static void expect_refusal(const char *folder, const char *want)
{
    SimtMachine machine;
    Error error = {""};
    assert_int_equal(machine_load(folder, "x", &machine, &error), -1);
    if (!strstr(error.text, want)) fail_msg("'%s' lacks '%s'", error.text, want);
    assert_null(strchr(error.text, '\n'));
}

/* A changed description of the h200 is rejected. */
static void expect_trouble(const char *line, const char *drop, const char *want)
{
    char folder[] = "/tmp/machine_XXXXXX", path[256];
    folder_make(folder);
    snprintf(path, sizeof path, "%s/x.ini", folder);
    description_copy(GPUS "/h200.ini", path, line, drop);
    expect_refusal(folder, want);
    folder_remove(folder);
}

/* The same for a changed description of its architecture. */
static void expect_architecture_trouble(const char *line, const char *drop, const char *want)
{
    char folder[] = "/tmp/machine_XXXXXX", path[256], all[400];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/architectures", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/x.ini", folder);
    description_copy(GPUS "/h200.ini", path, "", NULL);
    snprintf(path, sizeof path, "%s/architectures/sm90.ini", folder);
    description_copy(GPUS "/architectures/sm90.ini", path, line, drop);
    snprintf(all, sizeof all, "%s%s", path, want);
    expect_refusal(folder, all);
    folder_remove(folder);
}

static void invalid_architectures_are_rejected(void **state)
{
    (void)state;
    expect_architecture_trouble("\nspeed = 3\n", NULL, " line 2: unknown key speed");
    expect_architecture_trouble("sms = 132\n", NULL, " line 1: unknown key sms");
    expect_architecture_trouble("branch_cycles = -1\n", "branch_cycles",
                                " line 1: branch_cycles = -1 is not a number from 0 to 1000 "
                                "(cycles from a branch to the warp's next instruction)");
    expect_architecture_trouble("branch_cycles = 1\n", NULL,
                                " line 10: branch_cycles is given twice");
    expect_architecture_trouble("", "branch_cycles",
                                ": the key branch_cycles is missing: a number from 0 to 1000 (");
    expect_architecture_trouble("", "tma", ": the key tma is missing: a number from 0 to 1 (");
    expect_architecture_trouble("wgmma = 2\n", "wgmma",
                                " line 1: wgmma = 2 is not a number from 0 to 1 (wgmma)");
    expect_architecture_trouble(
        "dram_distances = 1000 1000\n", "dram_distances",
        " line 1: dram_distances = 1000 1000 is not 19 numbers from 1 to 10000");
    expect_architecture_trouble("shared_carveouts = 8 16 32 64 100 132 164 196 228\n",
                                "shared_carveouts",
                                " line 1: shared_carveouts = 8 16 32 64 100 132 164 196 228 is not "
                                "8 numbers from 1 to 16384 (KB");
    expect_architecture_trouble("unmeasured_as = ../sm90\n", NULL,
                                " line 1: unmeasured_as = ../sm90 must name an architecture, once");
    expect_architecture_trouble("like = h200\n", NULL, " line 1: unknown key like");
    expect_trouble("architecture = sm80\n", "architecture",
                   "x.ini: architecture = sm80 does not describe compute capability 9.0");
    expect_trouble("architecture = ../sm90\n", "architecture", "does not describe");
    expect_trouble("", "architecture", "x.ini: the key architecture is missing");
    expect_trouble("cc_minor = 1\narchitecture = sm91\n", "cc_minor", "is given twice");
    expect_trouble("cc_major = 10\n", "cc_major",
                   "architecture = sm90 does not describe compute capability 10.0: that needs "
                   "sm100 to sm100");
    expect_trouble("unmeasured_as = sm80\n", NULL, "unknown key unmeasured_as");
    expect_trouble("branch_cycles = 4000\n", NULL, "line 1: branch_cycles = 4000 is not a number");
}

/* The named architecture has no file. */
static void an_unknown_architecture_lists_the_known(void **state)
{
    char folder[] = "/tmp/machine_XXXXXX", path[256];
    (void)state;
    folder_make(folder);
    snprintf(path, sizeof path, "%s/x.ini", folder);
    description_copy(GPUS "/h200.ini", path, "architecture = sm91\n", "architecture");
    expect_refusal(folder, "does not describe compute capability 9.0");
    description_copy(GPUS "/h100.ini", path, "like = h200\ncc_minor = 3\narchitecture = sm93\n",
                     "like");
    char other[256];
    snprintf(other, sizeof other, "%s/h200.ini", folder);
    description_copy(GPUS "/h200.ini", other, "", NULL);
    expect_refusal(folder, "unknown architecture 'sm93': ");
    expect_refusal(folder, "/architectures has sm100, sm120, sm20, sm50, sm60, sm61, sm70");
    folder_remove(folder);
}

/* The costs of the H200's generation were measured; all others say what was not. */
static void unmeasured_costs_are_reported(void **state)
{
    SimtMachine machine, plain;
    Error error = {""};
    char text[2000], folder[] = "/tmp/machine_XXXXXX", path[256];
    (void)state;
    assert_int_equal(machine_load(GPUS, "h100", &machine, &error), 0);
    machine_unmeasured(&machine, text, sizeof text);
    assert_string_equal(text, "");
    assert_int_equal(machine.unmeasured_costs, 0);
    assert_int_equal(machine_load(GPUS, "gtx480", &plain, &error), 0);
    machine_unmeasured(&plain, text, sizeof text);
    assert_string_equal(plain.costs_of, "sm90");
    assert_non_null(strstr(text, "fences"));
    assert_non_null(strstr(text, "instruction cache"));
    assert_non_null(strstr(text, "queueing delay at DRAM"));
    assert_null(strstr(text, "bulk copies")); /* a GTX 480 has none */
    assert_int_equal(plain.costs.fence_cycles, machine.costs.fence_cycles);
    folder_make(folder);
    snprintf(path, sizeof path, "%s/x.ini", folder);
    description_copy(GPUS "/gtx480.ini", path,
                     "code_small_bytes = 4096\ncode_large_bytes = 8192\ncode_ready_bytes = 0\n"
                     "code_large_cycles = 100\n",
                     NULL);
    assert_int_equal(machine_load(folder, "x", &machine, &error), 0);
    assert_int_equal(machine.costs.code_small_bytes, 4096);
    assert_int_equal(machine.unmeasured_costs, plain.unmeasured_costs - 4);
    machine_unmeasured(&machine, text, sizeof text);
    assert_null(strstr(text, "instruction cache"));
    folder_remove(folder);
}

/* ---- mechanisms --------------------------------------------------------------------------- */

#define MECHANISM_FILE "common/simulator/timing/mechanisms.ini"

/* A section's keys, as a machine. */
typedef struct Disabled {
    char folder[32], section[64];
    unsigned sections;
} Disabled;

static void section_load(const Disabled *d)
{
    SimtMachine machine;
    Error error = {""};
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(d->section, "-"), d->section);
    if (!machine_mechanism(name)) fail_msg("[%s] names no mechanism", d->section);
    if (machine_load(d->folder, "x", &machine, &error)) fail_msg("[%s] %s", d->section, error.text);
}

static int section_read(void *user, const char *section, const char *key, const char *value)
{
    Disabled *d = user;
    char path[64];
    snprintf(path, sizeof path, "%s/x.ini", d->folder);
    const int next = strcmp(section, d->section) != 0;
    if (next && d->sections++) section_load(d);
    snprintf(d->section, sizeof d->section, "%s", section);
    FILE *file = fopen(path, next ? "w" : "a");
    assert_non_null(file);
    fprintf(file, "%s%s = %s\n", next ? "like = h200\n" : "", key, value);
    fclose(file);
    return 1;
}

/* make ablation loads each section of the mechanisms as a machine like an H200. */
static void each_mechanism_can_be_disabled(void **state)
{
    Disabled d = {.folder = "/tmp/machine_XXXXXX"};
    char path[256], text[1 << 14];
    (void)state;
    folder_make(d.folder);
    snprintf(path, sizeof path, "%s/h200.ini", d.folder);
    description_copy(GPUS "/h200.ini", path, "", NULL);
    assert_int_equal(ini_parse(MECHANISM_FILE, section_read, &d), 0);
    section_load(&d);
    assert_true(d.sections > 50);
    folder_remove(d.folder);
    /* Each mechanism of the description has a section. */
    FILE *file = fopen(MECHANISM_FILE, "r");
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
#define MECHANISM(name, title, occurs)                                                             \
    if (!strstr(text, "\n[" #name "]\n") && !strstr(text, "\n[" #name "-"))                        \
        fail_msg(MECHANISM_FILE " has no section of " #name);
#define COST(key, unit, lowest, highest)
#define LIST(key, count, unit, lowest, highest)
#include "common/simulator/machine/machine_costs.def"
}

static void features_follow_the_architecture(void **state)
{
    static const struct {
        const char *name;
        uint32_t cp_async, tma, clusters, match, dp4a, cooperative;
        uint64_t persisting_l2_bytes;
    } KNOWN[] = {{"gtx480", 0, 0, 0, 0, 0, 0, 0},         {"gtx1080ti", 0, 0, 0, 0, 1, 1, 0},
                 {"titanv", 0, 0, 0, 1, 1, 1, 0},         {"t4", 0, 0, 0, 1, 1, 1, 0},
                 {"rtx4090", 1, 0, 0, 1, 1, 1, 51904512}, {"h100", 1, 1, 1, 1, 1, 1, 32768000}};
    (void)state;
    for (size_t i = 0; i < sizeof KNOWN / sizeof *KNOWN; i++) {
        SimtMachine machine;
        Error error = {""};
        if (machine_load(GPUS, KNOWN[i].name, &machine, &error) != 0) fail_msg("%s", error.text);
        assert_int_equal(machine.has.cp_async, KNOWN[i].cp_async);
        assert_int_equal(machine.has.tma, KNOWN[i].tma);
        assert_int_equal(machine.has.wgmma, KNOWN[i].tma);
        assert_int_equal(machine.has.clusters, KNOWN[i].clusters);
        assert_int_equal(machine.has.match, KNOWN[i].match);
        assert_int_equal(machine.has.dp4a, KNOWN[i].dp4a);
        assert_int_equal(machine.has.cooperative_launches, KNOWN[i].cooperative);
        assert_int_equal(machine.persisting_l2_bytes, KNOWN[i].persisting_l2_bytes);
    }
}

static void invalid_machines_are_rejected(void **state)
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

static void wrong_units_and_sizes_are_rejected(void **state)
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
static void truncated_machines_are_rejected(void **state)
{
    char folder[] = "/tmp/machine_XXXXXX", path[256], text[8192];
    FILE *from = fopen(GPUS "/h200.ini", "r");
    (void)state;
    folder_make(folder);
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
    folder_remove(folder);
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
                                       cmocka_unit_test(the_clock_of_mma_may_be_omitted),
                                       cmocka_unit_test(a_machine_may_copy_another),
                                       cmocka_unit_test(unknown_lists_the_known),
                                       cmocka_unit_test(invalid_machines_are_rejected),
                                       cmocka_unit_test(invalid_architectures_are_rejected),
                                       cmocka_unit_test(an_unknown_architecture_lists_the_known),
                                       cmocka_unit_test(unmeasured_costs_are_reported),
                                       cmocka_unit_test(features_follow_the_architecture),
                                       cmocka_unit_test(each_mechanism_can_be_disabled),
                                       cmocka_unit_test(wrong_units_and_sizes_are_rejected),
                                       cmocka_unit_test(truncated_machines_are_rejected),
                                       cmocka_unit_test(room_for_blocks)};
    return cmocka_run_group_tests_name("machine", tests, NULL, NULL);
}
