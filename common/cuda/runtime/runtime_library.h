/* runtime_library.h - device memory for CUDA's libraries, which compute on the host here.
 *
 * A library call reads its operands from device memory, computes, and writes its results.  These
 * accesses are ordered by the call's stream and checked like a kernel's: bounds, unwritten memory,
 * races between streams.  They take no predicted time.  The program's report lists the calls.
 *
 * All functions return a cudaError_t and have reported the error. */
#ifndef CONVLAB_CUDA_RUNTIME_LIBRARY_H
#define CONVLAB_CUDA_RUNTIME_LIBRARY_H

#include <cuda_runtime_api.h>
#include <stddef.h>

/* Rows of `width` bytes, `pitch` bytes apart in device memory; they are contiguous on the host. */
typedef struct LibraryRows {
    const void *device;
    size_t width, pitch, rows;
} LibraryRows;

/* Counts a call of the library function `api`, a string constant.  A stream that is captured is
 * rejected: a library call does not become a node of a graph. */
cudaError_t runtime_library_begin(const char *api, cudaStream_t stream);
cudaError_t runtime_library_read(const char *api, cudaStream_t stream, LibraryRows rows,
                                 void *host);
cudaError_t runtime_library_write(const char *api, cudaStream_t stream, LibraryRows rows,
                                  const void *host);

/* Reports an error of the library itself, with its cause. */
void runtime_library_fail(const char *api, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
