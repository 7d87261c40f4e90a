/* lab_run.h - one grade of one lab, while it is made: what its parts share.  grade_lab.c is the
 * whole, grade_plan.c what the record says before anything ran, grade_cases.c the cases,
 * grade_predictions.c the predictions. */
#ifndef CONVLAB_AUTOGRADER_JUDGING_LAB_RUN_H
#define CONVLAB_AUTOGRADER_JUDGING_LAB_RUN_H

#include <pthread.h>

#include "autograder/judging/beside.h"
#include "autograder/judging/grade_lab.h"
#include "autograder/judging/lab_programs.h"
#include "autograder/judging/speed.h"
#include "autograder/judging/speed_counted.h"

typedef struct LabRun LabRun;

/* On a GPU: what a case costs on the simulator, for predictions. */
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
    Ahead *ahead;
    Beside *beside;
    Counts *counts; /* of a host lab's own programs */
    Simulated simulated[LAB_CASES];
    int faults_simulated;
    Judge judge;
    SpeedSetup speed;
};

/* What case `i` of lab.ini runs: its size depends on the engine. */
const Problem *lab_run_problem(const LabRun *run, int i);
/* The generator for `what` of this lab: the same for the same seed, whatever else was drawn. */
void lab_run_random(const LabRun *run, const char *what, Random *random);

/* The record with every case and prediction and what each could earn. */
void lab_run_start(LabRun *run);
/* Ends grading with a status; what could not be run stays "not run". */
void lab_run_stop(LabRun *run, RecordStatus status, const char *message);
/* What predict.ini beside the source says, into the record's predictions. */
void lab_run_answers(LabRun *run);

/* From now on inputs are drawn, and what is right is computed, beside the compilers. */
void lab_run_ahead(LabRun *run);
/* Every case with its judgement, its points and its speed. */
void lab_run_cases(LabRun *run);
/* The submission on the simulator, where a card is graded on; the session is the caller's to
 * close.  -1 with error. */
int lab_run_simulator(const LabRun *run, const Operation *operation, Judge *judge, Error *error);

/* A case is right on the card: what predictions ask about it is simulated beside the next cases. */
void lab_run_simulate_beside(LabRun *run, const RecordCase *item);
/* Waits for all that was begun so. */
void lab_run_simulate_end(LabRun *run);
/* The points of the answers. */
void lab_run_predictions(LabRun *run);

#endif
