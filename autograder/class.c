/* class - grades a class: every student's submissions into one gradebook.  `class --help` says
 * how. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "autograder/class/gradebook.h"
#include "autograder/class/explain.h"
#include "autograder/class/plan.h"
#include "autograder/class/progress.h"
#include "autograder/class/similarity.h"
#include "autograder/class/slurm.h"
#include "autograder/class/reproducible.h"
#include "autograder/class/summary.h"
#include "autograder/class/tree.h"
#include "autograder/export/class_files.h"
#include "autograder/options/options.h"
#include "autograder/record/score.h"
#include "autograder/text/files.h"
#include "autograder/text/screen.h"
#include "autograder/text/table.h"
#include "autograder/text/text.h"
#include "common/base/intake.h"
#include "common/base/parallel.h"
#include "common/operations/operation/random.h"

enum { EXIT_WORKED = 0, EXIT_TROUBLE = 1, EXIT_USAGE = 2, EXIT_INTERRUPTED = 130 };

static const char USAGE[] =
    "usage: class --submissions DIR [options]\n"
    "  --submissions DIR  holds a folder or an archive for each student "
    "(docs/instructor/class.md)\n"
    "  --root DIR         the workbook's directory (default .)\n"
    "  --build DIR        the build directory (default build)\n"
    "  --lab NN           one lab: 04, 4 or 04-tiled (default: all)\n"
    "  --results DIR      the gradebook and what is made of it (default <build>/class)\n"
    "  --jobs N           submissions graded at a time (default: one per core)\n"
    "  --roster FILE      CSV of the LMS with the people of the class\n"
    "  --rubric FILE      ini file of open questions, whose marks are columns of the roster\n"
    "  --deadline TIME    2026-10-01T12:00, of this time zone, or with Z: later ones are marked\n"
    "  --grace TIME       15m, 2h: as much later costs nothing\n"
    "  --penalty N        per cent of the points that each started day after the deadline costs\n"
    "  --counts WHICH     best (default), in-time (late ones only if none is in time) or last\n"
    "  --attempts N       only the first N submissions count\n"
    "  --regrade stale    also grades results again whose lab or grader has changed\n"
    "  --engine ENGINE    auto, sim or gpu (default auto: gpu where there is one); slurm or\n"
    "                     slurm-gpu: by job arrays on a cluster, simulated or on one GPU per job\n"
    "  --sbatch OPTIONS   more options for sbatch, parted by blanks\n"
    "  --gpu NAME         the simulated machine (default: the lab's)\n"
    "  --seed N           the class's seed: every student's follows from it and the name\n"
    "  --dump             only prints the gradebook as tab-separated text\n"
    "  --explain STUDENT  only prints how the student earned each point, for appeals\n"
    "  --date DAY         day of this run in progress.tsv, 2026-10-05 (default: today)\n"
    "  --grade PROGRAM    what grades one submission (default <build>/bin/grade)\n"
    "Run it again to resume: results that are in the gradebook are not graded again.\n"
    "Exit: 0 everything is graded; 1 not; 2 wrong usage; 130 interrupted.\n";

typedef struct Options {
    const char *submissions, *root, *build, *lab, *results, *jobs, *deadline, *gpu, *grade, *engine,
        *sbatch, *date, *explain, *roster, *rubric, *grace, *penalty, *counts, *attempts, *regrade;
    Seed seed;
    int dump;
} Options;

typedef struct Class {
    Options options;
    Catalog catalog;
    Gradebook *book;
    char results[3000], work[3100], path[3100], grade[4096]; /* absolute paths; path: the
                                                              * gradebook's */
    int lock, at_once, slurm;
    const char *engine; /* engine of each job: "sim" or "gpu" */
    Plan plan;
    LmsRoster roster; /* plan.roster, if there is one */
    Rubric rubric;    /* plan.rubric, if there is one */
    size_t done, deferred;
    double began;
} Class;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int parse_options(int argc, char **argv, Options *options, Error *error)
{
    *options = (Options){.root = ".", .build = "build", .engine = "auto"};
    const Option table[] = {
        {"submissions", OPTION_TEXT, &options->submissions},
        {"root", OPTION_TEXT, &options->root},
        {"build", OPTION_TEXT, &options->build},
        {"lab", OPTION_TEXT, &options->lab},
        {"results", OPTION_TEXT, &options->results},
        {"jobs", OPTION_TEXT, &options->jobs},
        {"roster", OPTION_TEXT, &options->roster},
        {"rubric", OPTION_TEXT, &options->rubric},
        {"deadline", OPTION_TEXT, &options->deadline},
        {"grace", OPTION_TEXT, &options->grace},
        {"penalty", OPTION_TEXT, &options->penalty},
        {"counts", OPTION_TEXT, &options->counts},
        {"attempts", OPTION_TEXT, &options->attempts},
        {"regrade", OPTION_TEXT, &options->regrade},
        {"engine", OPTION_TEXT, &options->engine},
        {"sbatch", OPTION_TEXT, &options->sbatch},
        {"gpu", OPTION_TEXT, &options->gpu},
        {"seed", OPTION_SEED, &options->seed},
        {"dump", OPTION_FLAG, &options->dump},
        {"explain", OPTION_TEXT, &options->explain},
        {"date", OPTION_TEXT, &options->date},
        {"grade", OPTION_TEXT, &options->grade},
        {"help", OPTION_HELP, (void *)USAGE},
        {0},
    };
    return options_parse(argc, argv, table, 0, NULL, error);
}

/* ---- preparation ---------------------------------------------------------------------------- */

static int find_folders(Class *class, Error *error)
{
    const Options *options = &class->options;
    char given[3000];
    if (options->results)
        text_set(given, sizeof given, "%s", options->results);
    else
        text_set(given, sizeof given, "%s/class", options->build);
    int reads_only = options->dump || options->explain;
    if (!reads_only && directory_make(given))
        return error_set(error, "RESULTS=%.300s: %s", given, strerror(errno));
    char *full = realpath(given, NULL);
    int fits = full && strlen(full) < sizeof class->results;
    if (fits) text_set(class->results, sizeof class->results, "%s", full);
    free(full);
    if (!fits) return error_set(error, "RESULTS=%.300s: %s", given, strerror(errno));
    text_set(class->path, sizeof class->path, "%s/gradebook.sqlite", class->results);
    text_set(class->work, sizeof class->work, "%s/.class-work", class->results);
    text_set(class->grade, sizeof class->grade, "%s%s",
             options->grade ? options->grade : options->build, options->grade ? "" : "/bin/grade");
    if (!reads_only && access(class->grade, X_OK))
        return error_set(error, "%.300s: %s", class->grade, strerror(errno));
    return 0;
}

/* The folder itself is locked; the lock ends with this process. */
static int lock_results(Class *class, Error *error)
{
    class->lock = open(class->results, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (class->lock < 0) return error_set(error, "%.300s: %s", class->results, strerror(errno));
    if (!flock(class->lock, LOCK_EX | LOCK_NB)) return 0;
    return error_set(error,
                     "%.300s: another run is grading into this folder: wait until it has finished",
                     class->results);
}

static int take_jobs(const char *text, int *at_once, Error *error)
{
    char *end = NULL;
    long number = text ? strtol(text, &end, 10) : parallel_cores();
    if (number < 1 || number > 1024 || (end && *end))
        return error_set(error, "JOBS=%.80s: a number from 1 to 1024", text ? text : "");
    *at_once = (int)number;
    return 0;
}

static int take_engine(Class *class, Error *error)
{
    const char *text = class->options.engine;
    DeviceEngine engine;
    class->slurm = !strcmp(text, "slurm") || !strcmp(text, "slurm-gpu");
    if (class->slurm) {
        class->engine = strcmp(text, "slurm") ? "gpu" : "sim";
    } else if (engine_find(text, &engine)) {
        return error_set(
            error, "there is no engine '%.40s'; there are: auto, sim, gpu, slurm, slurm-gpu", text);
    } else {
        class->engine = engine_resolve(engine) == ENGINE_GPU ? "gpu" : "sim";
    }
    return 0;
}

/* The roster, the policy, and whether stale results are graded again. */
static int take_course(Class *class, Error *error)
{
    const Options *options = &class->options;
    Plan *plan = &class->plan;
    plan->regrade = options->regrade != NULL;
    if (options->regrade && strcmp(options->regrade, "stale") != 0)
        return error_set(error, "REGRADE=%.60s: stale", options->regrade);
    char monday[12];
    if (options->date && progress_week(options->date, monday))
        return error_set(error, "DATE=%.40s: a day such as 2026-10-05", options->date);
    if (lms_policy_parse(options->deadline, options->grace, options->penalty, options->counts,
                         options->attempts, &plan->policy, error))
        return -1;
    if (options->rubric && !options->roster)
        return error_set(error,
                         "RUBRIC=%.200s: the marks of open questions are columns of the "
                         "roster: give ROSTER=people.csv, too",
                         options->rubric);
    if (!options->roster) return 0;
    plan->roster = &class->roster;
    if (lms_roster_read(options->roster, &class->roster, error)) return -1;
    if (!options->rubric) return 0;
    plan->rubric = &class->rubric;
    return rubric_read(options->rubric, &class->roster, options->roster, &class->rubric, error);
}

static int find_bases(Class *class, Error *error)
{
    Plan *plan = &class->plan;
    const Options *options = &class->options;
    plan->basis = calloc((size_t) class->catalog.labs, sizeof *plan->basis);
    for (int i = 0; plan->basis && i < class->catalog.labs; i++)
        basis_of(options->root, options->build, class->grade, &class->catalog.lab[i],
                 plan->basis[i]);
    return plan->basis ? 0 : error_set(error, "out of memory");
}

/* Settings of the whole gradebook are fixed by the first run. */
static int settle(Class *class, Error *error)
{
    char held[24] = "";
    const Options *options = &class->options;
    uint64_t seed = options->seed.given ? options->seed.value : random_os_seed();
    int found = gradebook_setting(class->book, "seed", held, sizeof held, error);
    if (found < 0) return -1;
    if (!found || options->seed.given) text_set(held, sizeof held, "%" PRIu64, seed);
    if (gradebook_settle(class->book, "seed", held, error) ||
        gradebook_settle(class->book, "engine", class->engine, error) ||
        gradebook_settle(class->book, "gpu", options->gpu ? options->gpu : "the lab's", error))
        return -1;
    class->plan.seed = strtoull(held, NULL, 10);
    return 0;
}

static int class_open(Class *class, Error *error)
{
    const Options *options = &class->options;
    if (!options->submissions)
        return error_set(error, "whose?  for example:  make class SUBMISSIONS=dir");
    class->plan.submissions = options->submissions;
    class->plan.catalog = &class->catalog;
    class->plan.work = class->work;
    if (take_jobs(options->jobs, &class->at_once, error) || take_engine(class, error) ||
        take_course(class, error) || catalog_open(options->root, &class->catalog, error) ||
        (options->lab &&
         !(class->plan.only = catalog_find(&class->catalog, options->lab, error))) ||
        handed_list_read(options->submissions, &class->plan.list, error) ||
        find_folders(class, error) || find_bases(class, error) || lock_results(class, error))
        return -1;
    slurm_forget(class->work);
    if (tree_remove(class->work) || directory_make(class->work))
        return error_set(error, "%.300s: %s", class->work, strerror(errno));
    class->book = gradebook_open(class->path, error);
    return class->book ? settle(class, error) : -1;
}

/* ---- run ------------------------------------------------------------------------------------ */

static void tell_time_left(const Class *class)
{
    double left =
        (now() - class->began) / (double)class->done * (double)(class->plan.jobs - class->done);
    if (left >= 90)
        printf(", %.0f min left\n", left / 60);
    else
        printf(", %.0f s left\n", left);
    fflush(stdout);
}

static void tell(const Class *class, const Job *job, const ReproducibleRecord *record)
{
    char student[200], earned[32], possible[32];
    name_show(job->handed->student, student, sizeof student);
    printf("[%zu/%zu] %s  %s  ", class->done, class->plan.jobs, student, job->lab->name);
    if (strcmp(record->status, "graded") != 0)
        printf("%s", record->status);
    else
        printf("%s/%s", score_text(record->points, earned), score_text(record->possible, possible));
    printf("%s", job->late ? ", late" : "");
    tell_time_left(class);
}

/* Stores a child's result as the student's. */
static int keep(Job *job, const char *text, const char *trouble, void *context, Error *error)
{
    Class *class = context;
    ReproducibleRecord record;
    int status = text ? reproducible_record(text, class->work, job->problem, &record, error)
                      : reproducible_deferred(job->lab->name, job->lab->ini.title, trouble,
                                              class->work, &record, error);
    if (status) return -1;
    GradebookResult result = {.student = job->handed->student,
                              .lab = job->lab->name,
                              .submission = job->handed->submission,
                              .submitted_at = job->submitted_at,
                              .late = job->late,
                              .digest = job->digest,
                              .basis = job->basis,
                              .seed = job->seed,
                              .status = record.status,
                              .points = record.points,
                              .possible = record.possible,
                              .record = record.text};
    status = gradebook_commit(class->book, &result, error);
    if (!status) {
        class->done++;
        class->deferred += !strcmp(record.status, "deferred");
        tell(class, job, &record);
    }
    free(record.text);
    return status;
}

static int grade_all(Class *class, Error *error)
{
    Jobs jobs = {.grade = class->grade,
                 .root = class->options.root,
                 .build = class->options.build,
                 .engine = class->engine,
                 .gpu = class->options.gpu,
                 .work = class->work,
                 .job = class->plan.job,
                 .count = class->plan.jobs,
                 .done = keep,
                 .context = class};
    class->began = now();
    if (!class->slurm && !strcmp(class->engine, "gpu")) {
        printf("class: one at a time, because they are timed on one GPU\n");
        class->at_once = 1;
    }
    if (!class->slurm) return jobs_run(&jobs, class->at_once, error);
    return slurm_run(&jobs, !strcmp(class->engine, "gpu"), class->options.sbatch, error);
}

/* ---- results -------------------------------------------------------------------------------- */

static int write_summary(Class *class, const Summary *summary, Error *error)
{
    char path[3200];
    text_set(path, sizeof path, "%s/summary.txt", class->results);
    FILE *file = fopen(path, "we");
    if (!file) return error_set(error, "%.300s: %s", path, strerror(errno));
    summary_print(file, summary);
    summary_bars(file, summary);
    if (summary_entries(file, class->book, error)) {
        fclose(file);
        return -1;
    }
    int bad = ferror(file);
    if (fclose(file) || bad) return error_set(error, "%.300s: %s", path, strerror(errno));
    return 0;
}

/* Reports similar solutions: a question for a person, never a mark. */
static int tell_alike(Class *class)
{
    char path[3200];
    size_t groups = 0;
    Error error;
    text_set(path, sizeof path, "%s/similarity.txt", class->results);
    FILE *report = fopen(path, "we");
    int status = report ? similarity_report(class->options.root, class->work, &class->catalog,
                                            &class->plan.list, report, &groups, &error)
                        : error_set(&error, "%.300s: %s", path, strerror(errno));
    if (report && fclose(report) && !status)
        status = error_set(&error, "%.300s: %s", path, strerror(errno));
    if (status) {
        unlink(path);
        char said[1100];
        text_set(said, sizeof said, "class: %s", error.text);
        text_wrap(stdout, 0, said);
    } else if (groups) {
        printf("class: similarity.txt has %zu group%s to look at\n", groups,
               groups == 1 ? "" : "s");
    }
    return status;
}

/* The day of this run: --date, else today in this time zone. */
static int progress_note(const Class *class, const Summary *summary, Error *error)
{
    char today[12];
    time_t now = time(NULL);
    struct tm day;
    strftime(today, sizeof today, "%Y-%m-%d", localtime_r(&now, &day));
    const char *date = class->options.date ? class->options.date : today;
    return progress_add(class->results, date, summary, error);
}

static int sum_up(Class *class, Error *error)
{
    char said[1200];
    Summary summary;
    Error plot;
    class->book = gradebook_read(class->path, error);
    if (!class->book || summary_make(class->book, &class->catalog, &summary, error)) return -1;
    printf("\n");
    summary_print(stdout, &summary);
    int status = write_summary(class, &summary, error), plotted = 1;
    if (!status && summary_plot(class->results, &summary, &plot)) {
        text_set(said, sizeof said, "class: %s; summary.txt has bars of text", plot.text);
        text_wrap(stdout, 0, said);
        plotted = 0;
    }
    int compared = !tell_alike(class);
    if (!status) status = progress_note(class, &summary, error);
    text_set(said, sizeof said, "gradebook.sqlite, class.html, summary.txt, progress.tsv%s%s",
             plotted ? ", distribution.svg, distribution.png" : "",
             compared ? ", similarity.txt" : "");
    printf("\n%s:\n", class->results);
    text_wrap(stdout, 2, said);
    summary_clear(&summary);
    if (!status) status = class_files_write(class->results, class->options.root, error);
    return status;
}

static int dump_row(const GradebookResult *result, void *context, Error *error)
{
    char name[2][600];
    (void)context, (void)error;
    name_show(result->student, name[0], sizeof name[0]);
    name_show(result->submission, name[1], sizeof name[1]);
    printf("%s\t%s\t%s\t%s\t%s\t%s\t%g\t%g\t%" PRIu64 "\t%s\n", name[0], result->lab, name[1],
           result->submitted_at, result->late ? "late" : "", result->status, result->points,
           result->possible, result->seed, result->digest);
    return 0;
}

static int dump(Class *class, Error *error)
{
    if (find_folders(class, error) || !(class->book = gradebook_read(class->path, error)))
        return -1;
    printf("student\tlab\tsubmission\tsubmitted\tlate\tstatus\tpoints\tpossible\tseed\tdigest\n");
    return gradebook_each(class->book, dump_row, NULL, error);
}

static int explain(Class *class, Error *error)
{
    if (find_folders(class, error) || !(class->book = gradebook_read(class->path, error)))
        return -1;
    return explain_student(class->book, class->options.explain, stdout, error);
}

static void class_close(Class *class)
{
    gradebook_close(class->book);
    plan_clear(&class->plan);
    free(class->plan.basis);
    rubric_clear(&class->rubric);
    lms_roster_clear(&class->roster);
    catalog_close(&class->catalog);
}

/* The entries that are not graded, the first ten of them. */
static void tell_entries(const HandedList *list)
{
    enum { SHOWN = 10 };
    for (size_t i = 0; i < list->entries && i < SHOWN; i++) {
        char line[900], name[300];
        name_show(list->entry[i].path, name, sizeof name);
        text_set(line, sizeof line, "not graded: %s: %s", name, list->entry[i].reason);
        intake_clean(line);
        text_wrap(stdout, 2, line);
    }
    if (list->entries > SHOWN)
        printf("  %zu more are not graded: summary.txt lists all with their reasons\n",
               list->entries - SHOWN);
}

static void tell_stale(const Plan *plan)
{
    char line[400];
    if (!plan->stale) return;
    text_set(line, sizeof line,
             plan->regrade ? "class: %zu results are graded again, because %s has changed"
                           : "class: %zu results are stale, because %s has changed since they were "
                             "graded; REGRADE=stale grades just these again",
             plan->stale, plan->stale_because);
    text_wrap(stdout, 0, line);
}

/* Submissions of nobody on the roster, and people without a submission. */
static void tell_people(const Plan *plan)
{
    size_t unlisted = 0, absent = 0;
    char line[400];
    for (size_t i = 0; plan->roster && i < plan->list.count; i++) {
        int is_known = 0;
        for (size_t j = 0; j < plan->members && !is_known; j++)
            is_known = !strcmp(plan->member[j].student, plan->list.item[i].student);
        unlisted += !is_known;
    }
    for (size_t i = 0; plan->roster && i < plan->roster->people; i++) {
        int is_there = 0;
        for (size_t j = 0; j < plan->members && !is_there; j++)
            is_there = plan->member[j].person == plan->roster->person[i].key;
        absent += !is_there;
    }
    if (!plan->roster) return;
    text_set(
        line, sizeof line,
        "class: people on the roster: %zu, without a submission: %zu; submissions of nobody on "
        "the roster: %zu",
        plan->roster->people, absent, unlisted);
    text_wrap(stdout, 0, line);
}

/* Submissions to which the deadline cannot be applied. */
static void tell_undated(const Plan *plan)
{
    char line[800], name[100];
    if (!plan->undated) return;
    name_show(plan->first_undated, name, sizeof name);
    text_set(line, sizeof line,
             "The time of %zu submission%s is not known (%s%s): neither the roster nor a name that "
             "the student did not choose has one, and file times can be set.  DEADLINE says "
             "nothing about %s.  Give ROSTER a column Submitted, or put the time into the name "
             "(ada_2026-10-01T12:00).",
             plan->undated, plan->undated == 1 ? "" : "s", name,
             plan->undated == 1 ? "" : " and others", plan->undated == 1 ? "it" : "them");
    text_wrap(stdout, 0, line);
}

static void tell_plan(const Plan *plan)
{
    printf("class: %zu submissions, %zu results to grade, %zu are there; seed %" PRIu64 "\n",
           plan->list.count, plan->jobs, plan->held, plan->seed);
    tell_entries(&plan->list);
    tell_people(plan);
    tell_stale(plan);
    tell_undated(plan);
    fflush(stdout);
}

/* 0; 1: interrupted; -1 with error. */
static int grade_class(Class *class, Error *error)
{
    if (plan_make(&class->plan, class->book, error)) return -1;
    tell_plan(&class->plan);
    int status = grade_all(class, error);
    if (status) return status;
    status = gradebook_count(class->book, error);
    if (status) return status;
    status = gradebook_finish(class->book, error);
    class->book = NULL;
    if (!status) status = sum_up(class, error);
    if (!status && tree_remove(class->work))
        status = error_set(error, "%.300s: %s", class->work, strerror(errno));
    return status;
}

int main(int argc, char **argv)
{
    static Class class;
    Error error;
    setlocale(LC_CTYPE, "C.UTF-8"); /* for file names in archives */
    if (parse_options(argc, argv, &class.options, &error) ||
        (!class.options.dump && !class.options.explain && class_open(&class, &error))) {
        screen_error("class", error.text);
        class_close(&class);
        return EXIT_USAGE;
    }
    int status = class.options.dump      ? dump(&class, &error)
                 : class.options.explain ? explain(&class, &error)
                                         : grade_class(&class, &error);
    if (status < 0) screen_error("class", error.text);
    if (status == 1)
        fprintf(stderr,
                "class: interrupted; the same command resumes from here: %zu of %zu are graded\n",
                class.done, class.plan.jobs);
    if (!status && class.deferred)
        printf("class: %zu deferred: the same command tries them again\n", class.deferred);
    class_close(&class);
    return status < 0 ? EXIT_TROUBLE : status ? EXIT_INTERRUPTED : EXIT_WORKED;
}
