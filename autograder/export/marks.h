/* marks.h - table of the mark of every student in every lab, from a gradebook.  A lab with open
 * questions has a second column after its own: "04-tiled questions". */
#ifndef CONVLAB_AUTOGRADER_EXPORT_MARKS_H
#define CONVLAB_AUTOGRADER_EXPORT_MARKS_H

#include "autograder/class/gradebook.h"

enum { MARKS_LABS = 64 };

/* The result that counts, of one student in one lab. */
typedef struct MarksResult {
    double earned;    /* before the penalty for lateness, on the scale of `mark`; NaN: none */
    int64_t late;     /* seconds after the deadline */
    int attempts;     /* number of submissions that have this lab */
    char status[16];  /* "graded", "missing"; "": no submission */
    char *submission; /* NULL: none */
    char submitted_at[24];
} MarksResult;

/* A marked answer to an open question. */
typedef struct MarksAnswer {
    char *question, *text, *comment; /* "04 halo"; the question; "" or the marker's comment */
    char lab[64];                    /* "04-tiled" */
    double points, possible;
} MarksAnswer;

typedef struct MarksStudent {
    char *name;                 /* the holder in the gradebook: untrusted */
    char *field[PERSON_FIELDS]; /* from the roster, else from an LMS's names; "" if unknown */
    int is_on_roster;
    double mark[MARKS_LABS]; /* the counted mark; NaN: no result, not graded yet, or N is 0 */
    MarksResult result[MARKS_LABS];
    MarksAnswer *answer; /* sorted by lab and question */
    int answers;
} MarksStudent;

typedef struct Marks {
    char lab[MARKS_LABS][64];
    double full[MARKS_LABS]; /* the highest number of possible points of any student in this lab */
    int labs;
    MarksStudent *student; /* sorted by name; also those without results */
    int students;
    int has_roster;
} Marks;

/* A mark with points left out of N is scaled to the lab's full points, because platforms have one
 * number of points for all students.  -1 with error; either way marks_clear frees it. */
int marks_read(Gradebook *book, Marks *marks, Error *error);
void marks_clear(Marks *marks);
/* The mark of one student in one lab; NaN: none. */
double marks_find(const Marks *marks, const char *student, const char *lab);
/* The student of that name, or NULL. */
const MarksStudent *marks_student(const Marks *marks, const char *student);
/* The name of the column of a lab's open questions: "04-tiled questions". */
void marks_questions_column(const char *lab, char column[80]);
/* Characters of a column's name that name its lab. */
size_t marks_lab_length(const char *column);
/* Boolean: the column has the marks of a lab's open questions, not of its grades. */
int marks_is_questions(const Marks *marks, int lab);
/* The lab's number; marks->labs: it has no results. */
int marks_lab(const Marks *marks, const char *lab);
/* The lab's full points, 0 for a lab without submissions. */
double marks_full(const Marks *marks, const char *lab);
/* Moodle's participant number of the student in a lab's assignment, or "".  The submission's name
 * has it, and every assignment has its own numbers.  A member of a group who did not upload has the
 * roster's number. */
void marks_participant(const MarksStudent *student, int lab, char number[32]);
/* The name to show: the person's full name, else `name`. */
const char *marks_name(const MarksStudent *student);

#endif
