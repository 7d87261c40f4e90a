/* record.h - the result of grading one lab: one struct, one JSON file (docs/instructor/result-record.md), the
 * source of every table, exporter and gradebook.
 *
 * Module: the record of a grade, its points, its table, progress and hints.
 * Callers: judging, the programs.
 * May use: lab. */
#ifndef CONVLAB_AUTOGRADER_RECORD_RECORD_H
#define CONVLAB_AUTOGRADER_RECORD_RECORD_H

#include <stdint.h>

#include "autograder/lab/lab_ini.h"
#include "common/base/error.h"
#include "common/cuda/device.h"

#define RECORD_SCHEMA "convlab-result-1"

#define RECORD_NOT_FINITE 1e308 /* stands for NaN and the infinities in the file */

typedef enum RecordStatus {
    RECORD_GRADED,   /* the cases were run */
    RECORD_MISSING,  /* the submission has no such file */
    RECORD_NO_BUILD, /* it does not compile, or the compiler hit a limit */
    RECORD_DEFERRED, /* the lab needs an engine or card that is not here */
    RECORD_BROKEN    /* the grader's own fault */
} RecordStatus;

typedef enum CaseVerdict {
    CASE_CORRECT,
    CASE_WRONG,  /* an output outside its bound */
    CASE_ERROR,  /* a launch or CUDA call failed */
    CASE_EXITED, /* ended without an answer */
    CASE_CRASHED,
    CASE_LIMIT, /* used or waited too much: CPU time, instructions, memory, output */
    CASE_PROTOCOL,
    CASE_DEFERRED, /* the machine was too busy to tell: left out of N */
    CASE_BROKEN,   /* the grader's own fault: left out of N */
    CASE_NOT_RUN   /* there was nothing to run: no file, or it does not compile */
} CaseVerdict;

typedef enum SpeedVerdict {
    SPEED_NOT_TIMED, /* lab.ini does not time this case */
    SPEED_SCORED,
    SPEED_NOT_CORRECT,  /* some case is wrong, so no speed points */
    SPEED_TOO_CLOSE,    /* H < 1.5: left out of N */
    SPEED_INCONCLUSIVE, /* too noisy after three tries: left out of N */
    SPEED_REVIEW,       /* faster than the hardware can be: no points until a person has looked */
    SPEED_WRONG,        /* a timed run's output was wrong */
    SPEED_DEFERRED      /* could not be timed here: left out of N */
} SpeedVerdict;

typedef struct RecordSpeed {
    SpeedVerdict verdict;
    char text[512];                      /* why, when not scored */
    double baseline, student, reference; /* cycles on the simulator, else seconds */
    double s, s_low, s_high;             /* s_low = s_high = s on the simulator */
    double s_ref, needed;
    double points, possible;
    double roof;        /* what the machine needs at least, 0: not known; not kept */
    DeviceCost against; /* the reference's, on the simulator; not kept */
} RecordSpeed;

typedef struct RecordCase {
    char name[48], about[200], shape[200];
    int hidden;
    CaseVerdict verdict;
    char fault[48], where[96], text[2400]; /* text: whole sentences for the student */
    char hint[1500];            /* that the fault unlocked; on the first case that has it */
    double wrong, total, worst; /* outputs wrong, of all; largest error / bound */
    double points, possible;    /* for correctness */
    DeviceCost cost;
    RecordSpeed speed;
} RecordCase;

/* A prediction's text where predict.ini has nothing for it. */
#define RECORD_NO_ANSWER "No answer in predict.ini."

typedef struct RecordPrediction {
    char name[48], question[400], text[200];
    char metric[300]; /* what the truth is: a metric or a formula */
    int answered;
    int measured; /* truth holds the true value; only ever set where answered */
    double answer, truth;
    double points, possible;
} RecordPrediction;

/* What the seconds of a grade went into, on the wall.  Shown, not kept.  What is done beside other
 * things, inputs and right outputs ahead of their case for example, counts as the wait for it. */
typedef enum SpentOn {
    SPENT_BUILD,
    SPENT_START,    /* processes, and the problems' memory on the device */
    SPENT_INPUTS,   /* making them */
    SPENT_CROSSING, /* tensors between grade and its device process */
    SPENT_UPLOAD,
    SPENT_CALLS,
    SPENT_REPLAYS,
    SPENT_DOWNLOAD,
    SPENT_JUDGING,    /* whole outputs, and what is wrong with them */
    SPENT_SAMPLES,    /* of outputs */
    SPENT_SIMULATING, /* for predictions, on a GPU */
    SPENT_KINDS
} SpentOn;

enum { RECORD_CASES = LAB_CASES + LAB_HIDDEN };

typedef struct Record {
    char lab[64], title[120];
    RecordStatus status;
    char message[1024]; /* one line, when not graded */
    char *compiler;     /* the compiler's own lines, or NULL; owned */
    char *printed;      /* what the submission's kernels printed, its beginning, or NULL; owned */
    char todo[600];     /* what to do first, "labs/04-tiled/conv.cu:31: ..." or "" */
    char graded_at[32]; /* UTC, 2026-01-31T12:00:00Z */
    char engine[16], machine[64], device[128], sandbox[96];
    char unit[16]; /* "cycles" or "seconds" */
    uint64_t seed;
    char toolkit[256], source[512], submission_digest[65], baseline_digest[65],
        reference_digest[65];
    char grader_digest[65];
    double seconds; /* that grading took */
    double spent[SPENT_KINDS];
    RecordCase item[RECORD_CASES];
    int cases;
    RecordPrediction prediction[LAB_PREDICTIONS];
    int predictions;
    double deferred_points; /* left out of N; `deferred` says why */
    char deferred[1024];
    double points, possible; /* the mark: E/N */
} Record;

const char *case_verdict_name(CaseVerdict verdict); /* "correct" */
const char *speed_verdict_name(SpeedVerdict verdict);
const char *record_status_name(RecordStatus status);

/* Adds up points, possible and deferred_points from cases and predictions. */
void record_total(Record *record);
int record_all_correct(const Record *record);
/* Whether a case with this verdict is left out of N: it says nothing about the submission. */
int case_is_left_out(CaseVerdict verdict);
/* Whether a speed with this verdict is part of N. */
int speed_counts(SpeedVerdict verdict);

/* JSON text (malloc'd) and back; -1 with error for what is not such a record. */
char *record_print(const Record *record);
int record_parse(const char *text, Record *record, Error *error);

/* <results>/<lab>.json, whole or not at all: written beside and renamed. */
int record_write(const char *results, const Record *record, Error *error);
/* -1 with error: none there, or unreadable. */
int record_read(const char *results, const char *lab, Record *record, Error *error);
void record_clear(Record *record);

#endif
