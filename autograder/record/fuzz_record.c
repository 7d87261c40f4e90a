/* fuzz_record.c - libFuzzer target for stored grades: each text is parsed as a record, and as a
 * history of grades. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "autograder/record/climb.h"
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

static void climb_check(const uint8_t *data, size_t size)
{
    static char build[64], path[128];
    Climb climb;
    Error error = {""};
    if (!build[0]) {
        snprintf(build, sizeof build, "/tmp/convlab-fuzz-record-%d", (int)getpid());
        snprintf(path, sizeof path, "mkdir -p %s/progress/climb", build);
        if (system(path)) abort();
        snprintf(path, sizeof path, "%s/progress/climb/lab.tsv", build);
    }
    FILE *file = fopen(path, "wb");
    if (!file) abort();
    fwrite(data, 1, size, file);
    fclose(file);
    if (climb_read(build, "lab", &climb, &error)) abort();
    for (int i = 0; i < climb.grades; i++)
        if (climb.grade[i].cases < 0 || climb.grade[i].cases > LAB_CASES) abort();
    climb_free(&climb);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (!text) return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    record_check(text);
    free(text);
    climb_check(data, size);
    return 0;
}
