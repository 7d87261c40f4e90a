#include "autograder/class/plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "autograder/class/handed_files.h"
#include "autograder/text/text.h"
#include "common/operations/operation/random.h"

/* A keyed hash of the name (BLAKE2b): no student can compute another's seed, or the class's. */
static uint64_t seed_of(uint64_t class_seed, const char *student)
{
    Random class_key, key;
    random_seed(&class_key, class_seed);
    random_child(&class_key, student, &key);
    return random_next(&key);
}

static void tell_problem(const Handed *handed, const char *problem)
{
    char name[300];
    name_show(handed->submission, name, sizeof name);
    printf("  %s: %s\n", name, problem);
}

static int add_job(Plan *plan, Gradebook *book, const Job *job, Error *error)
{
    const Handed *handed = job->handed;
    int has = gradebook_has(book, handed->student, job->lab->name, handed->submission, job->digest,
                            error);
    if (has < 0) return -1;
    plan->held += (size_t)has;
    if (has) return 0;
    Job *grown = realloc(plan->job, (plan->jobs + 1) * sizeof *grown);
    if (!grown) return error_set(error, "out of memory");
    plan->job = grown;
    plan->job[plan->jobs] = *job;
    plan->job[plan->jobs].taken = strdup(job->taken);
    return plan->job[plan->jobs++].taken ? 0 : error_set(error, "out of memory");
}

/* The time in the name, or that of an archive which the platform or the instructor wrote.  In a
 * folder the author may set the times of all files.  0: not known. */
static int64_t submitted_at(const Handed *handed, const HandedFiles *files)
{
    if (handed->named_at) return handed->named_at;
    int is_own = handed->kind == HANDED_ARCHIVE && !strchr(handed->submission, '/');
    return is_own ? files->newest : 0;
}

/* An earlier archive of the same attempt that holds the lab, too; or NULL. */
static const char *earlier_of_attempt(const Plan *plan, const Handed *handed, const Lab *lab)
{
    for (size_t i = 0; handed->attempt && i < plan->firsts; i++)
        if (plan->first[i].attempt == handed->attempt && plan->first[i].lab == lab &&
            strcmp(plan->first[i].student, handed->student) == 0 &&
            strcmp(plan->first[i].submission, handed->submission) != 0)
            return plan->first[i].submission;
    return NULL;
}

static int note_first(Plan *plan, const Handed *handed, const Lab *lab, Error *error)
{
    if (!handed->attempt) return 0;
    AttemptFile *grown = realloc(plan->first, (plan->firsts + 1) * sizeof *grown);
    if (!grown) return error_set(error, "out of memory");
    plan->first = grown;
    plan->first[plan->firsts++] =
        (AttemptFile){handed->attempt, lab, handed->student, handed->submission};
    return 0;
}

/* Archives in one folder are one attempt: of each lab the first by name is taken, and the file of
 * another one goes. */
static int one_attempt(Plan *plan, Job *job, Error *error)
{
    char path[4400];
    text_set(path, sizeof path, "%s/%s/%s", job->taken, job->lab->name, job->lab->ini.source);
    if (!job->handed->attempt || access(path, F_OK)) return 0;
    const char *earlier = earlier_of_attempt(plan, job->handed, job->lab);
    if (!earlier) return note_first(plan, job->handed, job->lab, error);
    text_set(job->problem, sizeof job->problem,
             "%.200s holds this lab, too: archives in one folder are one attempt, and the first by "
             "name counts",
             earlier);
    return unlink(path) ? error_set(error, "%.300s: %s", path, strerror(errno)) : 0;
}

static int add_handed(Plan *plan, Gradebook *book, size_t number, HandedFiles *files, Error *error)
{
    const Handed *handed = &plan->roster.item[number];
    char taken[4096];
    text_set(taken, sizeof taken, "%s/handed-%zu", plan->work, number);
    if (handed_files_take(plan->submissions, handed, plan->catalog, plan->only, taken, files,
                          error))
        return -1;
    if (files->problem[0]) tell_problem(handed, files->problem);
    int64_t at = submitted_at(handed, files);
    if (!at && plan->deadline) plan->undated++;
    Job job = {.handed = handed,
               .taken = taken,
               .late = plan->deadline && at > plan->deadline,
               .seed = seed_of(plan->seed, handed->student)};
    if (at) time_text(at, job.submitted_at);
    if (gradebook_mark_late(book, handed->student, handed->submission, job.late, error)) return -1;
    for (int i = 0; i < plan->catalog->labs; i++) {
        const HandedLab *lab = &files->lab[i];
        job.lab = &plan->catalog->lab[i];
        if (plan->only && job.lab != plan->only) continue;
        text_set(job.problem, sizeof job.problem, "%s", lab->problem);
        text_set(job.digest, sizeof job.digest, "%s", lab->digest);
        if (one_attempt(plan, &job, error)) return -1;
        if (add_job(plan, book, &job, error)) return -1;
    }
    return 0;
}

int plan_make(Plan *plan, Gradebook *book, Error *error)
{
    HandedFiles *files = malloc(sizeof *files);
    int status = files ? 0 : error_set(error, "out of memory");
    for (size_t i = 0; i < plan->roster.count && !status; i++)
        status = add_handed(plan, book, i, files, error);
    free(files);
    return status;
}

void plan_clear(Plan *plan)
{
    for (size_t i = 0; i < plan->jobs; i++)
        free(plan->job[i].taken);
    free(plan->job);
    free(plan->first);
    roster_clear(&plan->roster);
    plan->job = NULL;
    plan->first = NULL;
    plan->jobs = plan->firsts = 0;
}
