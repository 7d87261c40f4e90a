#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autograder/lms/policy.h"
#include "autograder/lms/roster.h"
#include "autograder/lms/times.h"

static LmsRoster roster;

static void read_text(const char *text)
{
    Error error = {""};
    int status = lms_roster_parse("people.csv", text, strlen(text), &roster, &error);
    assert_string_equal(error.text, "");
    assert_int_equal(status, 0);
}

static void assert_refused(const char *text, size_t bytes, const char *said)
{
    Error error = {""};
    assert_int_equal(lms_roster_parse("people.csv", text, bytes, &roster, &error), -1);
    if (strncmp(error.text, said, strlen(said)) != 0) assert_string_equal(error.text, said);
    lms_roster_clear(&roster);
}

static int forget(void **state)
{
    (void)state;
    lms_roster_clear(&roster);
    return 0;
}

/* ---- CSV ------------------------------------------------------------------------------------ */

static void test_cells_of_all_kinds(void **state)
{
    (void)state;
    Error error;
    CsvTable table;
    static const char TEXT[] = "a;\"b;\"\"b\"\"\";c\r\n\r\n\"two\nlines\";;\r\nx;y";
    assert_int_equal(csv_table_parse("t", TEXT, strlen(TEXT), &table, &error), 0);
    assert_int_equal(table.rows, 3);
    assert_string_equal(table.row[0].cell[1], "b;\"b\"");
    assert_string_equal(table.row[0].cell[2], "c");
    assert_int_equal(table.row[1].line, 3);
    assert_string_equal(table.row[1].cell[0], "two\nlines");
    assert_int_equal(table.row[1].cells, 3);
    assert_string_equal(table.row[1].cell[2], "");
    assert_int_equal(table.row[2].line, 5);
    assert_string_equal(table.row[2].cell[1], "y");
    csv_table_clear(&table);
}

/* Blackboard's download: UTF-16, tabs, all cells quoted. */
static void test_utf16(void **state)
{
    (void)state;
    static const char TEXT[] = "\"Last Name\"\t\"Username\"\n\"\xC3\x9Cnal\"\t\"zoe\"\n";
    char wide[2 * sizeof TEXT] = "\xFF\xFE";
    size_t bytes = 2;
    Error error = {""};
    for (const char *at = TEXT; *at; at++) {
        if (*at == '\xC3') continue;
        wide[bytes++] = *at == '\x9C' ? '\xDC' : *at;
        wide[bytes++] = 0;
    }
    int status = lms_roster_parse("people.xls", wide, bytes, &roster, &error);
    assert_string_equal(error.text, "");
    assert_int_equal(status, 0);
    assert_string_equal(roster.person[0].key, "zoe");
    assert_string_equal(roster.person[0].field[PERSON_NAME], "\xC3\x9Cnal");
}

/* ---- people --------------------------------------------------------------------------------- */

static void test_headings_of_platforms(void **state)
{
    (void)state;
    read_text(
        "\xEF\xBB\xBFStudent,ID,SIS User ID,SIS Login ID,Section,Lab 1 (7)\n"
        "    Points Possible,,,,,100\n\"Byron, Ada\",123,S1,ada,A,\n\"Student, Test\",9,,,A,\n");
    assert_int_equal(roster.people, 1);
    assert_string_equal(roster.person[0].key, "ada");
    assert_string_equal(roster.person[0].field[PERSON_ID], "123");
    assert_string_equal(roster.person[0].field[PERSON_NUMBER], "S1");
    lms_roster_clear(&roster);
    read_text("Identifier,Full name,Email address,Last modified (submission)\n"
              "Participant 4711,Ada Byron,ada@x.org,-\n");
    assert_string_equal(roster.person[0].field[PERSON_PARTICIPANT], "4711");
    assert_string_equal(roster.person[0].key, "ada@x.org");
    lms_roster_clear(&roster);
    read_text(
        "OrgDefinedId,Username,Last Name,First Name,End-of-Line Indicator\n#20,#ada,Byron,Ada,#\n");
    assert_string_equal(roster.person[0].field[PERSON_NUMBER], "20");
    assert_string_equal(roster.person[0].field[PERSON_LOGIN], "ada");
    assert_string_equal(roster.person[0].field[PERSON_NAME], "Ada Byron");
}

static const char *found_by(const char *entry_text)
{
    static char text[200];
    char is_found[20];
    EntryName entry;
    entry_name_parse(entry_text, &entry);
    lms_roster_find(&roster, &entry, is_found);
    text[0] = '\0';
    for (size_t i = 0; i < roster.people; i++)
        if (is_found[i]) sprintf(text + strlen(text), "%s ", roster.person[i].key);
    return text;
}

static void test_names_of_downloads(void **state)
{
    static const struct {
        const char *text, *student, *file;
        EntryKind kind;
        int is_late;
    } NAMES[] = {
        {"Ada Byron_4711_assignsubmission_onlinetext_onlinetext.html", "Ada Byron_4711",
         "onlinetext.html", ENTRY_MOODLE_TEXT, 0},
        {"Ada Byron_4711_assignsubmission_onlinetext_figure_1.png", "Ada Byron_4711",
         "figure_1.png", ENTRY_MOODLE_TEXT, 0},
        /* The student's part of a name looks like another student's. */
        {"Mal Lory_4712_assignsubmission_file_Ada Byron_4711_assignsubmission_file_conv.cu",
         "Mal Lory_4712", "Ada Byron_4711_assignsubmission_file_conv.cu", ENTRY_MOODLE_FILE, 0},
        {"lorymal_124_9_Ada Byron_4711_assignsubmission_file_conv.cu", "lorymal_124",
         "Ada Byron_4711_assignsubmission_file_conv.cu", ENTRY_CANVAS_FILE, 0},
        {"anon_x7f3a_9_Ada Byron_4711_assignsubmission_file_conv.cu", "anon_x7f3a",
         "Ada Byron_4711_assignsubmission_file_conv.cu", ENTRY_CANVAS_FILE, 0},
        {"Mal Lory_4712_assignsubmission_file_byronada_123_9_conv.cu", "Mal Lory_4712",
         "byronada_123_9_conv.cu", ENTRY_MOODLE_FILE, 0},
        {"Participant_4711_assignsubmission_file_conv.cu", "Participant_4711", "conv.cu",
         ENTRY_MOODLE_FILE, 0},
        {"byronada_123_text.html", "byronada_123", "text.html", ENTRY_CANVAS_TEXT, 0},
        {"byronada_LATE_123_link.html", "byronada_123", "link.html", ENTRY_CANVAS_TEXT, 1},
        {"byronada_123_4567_text.html", "byronada_123", "text.html", ENTRY_CANVAS_FILE, 0},
        {"anon_x7f3a_4567_conv.cu", "anon_x7f3a", "conv.cu", ENTRY_CANVAS_FILE, 0},
        {"LATE_anon_x7f3a_4567_predict.ini", "anon_x7f3a", "predict.ini", ENTRY_CANVAS_FILE, 1},
        {"anon_12345_4567_conv.cu", "anon_12345", "conv.cu", ENTRY_CANVAS_FILE, 0},
        {"anon_x7f3a_text.html", "anon_x7f3a", "text.html", ENTRY_CANVAS_TEXT, 0},
        {"anon_notes.txt", "anon_notes.txt", "anon_notes.txt", ENTRY_PLAIN, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        EntryName entry;
        entry_name_parse(NAMES[i].text, &entry);
        assert_string_equal(entry.student, NAMES[i].student);
        assert_string_equal(entry.file, NAMES[i].file);
        assert_int_equal(entry.kind, NAMES[i].kind);
        assert_int_equal(entry.is_late, NAMES[i].is_late);
    }
}

static void test_entries_are_assigned_to_people(void **state)
{
    (void)state;
    read_text(
        "login,name,id,participant,email,group\nada,\"Byron, Ada\",123,4711,a.byron@x.org,Red\n"
        "bob,Bob Stone,124,4712,bob@x.org,Red\ncy,Same Name,125,,cy@x.org,\n"
        "di,Same Name,126,,di@x.org,\n");
    assert_string_equal(found_by("byronada_123_9_conv.cu"), "ada ");
    assert_string_equal(found_by("byronada_LATE_999_9_conv.cu"), "ada ");
    assert_string_equal(found_by("stonebob_999_9_conv.cu"), "bob ");
    assert_string_equal(found_by("Somebody_4712_assignsubmission_file_"), "bob ");
    assert_string_equal(found_by("Ada Byron_1_assignsubmission_file_conv.cu"), "ada ");
    assert_string_equal(found_by("Same Name_1_assignsubmission_file_"), "");
    assert_string_equal(found_by("A.Byron"), "ada ");
    assert_string_equal(found_by("bob@x.org"), "bob ");
    assert_string_equal(found_by("red"), "ada bob ");
    assert_string_equal(found_by("bob + cy"), "bob cy ");
    assert_string_equal(found_by("bob + nobody"), "");
    assert_string_equal(found_by("4711"), ""); /* a participant number names nobody elsewhere */
}

static void test_malformed_rosters(void **state)
{
    static const char *const WRONG[][2] = {
        {"", "people.csv:1:1: the roster has no row"},
        {"login\n", "people.csv:1:1: the roster has no row"},
        {"a,b\n1,2\n", "people.csv:1:1: no heading names a person"},
        {"login,name\nx,\"open\n", "people.csv:2:2: the quote is not closed"},
        {"login,name\nx,\"a\"b\n", "people.csv:2:2: text follows a closing quote"},
        {"login\nx\n\ny\nx\n", "people.csv:5:1: 'x' is also on line 2"},
        {"login,extension\nx,2026-13-01\n", "people.csv:2:2: '2026-13-01' is no extension"},
        {"login,submitted\nx,10/01/2026\n", "people.csv:2:2: '10/01/2026' is no time"},
        {"login,name\n,\nx,y,z,w\n", "people.csv:3:3: the row has 4 cells and the headings 2"},
        {"login,section\n,3\n", "people.csv:2:1: the row names nobody"},
        {"login\n\xff\n", "people.csv:2:1: the text is not UTF-8"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++)
        assert_refused(WRONG[i][0], strlen(WRONG[i][0]), WRONG[i][1]);
    assert_refused("login\na\0b\n", 10, "people.csv:2:1: a NUL byte");
}

/* ---- names of copies, times, lateness -------------------------------------------------------- */

static void test_copies(void **state)
{
    static const char *const NAMES[][2] = {{"conv (1).cu", "conv.cu"},
                                           {"conv(12).cu", "conv.cu"},
                                           {"conv-1.cu", "conv.cu"},
                                           {"conv-.cu", "conv-.cu"},
                                           {"-1.cu", "-1.cu"},
                                           {"(1)", "(1)"},
                                           {"predict-2.ini", "predict.ini"},
                                           {"conv1.cu", "conv1.cu"},
                                           {".cu", ".cu"},
                                           {"", ""}};
    (void)state;
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        char original[40];
        int is_copy = file_name_original(NAMES[i][0], original, sizeof original);
        assert_string_equal(original, NAMES[i][1]);
        assert_int_equal(is_copy, strcmp(NAMES[i][0], NAMES[i][1]) != 0);
    }
}

static void test_times_of_an_lms(void **state)
{
    (void)state;
    setenv("TZ", "UTC", 1);
    assert_int_equal(time_parse_lms("Thursday, 1 October 2026, 11:58 PM"), 1790899080);
    assert_int_equal(time_parse_lms("Thursday, 1 October 2026, 12:00 AM"), 1790812800);
    assert_int_equal(time_parse_lms("2026-10-01T23:58Z"), 1790899080);
    assert_int_equal(time_parse_lms("Thursday, 1 Oktober 2026, 11:58 PM"), -1);
    assert_int_equal(time_parse_lms("Thursday, 1 October 2026, 13:58 PM"), -1);
    assert_int_equal(duration_parse("15m"), 900);
    assert_int_equal(duration_parse("1.5 days"), 129600);
    assert_int_equal(duration_parse("2 weeks"), -1);
    assert_int_equal(duration_parse("-1d"), -1);
    assert_int_equal(duration_parse("nand"), -1);
}

static void test_lateness(void **state)
{
    (void)state;
    LmsPolicy policy;
    Error error = {""};
    char is_found[3] = {1, 0, 0};
    setenv("TZ", "UTC", 1);
    assert_int_equal(
        lms_policy_parse("2026-10-01T12:00Z", "15m", "10%", NULL, NULL, &policy, &error), 0);
    read_text("login,extension,group\nada,,\nbob,2d,\ncy,2026-10-04T12:00Z,\n");
    int64_t deadline = lms_deadline(&policy, &roster, is_found);
    assert_int_equal(deadline, 1790856000);
    assert_int_equal(lms_late(&policy, deadline, deadline + 900), 0);
    assert_int_equal(lms_late(&policy, deadline, deadline + 901), 901);
    assert_int_equal(lms_late(&policy, deadline, 0), 0);
    assert_int_equal(lms_late(&policy, 0, deadline), 0);
    is_found[1] = 1;
    assert_int_equal(lms_deadline(&policy, &roster, is_found), deadline + 2 * 86400);
    is_found[2] = 1;
    assert_int_equal(lms_deadline(&policy, &roster, is_found), deadline + 3 * 86400);
    assert_int_equal(lms_policy_parse(NULL, NULL, "-1", NULL, NULL, &policy, &error), -1);
    assert_int_equal(lms_policy_parse(NULL, NULL, NULL, "worst", NULL, &policy, &error), -1);
    assert_int_equal(lms_policy_parse(NULL, "soon", NULL, NULL, NULL, &policy, &error), -1);
    assert_int_equal(lms_policy_parse(NULL, NULL, NULL, NULL, "0", &policy, &error), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cells_of_all_kinds),
        cmocka_unit_test_teardown(test_utf16, forget),
        cmocka_unit_test_teardown(test_headings_of_platforms, forget),
        cmocka_unit_test(test_names_of_downloads),
        cmocka_unit_test_teardown(test_entries_are_assigned_to_people, forget),
        cmocka_unit_test(test_malformed_rosters),
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_times_of_an_lms),
        cmocka_unit_test_teardown(test_lateness, forget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
