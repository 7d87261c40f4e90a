/* job.c - one job: folder, command line and result. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "autograder/class/jobs.h"
#include "autograder/class/tree.h"
#include "autograder/text/files.h"
#include "autograder/text/text.h"
#include "common/base/intake.h"

void job_folder(const Jobs *jobs, const Job *job, char *path, size_t bytes)
{
    text_set(path, bytes, "%s/job-%zu", jobs->work, (size_t)(job - jobs->job));
}

void job_words(const Jobs *jobs, const Job *job, const char *word[JOB_WORDS])
{
    static char folder[4096], seed[24];
    int words = 0;
    job_folder(jobs, job, folder, sizeof folder);
    text_set(seed, sizeof seed, "%" PRIu64, job->seed);
    const char *const pair[][2] = {{"--root", jobs->root},     {"--build", jobs->build},
                                   {"--lab", job->lab->name},  {"--submission", job->taken},
                                   {"--engine", jobs->engine}, {"--seed", seed},
                                   {"--results", folder},      {"--gpu", jobs->gpu}};
    word[words++] = jobs->grade;
    for (size_t i = 0; i < sizeof pair / sizeof *pair; i++) {
        if (!pair[i][1]) continue;
        word[words++] = pair[i][0];
        word[words++] = pair[i][1];
    }
    word[words++] = "--for-marks";
    word[words] = NULL;
}

int job_prepare(const Jobs *jobs, Job *job, Error *error)
{
    char folder[4096];
    job_folder(jobs, job, folder, sizeof folder);
    if (tree_remove(folder) || directory_make(folder))
        return error_set(error, "%.300s: %s", folder, strerror(errno));
    return 0;
}

/* The last line that grade printed, cleaned; or `how` it ended. */
static void last_words(const char *folder, const char *how, char *line, size_t bytes)
{
    char path[4200];
    Error error;
    text_set(path, sizeof path, "%s/output", folder);
    char *text = file_text(path, &error), *last = NULL;
    for (char *at = text ? strtok(text, "\n") : NULL; at; at = strtok(NULL, "\n"))
        last = at;
    text_set(line, bytes, "%s%s%.200s", how, last ? ": " : "", last ? last : "");
    intake_clean(line);
    free(text);
}

int job_finish(Jobs *jobs, Job *job, int died, const char *how, Error *error)
{
    char folder[4096], path[4200], trouble[300];
    Error why;
    job_folder(jobs, job, folder, sizeof folder);
    text_set(path, sizeof path, "%s/%s.json", folder, job->lab->name);
    char *record = died ? NULL : file_text(path, &why);
    if (!record && job->tries < JOB_TRIES) return 1;
    last_words(folder, how, trouble, sizeof trouble);
    int status = jobs->done(job, record, trouble, jobs->context, error);
    free(record);
    tree_remove(folder);
    return status ? -1 : 0;
}
