#include "autograder/class/plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "autograder/class/handed_files.h"
#include "autograder/class/sieve.h"
#include "autograder/lms/entry_name.h"
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

/* Whether the gradebook has a result for these files that need not be graded again; -1 with
 * error. */
static int is_held(Plan *plan, Gradebook *book, const Job *job, Error *error)
{
    const Handed *handed = job->handed;
    char old[BASIS_BYTES] = "";
    int has = gradebook_has(book, handed->student, job->lab->name, handed->submission, job->digest,
                            error);
    if (has != 1) return has;
    if (gradebook_basis(book, handed->student, job->lab->name, handed->submission, old, error) < 0)
        return -1;
    const char *difference = basis_difference(old, job->basis);
    if (!difference) return 1;
    plan->stale++;
    plan->stale_because = plan->stale_because && strcmp(plan->stale_because, difference)
                              ? "the lab and the grader"
                              : difference;
    return !plan->regrade;
}

static int add_job(Plan *plan, Gradebook *book, const Job *job, Error *error)
{
    int has = is_held(plan, book, job, error);
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

/* ---- people --------------------------------------------------------------------------------- */

static int add_member(Plan *plan, const char *student, const char *person, Error *error)
{
    GradebookMember *grown = realloc(plan->member, (plan->members + 1) * sizeof *grown);
    if (!grown) return error_set(error, "out of memory");
    plan->member = grown;
    plan->member[plan->members++] = (GradebookMember){student, person};
    return 0;
}

/* Marks the people whose submission it is, and the other members of their groups.  `is_found` has
 * a place for each person. */
static int people_find(Plan *plan, const Handed *handed, char *is_found, Error *error)
{
    EntryName entry;
    char top[400];
    const LmsRoster *roster = plan->roster;
    text_set(top, sizeof top, "%.*s", (int)strcspn(handed->submission, "/"), handed->submission);
    entry_name_parse(top, &entry);
    if (!entry_is_lms(&entry)) entry_name_parse(handed->student, &entry);
    if (!lms_roster_find(roster, &entry, is_found)) return 0;
    for (size_t i = 0; i < roster->people; i++) {
        const char *group = roster->person[i].field[PERSON_GROUP];
        for (size_t j = 0; j < roster->people && is_found[i] == 1 && *group; j++)
            if (!is_found[j] && !strcmp(group, roster->person[j].field[PERSON_GROUP]))
                is_found[j] = 2;
    }
    for (size_t i = 0; i < roster->people; i++)
        if (is_found[i] && add_member(plan, handed->student, roster->person[i].key, error))
            return -1;
    return 0;
}

/* Whether its student has no other submission. */
static int is_only_one(const Plan *plan, const Handed *handed)
{
    for (size_t i = 0; i < plan->list.count; i++)
        if (&plan->list.item[i] != handed && !strcmp(plan->list.item[i].student, handed->student))
            return 0;
    return 1;
}

/* The time that the LMS recorded, which is that of a student's last submission; of several, each
 * has the time in its name.  File times are not used: whoever copies a file, or packs an archive,
 * sets them.  0: not known. */
static int64_t submitted_at(const Plan *plan, const Handed *handed, const char *is_found)
{
    int64_t recorded = lms_submitted(plan->roster, is_found);
    const int is_recorded = recorded && (!handed->named_at || is_only_one(plan, handed));
    return is_recorded ? recorded : handed->named_at;
}

/* ---- attempts ------------------------------------------------------------------------------- */

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

/* Whether it is a folder without sources next to archives, which are submissions themselves. */
static int is_wrapping(const Plan *plan, const Handed *handed, const HandedFiles *files)
{
    int sources = 0;
    for (int i = 0; i < plan->catalog->labs; i++)
        sources += files->lab[i].has_source || files->lab[i].problem[0];
    return handed->kind == HANDED_FOLDER && handed->attempt && !sources;
}

/* Whether loose file `number` is "conv (1).cu" next to the student's "conv.cu". */
static int is_second_copy(const Handed *handed, size_t number)
{
    char original[300];
    const char *name = handed->file[number].name;
    if (strlen(name) >= sizeof original || !file_name_original(name, original, sizeof original))
        return 0;
    for (size_t i = 0; i < handed->files; i++)
        if (!strcmp(handed->file[i].name, original)) return 1;
    return 0;
}

/* Lists the submission, or those of its loose files that are no lab's, as not graded. */
static int note_ungraded(Plan *plan, const Handed *handed, const HandedFiles *files, Error *error)
{
    const char *problem = files->problem;
    int sources = 0;
    for (int i = 0; i < plan->catalog->labs; i++) {
        if (plan->only && &plan->catalog->lab[i] != plan->only) continue;
        sources += files->lab[i].has_source;
        if (!*problem) problem = files->lab[i].problem;
    }
    for (size_t i = 0; i < handed->files; i++) {
        const char *reason = *problem ? problem : "not a file of the lab";
        int is_used = sieve_is_lab_file(plan->catalog, plan->only, handed->file[i].name);
        int is_copy = is_used && is_second_copy(handed, i);
        if (is_used && sources && !is_copy) continue;
        if (is_used && !*problem) reason = "the lab's source is missing next to it";
        if (!is_used) reason = "not a file of the lab";
        if (is_copy && sources) reason = "a copy; the file with the lab's own name counts";
        if (handed_list_note(&plan->list, handed->file[i].path, handed->student,
                             is_used && *problem, reason, error))
            return -1;
    }
    if (sources || handed->files) return 0;
    char reason[400];
    if (*problem)
        text_set(reason, sizeof reason, "%s", problem);
    else
        text_set(reason, sizeof reason, "holds no source of %s%s%.200s",
                 plan->only ? plan->only->name : "any lab", *files->other ? "; it has " : "",
                 files->other);
    int is_refused = *problem && handed->kind != HANDED_UNUSABLE;
    return handed_list_note(&plan->list, handed->submission, handed->student, is_refused, reason,
                            error);
}

static int add_labs(Plan *plan, Gradebook *book, Job *job, const HandedFiles *files, Error *error)
{
    for (int i = 0; i < plan->catalog->labs; i++) {
        const HandedLab *lab = &files->lab[i];
        job->lab = &plan->catalog->lab[i];
        job->basis = plan->basis[i];
        if (plan->only && job->lab != plan->only) continue;
        text_set(job->problem, sizeof job->problem, "%s", lab->problem);
        text_set(job->digest, sizeof job->digest, "%s", lab->digest);
        if (one_attempt(plan, job, error) || add_job(plan, book, job, error)) return -1;
    }
    return 0;
}

static int add_handed(Plan *plan, Gradebook *book, size_t number, char *is_found,
                      HandedFiles *files, Error *error)
{
    const Handed *handed = &plan->list.item[number];
    const char *lab = plan->only ? plan->only->name : "";
    char taken[4096];
    text_set(taken, sizeof taken, "%s/handed-%zu", plan->work, number);
    if (handed_files_take(plan->submissions, handed, plan->catalog, plan->only, taken, files,
                          error))
        return -1;
    if (is_wrapping(plan, handed, files)) return 0;
    if (note_ungraded(plan, handed, files, error)) return -1;
    if (plan->roster && people_find(plan, handed, is_found, error)) return -1;
    int64_t at = submitted_at(plan, handed, is_found);
    int64_t deadline = lms_deadline(&plan->policy, plan->roster, is_found);
    if (!at && deadline && !plan->undated++) plan->first_undated = handed->student;
    Job job = {.handed = handed,
               .taken = taken,
               .late = lms_late(&plan->policy, deadline, at),
               .seed = seed_of(plan->seed, handed->student)};
    if (at) time_text(at, job.submitted_at);
    if (gradebook_mark_late(book, handed->student, handed->submission, lab, job.submitted_at,
                            job.late, error))
        return -1;
    return add_labs(plan, book, &job, files, error);
}

static int store_rubric(const Plan *plan, Gradebook *book, Error *error)
{
    const Rubric *rubric = plan->rubric;
    const char *lab[RUBRIC_QUESTIONS];
    for (size_t i = 0; i < rubric->questions; i++) {
        Error inner;
        const Lab *found = catalog_find(plan->catalog, rubric->question[i].lab, &inner);
        if (!found)
            return ini_error(error, &rubric->file, rubric->question[i].line, "[%s]: %s",
                             rubric->question[i].name, inner.text);
        lab[i] = found->name;
    }
    return gradebook_rubric_set(book, rubric, lab, plan->roster, error);
}

/* ---- people, policy and entries in the gradebook ------------------------------------------ */

static int describe(const Plan *plan, Gradebook *book, Error *error)
{
    char deadline[24] = "", grace[24] = "";
    const LmsPolicy *policy = &plan->policy;
    if (policy->deadline) time_text(policy->deadline, deadline);
    if (policy->grace) text_set(grace, sizeof grace, "%lld min", (long long)policy->grace / 60);
    GradebookPolicy stored = {.deadline = deadline,
                              .grace = grace,
                              .counts = policy->counts,
                              .penalty = policy->penalty,
                              .attempts = policy->attempts};
    if (gradebook_describe(book, plan->roster, plan->member, plan->members, &stored, error))
        return -1;
    return plan->rubric ? store_rubric(plan, book, error) : 0;
}

static int store_entries(const Plan *plan, Gradebook *book, Error *error)
{
    const HandedList *list = &plan->list;
    GradebookEntry *entry = calloc(list->entries + 1, sizeof *entry);
    if (!entry) return error_set(error, "out of memory");
    for (size_t i = 0; i < list->entries; i++)
        entry[i] = (GradebookEntry){list->entry[i].path, list->entry[i].student,
                                    list->entry[i].reason, "", list->entry[i].is_refused};
    int status = gradebook_entries_set(book, plan->only ? plan->only->name : "", entry,
                                       list->entries, error);
    free(entry);
    return status;
}

int plan_make(Plan *plan, Gradebook *book, Error *error)
{
    HandedFiles *files = malloc(sizeof *files);
    char *is_found = calloc(plan->roster ? plan->roster->people + 1 : 1, 1);
    int status =
        files && is_found ? gradebook_begin(book, error) : error_set(error, "out of memory");
    for (size_t i = 0; i < plan->list.count && !status; i++)
        status = add_handed(plan, book, i, is_found, files, error);
    free(files);
    free(is_found);
    if (!status) status = describe(plan, book, error);
    return status ? status : store_entries(plan, book, error);
}

void plan_clear(Plan *plan)
{
    for (size_t i = 0; i < plan->jobs; i++)
        free(plan->job[i].taken);
    free(plan->job);
    free(plan->first);
    free(plan->member);
    handed_list_clear(&plan->list);
    plan->job = NULL;
    plan->first = NULL;
    plan->member = NULL;
    plan->jobs = plan->firsts = plan->members = 0;
}
