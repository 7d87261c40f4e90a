/* fatbin_cubin.h - what a cubin's headers say about its kernels; for fatbin.c alone. */
#ifndef CONVLAB_PTX_FATBIN_CUBIN_H
#define CONVLAB_PTX_FATBIN_CUBIN_H

#include "common/simulator/ptx/fatbin.h"

enum { FATBIN_MAX_KERNELS = 1 << 16 };

/* What all cubins of a fat binary may still cost: bytes of names and sections, at whose end it is
 * refused, and steps through machine code, at whose end there is no more of that. */
typedef struct CubinWork {
    size_t bytes, steps;
} CubinWork;

/* Appends the kernels of an ELF image, whose bytes are hostile, to fatbin->kernel; the PTX is there
 * already. */
int cubin_read(const unsigned char *image, size_t bytes, uint32_t sm, CubinWork *work,
               Fatbin *fatbin, Error *error);

#endif
