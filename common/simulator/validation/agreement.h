/* agreement.h - how well one list of numbers follows another. */
#ifndef CONVLAB_VALIDATE_AGREEMENT_H
#define CONVLAB_VALIDATE_AGREEMENT_H

#include <stddef.h>

/* Spearman's rank correlation, equal values sharing their mean rank; 0 for fewer than two, or where
 * one list is all the same.  Both lists are left as they are.  NaN when out of memory. */
double rank_correlation(const double *a, const double *b, size_t count);

/* Mean of |simulated / measured - 1|; 0 for none. */
double mean_absolute_error(const double *measured, const double *simulated, size_t count);

#endif
