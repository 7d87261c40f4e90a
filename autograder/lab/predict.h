/* predict.h - what students said before measuring, and what their answers earn. */
#ifndef CONVLAB_AUTOGRADER_LAB_PREDICT_H
#define CONVLAB_AUTOGRADER_LAB_PREDICT_H

#include "common/base/error.h"

/* The part of a prediction's points that `answer` earns, 0..1: all within `tolerance` (relative),
 * none from ten times that on, a straight line between; tolerance 0 asks for the exact number. */
double predict_part(double answer, double truth, double tolerance);

enum { PREDICT_ANSWERS = 32 };

typedef struct PredictAnswer {
    char name[48];
    double value;
} PredictAnswer;

/* A line that was not understood: the prediction that it is about, "" for none, and
 * "04-tiled/predict.ini:3: ..." */
typedef struct PredictTrouble {
    char name[48], text[190];
} PredictTrouble;

enum { PREDICT_TROUBLES = 16 };

typedef struct PredictFile {
    PredictAnswer answer[PREDICT_ANSWERS];
    int answers;
    PredictTrouble trouble[PREDICT_TROUBLES]; /* the first of them */
    int troubles;
} PredictFile;

/* Reads folder/path, a predict.ini (common/base/intake.h says what is taken); a file that is not
 * there has no answers.  `name` lists the lab's predictions (NULL-terminated).  A line that is no
 * answer to one of them is a trouble, and the others count.  -1: the file cannot be read. */
int predict_read(const char *folder, const char *path, const char *shown, const char *const *name,
                 PredictFile *file, Error *error);
/* NULL: not answered. */
const double *predict_find(const PredictFile *file, const char *name);
/* What keeps `name` from being answered, or any answer; NULL: nothing. */
const char *predict_trouble(const PredictFile *file, const char *name);

#endif
