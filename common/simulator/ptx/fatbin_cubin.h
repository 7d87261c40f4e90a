/* fatbin_cubin.h - what a cubin's headers say about its kernels; for fatbin.c alone. */
#ifndef CONVLAB_PTX_FATBIN_CUBIN_H
#define CONVLAB_PTX_FATBIN_CUBIN_H

#include "common/simulator/ptx/fatbin.h"

enum { FATBIN_MAX_KERNELS = 1 << 16 };

/* Remaining work allowed for all cubins of a fat binary. If the bytes of names and sections are
 * used up, the file is rejected; if the steps through SASS are used up, no more SASS is read. */
typedef struct CubinWork {
    size_t bytes, steps;
} CubinWork;

/* Appends the kernels of an untrusted ELF image to fatbin->kernel; the PTX has been read before. */
int cubin_read(const unsigned char *image, size_t bytes, uint32_t sm, CubinWork *work,
               Fatbin *fatbin, Error *error);

#endif
