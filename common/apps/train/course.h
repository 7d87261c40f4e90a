/* course.h - how far training has come: what a checkpoint holds, and what is drawn of it. */
#ifndef CONVLAB_TRAIN_COURSE_H
#define CONVLAB_TRAIN_COURSE_H

#include "common/apps/train/plan.h"

typedef struct CourseEpoch {
    double loss;           /* mean over its steps */
    double right, seconds; /* of the test images, 0 to 1; since the training began */
} CourseEpoch;

typedef struct Course {
    const Plan *plan;
    int done;           /* epochs */
    CourseEpoch *epoch; /* plan->epochs of them */
    float *state;       /* parameters, velocities */
    uint8_t *read;      /* each test image's digit, as it was read last */
} Course;

int course_open(Course *course, const Plan *plan, Error *error);
void course_close(Course *course);

/* A checkpoint is one file, whole or not there.  It goes with one plan: set, network, epochs, seed
 * and settings; of another it is refused.  Continued training makes the same bits. */
int course_save(const Course *course, const char *path, Error *error);
int course_load(Course *course, const char *path, Error *error);

/* curves.tsv, confusion.tsv, misread.tsv and misread.idx (the first MISREAD misread images) and
 * weights.npy into `folder`. */
enum { MISREAD = 60 };
int course_write(const Course *course, const char *folder, Error *error);

double course_right(const Course *course); /* of `read` */

#endif
