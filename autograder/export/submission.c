#include "autograder/export/submission.h"

#include <dirent.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>

#include "autograder/text/text.h"

static int is_record(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return length > 5 && entry->d_name[0] != '.' && !strcmp(entry->d_name + length - 5, ".json");
}

static int read_one(const char *directory, const char *file, Submission *submission, Error *error)
{
    char lab[256];
    Record *record = malloc(sizeof *record);
    if (!record) return error_set(error, "%s: out of memory", directory);
    submission->record[submission->records++] = record;
    text_set(lab, sizeof lab, "%.*s", (int)strlen(file) - 5, file);
    if (record_read(directory, lab, record, error)) return -1;
    submission->points += record->points;
    submission->possible += record->possible;
    return 0;
}

int submission_read(const char *directory, Submission *submission, Error *error)
{
    struct dirent **entry;
    char path[1024];
    *submission = (Submission){.name = ""};
    text_set(path, sizeof path, "%s", directory);
    text_set(submission->name, sizeof submission->name, "%s", basename(path));
    int files = scandir(directory, &entry, is_record, alphasort), status = 0;
    if (files < 0) return error_set(error, "%.300s: %m", directory);
    if (!files) status = error_set(error, "%.300s holds no result record; grade first", directory);
    submission->record = calloc((size_t)files + 1, sizeof(Record *));
    if (!submission->record) status = error_set(error, "%.300s: out of memory", directory);
    for (int i = 0; i < files; i++) {
        if (!status) status = read_one(directory, entry[i]->d_name, submission, error);
        free(entry[i]);
    }
    free(entry);
    return status;
}

void submission_clear(Submission *submission)
{
    for (int i = 0; i < submission->records; i++) {
        record_clear(submission->record[i]);
        free(submission->record[i]);
    }
    free(submission->record);
    *submission = (Submission){.name = ""};
}
