/* fatbin.h - the code that nvcc embeds in an object: PTX text, and SASS. Headers of the SASS give
 * registers and shared memory, and its instructions show spills and instruction costs.
 *
 * Layout facts: a header (0xBA55ED50), then entries of kind 1 (PTX) or 2 (ELF), plain, LZ4 or ZSTD.
 * All of it is hostile. */
#ifndef CONVLAB_PTX_FATBIN_H
#define CONVLAB_PTX_FATBIN_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/simulator/sass/sass.h"

/* Resources that ptxas gave a kernel on one architecture, read from the cubin's section headers;
 * they equal the output of `ptxas -v`. The stack, local_bytes, includes all called functions;
 * shared_bytes is the static part without the driver's reservation. Kernels with names that do not
 * fit are left out. `machine` is present if the cubin was compiled from this PTX with -lineinfo. */
typedef struct CubinKernel {
    char name[512];
    uint32_t sm, registers, shared_bytes, local_bytes;
    SassCode machine; /* owned by the Fatbin */
} CubinKernel;

typedef struct Fatbin {
    char *ptx; /* the text of the highest available target; owned */
    size_t ptx_bytes;
    uint32_t ptx_target;
    CubinKernel *kernel; /* every kernel of every cubin */
    uint32_t kernels;
    const CubinKernel **by_name; /* the same, and those of one name by their architecture */
} Fatbin;

/* Size in bytes of the image at a __fatBinC_Wrapper_t's data pointer, from its own header; 0 if it
 * is no fat binary or PTX text. Only for memory of the own process, before sending it elsewhere. */
size_t fatbin_image_bytes(const void *data);

/* Accepts a fat binary image or raw PTX text (clang's).  -1 with error: bad magic, truncated,
 * decompression bomb (over 64 MiB), relocatable device code that was not linked (fatbin_link), no
 * PTX inside. */
int fatbin_open(const void *image, size_t bytes, Fatbin *fatbin, Error *error);

/* Device linking (-rdc=true): a new fat binary with the machine code of `linked`, which has no PTX,
 * and the linked PTX of the images that it was made of.  The caller frees it; NULL with error. */
void *fatbin_link(const void *linked, const void *const *image, size_t images, size_t *bytes,
                  Error *error);
void fatbin_close(Fatbin *fatbin);

/* The result of ptxas for this kernel and the highest available architecture, or NULL. */
const CubinKernel *fatbin_kernel(const Fatbin *fatbin, const char *name);

#endif
