/* fuzz_ini.c - libFuzzer target for lab.ini and predict.ini: each text is parsed as both. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "autograder/lab/lab_ini.h"
#include "autograder/lab/predict.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A rejected file gives one line that names the file. */
static void refusal_check(const Error *error, const char *shown)
{
    if (strncmp(error->text, shown, strlen(shown)) != 0 || strchr(error->text, '\n')) {
        fprintf(stderr, "%s\n", error->text);
        abort();
    }
}

static void predict_check(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"blocks", "bytes", NULL};
    static char path[64];
    static PredictFile file;
    Error error = {""};
    if (!path[0]) snprintf(path, sizeof path, "/tmp/convlab-fuzz-ini-%d", (int)getpid());
    FILE *stream = fopen(path, "wb");
    if (!stream) abort();
    fwrite(data, 1, size, stream);
    fclose(stream);
    if (predict_read(NULL, path, "predict.ini", names, &file, &error) != 0)
        refusal_check(&error, error.text[0] == '/' ? path : "predict.ini");
    for (int i = 0; i < file.troubles; i++)
        if (strncmp(file.trouble[i].text, "predict.ini:", 12) != 0) abort();
    if (file.answers < 0 || file.answers > PREDICT_ANSWERS) abort();
    unlink(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static LabIni lab;
    Error error = {""};
    if (lab_ini_parse("lab.ini", (const char *)data, size, &lab, &error) != 0)
        refusal_check(&error, "lab.ini");
    else if (lab.operations < 1 || lab.cases < 1 || lab.cases > LAB_CASES)
        abort();
    predict_check(data, size);
    return 0;
}
