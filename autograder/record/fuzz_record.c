/* fuzz_record.c - libFuzzer target for stored grades: each text is parsed as a record, and as a
 * history of grades. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "autograder/record/history.h"
#include "autograder/record/record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void record_check(const char *text)
{
    static Record record;
    Error error = {""};
    if (record_parse(text, &record, &error)) {
        if (!error.text[0] || strchr(error.text, '\n')) abort();
        return;
    }
    if (record.cases < 0 || record.cases > RECORD_CASES || record.predictions > LAB_PREDICTIONS)
        abort();
    char *again = record_print(&record);
    if (!again) abort();
    free(again);
    record_clear(&record);
}

static void history_check(const uint8_t *data, size_t size)
{
    static char build[64], path[128];
    GradeHistory history;
    Error error = {""};
    if (!build[0]) {
        snprintf(build, sizeof build, "/tmp/convlab-fuzz-record-%d", (int)getpid());
        snprintf(path, sizeof path, "mkdir -p %s/progress/history", build);
        if (system(path)) abort();
        snprintf(path, sizeof path, "%s/progress/history/lab.tsv", build);
    }
    FILE *file = fopen(path, "wb");
    if (!file) abort();
    fwrite(data, 1, size, file);
    fclose(file);
    if (history_read(build, "lab", &history, &error)) abort();
    for (int i = 0; i < history.grades; i++)
        if (history.grade[i].cases < 0 || history.grade[i].cases > LAB_CASES) abort();
    history_free(&history);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (!text) return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    record_check(text);
    free(text);
    history_check(data, size);
    return 0;
}
