/* form.h - instruction forms as data: what to execute, on which operand values, and how near the
 * result has to be.
 *
 * Module: forms, their results on a GPU (vectors), the recorder and the checker.
 * Callers: its own test and tool.
 * May use: cuda and both engines.
 *
 * A table (forms/<group>.forms) has one line per form:
 *
 *   RESULTS <- OPERANDS [, TOLERANCE] : PTX
 *   f32 <- f32 f32                 : add.rn.f32 %d, %a, %b
 *   $2  <- $2 $2                   : {min,max}.{u32,s64} %d, %a, %b
 *   f32 <- wide, rel -22.9         : rsqrt.approx.f32 %d, %a
 *
 * Braces in the PTX are expanded as a shell does, one form for each choice; $n, on either side of
 * the colon, stands for what was chosen in the n-th pair of braces.  RESULTS are types, OPERANDS
 * names of value lists (values.txt), which say the type too.  A tolerance is `ulp N`, `rel E` or
 * `abs E` (2^E, relative or absolute) from the exact result; without one every bit must agree.
 *
 * The PTX names its operands %a %b %c %e %f %g %h %i %j %k %l %m, its results %d %d1 ... %d7, and
 * may use the scratch registers %p %q (predicates), %v %w (16 bits), %s %t %u (32), %x %y %z (64).
 * `shared`, `local` and %global are 64 bytes of a lane's own in each space: %shared is the lane's
 * 32-bit shared address, %local its 64-bit local one.  All of it starts as zero.  `table`,
 * constant, and `block`, a parameter, are 16 bytes of known contents. */
#ifndef CONVLAB_CONFORMANCE_FORM_H
#define CONVLAB_CONFORMANCE_FORM_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"

enum { FORM_RESULTS = 8, FORM_OPERANDS = 12, FORM_TEXT = 1600, LIST_VALUES = 128 };

typedef enum ValueType {
    VALUE_PRED,
    VALUE_16,
    VALUE_32,
    VALUE_64,
    VALUE_F16,
    VALUE_BF16,
    VALUE_F16X2,
    VALUE_BF16X2,
    VALUE_F32,
    VALUE_F64
} ValueType;

int value_type_bits(ValueType type); /* 1, 16, 32 or 64 */

/* A named list of operand values, and how values beyond it are drawn. */
typedef struct ValueList {
    char name[24];
    ValueType type;
    int random; /* RANDOM_* of values.c */
    double low, high;
    uint32_t count;
    uint64_t value[LIST_VALUES];
} ValueList;

typedef struct ValueTable {
    ValueList *list;
    uint32_t count;
} ValueTable;

typedef enum ToleranceKind {
    TOLERANCE_EXACT,
    TOLERANCE_ULP,
    TOLERANCE_REL,
    TOLERANCE_ABS
} ToleranceKind;

typedef struct Form {
    const char *group;                 /* "float": the table's name */
    char *text;                        /* the PTX, braces expanded: also the form's name */
    uint32_t line;                     /* line in the table */
    uint32_t results, operands, lanes; /* lanes: a multiple of 32 */
    ValueType result[FORM_RESULTS];
    const ValueList *operand[FORM_OPERANDS];
    ToleranceKind tolerance;
    double bound; /* ulp, or the power of two */
} Form;

typedef struct FormTable {
    ValueTable values;
    Form *form;
    uint32_t count, room;
    char **group;
    uint32_t groups;
} FormTable;

/* Reads values.txt and every *.forms under `directory` (".../common/simulator/conformance/forms"),
 * in alphabetical order. Two forms with the same text, operands and results are an error. -1 with
 * "integer.forms line 12: ...". Release with forms_free, whatever the result. */
int forms_read(const char *directory, FormTable *table, Error *error);
void forms_free(FormTable *table);
/* Adds the lines of `text` (NUL-terminated) as those of a table called `group`. */
int forms_parse(FormTable *table, const char *group, const char *text, Error *error);

/* values.c */
int values_parse(ValueTable *table, const char *text, Error *error);
const ValueList *values_find(const ValueTable *table, const char *name);
/* Lanes that a form with these operands runs on. */
uint32_t form_lanes(const Form *form);
/* value[k * lanes + i]: operand k of lane i.  The same for every form with the same operand
 * lists. */
void form_operands(const Form *form, uint64_t *value);
uint32_t operands_digest(const uint64_t *value, size_t count);

/* form_ptx.c: the text of a module with the kernels f<first> ... f<first + count - 1>, each with
 * parameters (in, out, global, block).  malloc'd; NULL when out of memory. */
char *forms_ptx(const FormTable *table, uint32_t first, uint32_t count);

#endif
