#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "autograder/class/sieve.h"
#include "autograder/class/tree.h"
#include "autograder/text/files.h"

static char folder[] = "/tmp/sieve-XXXXXX";
static char path[100];
static Catalog catalog;
static Sieve *sieve;

static int begin(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/sieve-XXXXXX");
    sieve = calloc(1, sizeof *sieve);
    sieve->catalog = &catalog;
    int made = mkdtemp(folder) != NULL;
    snprintf(path, sizeof path, "%s/handed-in", folder);
    return made ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    for (int i = 0; i < HANDED_LABS * SIEVE_FILES; i++) {
        SieveSlot *slot = &sieve->slot[i / SIEVE_FILES][i % SIEVE_FILES];
        free(slot->path);
        free(slot->data);
    }
    free(sieve);
    return tree_remove(folder);
}

static const SieveSlot *source_of(int lab)
{
    return &sieve->slot[lab][0];
}

static void is_taken(int lab, const char *text)
{
    const SieveSlot *slot = source_of(lab);
    assert_string_equal(slot->problem, "");
    assert_int_equal(slot->bytes, strlen(text));
    assert_memory_equal(slot->data, text, slot->bytes);
}

/* ---- archives made by this test ------------------------------------------------------------- */

static struct archive *archive_begin(int zip)
{
    struct archive *archive = archive_write_new();
    if (zip)
        archive_write_set_format_zip(archive);
    else
        archive_write_set_format_pax_restricted(archive);
    if (!zip) archive_write_add_filter_gzip(archive);
    assert_int_equal(archive_write_open_filename(archive, path), ARCHIVE_OK);
    return archive;
}

/* `link`: a target, "hard:target", or NULL for a file that holds `text` `times` times. */
static void add(struct archive *archive, const char *name, const char *text, int times,
                const char *link)
{
    struct archive_entry *entry = archive_entry_new();
    archive_entry_set_pathname(entry, name);
    archive_entry_set_filetype(entry, link && strncmp(link, "hard:", 5) != 0 ? AE_IFLNK : AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    archive_entry_set_size(entry, link ? 0 : (la_int64_t)strlen(text) * times);
    if (link && !strncmp(link, "hard:", 5))
        archive_entry_set_hardlink(entry, link + 5);
    else if (link)
        archive_entry_set_symlink(entry, link);
    assert_int_equal(archive_write_header(archive, entry), ARCHIVE_OK);
    for (int i = 0; !link && i < times; i++)
        assert_true(archive_write_data(archive, text, strlen(text)) == (la_ssize_t)strlen(text));
    archive_entry_free(entry);
}

static void archive_end(struct archive *archive)
{
    assert_int_equal(archive_write_close(archive), ARCHIVE_OK);
    archive_write_free(archive);
    sieve_archive(sieve, path);
}

static void test_the_nearest_file_of_a_lab_counts(void **state)
{
    (void)state;
    struct archive *archive = archive_begin(1);
    add(archive, "workbook/old/labs/02-naive/conv.cu", "old", 1, NULL);
    add(archive, "workbook/solutions/02-naive/conv.cu", "solution", 1, NULL);
    add(archive, "./workbook/labs/02-naive/conv.cu", "mine", 1, NULL);
    add(archive, "__MACOSX/02-naive/conv.cu", "mac", 1, NULL);
    add(archive, ".git/02-naive/conv.cu", "git", 1, NULL);
    add(archive, "workbook/labs/02-naive/predict.ini", "[answer]", 1, NULL);
    add(archive, "workbook/labs/02-naive/README.md", "read", 1, NULL);
    add(archive, "01-sequential/conv.c", "", 1, NULL);
    archive_end(archive);
    assert_string_equal(sieve->problem, "");
    is_taken(0, "");
    is_taken(1, "mine");
    assert_memory_equal(sieve->slot[1][1].data, "[answer]", 8);
    assert_null(source_of(2)->data);
}

static void test_two_equally_similar_names_are_not_chosen(void **state)
{
    (void)state;
    struct archive *archive = archive_begin(0);
    add(archive, "a/02-naive/conv.cu", "one", 1, NULL);
    add(archive, "b/02-naive/conv.cu", "other", 1, NULL);
    archive_end(archive);
    assert_string_equal(source_of(1)->problem,
                        "a/02-naive/conv.cu and b/02-naive/conv.cu: which of the two counts?");
}

static void test_loose_files_of_one_lab(void **state)
{
    (void)state;
    sieve->only = &catalog.lab[1];
    struct archive *archive = archive_begin(1);
    add(archive, "home/work/conv.cu", "deep", 1, NULL);
    add(archive, "home/conv.cu", "loose", 1, NULL);
    add(archive, "03-layout/conv.cu", "of another lab", 1, NULL);
    archive_end(archive);
    is_taken(1, "loose");
    assert_null(source_of(2)->data);
}

/* Each path makes the whole archive invalid, whatever else it contains. */
static void test_no_path_leads_out(void **state)
{
    static const char *const OUT[] = {"../02-naive/conv.cu",      "/02-naive/conv.cu",
                                      "a/../../02-naive/conv.cu", "..\\02-naive\\conv.cu",
                                      "C:\\02-naive\\conv.cu",    "a/.."};
    (void)state;
    for (size_t i = 0; i < sizeof OUT / sizeof *OUT; i++) {
        struct archive *archive = archive_begin(0);
        add(archive, OUT[i], "out", 1, NULL);
        add(archive, "02-naive/conv.cu", "good", 1, NULL);
        archive_end(archive);
        assert_non_null(strstr(sieve->problem, "names a path outside itself"));
        end(state);
        begin(state);
    }
}

static void test_links_and_devices_are_not_taken(void **state)
{
    (void)state;
    struct archive *archive = archive_begin(0);
    add(archive, "01-sequential/conv.c", "", 1, "/etc/passwd");
    add(archive, "02-naive/conv.cu", "", 1, "hard:01-sequential/conv.c");
    struct archive_entry *entry = archive_entry_new();
    archive_entry_set_pathname(entry, "03-layout/conv.cu");
    archive_entry_set_filetype(entry, AE_IFCHR);
    archive_entry_set_rdev(entry, 0x105);
    archive_write_header(archive, entry);
    archive_entry_free(entry);
    archive_end(archive);
    for (int lab = 0; lab < 3; lab++) {
        assert_null(source_of(lab)->data);
        assert_non_null(strstr(source_of(lab)->problem, "submit the file itself"));
    }
}

static void test_bombs_are_refused(void **state)
{
    (void)state;
    static char zeros[1 << 20];
    memset(zeros, ' ', sizeof zeros - 1);
    struct archive *archive = archive_begin(0);
    add(archive, "elsewhere/zeros", zeros, 60, NULL);
    add(archive, "02-naive/conv.cu", "good", 1, NULL);
    archive_end(archive);
    assert_non_null(strstr(sieve->problem, "far more than its size"));
}

static void test_an_oversized_file_affects_its_lab_only(void **state)
{
    (void)state;
    static char noise[1 << 20];
    unsigned number = 1;
    for (size_t i = 0; i < sizeof noise - 1; i++)
        noise[i] = (char)('0' + ((number = number * 1664525 + 1013904223) >> 24) % 64);
    struct archive *archive = archive_begin(0);
    add(archive, "01-sequential/conv.c", noise, 5, NULL);
    add(archive, "02-naive/conv.cu", "good", 1, NULL);
    archive_end(archive);
    assert_string_equal(sieve->problem, "");
    assert_non_null(strstr(source_of(0)->problem, "is larger than 4 MiB"));
    is_taken(1, "good");
}

static void test_too_many_entries(void **state)
{
    (void)state;
    char name[40];
    struct archive *archive = archive_begin(0);
    for (int i = 0; i < 20001; i++) {
        snprintf(name, sizeof name, "many/%d", i);
        add(archive, name, "", 1, NULL);
    }
    archive_end(archive);
    assert_non_null(strstr(sieve->problem, "more than 20000 files"));
}

/* Truncated at every 97th byte, or with a byte changed there: a message or the file. */
static void test_broken_archives_are_reported(void **state)
{
    (void)state;
    static char whole[1 << 16];
    for (int zip = 0; zip < 2; zip++) {
        struct archive *archive = archive_begin(zip);
        add(archive, "02-naive/conv.cu", "what was handed in\n", 50, NULL);
        archive_end(archive);
        FILE *file = fopen(path, "rb");
        size_t bytes = fread(whole, 1, sizeof whole, file);
        fclose(file);
        size_t refused = 0;
        for (size_t at = 0; at < 2 * bytes; at += 97) {
            end(state), begin(state);
            file = fopen(path, "wb");
            if (at >= bytes) whole[at - bytes] ^= 0x55;
            fwrite(whole, 1, at < bytes ? at : bytes, file);
            fclose(file);
            if (at >= bytes) whole[at - bytes] ^= 0x55;
            sieve_archive(sieve, path);
            refused += sieve->problem[0] != 0;
            assert_true(sieve->problem[0] || !source_of(1)->data || source_of(1)->bytes == 950);
        }
        assert_true(refused > 2);
        end(state), begin(state);
    }
}

/* ---- folders -------------------------------------------------------------------------------- */

static void put(const char *name, const char *text)
{
    char file[300];
    Error error = {""};
    snprintf(file, sizeof file, "%s/%s", path, name);
    assert_int_equal(file_write(file, text, &error), 0);
}

static void link_to(const char *target, const char *name)
{
    char file[300];
    snprintf(file, sizeof file, "%s/%s", path, name);
    assert_int_equal(symlink(target, file), 0);
}

static void test_a_folder_is_walked_without_its_links(void **state)
{
    (void)state;
    put("labs/01-sequential/conv.c", "mine");
    put("labs/03-layout/notes", "");
    put("real/conv.cu", "not mine");
    link_to("../real", "labs/02-naive");
    link_to("../../real/conv.cu", "labs/03-layout/conv.cu");
    link_to("..", "labs/round");
    sieve_folder(sieve, path);
    is_taken(0, "mine");
    assert_non_null(strstr(source_of(1)->problem, "labs/02-naive is a symbolic link"));
    assert_non_null(strstr(source_of(2)->problem, "symbolic link"));
    assert_null(source_of(1)->data);
    assert_null(source_of(2)->data);
}

static void test_a_pipe_is_not_waited_for(void **state)
{
    (void)state;
    char file[300];
    put("02-naive/predict.ini", "");
    snprintf(file, sizeof file, "%s/02-naive/conv.cu", path);
    assert_int_equal(mkfifo(file, 0600), 0);
    sieve_folder(sieve, path);
    assert_non_null(strstr(source_of(1)->problem, "not a regular file"));
}

/* ---- names ---------------------------------------------------------------------------------- */

/* "student<submission@time" of each, for empty folders and files of these names. */
static const char *entries_of(const char *const *name)
{
    static char text[4000];
    HandedList list;
    Error error = {""};
    for (; *name; name++) {
        char file[400];
        snprintf(file, sizeof file, "%s/%s", path, *name);
        if (file[strlen(file) - 1] == '/')
            assert_int_equal(directory_make(file), 0);
        else
            put(*name, "x");
    }
    assert_int_equal(handed_list_read(path, &list, &error), 0);
    text[0] = '\0';
    for (size_t i = 0; i < list.count; i++)
        sprintf(text + strlen(text), "%s<%s@%lld\n", list.item[i].student, list.item[i].submission,
                (long long)list.item[i].named_at);
    for (size_t i = 0; i < list.entries; i++)
        sprintf(text + strlen(text), "%s: %s\n", list.entry[i].path, list.entry[i].reason);
    handed_list_clear(&list);
    return text;
}

static void test_names_that_are_understood(void **state)
{
    static const char *const NAMES[] = {"ada/02-naive/conv.cu",
                                        "bob.zip",
                                        "bob_2.zip",
                                        "cy_7.tar.gz", /* no student is called cy */
                                        "dan_2026-10-01T12:00Z.tgz",
                                        "eve/2026-10-01T12-00-00Z/02-naive/conv.cu",
                                        "eve/2026-10-02 12.30.15Z.zip",
                                        "Fay Gray_9812_assignsubmission_file_/work.zip",
                                        "Fay Gray_9812_assignsubmission_file_work.tar.xz",
                                        "grayfay_LATE_123_4567_work-1.zip",
                                        "grayfay_123_4568_work.ZIP",
                                        "notes.txt",
                                        ".hidden/x",
                                        NULL};
    (void)state;
    assert_string_equal(
        entries_of(NAMES),
        "Fay Gray_9812<Fay Gray_9812_assignsubmission_file_/work.zip@0\n"
        "Fay Gray_9812<Fay Gray_9812_assignsubmission_file_work.tar.xz@0\n"
        "ada<ada@0\n"
        "bob<bob.zip@0\n"
        "bob<bob_2.zip@0\n"
        "cy_7<cy_7.tar.gz@0\n"
        "dan<dan_2026-10-01T12:00Z.tgz@1790856000\n"
        "eve<eve/2026-10-01T12-00-00Z@1790856000\n"
        "eve<eve/2026-10-02 12.30.15Z.zip@1790944215\n"
        "grayfay_123<grayfay_123_4568_work.ZIP@0\n"
        "grayfay_123<grayfay_LATE_123_4567_work-1.zip@0\n"
        "notes.txt: a file whose name does not say whose it is: put it into a folder "
        "with the student's name\n");
}

/* Names below a platform's folder are the student's: no time stamp counts there, and all archives
 * are one attempt.  The same for archives without a stamp in any folder. */
static void test_file_names_of_students_set_no_time(void **state)
{
    static const char *const NAMES[] = {"Fay_9812_assignsubmission_file_/2026-09-01T12-00-00Z.zip",
                                        "Fay_9812_assignsubmission_file_/2026-09-02T12-00-00Z.zip",
                                        "grayfay_123_4568_work/2026-09-01T12-00Z/02-naive/conv.cu",
                                        "hal/a.zip",
                                        "hal/b.zip",
                                        "ida/2026-09-01T12-00Z.zip",
                                        NULL};
    HandedList list;
    Error error = {""};
    (void)state;
    entries_of(NAMES);
    assert_int_equal(handed_list_read(path, &list, &error), 0);
    assert_int_equal(list.count, 6);
    for (size_t i = 0; i < list.count; i++) {
        int is_stamped = strcmp(list.item[i].student, "ida") == 0;
        assert_int_equal(list.item[i].named_at != 0, is_stamped);
        assert_int_equal(list.item[i].attempt != 0, !is_stamped);
    }
    assert_int_equal(list.item[0].attempt, list.item[1].attempt); /* Fay's */
    assert_int_equal(list.item[3].attempt, list.item[4].attempt); /* hal's */
    assert_int_not_equal(list.item[0].attempt, list.item[3].attempt);
    handed_list_clear(&list);
}

static void test_times(void **state)
{
    (void)state;
    static const char *const WRONG[] = {"",
                                        "tomorrow",
                                        "2026-10",
                                        "2026-13-01",
                                        "2026-10-01T12",
                                        "2026-10-01T25:00",
                                        "2026-10-01T12:00+02",
                                        "2026-10-01T12:00:00Zulu",
                                        "2026-10-01 or so"};
    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++)
        assert_int_equal(time_parse(WRONG[i]), -1);
    assert_int_equal(time_parse("2026-10-01T12:00Z"), 1790856000);
    assert_int_equal(time_parse("2026-10-01 12.00.07Z"), 1790856007);
    setenv("TZ", "UTC-2", 1);
    tzset();
    assert_int_equal(time_parse("2026-10-01T14:00"), 1790856000);
    assert_int_equal(time_parse("2026-10-01"), 1790856000 + 10 * 3600 - 1);
    char text[24];
    time_text(1790856000, text);
    assert_string_equal(text, "2026-10-01T12:00:00Z");
}

int main(void)
{
    static Lab lab[] = {{.name = "01-sequential", .ini = {.source = "conv.c"}},
                        {.name = "02-naive", .ini = {.source = "conv.cu"}},
                        {.name = "03-layout", .ini = {.source = "conv.cu"}}};
    catalog = (Catalog){.lab = lab, .labs = 3};
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(test_the_nearest_file_of_a_lab_counts),
        TEST(test_two_equally_similar_names_are_not_chosen),
        TEST(test_loose_files_of_one_lab),
        TEST(test_no_path_leads_out),
        TEST(test_links_and_devices_are_not_taken),
        TEST(test_bombs_are_refused),
        TEST(test_an_oversized_file_affects_its_lab_only),
        TEST(test_too_many_entries),
        TEST(test_broken_archives_are_reported),
        TEST(test_a_folder_is_walked_without_its_links),
        TEST(test_a_pipe_is_not_waited_for),
        TEST(test_names_that_are_understood),
        TEST(test_file_names_of_students_set_no_time),
        TEST(test_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
