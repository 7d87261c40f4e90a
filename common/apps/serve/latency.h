/* latency.h - times and their quantiles, in bounded memory: GSL's histogram, a hundredth a bin. */
#ifndef CONVLAB_SERVE_LATENCY_H
#define CONVLAB_SERVE_LATENCY_H

#include <gsl/gsl_histogram.h>
#include <stdint.h>

#include "common/base/error.h"

typedef struct Latency {
    gsl_histogram *bins;     /* a microsecond to a hundred seconds, each bin 1 % wider */
    uint64_t count, longest; /* nanoseconds */
} Latency;

int latency_open(Latency *latency, Error *error);
void latency_close(Latency *latency);
void latency_note(Latency *latency, uint64_t nanoseconds);
void latency_add(Latency *to, const Latency *from);

/* The time, in milliseconds, that the share `quantile`, below 1, of all stayed within: right to
 * 1 %.  0 of none. */
double latency_quantile(const Latency *latency, double quantile);

#endif
