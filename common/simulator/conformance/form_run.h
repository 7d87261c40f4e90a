/* form_run.h - execution of forms on a device, a GPU or the simulator, and their results. */
#ifndef CONVLAB_CONFORMANCE_FORM_RUN_H
#define CONVLAB_CONFORMANCE_FORM_RUN_H

#include "common/simulator/conformance/form.h"
#include "common/cuda/device.h"

/* Results of one form: value[k * lanes + i] is result k of lane i; NULL if the form did not run.
 * `why` then states the reason. */
typedef struct FormRun {
    uint64_t *value;
    char why[512];
} FormRun;

/* Runs the forms [first, first + count) as one module; run[i] is that of form first + i.  If a
 * device rejects a form, `why` states the reason; -1 only without memory or device. */
int forms_run(Device *device, const FormTable *table, uint32_t first, uint32_t count, FormRun *run,
              Error *error);
void form_run_free(FormRun *run);

#endif
