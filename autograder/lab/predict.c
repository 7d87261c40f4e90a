#include "autograder/lab/predict.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autograder/lab/answer.h"
#include "autograder/text/text.h"
#include "common/base/intake.h"

enum { PREDICT_BYTES = 64 << 10 };

double predict_part(double answer, double truth, double tolerance)
{
    double gap = fabs(answer - truth);
    /* The numbers were stored as decimal text, so exact means nine digits. */
    double exact = 1e-9 * fabs(truth);
    if (gap <= exact) return 1;
    if (tolerance <= 0 || truth == 0) return 0;
    double relative = gap / fabs(truth);
    if (relative <= tolerance) return 1;
    double part = (10 * tolerance - relative) / (9 * tolerance);
    return part > 0 ? part : 0;
}

/* ---- parsing of a file: a bad line is reported, and the others count ------------------------- */

static void trouble_add(PredictFile *file, const char *name, const char *shown, int line,
                        const char *format, ...) __attribute__((format(printf, 5, 6)));

static void trouble_add(PredictFile *file, const char *name, const char *shown, int line,
                        const char *format, ...)
{
    if (file->troubles == PREDICT_TROUBLES) return;
    PredictTrouble *trouble = &file->trouble[file->troubles++];
    va_list arguments;
    text_set(trouble->name, sizeof trouble->name, "%s", name);
    text_set(trouble->text, sizeof trouble->text, "%s:%d: ", shown, line);
    size_t used = strlen(trouble->text);
    va_start(arguments, format);
    vsnprintf(trouble->text + used, sizeof trouble->text - used, format, arguments);
    va_end(arguments);
    intake_clean(trouble->text);
}

/* Edit distance of two words: letters to change, add or remove. */
static size_t distance(const char *a, const char *b)
{
    enum { LONGEST = 48 };
    size_t row[LONGEST + 1], long_a = strlen(a), long_b = strlen(b);
    if (long_a > LONGEST || long_b > LONGEST) return LONGEST;
    for (size_t j = 0; j <= long_b; j++)
        row[j] = j;
    for (size_t i = 1; i <= long_a; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= long_b; j++) {
            size_t change = diagonal + (a[i - 1] != b[j - 1]), least = row[j] + 1;
            diagonal = row[j];
            if (row[j - 1] + 1 < least) least = row[j - 1] + 1;
            row[j] = change < least ? change : least;
        }
    }
    return row[long_b];
}

/* The most similar name; NULL: none is similar. */
static const char *nearest(const char *key, const char *const *name)
{
    const char *near = NULL;
    size_t least = strlen(key) / 3 + 2;
    for (; *name; name++)
        if (distance(key, *name) < least) least = distance(key, near = *name);
    return near;
}

static void refuse_key(const char *key, const char *const *name, const char *shown, int line,
                       PredictFile *file)
{
    char known[400] = "";
    const char *near = nearest(key, name);
    for (size_t i = 0; name[i]; i++)
        text_add(known, sizeof known, "%s%s", i ? ", " : "", name[i]);
    if (near)
        trouble_add(file, near, shown, line,
                    "this lab has no prediction '%.48s'; did you mean '%s'?", key, near);
    else
        trouble_add(file, "", shown, line,
                    "this lab has no prediction '%.48s'; its predictions are: %s", key, known);
}

static void answer_take(const char *key, const char *value, const char *const *name,
                        const char *shown, int line, PredictFile *file)
{
    char why[200];
    double number;
    size_t i = 0;
    while (name[i] && strcmp(name[i], key))
        i++;
    if (!name[i]) {
        refuse_key(key, name, shown, line, file);
    } else if (!*value) {
        return;
    } else if (predict_find(file, key)) {
        trouble_add(file, key, shown, line,
                    "'%s' has an answer above already; the first one counts", key);
    } else if (answer_read(value, &number, why, sizeof why)) {
        trouble_add(file, key, shown, line, "%s", why);
    } else if (file->answers < PREDICT_ANSWERS) {
        PredictAnswer *answer = &file->answer[file->answers++];
        text_set(answer->name, sizeof answer->name, "%s", key);
        answer->value = number;
        answer->is_percent = strchr(value, '%') != NULL;
    }
}

/* Removes blanks at both ends; changes `text`. */
static char *trim(char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    size_t bytes = strlen(text);
    while (bytes && isspace((unsigned char)text[bytes - 1]))
        text[--bytes] = 0;
    return text;
}

static void line_take(char *text, const char *const *name, const char *shown, int line,
                      PredictFile *file)
{
    char *mark = strpbrk(text, ";#");
    if (mark) *mark = 0;
    text = trim(text);
    char *equals = strpbrk(text, "=:");
    if (!*text || !strcmp(text, "[predict]")) return;
    if (*text == '[') {
        trouble_add(file, "", shown, line, "predict.ini has only the section [predict]");
    } else if (!equals) {
        trouble_add(file, "", shown, line, "'%.60s' is not an answer; write: name = number", text);
    } else {
        *equals = 0;
        answer_take(trim(text), trim(equals + 1), name, shown, line, file);
    }
}

int predict_read(const char *folder, const char *path, const char *shown, const char *const *name,
                 PredictFile *file, Error *error)
{
    size_t bytes;
    *file = (PredictFile){0};
    char *text = intake_read(folder, path, PREDICT_BYTES, &bytes, error);
    if (!text) return errno == ENOENT ? 0 : -1;
    int line = 0;
    char *rest = text + (strncmp(text, "\xEF\xBB\xBF", 3) ? 0 : 3); /* a byte order mark */
    for (char *next; (next = strsep(&rest, "\n"));)
        line_take(next, name, shown, ++line, file);
    free(text);
    return 0;
}

static const PredictAnswer *answer_find(const PredictFile *file, const char *name)
{
    for (int i = 0; i < file->answers; i++)
        if (!strcmp(file->answer[i].name, name)) return &file->answer[i];
    return NULL;
}

const double *predict_find(const PredictFile *file, const char *name)
{
    const PredictAnswer *answer = answer_find(file, name);
    return answer ? &answer->value : NULL;
}

double predict_meant(const PredictFile *file, const char *name, const char *question)
{
    const PredictAnswer *answer = answer_find(file, name);
    int is_fraction = answer->is_percent && !strstr(question, "percent");
    return is_fraction ? answer->value / 100 : answer->value;
}

const char *predict_trouble(const PredictFile *file, const char *name)
{
    const char *any = NULL;
    for (int i = file->troubles - 1; i >= 0; i--) {
        if (!strcmp(file->trouble[i].name, name)) return file->trouble[i].text;
        if (!*file->trouble[i].name) any = file->trouble[i].text;
    }
    return any;
}
