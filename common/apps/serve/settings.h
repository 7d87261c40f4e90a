/* settings.h - the words of the two programs' command lines, as make has them: WINDOW=0.2. */
#ifndef CONVLAB_SERVE_SETTINGS_H
#define CONVLAB_SERVE_SETTINGS_H

#include <stdint.h>

#include "common/base/error.h"

typedef struct Setting {
    const char *name;  /* NULL ends the table */
    const char **text; /* what it is set to, or NULL: a number */
    double *number;    /* an empty word leaves what is there */
    double low, high;  /* that it may be, */
    const char *unit;  /* and what that is: "milliseconds" */
    int whole;         /* no fractions */
} Setting;

/* -1 with error: a word is no setting, or its value no such number. */
int settings_read(int argc, char **argv, const Setting *setting, Error *error);

/* CLOCK_MONOTONIC in nanoseconds; milliseconds in those. */
uint64_t clock_now(void);
uint64_t from_milliseconds(double milliseconds);

#endif
