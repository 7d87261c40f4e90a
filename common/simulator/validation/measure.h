/* measure.h - what a program of kernels needs to be measured, whatever measures it.
 *
 * Module: kernels that were measured on a card, and how the simulator compares.
 * Callers: its own programs and test.
 * May use: cuda/runtime, cuda/sim.
 *
 * micro.cu and layers.cu describe launches; measure_gpu.cu times them on a card, or launches each
 * once for a profiler; measure_sim.c prices and counts them on the simulated GPU.  All print one
 * line for each entry, tab-separated, with the same names in the same order. */
#ifndef CONVLAB_VALIDATE_MEASURE_H
#define CONVLAB_VALIDATE_MEASURE_H

#ifdef __cplusplus
extern "C" {
#endif

/* FIT entries may be looked at when the cycle model's constants are chosen; HELD_OUT ones never.
 * Of COUNTED ones nothing but counts is compared, of RACED ones, which race with themselves, not
 * even these. */
typedef enum MeasureSet { FIT, HELD_OUT, LAYER, COUNTED, RACED } MeasureSet;

/* Reads the program's arguments and prints the header line.  Exits with a message on bad ones. */
void measure_open(int argc, char **argv);

/* One entry: `launch(argument)` enqueues the work on the default stream. */
void measure_entry(MeasureSet set, const char *family, const char *name, void (*launch)(void *),
                   void *argument);

/* Flushes what was printed; returns the exit status: 1 after any CUDA error. */
int measure_close(void);

#ifdef __cplusplus
}
#endif
#endif
