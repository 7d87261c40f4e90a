/* form_run.h - executes forms on a device, a card or the simulator alike, and keeps what came
 * out. */
#ifndef CONVLAB_CONFORMANCE_FORM_RUN_H
#define CONVLAB_CONFORMANCE_FORM_RUN_H

#include "common/simulator/conformance/form.h"
#include "common/cuda/device.h"

/* What one form gave: value[k * lanes + i] is result k of lane i; NULL where it did not run, and
 * then `why` says why. */
typedef struct FormRun {
    uint64_t *value;
    char why[512];
} FormRun;

/* Runs the forms [first, first + count) as one module; run[i] is that of form first + i.  What a
 * device refuses is noted in `why`; -1 only when there is no memory or the device is gone. */
int forms_run(Device *device, const FormTable *table, uint32_t first, uint32_t count, FormRun *run,
              Error *error);
void form_run_free(FormRun *run);

#endif
