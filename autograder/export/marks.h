/* marks.h - table of the best mark of every student in every lab, from a gradebook. */
#ifndef CONVLAB_AUTOGRADER_EXPORT_MARKS_H
#define CONVLAB_AUTOGRADER_EXPORT_MARKS_H

#include "autograder/class/gradebook.h"

enum { MARKS_LABS = 64 };

typedef struct MarksStudent {
    char *name;              /* as in the submission: untrusted */
    double mark[MARKS_LABS]; /* NaN: no result, not graded yet, or no points in N */
} MarksStudent;

typedef struct Marks {
    char lab[MARKS_LABS][64];
    double full[MARKS_LABS]; /* the highest number of possible points of any student in this lab */
    int labs;
    MarksStudent *student; /* sorted by name */
    int students;
} Marks;

/* A mark with points left out of N is scaled to the lab's full points, because platforms have one
 * number of points for all students.  -1 with error; either way marks_clear frees it. */
int marks_read(Gradebook *book, Marks *marks, Error *error);
void marks_clear(Marks *marks);
/* The mark of one student in one lab; NaN: none. */
double marks_find(const Marks *marks, const char *student, const char *lab);
/* The lab's full points, 0 for a lab without submissions. */
double marks_full(const Marks *marks, const char *lab);

#endif
