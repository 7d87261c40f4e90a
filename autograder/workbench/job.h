/* job.h - programs that the page started: one runs at a time, a few wait.
 *
 * A job's program runs in a process group of its own, so that a cancelled job leaves no process
 * behind.  Standard output and error are collected together. */
#ifndef CONVLAB_AUTOGRADER_WORKBENCH_JOB_H
#define CONVLAB_AUTOGRADER_WORKBENCH_JOB_H

#include <stddef.h>

#include "common/base/error.h"

enum {
    JOBS_WAITING = 4,      /* further ones are refused */
    JOBS_KEPT = 16,        /* finished ones whose output can be read */
    JOB_ARGUMENTS = 32,    /* largest number per program */
    JOB_OUTPUT = 1 << 20,  /* bytes; the rest is dropped, with a line that says so */
    JOB_UNATTENDED = 600,  /* seconds; browsers let a hidden page ask once a minute */
    JOB_ID_CHARACTERS = 32 /* hexadecimal, random: whoever has it may read the job's files */
};

typedef enum JobState { JOB_WAITING, JOB_RUNNING, JOB_ENDED, JOB_CANCELLED } JobState;

typedef struct JobQueue JobQueue;

/* A running job whose output nobody has asked for during `unattended` seconds is cancelled.  NULL:
 * out of memory, or no thread could be started. */
JobQueue *job_queue_open(int unattended);
/* Cancels all jobs and waits for their ends. */
void job_queue_close(JobQueue *queue);

/* Starts argv[0] with its arguments (NULL at the end) when the jobs before it have ended.  `folder`
 * is the folder of its files, "" for none.  The standard input of the program is empty.  -1 with an
 * error: JOBS_WAITING jobs wait already. */
int job_start(JobQueue *queue, char *const argv[], const char *folder,
              char id[JOB_ID_CHARACTERS + 1], Error *error);

/* The same, and the program reads what job_input writes. */
int job_start_dialog(JobQueue *queue, char *const argv[], char id[JOB_ID_CHARACTERS + 1],
                     Error *error);

/* Writes to the standard input of a running job.  -1: there is no such job, it takes no input, or
 * its input is full because it has not read the text before. */
int job_input(JobQueue *queue, const char *id, const char *text);

typedef struct JobView {
    JobState state;
    int status;        /* exit status, or 128 + signal; of JOB_ENDED */
    size_t bytes;      /* length of the output so far */
    char *text;        /* the output from `from` on, malloc'd */
    char folder[1200]; /* folder of the job's files, "" none */
} JobView;

/* The output of a job from byte `from` on.  -1: there is no such job (any more). */
int job_view(JobQueue *queue, const char *id, size_t from, JobView *view);

/* -1: there is no such job.  A job that has ended stays as it is. */
int job_cancel(JobQueue *queue, const char *id);

#endif
