/* guarded.h - a problem's tensors between guard bands, in device memory or in this process's, and
 * the damage done by a run.
 *
 * Module: inputs and outputs of one run, with guard bands.
 * Callers: session, judging, and the programs device, runner and run.
 * May use: operation, cuda.
 *
 * A write beyond a tensor changes a band and is found after the run.  On the simulator a tensor has
 * no bands: it is an allocation of exactly its size, and every access is checked.  An access out of
 * bounds is then reported with the kernel's line, which is more helpful than a changed band. */
#ifndef CONVLAB_AUTOGRADER_TENSORS_GUARDED_H
#define CONVLAB_AUTOGRADER_TENSORS_GUARDED_H

#include "common/operations/operation/verdict.h"
#include "common/cuda/device.h"

/* Floats of guard band before and after a tensor; their value is GUARD_BAND_WORD (verdict.h). */
enum { GUARD_BAND_FLOATS = 1024 };

typedef struct GuardedTensors {
    Device *device;       /* NULL: memory of this process */
    uint32_t count, band; /* number of tensors; floats of guard band on each side, 0 for none */
    uint32_t role[OPERATION_TENSORS];
    uint64_t floats[OPERATION_TENSORS];
    uint64_t base[OPERATION_TENSORS];    /* allocations */
    uint64_t address[OPERATION_TENSORS]; /* addresses of the first float of each tensor */
} GuardedTensors;

/* Damage done by a run: the first affected tensor of each kind, -1 if none. */
typedef struct Damage {
    int32_t band_tensor, input_changed;
    int64_t band_offset; /* first changed float: negative before the tensor, else past its end */
} Damage;

#define DAMAGE_NONE ((Damage){.band_tensor = -1, .input_changed = -1})

/* Allocates `count` tensors of these roles (TensorRole) and sizes, and passes their names to the
 * device (NULL: does not).  -1 with error: no memory, and nothing is left allocated. */
int guarded_open(GuardedTensors *tensors, Device *device, uint32_t count, const uint32_t *role,
                 const uint64_t *floats, const ArrayName *name, uint32_t band, Error *error);
void guarded_close(GuardedTensors *tensors);

/* Before a run: uploads the inputs, poisons the outputs, fills the bands. */
int guarded_fill(const GuardedTensors *tensors, const float *const *input, Error *error);
/* Between runs that are checked together: poisons only the outputs. */
int guarded_poison(const GuardedTensors *tensors, Error *error);

/* After a run: copies the outputs one after the other to `output` (NULL: does not), and checks
 * bands and inputs. */
int guarded_check(const GuardedTensors *tensors, const float *const *input, float *output,
                  Damage *damage, Error *error);

/* Replaces indices by the tensors' names, for a verdict; does not change observed->output.  A
 * damage whose index is not below `count` is ignored, because it may come from an untrusted
 * process. */
void damage_name(const Damage *damage, const TensorShape *shape, uint32_t count,
                 Observed *observed);

#endif
