/* recordings.h - synthetic recordings of a nerve cuff, for lab 19: spikes that travel along the
 * nerve, drift and noise.
 *
 * The cuff has 8 rows of 7 contacts along the nerve; electrode 7*row + i is contact i of a row.  A
 * spike passes the contacts one after the other; its class is its velocity: towards the brain
 * slowly, towards it fast, or away from it.  Time, amplitude, side of the nerve and number of
 * spikes are random, and so are each electrode's drift and the noise.  A linear classifier is not
 * accurate, because no single sample or electrode determines the class (datasets/README.md has the
 * numbers). Only + - * / are used: the same recordings from the same seed on every machine. */
#ifndef CONVLAB_DATASETS_RECORDINGS_H
#define CONVLAB_DATASETS_RECORDINGS_H

#include <stdint.h>

#include "common/operations/operation/random.h"

enum {
    RECORDING_ROWS = 8,
    RECORDING_CONTACTS = 7,
    RECORDING_ELECTRODES = RECORDING_ROWS * RECORDING_CONTACTS,
    RECORDING_SAMPLES = 100,
    RECORDING_VALUES = RECORDING_ELECTRODES * RECORDING_SAMPLES,
    RECORDING_CLASSES = 3
};

/* Samples between a spike's arrivals at successive contacts, by class. */
extern const double RECORDING_DELAY[RECORDING_CLASSES];

/* Value of a spike `at` samples after its middle: -1 down, then up; 0 outside. */
double recording_spike(double at);

/* One recording: value[electrode * RECORDING_SAMPLES + sample]. */
void recording_draw(int kind, Random *random, float value[RECORDING_VALUES]);

/* Draws `count` recordings, each class equally likely. */
void recordings_generate(int count, Random *random, float *value, uint8_t *label);

#endif
