#include "common/apps/serve/latency.h"

#include <math.h>

enum { BINS = 1852 };

#define WIDER    1.01
#define SHORTEST 1e-3 /* milliseconds */

int latency_open(Latency *latency, Error *error)
{
    double edge[BINS + 1];
    *latency = (Latency){.bins = gsl_histogram_alloc(BINS)};
    if (!latency->bins) return error_set(error, "out of memory");
    for (int i = 0; i <= BINS; i++)
        edge[i] = SHORTEST * pow(WIDER, i);
    gsl_histogram_set_ranges(latency->bins, edge, BINS + 1);
    return 0;
}

void latency_close(Latency *latency)
{
    if (latency->bins) gsl_histogram_free(latency->bins);
    latency->bins = NULL;
}

/* A value outside of the bins is counted in the first or the last one. */
void latency_note(Latency *latency, uint64_t nanoseconds)
{
    double value = (double)nanoseconds / 1e6, low = gsl_histogram_min(latency->bins),
           high = gsl_histogram_max(latency->bins);
    gsl_histogram_increment(latency->bins, value < low     ? low
                                           : value >= high ? nextafter(high, 0)
                                                           : value);
    if (nanoseconds > latency->longest) latency->longest = nanoseconds;
    latency->count++;
}

void latency_add(Latency *to, const Latency *from)
{
    gsl_histogram_add(to->bins, from->bins);
    to->count += from->count;
    if (from->longest > to->longest) to->longest = from->longest;
}

double latency_quantile(const Latency *latency, double quantile)
{
    double value, longest = (double)latency->longest / 1e6;
    if (!latency->count) return 0;
    gsl_histogram_pdf *pdf = gsl_histogram_pdf_alloc(BINS);
    if (!pdf) return NAN;
    gsl_histogram_pdf_init(pdf, latency->bins);
    value = gsl_histogram_pdf_sample(pdf, quantile);
    gsl_histogram_pdf_free(pdf);
    return value < longest ? value : longest;
}
