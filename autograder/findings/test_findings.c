/* test_findings.c - suppressions, and the formats of a report. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "autograder/findings/findings.h"
#include "autograder/text/files.h"

static char folder[] = "/tmp/findings-XXXXXX";

static const Finding race = {.check = "racecheck",
                             .kernel = "sum",
                             .source = "add.cu",
                             .line = 12,
                             .text = "Race reported\nat add.cu:12",
                             .launch = "launch 3",
                             .count = 5};
static const Finding call = {.check = "api", .text = "cudaMemcpy: [a*b] is NULL", .count = 1};

static char *path_of(const char *name)
{
    static char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static int read_text(const char *text, Suppressions *suppressions, Error *error)
{
    *suppressions = (Suppressions){0};
    assert_int_equal(file_write(path_of("s.supp"), text, NULL), 0);
    return suppressions_read(suppressions, path_of("s.supp"), error);
}

static int suppresses(const char *text, const Finding *finding)
{
    Suppressions suppressions;
    Error error;
    if (read_text(text, &suppressions, &error)) fail_msg("%s", error.text);
    int found = suppressions_find(&suppressions, finding) != NULL;
    suppressions_clear(&suppressions);
    return found;
}

static void test_all_keys_match(void **state)
{
    (void)state;
    assert_true(suppresses("[a]\ncheck = racecheck\n", &race));
    assert_true(
        suppresses("[a]\nkernel = s*\nsource = *.cu\nline = 12\ntext = Race*add.cu*\n", &race));
    assert_true(suppresses("[a]\ncheck = memcheck\n[b]\nkernel = sum\n", &race));
    assert_false(suppresses("[a]\ncheck = racecheck\nline = 13\n", &race));
    assert_false(suppresses("[a]\nkernel = su\n", &race));
    assert_false(suppresses("", &race));
}

static void test_bad_files(void **state)
{
    static const struct {
        const char *text, *words;
    } bad[] = {{"[a]\n", ":1: [a] has no key"},
               {"[a]\nchek = racecheck\n", ":2: unknown key 'chek'"},
               {"[a]\nline = twelve\n", ":2: 'twelve' is not a line number"}};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        Suppressions suppressions;
        Error error;
        assert_int_equal(read_text(bad[i].text, &suppressions, &error), -1);
        if (!strstr(error.text, bad[i].words)) fail_msg("%s", error.text);
        suppressions_clear(&suppressions);
    }
}

static const char *path_below(const void *context, const char *name)
{
    (void)context;
    return strcmp(name, "add.cu") ? name : "src/add.cu";
}

static json_t *written(const char *name)
{
    const Finding finding[] = {race, call};
    const FindingReport report = {finding, 2, "h200", 1000, path_below, NULL};
    json_error_t where;
    Error error;
    if (findings_write(&report, path_of(name), &error)) fail_msg("%s", error.text);
    return json_load_file(path_of(name), 0, &where);
}

static void test_json(void **state)
{
    (void)state;
    const char *check, *source;
    int line, cycles;
    json_t *report = written("r.json");
    assert_int_equal(json_unpack(report, "{s:i, s:[{s:s, s:s, s:i}, {}]}", "cycles", &cycles,
                                 "findings", "check", &check, "source", &source, "line", &line),
                     0);
    assert_int_equal(cycles, 1000);
    assert_string_equal(check, "racecheck");
    assert_string_equal(source, "src/add.cu");
    assert_int_equal(line, 12);
    json_decref(report);
}

static void test_sarif(void **state)
{
    (void)state;
    const char *version, *rule, *level, *uri, *second;
    int line;
    json_t *report = written("r.sarif"), *locations;
    assert_int_equal(
        json_unpack(report, "{s:s, s:[{s:[{s:s, s:s, s:[{s:{s:{s:s}, s:{s:i}}}]}, {s:s, s:o}]}]}",
                    "version", &version, "runs", "results", "ruleId", &rule, "level", &level,
                    "locations", "physicalLocation", "artifactLocation", "uri", &uri, "region",
                    "startLine", &line, "level", &second, "locations", &locations),
        0);
    assert_string_equal(version, "2.1.0");
    assert_string_equal(rule, "racecheck");
    assert_string_equal(level, "error");
    assert_string_equal(second, "warning");
    assert_string_equal(uri, "src/add.cu");
    assert_int_equal(line, 12);
    assert_int_equal(json_array_size(locations), 0);
    json_decref(report);
}

/* A report as suppressions suppresses its own findings. */
static void test_own_suppressions(void **state)
{
    (void)state;
    Suppressions suppressions = {0};
    Error error;
    json_decref(written("own.supp"));
    if (suppressions_read(&suppressions, path_of("own.supp"), &error)) fail_msg("%s", error.text);
    assert_ptr_equal(suppressions_find(&suppressions, &race), &suppressions.item[0]);
    assert_ptr_equal(suppressions_find(&suppressions, &call), &suppressions.item[1]);
    Finding other = call;
    strcpy(other.text, "cudaMalloc failed");
    assert_null(suppressions_find(&suppressions, &other));
    suppressions_clear(&suppressions);
}

static void test_unknown_file_extension(void **state)
{
    (void)state;
    Error error;
    const FindingReport report = {.machine = "h200"};
    assert_int_equal(findings_write(&report, path_of("r.txt"), &error), -1);
    assert_non_null(strstr(error.text, "ends with .json, .sarif or .supp"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_keys_match),
        cmocka_unit_test(test_bad_files),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_sarif),
        cmocka_unit_test(test_own_suppressions),
        cmocka_unit_test(test_unknown_file_extension),
    };
    if (!mkdtemp(folder)) return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    static const char *const names[] = {"s.supp", "r.json", "r.sarif", "own.supp"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(path_of(names[i]));
    return failed + (rmdir(folder) != 0);
}
