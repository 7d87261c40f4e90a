#include "autograder/lab/predict.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autograder/text/ini_file.h"
#include "autograder/text/text.h"
#include "common/base/intake.h"

enum { PREDICT_BYTES = 64 << 10 };

double predict_part(double answer, double truth, double tolerance)
{
    double gap = fabs(answer - truth);
    /* The numbers went through decimal text: exact means to nine digits. */
    double exact = 1e-9 * fabs(truth);
    if (gap <= exact) return 1;
    if (tolerance <= 0 || truth == 0) return 0;
    double relative = gap / fabs(truth);
    if (relative <= tolerance) return 1;
    double part = (10 * tolerance - relative) / (9 * tolerance);
    return part > 0 ? part : 0;
}

static int answer_take(const IniFile *ini, const IniEntry *entry, const char *const *name,
                       PredictFile *file, Error *error)
{
    size_t i = 0;
    while (name[i] && strcmp(name[i], entry->key))
        i++;
    if (!name[i]) {
        char known[512] = "";
        for (size_t j = 0, used = 0; name[j] && used < sizeof known; j++)
            used +=
                (size_t)snprintf(known + used, sizeof known - used, "%s%s", j ? ", " : "", name[j]);
        return ini_error(error, ini, entry->line, "this lab asks for no '%s'; it asks for: %s",
                         entry->key, known);
    }
    if (!*entry->value) return 0;
    PredictAnswer *answer = &file->answer[file->answers];
    if (file->answers == PREDICT_ANSWERS || ini_number(entry->value, &answer->value)) {
        return ini_error(error, ini, entry->line, "'%s' is not a number", entry->value);
    }
    text_set(answer->name, sizeof answer->name, "%s", entry->key);
    file->answers++;
    return 0;
}

int predict_read(const char *folder, const char *path, const char *shown, const char *const *name,
                 PredictFile *file, Error *error)
{
    size_t bytes;
    IniFile ini;
    *file = (PredictFile){0};
    char *text = intake_read(folder, path, PREDICT_BYTES, &bytes, error);
    if (!text) return errno == ENOENT ? 0 : -1;
    int status = ini_file_parse(shown, text, bytes, &ini, error);
    free(text);
    if (status) return -1;
    for (size_t i = 0; i < ini.sections && !status; i++) {
        const IniSection *section = &ini.section[i];
        if (strcmp(section->name, "predict")) {
            status = ini_error(error, &ini, section->line, "the only section here is [predict]");
        }
        for (size_t j = 0; j < section->entries && !status; j++)
            status = answer_take(&ini, &section->entry[j], name, file, error);
    }
    ini_file_clear(&ini);
    if (status) file->answers = 0;
    return status;
}

const double *predict_find(const PredictFile *file, const char *name)
{
    for (int i = 0; i < file->answers; i++)
        if (!strcmp(file->answer[i].name, name)) return &file->answer[i].value;
    return NULL;
}
