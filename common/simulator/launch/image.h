/* image.h - cache of programs that have been read. A grading run loads the same program for every
 * case, each time on a GPU of its own, and parsing its PTX takes as long as a small case. */
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
/* Releases an image; each user calls it once. The last image without users is kept for the next
 * request. */
void image_leave(const Image *image);

#endif
