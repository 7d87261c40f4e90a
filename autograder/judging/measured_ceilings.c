#include "autograder/judging/measured_ceilings.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/cuda/gpu/gpu_device.h"

struct MeasuredCeilings {
    pthread_t thread;
    sem_t measured; /* posted once; afterwards the driver may take seconds to close the GPU */
    int threaded, waited, known;
    GpuCeilings value;
};

static void *measure(void *context)
{
    MeasuredCeilings *ceilings = context;
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

MeasuredCeilings *measured_ceilings_begin(void)
{
    MeasuredCeilings *ceilings = calloc(1, sizeof *ceilings);
    if (!ceilings) return NULL;
    sem_init(&ceilings->measured, 0, 0);
    ceilings->threaded = !pthread_create(&ceilings->thread, NULL, measure, ceilings);
    if (!ceilings->threaded) measure(ceilings);
    return ceilings;
}

const GpuCeilings *measured_ceilings_wait(MeasuredCeilings *ceilings)
{
    if (!ceilings) return NULL;
    while (!ceilings->waited && sem_wait(&ceilings->measured) && errno == EINTR) {
    }
    ceilings->waited = 1;
    return ceilings->known ? &ceilings->value : NULL;
}

void measured_ceilings_release(MeasuredCeilings *ceilings)
{
    if (ceilings && ceilings->threaded) pthread_join(ceilings->thread, NULL);
    if (ceilings) ceilings->threaded = 0;
}

void measured_ceilings_end(MeasuredCeilings *ceilings)
{
    if (!ceilings) return;
    measured_ceilings_release(ceilings);
    sem_destroy(&ceilings->measured);
    free(ceilings);
}
