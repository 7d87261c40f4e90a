/* course.h - progress of training: contents of a checkpoint, and data for plots. */
#ifndef CONVLAB_TRAIN_COURSE_H
#define CONVLAB_TRAIN_COURSE_H

#include "common/apps/train/plan.h"

typedef struct CourseEpoch {
    double loss;           /* mean over the epoch's steps */
    double right, seconds; /* test accuracy, 0 to 1; seconds since training started */
} CourseEpoch;

typedef struct Course {
    const Plan *plan;
    int done;           /* number of finished epochs */
    CourseEpoch *epoch; /* plan->epochs of them */
    float *state;       /* parameters, velocities */
    uint8_t *read;      /* latest predicted class of each test image */
} Course;

int course_open(Course *course, const Plan *plan, Error *error);
void course_close(Course *course);

/* A checkpoint is one file, written atomically.  It belongs to one plan: set, network, epochs, seed
 * and settings; that of another plan is rejected.  Continued training gives the same bits. */
int course_save(const Course *course, const char *path, Error *error);
int course_load(Course *course, const char *path, Error *error);

/* Writes curves.tsv, confusion.tsv, misread.tsv and misread.idx (the first MISREAD misclassified
 * images) and weights.npy to `folder`. */
enum { MISREAD = 60 };
int course_write(const Course *course, const char *folder, Error *error);

double course_right(const Course *course); /* accuracy from `read` */

#endif
