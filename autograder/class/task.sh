#!/bin/sh
# task.sh WORK TASKS - one task of a job array: the job whose number is in its line of WORK/TASKS.
# Its command line is in its folder, with a NUL after each word; its output and exit status go there
# too, for the class that waits for them.
work=$1
number=$(sed -n "$((SLURM_ARRAY_TASK_ID + 1))p" "$work/$2")
folder=$work/job-$number
# shellcheck disable=SC2016  # the inner shell's
xargs -0 -a "$folder/words" sh -c '"$@"' task >"$folder/output" 2>&1
echo $? >"$folder/part" && mv "$folder/part" "$folder/ended"
