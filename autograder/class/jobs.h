/* jobs.h - the jobs of a class: one child of grade for each submission and lab, each with a folder
 * of its own for its results. */
#ifndef CONVLAB_AUTOGRADER_CLASS_JOBS_H
#define CONVLAB_AUTOGRADER_CLASS_JOBS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "autograder/class/roster.h"
#include "autograder/lab/catalog.h"

typedef struct Job {
    const Handed *handed;
    const Lab *lab;
    char *taken; /* the folder that holds its NN-name/, absolute */
    char problem[400], digest[65], submitted_at[24];
    int late;
    uint64_t seed;
    int tries; /* begun so far */
    pid_t pid; /* of the child that grades it here, or 0 */
    /* On a cluster: where it is, which task of which array, and since how many looks its queue does
     * not have it. */
    enum { JOB_NEW, JOB_HANDED, JOB_DONE } state;
    long array;
    int task, absent;
} Job;

/* Called once for each job that has ended, by a record's text or, where there is none, by what was
 * said last.  -1 with error ends the run. */
typedef int JobDone(Job *job, const char *record, const char *trouble, void *context, Error *error);

typedef struct Jobs {
    const char *grade, *root, *build, *engine, *gpu, *work; /* gpu: NULL, the lab's own */
    Job *job;
    size_t count;
    JobDone *done;
    void *context;
} Jobs;

enum { JOB_TRIES = 2, JOB_WORDS = 20 };

/* Runs all jobs here, at_once at a time, in their order.  0: all are done; 1: interrupted by a
 * signal, the children are ended, and further signals stay blocked: `timeout` and impatient people
 * send a second one, and it must not cut off what the program says last; -1 with error. */
int jobs_run(Jobs *jobs, int at_once, Error *error);

/* ---- what every way to run them needs ------------------------------------------------------- */

/* The folder of a job's own: its results, and `output`, what grade printed. */
void job_folder(const Jobs *jobs, const Job *job, char *path, size_t bytes);
/* grade's command line, NULL-terminated; its texts last until the next call. */
void job_words(const Jobs *jobs, const Job *job, const char *word[JOB_WORDS]);
/* An empty folder of its own.  -1 with error. */
int job_prepare(const Jobs *jobs, Job *job, Error *error);
/* The job has ended; it says whether by itself, and how.  1: it is to run again, 0: it is done and
 * was reported, -1 with error. */
int job_finish(Jobs *jobs, Job *job, int died, const char *how, Error *error);

#endif
