/* record.h - result of grading one lab: one struct, one JSON file
 * (docs/instructor/result-record.md), the source of every table, exporter and gradebook.
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

#define RECORD_NOT_FINITE 1e308 /* written to the file for NaN and infinities */

typedef enum RecordStatus {
    RECORD_GRADED,   /* the cases were run */
    RECORD_MISSING,  /* the submission has no such file */
    RECORD_NO_BUILD, /* it does not compile, or the compiler hit a limit */
    RECORD_DEFERRED, /* the lab needs an engine or GPU that is not available */
    RECORD_BROKEN    /* the grader's own error */
} RecordStatus;

typedef enum CaseVerdict {
    CASE_CORRECT,
    CASE_WRONG,  /* an output outside its bound */
    CASE_ERROR,  /* a launch or CUDA call failed */
    CASE_EXITED, /* ended without an answer */
    CASE_CRASHED,
    CASE_LIMIT, /* a limit was exceeded: CPU time, waiting, instructions, memory, output */
    CASE_PROTOCOL,
    CASE_DEFERRED, /* the machine was too busy to decide: left out of N */
    CASE_BROKEN,   /* the grader's own error: left out of N */
    CASE_NOT_RUN   /* there is no program: no file, or it does not compile */
} CaseVerdict;

typedef enum SpeedVerdict {
    SPEED_NOT_TIMED, /* lab.ini does not time this case */
    SPEED_SCORED,
    SPEED_NOT_CORRECT,  /* some case is wrong, so no speed points */
    SPEED_TOO_CLOSE,    /* H below the limit of score.h: left out of N */
    SPEED_INCONCLUSIVE, /* too noisy after three tries: left out of N */
    SPEED_REVIEW,       /* faster than the hardware's lower bound: no points before a review */
    SPEED_WRONG,        /* a timed run's output was wrong */
    SPEED_DEFERRED      /* could not be timed here: left out of N */
} SpeedVerdict;

typedef struct RecordSpeed {
    SpeedVerdict verdict;
    char text[512];                      /* the reason, when not scored */
    double baseline, student, reference; /* cycles on the simulator, else seconds */
    double s, s_low, s_high;             /* s_low = s_high = s on the simulator */
    double s_ref, needed;
    double points, possible;
    double roof;        /* lower bound on the machine, 0: unknown; not stored */
    DeviceCost against; /* the reference's cost on the simulator; not stored */
} RecordSpeed;

/* A part of the lab, and how many of its TODO regions are written.  Not stored. */
typedef struct RecordStage {
    char name[48], title[120];
    int first, last, written;
} RecordStage;

typedef struct RecordCase {
    char name[48], about[200], shape[200];
    int hidden;
    int stage; /* number of its stage in Record.stage, from 1; 0 without one; not stored */
    CaseVerdict verdict;
    char fault[48], where[96], text[2400]; /* text: whole sentences for the student */
    char hint[1500];            /* unlocked by the fault; on the first case with that fault */
    double wrong, total, worst; /* number of wrong outputs; of all outputs; largest error / bound */
    double points, possible;    /* points for correctness */
    DeviceCost cost;
    RecordSpeed speed;
} RecordCase;

/* Text of a prediction without a line in predict.ini. */
#define RECORD_NO_ANSWER "No answer in predict.ini."
/* Text of a prediction whose true value comes from the student's own launch. */
#define RECORD_OWN_LAUNCH                                                                          \
    "The true value is measured on your own kernel: another correct kernel can have another one."

typedef struct RecordPrediction {
    char name[48], question[400], text[200];
    char metric[300]; /* metric or formula of the true value */
    int answered;
    int measured; /* Boolean: truth is set; only for answered predictions */
    double answer, truth;
    double points, possible;
} RecordPrediction;

/* Wall-clock seconds of the phases of a grade.  Shown, not stored.  Work done in parallel, for
 * example precomputed inputs and expected outputs, counts only as the wait for it. */
typedef enum SpentOn {
    SPENT_BUILD,
    SPENT_START,    /* start of processes, and allocation of the problems' device memory */
    SPENT_INPUTS,   /* drawing the inputs */
    SPENT_CROSSING, /* copies between grade and its device process */
    SPENT_UPLOAD,
    SPENT_CALLS,
    SPENT_REPLAYS,
    SPENT_DOWNLOAD,
    SPENT_JUDGING,    /* judging whole outputs, and diagnosis */
    SPENT_SAMPLES,    /* judging samples of outputs */
    SPENT_SIMULATING, /* for predictions, on a GPU */
    SPENT_KINDS
} SpentOn;

enum { RECORD_CASES = LAB_CASES + LAB_HIDDEN };

typedef struct Record {
    char lab[64], title[120];
    RecordStatus status;
    char message[1024]; /* one line, when not graded */
    char *compiler;     /* the compiler's output, or NULL; owned */
    char *printed;      /* the start of the text that the submission's kernels printed, or NULL;
                         * owned */
    RecordStage stage[LAB_STAGES];
    int stages;
    char todo[600];     /* the first task, "labs/04-tiled/conv.cu:31: ..." or "" */
    char graded_at[32]; /* UTC, 2026-01-31T12:00:00Z */
    char engine[16], machine[64], device[128], sandbox[96];
    char unit[16]; /* "cycles" or "seconds" */
    uint64_t seed;
    char toolkit[256], source[512], submission_digest[65], baseline_digest[65],
        reference_digest[65];
    char grader_digest[65];
    double seconds; /* duration of the grading */
    double spent[SPENT_KINDS];
    RecordCase item[RECORD_CASES];
    int cases;
    RecordPrediction prediction[LAB_PREDICTIONS];
    int predictions;
    double deferred_points; /* left out of N, with the reason in `deferred` */
    char deferred[1024];
    double points, possible; /* the mark: E/N */
} Record;

const char *case_verdict_name(CaseVerdict verdict); /* "correct" */
const char *speed_verdict_name(SpeedVerdict verdict);
const char *record_status_name(RecordStatus status);

/* Adds up points, possible and deferred_points from cases and predictions. */
void record_total(Record *record);
int record_all_correct(const Record *record);
/* Whether a case with this verdict is left out of N because it is no evidence about the
 * submission. */
int case_is_left_out(CaseVerdict verdict);
/* Whether a speed with this verdict is part of N. */
int speed_counts(SpeedVerdict verdict);

/* To JSON text (malloc'd) and back; -1 with error if the text is not a record. */
char *record_print(const Record *record);
int record_parse(const char *text, Record *record, Error *error);

/* Writes <results>/<lab>.json atomically: to another file, then renamed. */
int record_write(const char *results, const Record *record, Error *error);
/* -1 with error: it does not exist or is unreadable. */
int record_read(const char *results, const char *lab, Record *record, Error *error);
void record_clear(Record *record);

#endif
