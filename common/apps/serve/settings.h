/* settings.h - command line settings of the two programs in make's syntax: WINDOW=0.2. */
#ifndef CONVLAB_SERVE_SETTINGS_H
#define CONVLAB_SERVE_SETTINGS_H

#include <stdint.h>

#include "common/base/error.h"

typedef struct Setting {
    const char *name;  /* NULL ends the table */
    const char **text; /* destination of a text, or NULL: a number */
    double *number;    /* destination of a number; an empty word keeps the present value */
    double low, high;  /* range of the number, */
    const char *unit;  /* and its unit: "milliseconds" */
    int whole;         /* Boolean: integers only */
} Setting;

/* -1 with error: unknown setting, or invalid value. */
int settings_read(int argc, char **argv, const Setting *setting, Error *error);

/* CLOCK_MONOTONIC in nanoseconds; conversion of milliseconds to nanoseconds. */
uint64_t clock_now(void);
uint64_t from_milliseconds(double milliseconds);

#endif
