/* options.h - command lines of the programs, as tables.
 *
 * Module: options, and the choice of the engine.
 * Callers: the programs of autograder.
 * May use: cuda, base. */
#ifndef CONVLAB_AUTOGRADER_OPTIONS_OPTIONS_H
#define CONVLAB_AUTOGRADER_OPTIONS_OPTIONS_H

#include <stdint.h>

#include "common/base/error.h"
#include "common/cuda/device.h"

typedef enum OptionKind {
    OPTION_TEXT,    /* const char **; an empty text keeps the present value */
    OPTION_FLAG,    /* int *, becomes 1; takes no value */
    OPTION_SEED,    /* Seed *: 0 to 2^64-1, also hexadecimal */
    OPTION_PERCENT, /* double *: 0 to 100 */
    OPTION_SECONDS, /* double *: more than 0, at most a day */
    OPTION_ENGINE,  /* DeviceEngine *: auto, sim or gpu; empty is auto */
    OPTION_HELP     /* const char *: the text that is printed before the program ends with 0 */
} OptionKind;

typedef struct Seed {
    uint64_t value;
    int given;
} Seed;

typedef struct Option {
    const char *name; /* "seed" for --seed */
    OptionKind kind;
    void *value;
} Option;

enum { OPTIONS = 48 }; /* the most that a table may have */

/* Parses the options of `option`, whose last row has no name.  Other arguments remain: the first
 * `words` of them go to `word`, more are rejected.  -1 with an error that names the option. */
int options_parse(int argc, char **argv, const Option *option, int words, const char **word,
                  Error *error);

/* ENGINE_AUTO becomes the GPU if there is a driver with a device, else the simulator. */
DeviceEngine engine_resolve(DeviceEngine engine);

#endif
