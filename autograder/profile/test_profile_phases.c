/* test_profile_phases.c - assignment of lines to phases, by comments and by TODO regions, and
 * comparison of two programs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "autograder/profile/profile_phases.h"

/* NULL: replaced by the line that starts the second half. */
static const char *const SOURCE[] = {
    "__global__ void kernel()", /* 1 */
    "{",                        /* 2 */
    "    int i = 0;",           /* 3: other */
    "    // TODO(1): Load.",    /* 4 */
    "    i++;",                 /* 5: TODO(1) */
    "    // END TODO(1)",       /* 6 */
    "    i++;",                 /* 7: other */
    NULL,                       /* 8 */
    "    i++;",                 /* 9: the second half */
    "    // END TODO(2)",       /* 10 */
    "    i++;",                 /* 11: other, or still the second half */
    "}",                        /* 12 */
};

/* A source line with its instructions and its stalls. */
static SimtInstruction at(uint32_t line, uint64_t instructions, uint64_t stalls)
{
    return (SimtInstruction){.file = "kernel.cu",
                             .line = line,
                             .warp_instructions = instructions,
                             .stall = {[STALL_WAIT] = stalls}};
}

static char folder[] = "/tmp/test-phases-XXXXXX";

static void phases_of(const char *second, SimtInstruction *instruction, uint32_t count,
                      ProfilePhases *phases)
{
    char path[100];
    SimtProfile profile = {.cycles = 1000, .instruction = instruction, .instructions = count};
    snprintf(path, sizeof path, "%s/kernel.cu", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (size_t i = 0; i < sizeof SOURCE / sizeof *SOURCE; i++)
        fprintf(file, "%s\n", SOURCE[i] ? SOURCE[i] : second);
    fclose(file);
    assert_int_equal(profile_phases_of(&profile, path, phases), 0);
}

static void lines_become_phases(void **state)
{
    SimtInstruction line[] = {at(11, 1, 10), at(3, 2, 20), at(5, 4, 30), at(7, 8, 15),
                              at(9, 16, 25)};
    ProfilePhases phases;
    (void)state;
    phases_of("    // TODO(2): Multiply.", line, 5, &phases);
    assert_int_equal(phases.phases, 3);
    assert_string_equal(phases.phase[0].name, "other");
    assert_float_equal(phases.phase[0].cycles, 450, 1e-9);
    assert_true(phases.phase[0].instructions == 11 && phases.phase[0].line == 3);
    assert_string_equal(phases.phase[1].name, "TODO(1)");
    assert_float_equal(phases.phase[1].cycles, 300, 1e-9);
    assert_string_equal(phases.phase[2].name, "TODO(2)");
    assert_float_equal(phases.phase[2].cycles, 250, 1e-9);
    assert_true(phases.phase[2].instructions == 16);
}

/* Then a phase continues to the next comment, and TODO regions are ignored. */
static void a_source_may_name_its_phases(void **state)
{
    SimtInstruction line[] = {at(11, 1, 10), at(3, 2, 20), at(5, 4, 30), at(9, 16, 40)};
    ProfilePhases phases;
    (void)state;
    phases_of("    // phase: compute", line, 4, &phases);
    assert_int_equal(phases.phases, 2);
    assert_string_equal(phases.phase[0].name, "other");
    assert_true(phases.phase[0].instructions == 6);
    assert_string_equal(phases.phase[1].name, "compute");
    assert_true(phases.phase[1].instructions == 17);
}

static void phases_are_written_and_read_back(void **state)
{
    SimtInstruction line[] = {at(5, 4, 30), at(9, 16, 70)};
    ProfilePhases phases, back;
    Error error = {""};
    char path[100];
    (void)state;
    phases_of("    // TODO(2): Multiply.", line, 2, &phases);
    snprintf(path, sizeof path, "%s/phases.tsv", folder);
    assert_int_equal(profile_phases_write(path, &phases, &error), 0);
    assert_int_equal(profile_phases_read(path, &back, &error), 0);
    assert_int_equal(back.phases, 2);
    for (int i = 0; i < 2; i++) {
        assert_string_equal(back.phase[i].name, phases.phase[i].name);
        assert_float_equal(back.phase[i].cycles, phases.phase[i].cycles, 0.5);
        assert_true(back.phase[i].instructions == phases.phase[i].instructions);
    }
}

static char *printed(const ProfilePhases *mine, const ProfilePhases *other)
{
    char *text = NULL;
    size_t bytes;
    FILE *stream = open_memstream(&text, &bytes);
    profile_phases_print(stream, mine, other, "reference");
    fclose(stream);
    return text;
}

static int rows_of(char *text, const char *name)
{
    int rows = 0;
    char *copy = strdup(text), *rest = copy;
    for (char *line; (line = strsep(&rest, "\n"));)
        rows += !strncmp(line + strspn(line, " "), name, strlen(name));
    free(copy);
    return rows;
}

static void the_surplus_is_named(void **state)
{
    const ProfilePhases
        mine = {{{"other", 100, 5, 0}, {"TODO(1)", 900, 60, 4}, {"compute", 500, 9, 8}}, 3},
        other = {{{"other", 90, 5, 0}, {"TODO(1)", 300, 20, 4}, {"compute", 490, 9, 8}}, 3},
        apart = {{{"other", 100, 5, 0}, {"TODO(1)", 10, 5, 4}}, 2};
    (void)state;
    char *text = printed(&mine, &other);
    assert_non_null(strstr(text, "in TODO(1): 3.0 times the cycles"));
    assert_non_null(strstr(text, "3.0 times its instructions"));
    assert_int_equal(rows_of(text, "other"), 1); /* although it has no line */
    free(text);
    text = printed(&other, &mine); /* a faster program has no surplus */
    assert_null(strstr(text, "difference"));
    assert_non_null(strstr(text, "compute"));
    free(text);
    text = printed(&mine, &apart); /* too few phases in common */
    assert_string_equal(text, "");
    free(text);
}

static int end(void **state)
{
    char command[100];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_become_phases),
        cmocka_unit_test(a_source_may_name_its_phases),
        cmocka_unit_test(phases_are_written_and_read_back),
        cmocka_unit_test(the_surplus_is_named),
    };
    return mkdtemp(folder) ? cmocka_run_group_tests(tests, NULL, end) : 1;
}
