#include "common/cuda/gpu/gpu_driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static void *symbol_bind(void *slot, void *library, const char *name)
{
    void *symbol = dlsym(library, name);
    memcpy(slot, &symbol, sizeof symbol); /* ISO C has no cast from object to function pointer */
    return symbol;
}

int gpu_driver_bind(GpuDriver *driver, void *library, Error *error)
{
#define BIND(field, symbol, parameters)                                                            \
    if (!symbol_bind(&driver->field, library, symbol))                                             \
        return error_set(error,                                                                    \
                         "the NVIDIA driver has no %s: update it to one for CUDA 12.0 or "         \
                         "newer (version 525)",                                                    \
                         symbol);
    DRIVER_FUNCTIONS(BIND)
#undef BIND
#define BIND(field, symbol, parameters) symbol_bind(&driver->field, library, symbol);
    DRIVER_OPTIONAL(BIND)
#undef BIND
    return 0;
}

void gpu_driver_words(const GpuDriver *driver, DriverResult result, char *text, size_t bytes)
{
    const char *name = NULL, *words = NULL;
    if (driver->error_name(result, &name) || !name) name = "an error without a name";
    if (driver->error_text(result, &words) || !words)
        snprintf(text, bytes, "%s (%d)", name, result);
    else
        snprintf(text, bytes, "%s (%s)", name, words);
}

/* Reports cuInit's failures that have a remedy. */
static int driver_start(const GpuDriver *driver, Error *error)
{
    DriverResult result = driver->init(0);
    if (result == 100)
        return error_set(error, "the NVIDIA driver is installed but finds no GPU: see nvidia-smi, "
                                "and CUDA_VISIBLE_DEVICES");
    if (result) {
        char words[256];
        gpu_driver_words(driver, result, words, sizeof words);
        return error_set(error, "the NVIDIA driver does not start: %s; see nvidia-smi", words);
    }
    int version = 0;
    if (driver->version(&version) || version < DRIVER_OLDEST)
        return error_set(error,
                         "the NVIDIA driver is for CUDA %d.%d; 12.0 or newer is needed: "
                         "update it",
                         version / 1000, version % 1000 / 10);
    return 0;
}

static pthread_once_t load_once = PTHREAD_ONCE_INIT;
static GpuDriver loaded_driver;
static Error load_error;
static int load_status;

/* The library is never closed, because the driver has threads and handlers of its own that would
 * outlive it. */
static void driver_load(void)
{
    load_status = -1;
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        error_set(&load_error, "no NVIDIA driver here (libcuda.so.1 does not load): use "
                               "ENGINE=sim, or install the driver");
        return;
    }
    if (gpu_driver_bind(&loaded_driver, library, &load_error)) return;
    load_status = driver_start(&loaded_driver, &load_error);
}

const GpuDriver *gpu_driver_load(Error *error)
{
    pthread_once(&load_once, driver_load);
    if (load_status) {
        error_set(error, "%s", load_error.text);
        return NULL;
    }
    return &loaded_driver;
}
