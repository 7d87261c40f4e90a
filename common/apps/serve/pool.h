/* pool.h - device memory that an entry point allocates and frees in every call, kept from call to
 * call: on a card the two take longer than many a kernel.
 *
 * serve.sh links the program so that every cudaMalloc and cudaFree comes here (ld's --wrap).  What
 * is freed is given out again after pool_settle, when nothing on the device can use it any more. */
#ifndef CONVLAB_SERVE_POOL_H
#define CONVLAB_SERVE_POOL_H

/* The device is idle. */
void pool_settle(void);

#endif
