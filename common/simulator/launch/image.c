#include "common/simulator/launch/image.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Image *images; /* those in use, and at most one that is not */

static void image_free(Image *image)
{
    if (image->ptx) ptx_free(image->ptx);
    fatbin_close(&image->fatbin);
    free(image->bytes);
    free(image);
}

static Image *image_read(const void *bytes, size_t count, Error *error)
{
    Image *image = calloc(1, sizeof *image);
    if (image) image->bytes = malloc(count ? count : 1);
    if (!image || !image->bytes) {
        free(image);
        error_set(error, "out of host memory for a program");
        return NULL;
    }
    if (count) memcpy(image->bytes, bytes, count);
    image->count = count;
    if (fatbin_open(bytes, count, &image->fatbin, error) != 0)
        memset(&image->fatbin, 0, sizeof image->fatbin);
    else if ((image->ptx = ptx_parse(image->fatbin.ptx, image->fatbin.ptx_bytes, error)))
        return image;
    image_free(image);
    return NULL;
}

static Image *image_find(const void *bytes, size_t count)
{
    for (Image *image = images; image; image = image->next)
        if (image->count == count && (!count || !memcmp(image->bytes, bytes, count))) return image;
    return NULL;
}

const Image *image_take(const void *bytes, size_t count, Error *error)
{
    pthread_mutex_lock(&lock);
    Image *image = image_find(bytes, count);
    if (!image && (image = image_read(bytes, count, error))) {
        image->next = images;
        images = image;
    }
    if (image) image->users++;
    pthread_mutex_unlock(&lock);
    return image;
}

/* Frees all images without users, except for `kept`. */
static void images_forget(const Image *kept)
{
    for (Image **link = &images; *link;) {
        Image *image = *link;
        if (image->users || image == kept) {
            link = &image->next;
            continue;
        }
        *link = image->next;
        image_free(image);
    }
}

void image_leave(const Image *image)
{
    if (!image) return;
    pthread_mutex_lock(&lock);
    ((Image *)image)->users--;
    images_forget(image);
    pthread_mutex_unlock(&lock);
}
