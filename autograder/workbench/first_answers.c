#include "autograder/workbench/first_answers.h"

#include <string.h>
#include <unistd.h>

#include "autograder/text/files.h"
#include "autograder/text/text.h"

static void answers_read(const Lab *lab, const char *folder, const char *path, PredictFile *file)
{
    const char *names[PREDICT_ANSWERS + 1];
    int count = 0;
    for (int i = 0; i < lab->ini.predictions && count < PREDICT_ANSWERS; i++)
        names[count++] = lab->ini.prediction[i].name;
    names[count] = NULL;
    if (predict_read(folder, path, path, names, file, NULL)) *file = (PredictFile){.answers = 0};
}

static void folder_of(const Workbench *bench, const Lab *lab, char *path, size_t bytes)
{
    text_set(path, bytes, "%s/workbench/%s", bench->build, lab->name);
}

void first_answers_read(const Workbench *bench, const Lab *lab, PredictFile *first)
{
    char folder[1200];
    folder_of(bench, lab, folder, sizeof folder);
    answers_read(lab, folder, "first-answers.ini", first);
}

int first_answers_lock(const Workbench *bench, const Lab *lab, Error *error)
{
    char folder[1200], path[1300],
        text[4000] = "; what was predicted before the first measurement\n";
    PredictFile first, now;
    int added = 0;
    first_answers_read(bench, lab, &first);
    text_set(folder, sizeof folder, "%s/labs/%s", bench->root, lab->name);
    answers_read(lab, folder, "predict.ini", &now);
    for (int i = 0; i < first.answers; i++)
        text_add(text, sizeof text, "%s = %.17g\n", first.answer[i].name, first.answer[i].value);
    for (int i = 0; i < now.answers; i++) {
        if (predict_find(&first, now.answer[i].name)) continue;
        text_add(text, sizeof text, "%s = %.17g\n", now.answer[i].name, now.answer[i].value);
        added++;
    }
    folder_of(bench, lab, folder, sizeof folder);
    text_set(path, sizeof path, "%s/first-answers.ini", folder);
    return added ? file_write(path, text, error) : 0;
}

int first_answers_check(const Workbench *bench, const Lab *lab, const char *text, Error *error)
{
    char folder[1200], path[1300];
    PredictFile first, next;
    first_answers_read(bench, lab, &first);
    if (!first.answers) return 0;
    folder_of(bench, lab, folder, sizeof folder);
    text_set(path, sizeof path, "%s/new-answers.ini", folder);
    if (file_write(path, text, error)) return -1;
    answers_read(lab, folder, "new-answers.ini", &next);
    unlink(path);
    for (int i = 0; i < first.answers; i++) {
        const double *answer = predict_find(&next, first.answer[i].name);
        if (!answer || *answer != first.answer[i].value)
            return error_set(error,
                             "the prediction %s is locked: you have measured since you answered",
                             first.answer[i].name);
    }
    return 0;
}
