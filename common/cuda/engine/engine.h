/* engine.h - the GPU of a program that includes a lab's source; two files define the same
 * functions.
 *
 * Module: engine_gpu.c is linked with NVIDIA's runtime, engine_sim.c with the drop-in runtime.
 * Callers: make train, make serve.
 * May use: cuda/runtime, cuda/sim. */
#ifndef CONVLAB_ENGINE_ENGINE_H
#define CONVLAB_ENGINE_ENGINE_H

/* Name of the engine, for example "the simulated h200". */
const char *engine_words(void);
/* Called when the first calls have shown that the kernels are correct: the simulator then only
 * executes them.  No effect on a GPU. */
void engine_trust(void);
/* The engine's message about a failed call, in addition to CUDA's status; "" if none. */
const char *engine_complaint(void);

#endif
