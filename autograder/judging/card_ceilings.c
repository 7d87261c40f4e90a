#include "autograder/judging/card_ceilings.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/cuda/gpu/gpu_device.h"

struct CardCeilings {
    pthread_t thread;
    sem_t measured; /* posted once; afterwards the driver may take seconds to close the GPU */
    int threaded, waited, known;
    GpuCeilings value;
};

static void *measure(void *context)
{
    CardCeilings *ceilings = context;
    Error error;
    Device *device =
        device_open_gpu(0, &error); /* if it fails, the device process reports the reason */
    if (device) {
        ceilings->known = !gpu_ceilings_measure(device, &ceilings->value, &error);
        if (!ceilings->known) fprintf(stderr, "grade: no roofline floor: %s\n", error.text);
    }
    sem_post(&ceilings->measured);
    if (device) device->close(device);
    return NULL;
}

CardCeilings *card_ceilings_begin(void)
{
    CardCeilings *ceilings = calloc(1, sizeof *ceilings);
    if (!ceilings) return NULL;
    sem_init(&ceilings->measured, 0, 0);
    ceilings->threaded = !pthread_create(&ceilings->thread, NULL, measure, ceilings);
    if (!ceilings->threaded) measure(ceilings);
    return ceilings;
}

const GpuCeilings *card_ceilings_wait(CardCeilings *ceilings)
{
    if (!ceilings) return NULL;
    while (!ceilings->waited && sem_wait(&ceilings->measured) && errno == EINTR) {
    }
    ceilings->waited = 1;
    return ceilings->known ? &ceilings->value : NULL;
}

void card_ceilings_leave(CardCeilings *ceilings)
{
    if (ceilings && ceilings->threaded) pthread_join(ceilings->thread, NULL);
    if (ceilings) ceilings->threaded = 0;
}

void card_ceilings_end(CardCeilings *ceilings)
{
    if (!ceilings) return;
    card_ceilings_leave(ceilings);
    sem_destroy(&ceilings->measured);
    free(ceilings);
}
