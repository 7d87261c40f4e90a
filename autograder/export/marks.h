/* marks.h - the best mark of every student in every lab, from a gradebook, as a table. */
#ifndef CONVLAB_AUTOGRADER_EXPORT_MARKS_H
#define CONVLAB_AUTOGRADER_EXPORT_MARKS_H

#include "autograder/class/gradebook.h"

enum { MARKS_LABS = 64 };

typedef struct MarksStudent {
    char *name;              /* as the submission names it: hostile */
    double mark[MARKS_LABS]; /* NaN: none, not graded yet, or nothing that counts */
} MarksStudent;

typedef struct Marks {
    char lab[MARKS_LABS][64];
    double full[MARKS_LABS]; /* the most points that anybody could have in this lab */
    int labs;
    MarksStudent *student; /* by name */
    int students;
} Marks;

/* A mark of which points were left out of N is scaled to the lab's full points, as platforms know
 * one number of points for all.  -1 with error; either way marks_clear frees it. */
int marks_read(Gradebook *book, Marks *marks, Error *error);
void marks_clear(Marks *marks);
/* Of one student in one lab; NaN: none. */
double marks_find(const Marks *marks, const char *student, const char *lab);
/* The lab's full points, 0 for one that nobody handed in. */
double marks_full(const Marks *marks, const char *lab);

#endif
