/* shape_text.h - text form of problems whose struct consists of ints: a table of keys parses "N=2
 * C=3 pad=same kind=max" and prints it. */
#ifndef CONVLAB_OPERATION_SHAPE_TEXT_H
#define CONVLAB_OPERATION_SHAPE_TEXT_H

#include "common/operations/operation/operation.h"

typedef enum ShapeKeyType {
    SHAPE_NUMBER, /* one int */
    SHAPE_PAIR,   /* two ints, vertical and horizontal; one number sets both */
    SHAPE_PAD,    /* four ints: top, left, bottom, right; see shape_text_parse */
    SHAPE_WORD    /* one int: the index of the word in `words` */
} ShapeKeyType;

typedef struct ShapeKey {
    const char *name; /* NULL ends the table */
    ShapeKeyType type;
    size_t offset;     /* offset of the first int in the struct */
    int low, high;     /* range of the numbers */
    const char *words; /* SHAPE_WORD: the words, "max average" */
    int optional;      /* Boolean: may be omitted, then 0; printed if it is not 0 */
} ShapeKey;

/* Stored four times for pad=same; the operation computes the numbers (shape_pad_same). */
enum { SHAPE_PAD_SAME = -1 };

/* Fills the ints that `keys` name, in any order; omitted ones are 0.  pad is valid, same, one
 * number, or top,left,bottom,right.  -1 with error: a key is unknown, missing or duplicate, or a
 * value is invalid. */
int shape_text_parse(const char *text, const ShapeKey *keys, void *object, Error *error);

/* Prints them in the table's order. */
void shape_text_print(const ShapeKey *keys, const void *object, char *text, size_t bytes);

/* Padding of one axis for ceil(size / stride) windows; an odd total puts the smaller half first. */
void shape_pad_same(int size, int window, int stride, int *before, int *after);

/* Number of windows on an axis; -1 with error if there is none, or its padding overflows an int. */
int shape_windows(const char *axis, int size, int window, int before, int after, int stride,
                  int *windows, Error *error);

/* Rejects a tensor of more than 2^31-1 elements. */
int shape_check_count(const char *tensor, double count, Error *error);

/* Copies a struct of ints into a Problem, and out of it. */
void problem_pack(const void *object, size_t bytes, Problem *problem);
void problem_unpack(const Problem *problem, void *object, size_t bytes);

#endif
