/* guarded.h - a problem's tensors between guard bands, in a Device's memory or in this process's
 * own, and what a run did to them.
 *
 * Module: the inputs and outputs of one run: their floats, and guards around them.
 * Callers: session, judging, and the programs device, runner and run.
 * May use: operation, cuda.
 *
 * A write beyond a tensor lands in a band and is found after the run.  On the simulator a tensor
 * has no bands: it is an allocation of exactly its size there, every access is checked, and a step
 * outside is reported with the kernel's line, which says more than a changed band. */
#ifndef CONVLAB_AUTOGRADER_TENSORS_GUARDED_H
#define CONVLAB_AUTOGRADER_TENSORS_GUARDED_H

#include "common/operations/operation/verdict.h"
#include "common/cuda/device.h"

/* Floats of guard band before and after a tensor, and what they are filled with: a signalling NaN.
 * Whatever is added to one is a quiet NaN, so that += beyond an output changes the band, too. */
enum { GUARD_BAND_FLOATS = 1024 };
#define GUARD_BAND_WORD 0x7f80fe2c

typedef struct GuardedTensors {
    Device *device;       /* NULL: this process's memory */
    uint32_t count, band; /* tensors; floats of guard band on each side, 0 for none */
    uint32_t role[OPERATION_TENSORS];
    uint64_t floats[OPERATION_TENSORS];
    uint64_t base[OPERATION_TENSORS];    /* allocations */
    uint64_t address[OPERATION_TENSORS]; /* of the first float of each tensor */
} GuardedTensors;

/* What a run did beside writing its outputs: the first tensor of each kind, -1 if none. */
typedef struct Damage {
    int32_t band_tensor, input_changed;
    int64_t band_offset; /* first changed float: negative before the tensor, else past its end */
} Damage;

#define DAMAGE_NONE ((Damage){.band_tensor = -1, .input_changed = -1})

/* Allocates `count` tensors of these roles (TensorRole) and sizes, and tells the device their names
 * (NULL: does not).  -1 with error: no memory, and nothing is left allocated. */
int guarded_open(GuardedTensors *tensors, Device *device, uint32_t count, const uint32_t *role,
                 const uint64_t *floats, const ArrayName *name, uint32_t band, Error *error);
void guarded_close(GuardedTensors *tensors);

/* Before a run: uploads the inputs, poisons the outputs, fills the bands. */
int guarded_fill(const GuardedTensors *tensors, const float *const *input, Error *error);
/* Between runs that are checked together: poisons the outputs, and nothing else. */
int guarded_poison(const GuardedTensors *tensors, Error *error);

/* After it: copies the outputs one after the other to `output` (NULL: does not), and looks at bands
 * and inputs. */
int guarded_check(const GuardedTensors *tensors, const float *const *input, float *output,
                  Damage *damage, Error *error);

/* The same by the tensors' names, for a verdict; leaves observed->output alone.  A damage that
 * names no tensor of the `count` is none: it may come from an untrusted process. */
void damage_name(const Damage *damage, const TensorShape *shape, uint32_t count,
                 Observed *observed);

#endif
