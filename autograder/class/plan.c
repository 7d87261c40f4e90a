#include "autograder/class/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autograder/class/handed_files.h"
#include "autograder/text/text.h"
#include "common/operations/operation/random.h"

/* A keyed hash of the name (BLAKE2b): no student can work out another's, or the class's. */
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

static int add_handed(Plan *plan, Gradebook *book, size_t number, HandedFiles *files, Error *error)
{
    const Handed *handed = &plan->roster.item[number];
    char taken[4096];
    text_set(taken, sizeof taken, "%s/handed-%zu", plan->work, number);
    if (handed_files_take(plan->submissions, handed, plan->catalog, plan->only, taken, files,
                          error))
        return -1;
    if (files->problem[0]) tell_problem(handed, files->problem);
    int64_t at = handed->named_at ? handed->named_at : files->newest;
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
    roster_clear(&plan->roster);
    plan->job = NULL;
    plan->jobs = 0;
}
