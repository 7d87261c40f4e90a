#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "autograder/text/files.h"
#include "autograder/workbench/source.h"

static char folder[] = "/tmp/source-XXXXXX", path[64];

static int folder_make(void **state)
{
    (void)state;
    if (!mkdtemp(folder)) return -1;
    snprintf(path, sizeof path, "%s/conv.cu", folder);
    return 0;
}

static int folder_remove(void **state)
{
    (void)state;
    char command[96];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static void saves_only_over_the_text_that_was_read(void **state)
{
    (void)state;
    char before[DIGEST_CHARACTERS + 1], after[DIGEST_CHARACTERS + 1];
    Error error;
    assert_int_equal(file_write(path, "int a;\n", &error), 0);
    char *text = source_read(folder, "conv.cu", before, &error);
    assert_string_equal(text, "int a;\n");
    free(text);
    assert_int_equal(source_save(folder, "conv.cu", before, "int b;\n", after, &error),
                     SOURCE_SAVED);
    assert_string_not_equal(before, after);
    text = source_read(folder, "conv.cu", before, &error);
    assert_string_equal(text, "int b;\n");
    assert_string_equal(before, after);
    free(text);
}

static void loses_neither_edit(void **state)
{
    (void)state;
    char base[DIGEST_CHARACTERS + 1], now[DIGEST_CHARACTERS + 1], other[DIGEST_CHARACTERS + 1];
    Error error;
    assert_int_equal(file_write(path, "int a;\n", &error), 0);
    free(source_read(folder, "conv.cu", base, &error));
    assert_int_equal(file_write(path, "int other;\n", &error), 0);
    assert_int_equal(source_save(folder, "conv.cu", base, "int mine;\n", now, &error),
                     SOURCE_CONFLICT);
    char *text = source_read(folder, "conv.cu", other, &error);
    assert_string_equal(text, "int other;\n");
    assert_string_equal(now, other);
    free(text);
}

static void saves_a_file_that_was_removed(void **state)
{
    (void)state;
    char now[DIGEST_CHARACTERS + 1];
    Error error;
    unlink(path);
    assert_null(source_read(folder, "conv.cu", now, &error));
    assert_non_null(strstr(error.text, "conv.cu"));
    assert_int_equal(source_save(folder, "conv.cu", "", "int again;\n", now, &error), SOURCE_SAVED);
}

static void rejects_files_that_are_no_source(void **state)
{
    (void)state;
    char now[DIGEST_CHARACTERS + 1], elsewhere[80];
    Error error;
    FILE *file = fopen(path, "w");
    fputs("int a = '\xff';\n", file);
    fclose(file);
    assert_null(source_read(folder, "conv.cu", now, &error));
    assert_non_null(strstr(error.text, "not UTF-8"));
    assert_int_equal(source_save(folder, "conv.cu", "", "int a;\n", now, &error), SOURCE_FAILED);
    assert_int_equal(source_save(folder, "conv.cu", "", "\xc3", now, &error), SOURCE_FAILED);
    snprintf(elsewhere, sizeof elsewhere, "%s/secret", folder);
    file_write(elsewhere, "secret\n", &error);
    unlink(path);
    assert_int_equal(symlink(elsewhere, path), 0);
    assert_null(source_read(folder, "conv.cu", now, &error));
    assert_int_equal(source_save(folder, "conv.cu", "", "int a;\n", now, &error), SOURCE_FAILED);
    char *text = file_text(elsewhere, &error);
    assert_string_equal(text, "secret\n");
    free(text);
    unlink(path);
}

static void a_text_that_is_too_large_changes_nothing(void **state)
{
    (void)state;
    char base[DIGEST_CHARACTERS + 1], now[DIGEST_CHARACTERS + 1], file[80];
    Error error;
    snprintf(file, sizeof file, "%s/large/conv.cu", folder);
    assert_int_equal(file_write(file, "int a;\n", &error), 0);
    free(source_read(folder, "large/conv.cu", base, &error));
    char *large = malloc(SOURCE_BYTES + 2);
    memset(large, 'a', SOURCE_BYTES + 1);
    large[SOURCE_BYTES + 1] = 0;
    assert_int_equal(source_save(folder, "large/conv.cu", base, large, now, &error), SOURCE_FAILED);
    free(large);
    char *text = source_read(folder, "large/conv.cu", now, &error);
    assert_string_equal(text, "int a;\n");
    assert_string_equal(base, now);
    free(text);
}

/* A link that waits under the name of a temporary file, and a linked folder. */
static void follows_no_link(void **state)
{
    (void)state;
    char base[DIGEST_CHARACTERS + 1], secret[80], link[80];
    Error error;
    snprintf(secret, sizeof secret, "%s/secret", folder);
    snprintf(link, sizeof link, "%s/conv.cu.tmp", folder);
    file_write(path, "int a;\n", &error);
    file_write(secret, "secret\n", &error);
    assert_int_equal(symlink(secret, link), 0);
    free(source_read(folder, "conv.cu", base, &error));
    assert_int_equal(source_save(folder, "conv.cu", base, "int b;\n", base, &error), SOURCE_SAVED);
    assert_int_equal(file_write(path, "int c;\n", &error), -1);
    unlink(link);
    snprintf(link, sizeof link, "%s/linked", folder);
    assert_int_equal(symlink("/tmp", link), 0);
    assert_int_equal(source_save(folder, "linked/conv.cu", "", "int a;\n", base, &error),
                     SOURCE_FAILED);
    assert_null(source_read(folder, "linked/conv.cu", base, &error));
    unlink(link);
    char *text = file_text(secret, &error);
    assert_string_equal(text, "secret\n");
    free(text);
}

/* The file keeps its permissions; a disk that is full, here a limit of the size, loses nothing. */
static void a_full_disk_loses_no_data(void **state)
{
    (void)state;
    char base[DIGEST_CHARACTERS + 1], command[120];
    struct rlimit before, small = {.rlim_cur = 1000, .rlim_max = RLIM_INFINITY};
    struct stat status;
    Error error;
    static char large[5000];
    memset(large, 'a', sizeof large - 1);
    file_write(path, "int a;\n", &error);
    chmod(path, 0600);
    free(source_read(folder, "conv.cu", base, &error));
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    small.rlim_max = before.rlim_max;
    setrlimit(RLIMIT_FSIZE, &small);
    SourceSaved saved = source_save(folder, "conv.cu", base, large, base, &error);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(saved, SOURCE_FAILED);
    assert_non_null(strstr(error.text, "not saved"));
    char *text = source_read(folder, "conv.cu", base, &error);
    assert_string_equal(text, "int a;\n");
    free(text);
    assert_int_equal(source_save(folder, "conv.cu", base, "int b;\n", base, &error), SOURCE_SAVED);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    snprintf(command, sizeof command, "test -z \"$(ls %s | grep part)\"", folder);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(saves_only_over_the_text_that_was_read),
        cmocka_unit_test(loses_neither_edit),
        cmocka_unit_test(saves_a_file_that_was_removed),
        cmocka_unit_test(rejects_files_that_are_no_source),
        cmocka_unit_test(a_text_that_is_too_large_changes_nothing),
        cmocka_unit_test(follows_no_link),
        cmocka_unit_test(a_full_disk_loses_no_data),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
