#include "autograder/class/slurm.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "autograder/class/tool.h"
#include "autograder/text/files.h"
#include "autograder/text/text.h"

/* Default limit of tasks in an array (MaxArraySize): 1,000.  The files of a task that ended well
 * may be visible here only later: NFS checks again after a minute. */
enum {
    ARRAY_TASKS = 500,
    LOOK_SECONDS = 2,
    ABSENT_LOOKS = 35,
    SILENT_LOOKS = 150,
    OPTION_WORDS = 32
};

typedef struct Slurm {
    Jobs *jobs;
    int one_gpu;
    const char *options;
    size_t left;  /* jobs that are not done */
    int arrays;   /* number of arrays submitted so far */
    int silences; /* number of successive polls without an answer of the controller */
} Slurm;

/* ---- submission ----------------------------------------------------------------------------- */

/* Writes job-N/words, with a NUL after each word. */
static int write_words(const Jobs *jobs, const Job *job, Error *error)
{
    char path[4200], folder[4096];
    const char *word[JOB_WORDS];
    job_folder(jobs, job, folder, sizeof folder);
    job_words(jobs, job, word);
    text_set(path, sizeof path, "%s/words", folder);
    FILE *file = fopen(path, "we");
    for (int i = 0; file && word[i]; i++)
        fwrite(word[i], 1, strlen(word[i]) + 1, file);
    int bad = !file || ferror(file);
    if ((file && fclose(file)) || bad) return error_set(error, "%.300s: %s", path, strerror(errno));
    return 0;
}

/* Writes a task file for waiting jobs, at most ARRAY_TASKS: their number, or -1. */
static int write_tasks(Slurm *slurm, const char *name, Error *error)
{
    char path[4200];
    int tasks = 0;
    text_set(path, sizeof path, "%s/%s", slurm->jobs->work, name);
    FILE *file = fopen(path, "we");
    if (!file) return error_set(error, "%.300s: %s", path, strerror(errno));
    for (size_t i = 0; i < slurm->jobs->count && tasks < ARRAY_TASKS; i++) {
        Job *job = &slurm->jobs->job[i];
        if (job->state != JOB_NEW) continue;
        if (job_prepare(slurm->jobs, job, error) || write_words(slurm->jobs, job, error)) {
            fclose(file);
            return -1;
        }
        job->state = JOB_HANDED;
        job->task = tasks++;
        job->array = -1; /* unknown until sbatch reports it */
        job->absent = 0;
        job->tries++;
        fprintf(file, "%zu\n", i);
    }
    int bad = ferror(file);
    if (fclose(file) || bad) return error_set(error, "%.300s: %s", path, strerror(errno));
    return tasks;
}

/* The first line of a tool's output in work/said. */
static void said(const Slurm *slurm, char *line, size_t bytes)
{
    char path[4200];
    Error error;
    text_set(path, sizeof path, "%s/said", slurm->jobs->work);
    char *text = file_text(path, &error);
    if (text) name_show(text, line, bytes);
    if (!text) text_set(line, bytes, "%s", "");
    free(text);
}

typedef struct SbatchLine {
    const char *word[OPTION_WORDS + 20];
    char range[40], folder[4096], chdir[4200], script[PATH_MAX], options[2000];
} SbatchLine;

/* Slurm would requeue a task of a failed node minutes later; this is disabled, because the program
 * itself does it. */
static int sbatch_line(const Slurm *slurm, const char *tasks_name, int tasks, SbatchLine *line,
                       Error *error)
{
    char *save = NULL, script[4200];
    int words = 0;
    text_set(script, sizeof script, "%s/autograder/class/task.sh", slurm->jobs->root);
    if (!getcwd(line->folder, sizeof line->folder) || !realpath(script, line->script))
        return error_set(error, "%.300s: %s", script, strerror(errno));
    text_set(line->range, sizeof line->range, "--array=0-%d", tasks - 1);
    text_set(line->chdir, sizeof line->chdir, "--chdir=%s", line->folder);
    text_set(line->options, sizeof line->options, "%s", slurm->options ? slurm->options : "");
    const char *const fixed[] = {"sbatch",           "--parsable", "--no-requeue",
                                 line->range,        line->chdir,  "--output=/dev/null",
                                 "--job-name=class", "--ntasks=1"};
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        line->word[words++] = fixed[i];
    if (slurm->one_gpu) line->word[words++] = "--gres=gpu:1";
    char *option = strtok_r(line->options, " ", &save);
    for (int i = 0; option && i < OPTION_WORDS; i++, option = strtok_r(NULL, " ", &save))
        line->word[words++] = option;
    line->word[words++] = line->script;
    line->word[words++] = slurm->jobs->work;
    line->word[words++] = tasks_name;
    line->word[words] = NULL;
    return 0;
}

static int submit(Slurm *slurm, const char *tasks_name, int tasks, long *array, Error *error)
{
    static SbatchLine line;
    char answer[300];
    if (sbatch_line(slurm, tasks_name, tasks, &line, error)) return -1;
    int status = tool_run(slurm->jobs->work, line.word, NULL, "said", error);
    if (status < 0) return -1;
    said(slurm, answer, sizeof answer);
    *array = strtol(answer, NULL, 10);
    if (status == TOOL_MISSING)
        return error_set(error, "there is no sbatch: run this on a machine that submits to Slurm");
    if (status || *array <= 0) return error_set(error, "sbatch refuses: %.250s", answer);
    return 0;
}

/* Appends to work/submitted, for a later run if this one is killed. */
static int write_down(const Slurm *slurm, long array, Error *error)
{
    char path[4200];
    text_set(path, sizeof path, "%s/submitted", slurm->jobs->work);
    FILE *file = fopen(path, "ae");
    if (file) fprintf(file, "%ld\n", array);
    if (!file || fclose(file)) return error_set(error, "%.300s: %s", path, strerror(errno));
    return 0;
}

/* Submits all waiting jobs. */
static int hand_over(Slurm *slurm, Error *error)
{
    for (;;) {
        char name[40];
        long array;
        text_set(name, sizeof name, "tasks-%d", slurm->arrays++);
        int tasks = write_tasks(slurm, name, error);
        if (tasks <= 0) return tasks;
        if (submit(slurm, name, tasks, &array, error) || write_down(slurm, array, error)) return -1;
        for (size_t i = 0; i < slurm->jobs->count; i++) {
            Job *job = &slurm->jobs->job[i];
            if (job->state == JOB_HANDED && job->array < 0) job->array = array;
        }
    }
}

/* ---- collection ----------------------------------------------------------------------------- */

/* The job has ended, or is lost: it is submitted again, or done. */
static int finish(Slurm *slurm, Job *job, int died, const char *how, Error *error)
{
    int again = job_finish(slurm->jobs, job, died, how, error);
    if (again < 0) return -1;
    job->state = again ? JOB_NEW : JOB_DONE;
    slurm->left -= !again;
    return 0;
}

/* Collects the jobs that have left a status in their folders. */
static int gather(Slurm *slurm, Error *error)
{
    for (size_t i = 0; i < slurm->jobs->count; i++) {
        Job *job = &slurm->jobs->job[i];
        char folder[4096], path[4200], how[80];
        Error none;
        if (job->state != JOB_HANDED) continue;
        job_folder(slurm->jobs, job, folder, sizeof folder);
        text_set(path, sizeof path, "%s/ended", folder);
        if (!file_exists(path)) continue;
        char *text = file_text(path, &none);
        int status = text ? atoi(text) : -1;
        free(text);
        text_set(how, sizeof how, "the grader ended with status %d on its node", status);
        if (finish(slurm, job, status != 0, how, error)) return -1;
    }
    return 0;
}

/* Whether a task in this state of squeue will produce no result. */
static int is_lost(const char *state)
{
    static const char *const LOST[] = {"NODE_FAIL", "BOOT_FAIL",     "CANCELLED", "DEADLINE",
                                       "TIMEOUT",   "OUT_OF_MEMORY", "PREEMPTED", "FAILED"};
    for (size_t i = 0; i < sizeof LOST / sizeof *LOST; i++)
        if (!strcmp(state, LOST[i])) return 1;
    return 0;
}

static int is_ahead(const char *state)
{
    return strcmp(state, "COMPLETED") != 0 && !is_lost(state);
}

static void take_state(Slurm *slurm, long array, int task, const char *state)
{
    for (size_t i = 0; i < slurm->jobs->count; i++) {
        Job *job = &slurm->jobs->job[i];
        if (job->array != array || job->task != task) continue;
        if (is_ahead(state)) job->absent = 0;
        if (is_lost(state)) job->absent = ABSENT_LOOKS;
    }
}

/* Polls squeue for the state of every task; 0 if it answers. */
static int look(Slurm *slurm)
{
    static const char *const WORD[] = {"squeue",       "--noheader",        "--array", "--me",
                                       "--states=all", "--format=%F %K %T", NULL};
    char path[4200], state[32];
    long array;
    int task;
    Error none;
    if (tool_run(slurm->jobs->work, WORD, NULL, "said", &none)) return -1;
    for (size_t i = 0; i < slurm->jobs->count; i++)
        slurm->jobs->job[i].absent++;
    text_set(path, sizeof path, "%s/said", slurm->jobs->work);
    FILE *file = fopen(path, "re");
    while (file && fscanf(file, "%ld %d %31s", &array, &task, state) == 3)
        take_state(slurm, array, task, state);
    if (file) fclose(file);
    return 0;
}

/* Gives up jobs without a status: the node failed, the job was cancelled, or the queue does not
 * list it. */
static int give_up_lost(Slurm *slurm, Error *error)
{
    slurm->silences = look(slurm) ? slurm->silences + 1 : 0;
    if (slurm->silences > SILENT_LOOKS)
        return error_set(error, "squeue does not answer: is Slurm's controller down?");
    for (size_t i = 0; i < slurm->jobs->count && !slurm->silences; i++) {
        Job *job = &slurm->jobs->job[i];
        if (job->state == JOB_HANDED && job->absent >= ABSENT_LOOKS &&
            finish(slurm, job, 1, "Slurm lost its task", error))
            return -1;
    }
    return 0;
}

/* ---- the whole run -------------------------------------------------------------------------- */

void slurm_forget(const char *work)
{
    char path[4200], number[24];
    long array;
    Error none;
    text_set(path, sizeof path, "%s/submitted", work);
    FILE *file = fopen(path, "re");
    while (file && fscanf(file, "%ld", &array) == 1) {
        const char *const word[] = {"scancel", "--quiet", number, NULL};
        text_set(number, sizeof number, "%ld", array);
        tool_run(work, word, NULL, NULL, &none);
    }
    if (file) fclose(file);
}

static int run(Slurm *slurm, const sigset_t *signals, Error *error)
{
    const struct timespec pause = {.tv_sec = LOOK_SECONDS};
    while (slurm->left) {
        if (hand_over(slurm, error)) return -1;
        if (sigtimedwait(signals, NULL, &pause) > 0) return 1;
        if (gather(slurm, error) || give_up_lost(slurm, error)) return -1;
    }
    return 0;
}

int slurm_run(Jobs *jobs, int one_gpu, const char *options, Error *error)
{
    Slurm slurm = {.jobs = jobs, .one_gpu = one_gpu, .options = options, .left = jobs->count};
    sigset_t signals, before;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    sigprocmask(SIG_BLOCK, &signals, &before);
    int status = run(&slurm, &signals, error);
    if (status) slurm_forget(jobs->work);
    if (status != 1) sigprocmask(SIG_SETMASK, &before, NULL);
    return status;
}
