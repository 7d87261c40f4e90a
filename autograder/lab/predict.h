/* predict.h - students' predictions and the points that they earn. */
#ifndef CONVLAB_AUTOGRADER_LAB_PREDICT_H
#define CONVLAB_AUTOGRADER_LAB_PREDICT_H

#include "common/base/error.h"

/* Share of a prediction's points that `answer` earns, 0..1: 1 within the relative `tolerance`, 0
 * from ten times the tolerance on, linear between.  Tolerance 0 requires the exact number. */
double predict_part(double answer, double truth, double tolerance);

enum { PREDICT_ANSWERS = 32 };

typedef struct PredictAnswer {
    char name[48];
    double value;
    int is_percent; /* the number ends with "%" */
} PredictAnswer;

/* A line that could not be parsed: its prediction ("" if unknown) and "04-tiled/predict.ini:3:
 * ..." */
typedef struct PredictTrouble {
    char name[48], text[190];
} PredictTrouble;

enum { PREDICT_TROUBLES = 16 };

typedef struct PredictFile {
    PredictAnswer answer[PREDICT_ANSWERS];
    int answers;
    PredictTrouble trouble[PREDICT_TROUBLES]; /* the first PREDICT_TROUBLES of them */
    int troubles;
} PredictFile;

/* Reads folder/path, a predict.ini (accepted text: common/base/intake.h); a missing file has no
 * answers.  `name` lists the lab's predictions (NULL-terminated).  A line that is not an answer to
 * one of them is reported as a trouble, and the others count.  -1: the file cannot be read. */
int predict_read(const char *folder, const char *path, const char *shown, const char *const *name,
                 PredictFile *file, Error *error);
/* NULL: not answered. */
const double *predict_find(const PredictFile *file, const char *name);
/* The number that the answer to `name` means, which must exist: "6 %" is 0.06 if the question does
 * not ask for percent. */
double predict_meant(const PredictFile *file, const char *name, const char *question);
/* The reason why `name`, or any prediction, has no answer; NULL: none. */
const char *predict_trouble(const PredictFile *file, const char *name);

#endif
