/* lab_ini.h - metadata of a lab; docs/instructor/lab-ini.md describes the format.
 *
 * Module: a lab's metadata (lab.ini), its predictions, its handout, and the checks of all these.
 * Callers: record, judging, the programs.
 * May use: text, conv, cuda, simt/machine.
 *
 * Parsing is strict: every unknown, missing, duplicate or inconsistent entry is reported in one
 * line with file and line number. */
#ifndef CONVLAB_AUTOGRADER_LAB_LAB_INI_H
#define CONVLAB_AUTOGRADER_LAB_LAB_INI_H

#include "autograder/lab/formula.h"
#include "common/cuda/device.h"
#include "common/operations/operation/operation.h"
#include "common/operations/operation/verdict.h"

enum {
    LAB_CASES = 40,
    LAB_PREDICTIONS = 16,
    LAB_HINTS = 48,
    LAB_NEEDS = 4,
    LAB_TODOS = 32,
    LAB_HIDDEN = 64,
    LAB_STAGES = 6,
    LAB_OPERATIONS = 8
};

typedef struct LabNeed {
    char text[40];       /* "cc >= 9.0" */
    DeviceEngine engine; /* ENGINE_AUTO: any engine; the requirement is a compute capability */
    uint32_t cc_major, cc_minor;
    int exact; /* Boolean, "cc = 9.0": needs units that no later GPU has */
} LabNeed;

/* A part of the lab: some of its TODO regions, and the cases that name it. */
typedef struct LabStage {
    char name[48], title[120];
    char todos[16];  /* as written, "1-7" or "8" */
    int first, last; /* TODO(first) to TODO(last) */
} LabStage;

typedef struct LabCase {
    char name[48], shape[200], shape_gpu[200], about[200];
    char stage_name[48];     /* as written; "": none */
    int stage;               /* number of its stage in LabIni.stage, from 1; 0 without one */
    char operation_name[64]; /* as written, for example "pool_forward"; "": the lab's */
    const Operation *operation;
    Problem problem, problem_gpu; /* problem_gpu equals problem if the file has no shape_gpu */
    int timed;
    double none_below; /* this case's; the lab's if the file gives none */
} LabCase;

typedef struct LabPrediction {
    char name[48], question[400];
    int case_index;
    char formula[300]; /* expression of the true value; a metric's name is the simplest one */
    int needs_launch;  /* Boolean: uses a metric of the student's launch */
    double tolerance, points;
} LabPrediction;

typedef struct LabHint {
    int stage;          /* 1, 2, ...; 0 for a hint that a fault unlocks */
    char fault[48];     /* fault_name() */
    char speed[96];     /* slow_name()s that unlock it, where that is too slow; "" none */
    char question[700]; /* the first level, which a failing grade shows; "": text is shown */
    char text[1500];
} LabHint;

/* The three hints of a TODO region, each more precise than the one before. */
enum { LAB_LEVELS = 3 };
extern const char *const LAB_LEVEL_NAMES[LAB_LEVELS]; /* "question", "idea", "code" */

typedef struct LabTodoHint {
    int number; /* n of TODO(n) */
    char question[700], idea[900], code[1200];
} LabTodoHint;

typedef struct LabIni {
    char title[120], part[120], papers[200];
    int order;
    char takes[40], after[60]; /* "about four hours"; the prerequisite labs, "02 04 05"; "" none */
    char source[64];
    char operation_name[64]; /* as written, for example "conv_forward_host" */
    /* The lab's own operation first, then the others that its cases name, in their order. */
    const Operation *operation[LAB_OPERATIONS];
    int operations;
    char entries[64 * LAB_OPERATIONS]; /* their entry points, separated by blanks */
    int host;                          /* Boolean: runs on the CPU */
    Precision precision;
    Algorithm algorithm;
    int warp_sync; /* Boolean, rules = warp-sync: a missing __syncwarp() is a finding */
    char baseline[64];
    char gpu[64]; /* default machine of the simulator */
    LabNeed need[LAB_NEEDS];
    int needs;
    double points_correct, points_speed, points_predict;
    double slack;
    double
        none_below; /* share of the solution's speed below which a case earns none; 0: no floor */
    LabCase item[LAB_CASES];
    int cases, timed_cases;
    int hidden_count;
    double hidden_max_macs;
    char hidden_with[200]; /* keys of every hidden problem; see hidden.h */
    LabPrediction prediction[LAB_PREDICTIONS];
    int predictions;
    LabHint hint[LAB_HINTS];
    int hints;
    LabTodoHint todo[LAB_TODOS];
    int todos;
    LabStage stage[LAB_STAGES]; /* in order; no gap between their regions */
    int stages;
} LabIni;

/* `shown` is the path in messages.  In a student's copy (sealed.h) the sealed text is read. -1 with
 * error. */
int lab_ini_read(const char *path, const char *shown, LabIni *lab, Error *error);
int lab_ini_parse(const char *shown, const char *text, size_t bytes, LabIni *lab, Error *error);

/* The hint that `fault` unlocks, or NULL. */
const char *lab_fault_hint(const LabIni *lab, const char *fault);

/* The first level of that hint, which a failing grade shows: its question, else all of it. */
const char *lab_fault_question(const LabIni *lab, const char *fault);

/* The hint of TODO(number) at a level from 0 on, or NULL. */
const char *lab_todo_hint(const LabIni *lab, int number, int level);

/* The compute capability that the lab's PTX is compiled for, in tens: what it needs, or 75. */
int lab_ini_cc(const LabIni *lab);
/* Text of stage 1, 2, ...; NULL after the last. */
const char *lab_stage_hint(const LabIni *lab, int stage);
/* The case of that name, or -1. */
int lab_case_find(const LabIni *lab, const char *name);

#endif
