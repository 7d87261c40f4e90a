/* jobs.h - jobs of a class: one grade process for each submission and lab, each with its own result
 * folder. */
#ifndef CONVLAB_AUTOGRADER_CLASS_JOBS_H
#define CONVLAB_AUTOGRADER_CLASS_JOBS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "autograder/class/handed.h"
#include "autograder/lab/catalog.h"

typedef struct Job {
    const Handed *handed;
    const Lab *lab;
    char *taken; /* absolute path of the folder with its NN-name/ */
    char problem[400], digest[65], submitted_at[24];
    int64_t late;      /* seconds; 0: in time */
    const char *basis; /* digests of what grades it */
    uint64_t seed;
    int tries; /* number of attempts started */
    pid_t pid; /* process of the local child that grades it, or 0 */
    /* On a cluster: state, array and task number, and number of polls since the queue stopped
     * listing it. */
    enum { JOB_NEW, JOB_HANDED, JOB_DONE } state;
    long array;
    int task, absent;
} Job;

/* Called once for each finished job, with a record's text or, if there is none, the last message.
 * -1 with error ends the run. */
typedef int JobDone(Job *job, const char *record, const char *trouble, void *context, Error *error);

typedef struct Jobs {
    const char *grade, *root, *build, *engine, *gpu, *work; /* gpu: NULL, the lab's default */
    Job *job;
    size_t count;
    JobDone *done;
    void *context;
} Jobs;

enum { JOB_TRIES = 2, JOB_WORDS = 20 };

/* Runs all jobs here, at_once at a time, in order.  0: all are done; -1 with error.  1:
 * interrupted by a signal; the children have ended.  Further signals then stay blocked, because
 * `timeout` and impatient users send a second one, which must not cut off the last messages. */
int jobs_run(Jobs *jobs, int at_once, Error *error);

/* ---- shared by the local and the cluster runs ------------------------------------------------ */

/* The job's own folder: its results, and `output`, which has grade's output. */
void job_folder(const Jobs *jobs, const Job *job, char *path, size_t bytes);
/* grade's command line, NULL-terminated; valid until the next call. */
void job_words(const Jobs *jobs, const Job *job, const char *word[JOB_WORDS]);
/* Creates the job's empty folder.  -1 with error. */
int job_prepare(const Jobs *jobs, Job *job, Error *error);
/* Handles the end of a job; `died` and `how` describe it.  1: run it again, 0: it is done and was
 * reported, -1 with error. */
int job_finish(Jobs *jobs, Job *job, int died, const char *how, Error *error);

#endif
