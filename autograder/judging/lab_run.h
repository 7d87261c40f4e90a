/* lab_run.h - state of one grading run of one lab, shared by its sources: grade_lab.c (the
 * sequence), grade_plan.c (the initial record), grade_cases.c (the cases) and grade_predictions.c
 * (the predictions). */
#ifndef CONVLAB_AUTOGRADER_JUDGING_LAB_RUN_H
#define CONVLAB_AUTOGRADER_JUDGING_LAB_RUN_H

#include <pthread.h>

#include "autograder/judging/grade_lab.h"
#include "autograder/judging/lab_programs.h"
#include "autograder/judging/parallel_session.h"
#include "autograder/judging/speed.h"
#include "autograder/judging/speed_counted.h"

typedef struct LabRun LabRun;

/* GPU grading: the cost of a case on the simulator, needed by predictions. */
typedef struct Simulated {
    const LabRun *run;
    const LabCase *item;
    pthread_t thread;
    int begun, threaded, failed;
    DeviceCost cost;
    Error error;
} Simulated;

struct LabRun {
    const Grader *grader;
    const Lab *lab;
    Record *record;
    Session *session;
    DeviceProperties properties;
    LabPrograms programs;
    Precompute *precomputed;
    ParallelSession *parallel;
    Counts *counts; /* counts of a host lab's own programs */
    Simulated simulated[LAB_CASES];
    int faults_simulated;
    Judge judge;
    SpeedSetup speed;
    char *skeleton; /* the text of the lab's skeleton; NULL: not read yet, or it cannot be read */
};

/* The problem of case `i` of lab.ini; its size depends on the engine. */
const Problem *lab_run_problem(const LabRun *run, int i);
/* The generator for the purpose `what` of this lab.  It depends on the seed only, not on other
 * draws. */
void lab_run_random(const LabRun *run, const char *what, Random *random);

/* Fills the record with every case and prediction and the points that each could earn. */
void lab_run_start(LabRun *run);
/* Ends grading with a status; cases that were not run stay "not run". */
void lab_run_stop(LabRun *run, RecordStatus status, const char *message);
/* The text of the lab's skeleton, read once and owned by the run; NULL: it cannot be read. */
const char *lab_run_skeleton(LabRun *run);
/* Reads predict.ini next to the source into the record's predictions. */
void lab_run_answers(LabRun *run);

/* Starts to draw inputs and compute expected outputs while the compilers run. */
void lab_run_precompute(LabRun *run);
/* Runs every case: judgement, points and speed. */
void lab_run_cases(LabRun *run);
/* GPU grading: opens the submission on the simulator.  The caller closes the session.  -1 with
 * error. */
int lab_run_simulator(const LabRun *run, const Operation *operation, Judge *judge, Error *error);

/* A case is correct on the GPU: simulates the counters that predictions need, in parallel to the
 * next cases. */
void lab_run_simulate_start(LabRun *run, const RecordCase *item);
/* Waits for all simulations that lab_run_simulate_start started. */
void lab_run_simulate_end(LabRun *run);
/* Awards the points for predictions. */
void lab_run_predictions(LabRun *run);

#endif
