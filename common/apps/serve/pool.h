/* pool.h - cache of the device memory that an entry point allocates and frees in every call: on a
 * GPU these take longer than many kernels.
 *
 * serve.sh links the program so that every cudaMalloc and cudaFree calls this cache (ld's --wrap).
 * Freed memory is reused after pool_settle, when no work on the device can use it any more. */
#ifndef CONVLAB_SERVE_POOL_H
#define CONVLAB_SERVE_POOL_H

/* Called when the device is idle. */
void pool_settle(void);

#endif
