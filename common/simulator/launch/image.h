/* image.h - programs that were read already.  A grade loads one and the same for every problem,
 * each time on a GPU of its own, and to read its PTX takes as long as a small problem. */
#ifndef CONVLAB_SIMT_IMAGE_H
#define CONVLAB_SIMT_IMAGE_H

#include "common/simulator/ptx/fatbin.h"
#include "common/simulator/ptx/ptx.h"

typedef struct Image {
    Fatbin fatbin;
    PtxModule *ptx;
    void *bytes; /* bytes from which it was read */
    size_t count;
    unsigned users;
    struct Image *next;
} Image;

/* Opens an image from fatbin_open's bytes, which are copied. NULL with error. */
const Image *image_take(const void *bytes, size_t count, Error *error);
/* By each who took it.  The last one that nobody uses any more is kept for who asks next. */
void image_leave(const Image *image);

#endif
