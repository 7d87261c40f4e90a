/* engine.h - which GPU a program with a lab's source in it runs on: two files define the same.
 *
 * Module: engine_gpu.c is linked with NVIDIA's runtime, engine_sim.c with the drop-in runtime.
 * Callers: make train, make serve.
 * May use: cuda/runtime, cuda/sim. */
#ifndef CONVLAB_ENGINE_ENGINE_H
#define CONVLAB_ENGINE_ENGINE_H

/* "the simulated h200". */
const char *engine_words(void);
/* The first calls have shown that the kernels are right: from now on the simulator only executes
 * them.  On a card nothing changes. */
void engine_trust(void);
/* What the engine said of a failed call beyond CUDA's status; "" if nothing. */
const char *engine_complaint(void);

#endif
