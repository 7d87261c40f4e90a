/* Sealed parts can be opened unchanged, are unreadable, and damage is reported. */
#include <fcntl.h>
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "autograder/lab/sealed.h"
#include "autograder/text/files.h"

static const char SECRET[] = "formula = 42 * 42\0and more, behind a NUL";

static int make_folder(void **state)
{
    *state = strdup("/tmp/convlab-sealed-XXXXXX");
    return mkdtemp(*state) ? 0 : -1;
}

static int drop_folder(void **state)
{
    char path[200];
    snprintf(path, sizeof path, "%s/" SEALED_FILE, (char *)*state);
    unlink(path);
    rmdir(*state);
    free(*state);
    return 0;
}

static void write_sealed(const char *folder, const char *text)
{
    char path[200];
    snprintf(path, sizeof path, "%s/" SEALED_FILE, folder);
    assert_int_equal(file_write(path, text, NULL), 0);
}

/* Two parts; `second`'s name starts with the first one's name. */
static char *two_parts(void)
{
    char *first = sealed_line("baseline-old", "other", 5);
    char *second = sealed_line("baseline", SECRET, sizeof SECRET);
    char *both = malloc(strlen(first) + strlen(second) + 1);
    strcpy(both, first);
    strcat(both, second);
    free(first);
    free(second);
    return both;
}

static void sealed_parts_are_decoded_unchanged(void **state)
{
    size_t bytes;
    Error error;
    char *text = two_parts();
    assert_false(sealed_exists(*state));
    write_sealed(*state, text);
    assert_true(sealed_exists(*state));
    char *part = sealed_part(*state, "baseline", &bytes, &error);
    assert_non_null(part);
    assert_int_equal(bytes, sizeof SECRET);
    assert_memory_equal(part, SECRET, sizeof SECRET);
    free(part);
    free(text);
}

static void sealing_is_deterministic_and_injective(void **state)
{
    (void)state;
    char *line = sealed_line("x", SECRET, sizeof SECRET);
    char *again = sealed_line("x", SECRET, sizeof SECRET);
    char *other = sealed_line("x", SECRET, sizeof SECRET - 2);
    assert_string_equal(line, again);
    /* Not only shorter: it shows no part of the longer one. */
    assert_true(strncmp(line, other, 12) != 0);
    assert_null(strstr(line, "Zm9ybXVsY")); /* "formula" in base64 */
    free(line);
    free(again);
    free(other);
}

static void expect_refused(const char *folder, const char *name)
{
    size_t bytes;
    Error error = {""};
    assert_null(sealed_part(folder, name, &bytes, &error));
    assert_non_null(strstr(error.text, SEALED_FILE " is damaged"));
    assert_non_null(strstr(error.text, name));
}

static void damage_is_reported(void **state)
{
    char *text = two_parts(), *at = strstr(text, "\nbaseline ") + 40;
    write_sealed(*state, text);
    expect_refused(*state, "reference");
    *at = *at == 'A' ? 'B' : 'A';
    write_sealed(*state, text);
    expect_refused(*state, "baseline");
    strcpy(at, "!");
    write_sealed(*state, text);
    expect_refused(*state, "baseline");
    write_sealed(*state, "baseline ");
    expect_refused(*state, "baseline");
    free(text);
}

/* Programs of a copy that was made on another processor are refused with the cause. */
static void test_machine(void **state)
{
    (void)state;
    Error error;
    Elf64_Ehdr own = {0}, other;
    int fd = open("/proc/self/exe", O_RDONLY);
    assert_int_equal(read(fd, &own, sizeof own), sizeof own);
    close(fd);
    assert_int_equal(sealed_check_machine(&own, sizeof own, &error), 0);
    other = own;
    other.e_machine = own.e_machine == EM_AARCH64 ? EM_X86_64 : EM_AARCH64;
    assert_int_equal(sealed_check_machine(&other, sizeof other, &error), -1);
    assert_non_null(strstr(error.text, "ask your instructor for a copy"));
    assert_int_equal(sealed_check_machine(&other, 10, &error), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(sealed_parts_are_decoded_unchanged, make_folder,
                                        drop_folder),
        cmocka_unit_test(test_machine),
        cmocka_unit_test(sealing_is_deterministic_and_injective),
        cmocka_unit_test_setup_teardown(damage_is_reported, make_folder, drop_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
