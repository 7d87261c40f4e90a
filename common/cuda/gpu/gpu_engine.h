/* gpu_engine.h - declarations shared by the gpu engine's files only.
 *
 *   gpu_driver     the driver's functions
 *   gpu_module     modules, functions, variables, launches
 *   gpu_initial    initial values of variables
 *   gpu_tables     growing arrays, handles
 *   gpu_device     opening, memory, streams, events
 *   gpu_replay     recordings as CUDA graphs, and their timing
 *   gpu_fault      meaning of the driver's errors
 *   gpu_ceilings   performance ceilings of this GPU */
#ifndef CONVLAB_CUDA_GPU_ENGINE_H
#define CONVLAB_CUDA_GPU_ENGINE_H

#include "common/cuda/gpu/gpu_device.h"
#include "common/cuda/gpu/gpu_driver.h"
#include "common/simulator/ptx/ptx.h"

/* The cudaError_t values that the engine itself returns. */
enum {
    STATUS_OK = 0,
    STATUS_INVALID_VALUE = 1,
    STATUS_NO_MEMORY = 2,
    STATUS_BAD_CONFIGURATION = 9,
    STATUS_BAD_SYMBOL = 13,
    STATUS_BAD_FUNCTION = 98,
    STATUS_BAD_IMAGE = 200,
    STATUS_BAD_HANDLE = 400,
    STATUS_UNKNOWN = 999
};

typedef enum GpuHandleKind {
    HANDLE_GONE, /* destroyed: numbers are never reused, so a stale handle is detected */
    HANDLE_MODULE,
    HANDLE_FUNCTION,
    HANDLE_STREAM,
    HANDLE_EVENT
} GpuHandleKind;

typedef struct GpuHandle {
    GpuHandleKind kind;
    void *object; /* GpuModule, GpuFunction, DriverStream or DriverEvent */
} GpuHandle;

typedef struct GpuFunction {
    DriverFunction function;
    uint32_t module;
    FunctionInfo info;
    char *name;      /* as in the module */
    char plain[128]; /* for messages */
} GpuFunction;

typedef struct GpuVariable {
    uint32_t module;
    DriverAddress address;
    size_t bytes;
} GpuVariable;

/* Initial value of a module's variable, read when the module was loaded. */
typedef struct GpuInitial {
    uint32_t module;
    DriverAddress address;
    size_t bytes;
    void *data;
} GpuInitial;

/* Image from which a module is loaded.  `ptx` is set after the first use. */
typedef struct GpuImage {
    void *data; /* the driver may read it as late as the first launch */
    uint64_t bytes;
    PtxModule *ptx;
    int users, cached;
} GpuImage;

/* Launches that may still be running, so that a fault can be attributed to a kernel. */
typedef struct GpuLaunchNote {
    uint32_t function, stream, grid[3], block[3];
} GpuLaunchNote;

enum { GPU_NOTES = 4, GPU_IMAGES = 4, GPU_EVENT_PAIRS = 256, GPU_HANDLES = 1 << 22 };

typedef enum GpuKernel { KERNEL_NOTHING, KERNEL_FMA, KERNEL_READ, KERNELS } GpuKernel;

typedef struct GpuDevice {
    Device base; /* first member: a Device * of this engine is a GpuDevice * */
    const GpuDriver *driver;
    DriverOrdinal ordinal;
    DriverContext context;
    DeviceProperties properties;

    GpuHandle *handle; /* handle[0] is the default stream */
    uint32_t handles, handle_capacity;
    uint32_t unloads; /* number of modules unloaded so far: an older graph must be built again */
    DriverAddress *allocation;
    size_t allocations, allocation_capacity;
    GpuVariable *variable;
    size_t variables, variable_capacity;
    GpuInitial *initial;
    size_t initials, initial_capacity;

    GpuImage *image[GPU_IMAGES]; /* cached for the next process of the same program */
    unsigned images;

    void *reply_data;
    size_t reply_capacity;

    DeviceCost cost;
    uint32_t costliest; /* function handle */
    GpuLaunchNote note[GPU_NOTES];
    uint32_t notes;

    int32_t lost; /* status that ended the context, 0 while it is valid */
    char lost_words[768];

    DriverStream timing_stream; /* the following members are created when first needed */
    DriverEvent timing[GPU_EVENT_PAIRS][2];
    DriverAddress flush;
    size_t flush_bytes;
    DriverModule kernels;
    DriverFunction kernel[KERNELS];
} GpuDevice;

typedef int32_t GpuHandler(GpuDevice *device, const DeviceCall *call, DeviceReply *reply);

/* gpu_device.c */
Device *gpu_device_open_with(const GpuDriver *driver, int ordinal, Error *error);

/* gpu_tables.c */
uint32_t gpu_handle_new(GpuDevice *device, GpuHandleKind kind, void *object); /* 0: too many */
void *gpu_handle_get(const GpuDevice *device, uint32_t handle, GpuHandleKind kind); /* or NULL */
int gpu_stream_get(const GpuDevice *device, uint32_t handle, DriverStream *stream); /* or -1 */
/* Space for one more element in a growing array; the array, possibly moved, or NULL. */
void *gpu_grow(void *array, size_t count, size_t *capacity, size_t element_bytes);

/* gpu_fault.c */
int32_t gpu_status(DriverResult result);
int gpu_is_sticky(int32_t status);
/* Returns `result` as a status, and stores the reply's message "what: the driver's text". */
int32_t gpu_answer(GpuDevice *device, DriverResult result, DeviceReply *reply, const char *what,
                   ...) __attribute__((format(printf, 4, 5)));
int32_t gpu_refuse(DeviceReply *reply, int32_t status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int gpu_error(GpuDevice *device, DriverResult result, const char *what, Error *error); /* -1 */
void gpu_note_launch(GpuDevice *device, const DeviceCall *call);
void gpu_note_done(GpuDevice *device, uint32_t stream);

/* gpu_module.c */
GpuHandler gpu_module_load, gpu_module_unload, gpu_module_function, gpu_module_variable;
GpuHandler gpu_function_attribute, gpu_function_occupancy, gpu_launch;
/* The attributes of a launch, at most DRIVER_ATTRIBUTES; returns their number. */
unsigned gpu_launch_attributes(const DeviceCall *call, DriverAttribute *attribute);
void gpu_module_close(GpuDevice *device, void *module);
void gpu_function_close(void *function);
/* Rejects invalid launches of `function`; the message names the number. */
int32_t gpu_launch_check(GpuDevice *device, const GpuFunction *function, const DeviceCall *call,
                         DeviceReply *reply);
void gpu_cost_add(DeviceCost *cost, uint32_t *costliest, const DeviceCall *call);
void gpu_cost_finish(GpuDevice *device, DeviceCost *cost, uint32_t costliest);

/* gpu_image.c */
/* A copy of `data`, or the one that exists already; NULL: out of memory. */
GpuImage *gpu_image_open(GpuDevice *device, const void *data, uint64_t bytes);
void gpu_image_close(GpuImage *image); /* NULL has no effect */
/* Parses image->ptx if necessary.  -1 with error. */
int gpu_image_parse(GpuImage *image, Error *error);
void gpu_images_free(GpuDevice *device);

/* gpu_initial.c */
DriverResult gpu_initial_read(GpuDevice *device, uint32_t module, DriverModule from,
                              const PtxModule *ptx);
void gpu_initial_drop(GpuDevice *device, uint32_t module);
int gpu_restore(Device *device, Error *error);

/* gpu_kernels.c: on the timing stream */
DriverResult gpu_kernels_load(GpuDevice *device);
DriverResult gpu_kernel_read(GpuDevice *device, DriverAddress from, uint64_t bytes);
DriverResult gpu_kernel_fma(GpuDevice *device, DriverAddress never, unsigned rounds, double *flops);

/* gpu_replay.c */
int gpu_replay(Device *device, Recording *recording, int repeats, DeviceCost *cost, Error *error);
int gpu_timing_prepare(GpuDevice *device, Error *error);
void gpu_timing_close(GpuDevice *device);
/* Runs launch(context) `repeats` times on the timing stream, with the L2 flushed before each one if
 * `flush` is set, and stores the seconds of each, without the flushes. */
typedef DriverResult GpuTimed(GpuDevice *device, void *context);
int gpu_timing_run(GpuDevice *device, GpuTimed *launch, void *context, int repeats, int flush,
                   double *seconds, Error *error);

#endif
