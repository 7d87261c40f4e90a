/* slurm.h - jobs of a class on a Slurm cluster, as job arrays: the counterpart of jobs_run.
 *
 * Course, build folder and results must have the same path on every node. */
#ifndef CONVLAB_AUTOGRADER_CLASS_SLURM_H
#define CONVLAB_AUTOGRADER_CLASS_SLURM_H

#include "autograder/class/jobs.h"

/* Runs all jobs; returns as jobs_run does.  `one_gpu`: each job gets a GPU.  `options`: additional
 * words for sbatch, separated by blanks, or NULL. */
int slurm_run(Jobs *jobs, int one_gpu, const char *options, Error *error);

/* Cancels the jobs that a killed run had submitted from the folder `work`. */
void slurm_forget(const char *work);

#endif
