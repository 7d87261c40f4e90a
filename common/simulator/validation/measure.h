/* measure.h - the interface of a program of kernels to its measurement, on a GPU or the simulator.
 *
 * Module: kernels that were measured on a GPU, and the comparison with the simulator.
 * Callers: its own programs and test.
 * May use: cuda/runtime, cuda/sim.
 *
 * micro.cu and layers.cu describe launches; measure_gpu.cu times them on a GPU, or launches each
 * once for a profiler; measure_sim.c prices and counts them on the simulated GPU.  All print one
 * line per entry, tab-separated, with the same names in the same order. */
#ifndef CONVLAB_VALIDATE_MEASURE_H
#define CONVLAB_VALIDATE_MEASURE_H

#ifdef __cplusplus
extern "C" {
#endif

/* FIT entries may be used to choose the constants of the time model, HELD_OUT entries never.  Only
 * the counts of COUNTED entries are compared.  RACED entries race with themselves: nothing of them
 * is compared. */
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
