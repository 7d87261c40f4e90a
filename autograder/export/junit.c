/* junit.c - JUnit XML for Jenkins: one test suite per lab, one test case per check.
 *
 * Schema: https://github.com/jenkinsci/xunit-plugin, there junit-10.xsd in
 * src/main/resources/org/jenkinsci/plugins/xunit/types/model/xsd.
 * JUnit has no points: they are properties of the suite, and part of each message. */
#include <stdlib.h>

#include "autograder/export/checks.h"
#include "autograder/export/format.h"
#include "autograder/export/plain.h"

/* ' name="value"' */
static void attribute(FILE *stream, const char *name, const char *value)
{
    fprintf(stream, " %s=\"", name);
    plain_xml(stream, value);
    fputc('"', stream);
}

static void property(FILE *stream, const char *name, const char *value)
{
    fputs("      <property", stream);
    attribute(stream, "name", name);
    attribute(stream, "value", value);
    fputs("/>\n", stream);
}

static void write_check(FILE *stream, const Record *record, const Check *check)
{
    static const char *const ELEMENT[] = {"system-out", "failure", "skipped", "error"};
    const char *element = ELEMENT[check->outcome];
    char points[32], possible[32];
    fputs("    <testcase", stream);
    attribute(stream, "classname", record->lab);
    attribute(stream, "name", check->name);
    fprintf(stream, " time=\"%.6f\">\n      <%s", check->seconds, element);
    if (check->outcome != CHECK_PASSED)
        fprintf(stream, " message=\"%s/%s points\"", points_exact(check->points, points),
                points_exact(check->possible, possible));
    fputc('>', stream);
    plain_xml(stream, check->text);
    fprintf(stream, "</%s>\n    </testcase>\n", element);
}

static void write_suite(FILE *stream, const Record *record, const Checks *checks)
{
    char number[32];
    fputs("  <testsuite", stream);
    attribute(stream, "name", record->lab);
    attribute(stream, "timestamp", record->graded_at);
    fprintf(stream, " tests=\"%d\" failures=\"%d\" errors=\"%d\" skipped=\"%d\" time=\"%.3f\">\n",
            checks->count, checks->of[CHECK_FAILED], checks->of[CHECK_BROKEN],
            checks->of[CHECK_SKIPPED], record->seconds);
    fputs("    <properties>\n", stream);
    property(stream, "status", record_status_name(record->status));
    property(stream, "points", points_exact(record->points, number));
    property(stream, "possible", points_exact(record->possible, number));
    property(stream, "engine", record->engine);
    fputs("    </properties>\n", stream);
    for (int i = 0; i < checks->count; i++)
        write_check(stream, record, &checks->item[i]);
    if (*record->message || record->compiler) {
        fputs("    <system-err>", stream);
        plain_xml(stream, record->message);
        fputc('\n', stream);
        plain_xml(stream, record->compiler ? record->compiler : "");
        fputs("</system-err>\n", stream);
    }
    fputs("  </testsuite>\n", stream);
}

void junit_write(FILE *stream, const Submission *submission)
{
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n", stream);
    for (int i = 0; i < submission->records; i++) {
        Checks *checks = checks_of(submission->record[i]);
        if (checks) write_suite(stream, submission->record[i], checks);
        free(checks);
    }
    fputs("</testsuites>\n", stream);
}
