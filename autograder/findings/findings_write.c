/* findings_write.c - findings as JSON, as SARIF 2.1.0 and as suppressions. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autograder/findings/findings.h"
#include "autograder/text/files.h"

static const char *source_path(const FindingReport *report, const Finding *finding)
{
    return report->path ? report->path(report->context, finding->source) : finding->source;
}

static const char *level(const Finding *finding)
{
    return finding->is_warning || !strcmp(finding->check, "api") ? "warning" : "error";
}

/* ---- JSON ---- */

static json_t *finding_json(const FindingReport *report, const Finding *finding)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:i, s:s, s:s, s:I, s:b}", "check", finding->check,
                     "level", level(finding), "kernel", finding->kernel, "source",
                     source_path(report, finding), "line", (int)finding->line, "text",
                     finding->text, "launch", finding->launch, "count", (json_int_t)finding->count,
                     "suppressed", finding->is_suppressed);
}

static json_t *report_json(const FindingReport *report)
{
    json_t *list = json_array();
    for (size_t i = 0; list && i < report->findings; i++)
        json_array_append_new(list, finding_json(report, &report->finding[i]));
    return json_pack("{s:s, s:I, s:o}", "machine", report->machine, "cycles",
                     (json_int_t)report->cycles, "findings", list);
}

/* ---- SARIF, https://docs.oasis-open.org/sarif/sarif/v2.1.0/ ---- */

static json_t *location_sarif(const FindingReport *report, const Finding *finding)
{
    if (!*finding->source) return json_array();
    return json_pack("[{s:{s:{s:s}, s:{s:i}}}]", "physicalLocation", "artifactLocation", "uri",
                     source_path(report, finding), "region", "startLine",
                     finding->line ? (int)finding->line : 1);
}

static json_t *finding_sarif(const FindingReport *report, const Finding *finding)
{
    char text[2000];
    snprintf(text, sizeof text, "%s%s%s", finding->text, *finding->launch ? "\n" : "",
             finding->launch);
    json_t *result =
        json_pack("{s:s, s:s, s:{s:s}, s:o, s:I}", "ruleId", finding->check, "level",
                  level(finding), "message", "text", text, "locations",
                  location_sarif(report, finding), "occurrenceCount", (json_int_t)finding->count);
    if (finding->is_suppressed)
        json_object_set_new(result, "suppressions", json_pack("[{s:s}]", "kind", "external"));
    return result;
}

static json_t *report_sarif(const FindingReport *report)
{
    json_t *list = json_array();
    for (size_t i = 0; list && i < report->findings; i++)
        json_array_append_new(list, finding_sarif(report, &report->finding[i]));
    return json_pack("{s:s, s:s, s:[{s:{s:{s:s}}, s:o}]}", "$schema",
                     "https://json.schemastore.org/sarif-2.1.0.json", "version", "2.1.0", "runs",
                     "tool", "driver", "name", "simulated GPU", "results", list);
}

/* ---- suppressions ---- */

/* The start of a text as a pattern of fnmatch. */
static void pattern_write(FILE *out, const char *text)
{
    fputs("text = ", out);
    for (size_t i = 0; text[i] && text[i] != '\n' && i < 100; i++) {
        if (strchr("*?[\\", text[i])) fputc('\\', out);
        fputc(text[i], out);
    }
    fputs("*\n", out);
}

static char *report_suppressions(const FindingReport *report)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    if (!out) return NULL;
    fputs("; written by the simulated GPU; each section suppresses the findings that match\n", out);
    for (size_t i = 0; i < report->findings; i++) {
        const Finding *finding = &report->finding[i];
        fprintf(out, "[finding-%zu]\ncheck = %s\n", i + 1, finding->check);
        if (*finding->kernel) fprintf(out, "kernel = %s\n", finding->kernel);
        if (*finding->source) fprintf(out, "source = %s\n", finding->source);
        if (finding->line) fprintf(out, "line = %u\n", finding->line);
        if (!*finding->source) pattern_write(out, finding->text);
    }
    return fclose(out) ? NULL : text;
}

int findings_write(const FindingReport *report, const char *path, Error *error)
{
    const char *ending = strrchr(path, '.');
    char *text = NULL;
    json_t *document = NULL;
    if (ending && !strcmp(ending, ".json"))
        document = report_json(report);
    else if (ending && !strcmp(ending, ".sarif"))
        document = report_sarif(report);
    else if (ending && !strcmp(ending, ".supp"))
        text = report_suppressions(report);
    else
        return error_set(error, "%.300s: a report's name ends with .json, .sarif or .supp", path);
    if (document) text = json_dumps(document, JSON_INDENT(2));
    json_decref(document);
    if (!text) return error_set(error, "%.300s: out of memory, or text that is not UTF-8", path);
    int rc = file_write(path, text, error);
    free(text);
    return rc;
}
