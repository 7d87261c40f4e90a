/* simcuda.h - settings of the simulated GPU, for programs that are built with simnvcc.
 *
 * Each setting is an environment variable.  A program may also define its own defaults:
 *
 *     #include <simcuda.h>
 *     const SimcudaSettings simcuda_settings = {.gpu = "titanv", .report = "findings.sarif"};
 *
 * A variable that is set, and not empty, replaces the default. */
#ifndef SIMCUDA_H
#define SIMCUDA_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct SimcudaSettings {
    const char *gpu;          /* SIMULATE_GPU: name of the machine; NULL: h200 */
    const char *gpus;         /* SIMULATE_GPUS: folder of the machine descriptions */
    const char *profile;      /* SIMULATE_PROFILE: source file whose lines get their costs */
    const char *report;       /* SIMULATE_REPORT: file.json, file.sarif or file.supp; %p is the
                               * process's number */
    const char *root;         /* SIMULATE_ROOT: folder to which paths in a report are relative */
    const char *suppressions; /* SIMULATE_SUPPRESSIONS: file of suppressions */
    const char *kernel;       /* SIMULATE_ONLY_KERNEL: pattern of the kernels that are reported */
    const char *launch;       /* SIMULATE_ONLY_LAUNCH: number of the only launch that is reported */
    const char *launches;     /* SIMULATE_ONLY_LAUNCHES: number of launches that are reported */
} SimcudaSettings;

extern const SimcudaSettings simcuda_settings;

#ifdef __cplusplus
}
#endif

#endif
