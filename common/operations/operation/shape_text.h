/* shape_text.h - problems as text, for operations whose problem is a struct of ints: a table of its
 * keys reads "N=2 C=3 pad=same kind=max" and writes it back. */
#ifndef CONVLAB_OPERATION_SHAPE_TEXT_H
#define CONVLAB_OPERATION_SHAPE_TEXT_H

#include "common/operations/operation/operation.h"

typedef enum ShapeKeyType {
    SHAPE_NUMBER, /* one int */
    SHAPE_PAIR,   /* two ints, down and across; one number stands for both */
    SHAPE_PAD,    /* four ints: top, left, bottom, right; see shape_text_parse */
    SHAPE_WORD    /* one int: the place of the word in `words` */
} ShapeKeyType;

typedef struct ShapeKey {
    const char *name; /* NULL ends the table */
    ShapeKeyType type;
    size_t offset;     /* of the first int in the struct */
    int low, high;     /* of its numbers */
    const char *words; /* "max average": SHAPE_WORD's */
    int optional;      /* may be left out, and is 0 then; printed where it is not 0 */
} ShapeKey;

/* pad=same leaves four times this; the operation works the numbers out (shape_pad_same). */
enum { SHAPE_PAD_SAME = -1 };

/* Fills the ints that `keys` name, in any order; what is left out is 0.  pad is valid, same, one
 * number, or top,left,bottom,right.  -1 with error: a key is unknown, missing or doubled, or a
 * value is none. */
int shape_text_parse(const char *text, const ShapeKey *keys, void *object, Error *error);

/* Writes them back, in the table's order. */
void shape_text_print(const ShapeKey *keys, const void *object, char *text, size_t bytes);

/* One axis of padding such that there are ceil(size / stride) windows; an odd total puts the
 * smaller half first. */
void shape_pad_same(int size, int window, int stride, int *before, int *after);

/* How many windows an axis has; -1 with error where it has none, or its padding passes an int. */
int shape_windows(const char *axis, int size, int window, int before, int after, int stride,
                  int *windows, Error *error);

/* Refuses a tensor of more than 2^31-1 elements. */
int shape_check_count(const char *tensor, double count, Error *error);

/* A struct of ints into a Problem, and out of it. */
void problem_pack(const void *object, size_t bytes, Problem *problem);
void problem_unpack(const Problem *problem, void *object, size_t bytes);

#endif
