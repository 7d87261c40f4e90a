/* fatbin_cubin.h - what a cubin's headers say about its kernels; for fatbin.c alone. */
#ifndef CONVLAB_PTX_FATBIN_CUBIN_H
#define CONVLAB_PTX_FATBIN_CUBIN_H

#include "common/ptx/fatbin.h"

enum { FATBIN_MAX_KERNELS = 1 << 16 };

/* Appends the kernels of an ELF image, whose bytes are hostile, to fatbin->kernel; the PTX is there
 * already. */
int cubin_read(const unsigned char *image, size_t bytes, uint32_t sm, Fatbin *fatbin, Error *error);

#endif
