/* measure.h - the interface of a program of kernels to its measurement, on a GPU or the simulator.
 *
 * Module: kernels that were measured on a GPU, and the comparison with the simulator.
 * Callers: its own programs and test.
 * May use: cuda/runtime, cuda/sim.
 *
 * The files of sets/ and lab_launches.cu describe launches.  measure_gpu.cu times them on a GPU, or
 * launches each once for a profiler; measure_sim.c predicts and counts them on the simulated GPU.
 * All print one line per entry, tab-separated, with the same names in the same order. */
#ifndef CONVLAB_VALIDATE_MEASURE_H
#define CONVLAB_VALIDATE_MEASURE_H

#ifdef __cplusplus
extern "C" {
#endif

/* Kinds of launches.  FIT: constants of the time model may be chosen from them.  REGRESSION: no
 * constant was chosen from them.  LAB: a solution on a case of its lab.  COUNTERS_ONLY: only counts
 * are compared.  RACING: blocks race with each other, so nothing is compared. */
typedef enum MeasureKind { FIT, REGRESSION, LAB, COUNTERS_ONLY, RACING } MeasureKind;

/* Reads the program's arguments and prints the header line.  Exits with a message on bad ones. */
void measure_open(int argc, char **argv);

/* One entry: `launch(argument)` enqueues the work on the default stream. */
void measure_entry(MeasureKind kind, const char *family, const char *name, void (*launch)(void *),
                   void *argument);

/* Flushes what was printed; returns the exit status: 1 after any CUDA error. */
int measure_close(void);

#ifdef __cplusplus
}
#endif
#endif
