/* slurm.h - the jobs of a class on an existing Slurm cluster, as job arrays: what jobs_run does on
 * this machine, done by its nodes.
 *
 * Workbook, build folder and results have to be at the same place on every node. */
#ifndef CONVLAB_AUTOGRADER_CLASS_SLURM_H
#define CONVLAB_AUTOGRADER_CLASS_SLURM_H

#include "autograder/class/jobs.h"

/* Runs all jobs; returns as jobs_run does.  `one_gpu`: each job gets a card.  `options`: more
 * words for sbatch, parted by blanks, or NULL. */
int slurm_run(Jobs *jobs, int one_gpu, const char *options, Error *error);

/* Cancels what a run that was killed had handed over from the folder `work`. */
void slurm_forget(const char *work);

#endif
