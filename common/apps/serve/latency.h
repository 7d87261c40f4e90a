/* latency.h - times and their quantiles, in bounded memory: GSL's histogram with bins of 1 %. */
#ifndef CONVLAB_SERVE_LATENCY_H
#define CONVLAB_SERVE_LATENCY_H

#include <gsl/gsl_histogram.h>
#include <stdint.h>

#include "common/base/error.h"

typedef struct Latency {
    gsl_histogram *bins;     /* from a microsecond to a hundred seconds, each bin 1 % wider than the
                              * previous one */
    uint64_t count, longest; /* nanoseconds */
} Latency;

int latency_open(Latency *latency, Error *error);
void latency_close(Latency *latency);
void latency_note(Latency *latency, uint64_t nanoseconds);
void latency_add(Latency *to, const Latency *from);

/* The time in milliseconds within which the share `quantile`, below 1, of all values is; accurate
 * to 1 %. 0 without values. */
double latency_quantile(const Latency *latency, double quantile);

#endif
