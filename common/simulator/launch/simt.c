/* simt.c - the simulated GPU's front: opening it, its memory, modules and their kernels. */
#include "common/simulator/launch/simt.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/simulator/checks/race.h"
#include "common/simulator/core/core.h"
#include "common/simulator/core/accelerator.h"
#include "common/simulator/decode/decode.h"
#include "common/simulator/exec/exec.h"
#include "common/simulator/launch/image.h"
#include "common/simulator/launch/repeat.h"
#include "common/simulator/sass_map/sass_map.h"
#include "common/simulator/timing/cost.h"

enum { VARIABLES_MAX = 20000, VARIABLE_LEAST = 256 };

/* CUDA's default limits. */
enum { STACK_BYTES = 1024, STACK_MOST = 512 << 10, HEAP_BYTES = 8 << 20 };

SimtGpu *simt_open(const SimtMachine *machine, const SimtOptions *options, Error *error)
{
    SimtGpu *gpu = calloc(1, sizeof *gpu);
    if (!gpu) {
        error_set(error, "out of host memory for a simulated GPU");
        return NULL;
    }
    gpu->machine = *machine;
    gpu->options = *options;
    gpu->stack_limit = STACK_BYTES;
    gpu->heap.limit = HEAP_BYTES;
    simt_study(gpu, SIMT_STUDIED);
    if (memory_open(&gpu->memory, machine->memory_bytes, options->initcheck, error) != 0) {
        free(gpu);
        return NULL;
    }
    if (options->repeats && !options->untrusted && !options->profile_launch)
        gpu->repeats = repeats_open();
    if (machine->accelerators && !(gpu->accelerators = accelerator_microcode(error))) {
        simt_close(gpu);
        return NULL;
    }
    return gpu;
}

int simt_limit(SimtGpu *gpu, SimtLimit limit, uint64_t bytes, Error *error)
{
    if (limit == SIMT_LIMIT_STACK && bytes > STACK_MOST)
        return error_set(error, "a stack of %llu bytes a thread: it may have up to %u",
                         (unsigned long long)bytes, STACK_MOST);
    if (limit == SIMT_LIMIT_HEAP && gpu->heap.begin && bytes != gpu->heap.limit)
        return error_set(error, "the device heap cannot change once a kernel has used it");
    if (limit == SIMT_LIMIT_HEAP && bytes > gpu->memory.capacity - gpu->memory.used)
        return error_set(error, "out of device memory: a heap of %llu bytes asked for",
                         (unsigned long long)bytes);
    *(limit == SIMT_LIMIT_STACK ? &gpu->stack_limit : &gpu->heap.limit) = bytes;
    return 0;
}

void simt_study(SimtGpu *gpu, SimtStudy study)
{
    gpu->count = (study & SIMT_PRICED) && gpu->options.count;
    gpu->racecheck = (study & SIMT_SEARCHED) && gpu->options.racecheck;
}

uint64_t simt_repeats(const SimtKernel *kernel)
{
    return kernel->repeats;
}

const char *simt_kernel_sass(const SimtGpu *gpu, const SimtKernel *kernel)
{
    return gpu->options.machine_code ? sass_map_missing(kernel, &gpu->machine) : NULL;
}

void simt_close(SimtGpu *gpu)
{
    if (!gpu) return;
    simt_settle(gpu, NULL);
    while (gpu->modules)
        simt_module_unload(gpu, gpu->modules);
    ptx_free(gpu->accelerators);
    memory_close(&gpu->memory);
    simt_profile_free(&gpu->profile);
    arenas_keep(gpu, 0);
    gpu->arenas = gpu->spare_arenas, gpu->arena_count = gpu->spare_count;
    arenas_keep(gpu, 0);
    race_shadow_free(&gpu->race_shadow);
    repeats_close(gpu->repeats);
    free(gpu);
}

const SimtProfile *simt_profile(const SimtGpu *gpu)
{
    return gpu->profile.instruction ? &gpu->profile : NULL;
}

static void kernel_write_runs(SimtKernel *kernel, FILE *stream)
{
    uint32_t line;
    Error error;
    if (kernel_decode(kernel, exec_handlers(), &error))
        fprintf(stream, "%s\t\t0\t0\n", kernel->info.name);
    for (uint32_t i = 0; i < kernel->origins; i++) {
        if (!kernel->origin[i]) continue;
        const char *file = source_line(kernel, i, &line);
        fprintf(stream, "%s\t%s\t%u\t%" PRIu64 "\n", kernel->info.name, file, line,
                kernel->runs ? kernel->runs[i] : 0);
    }
}

void simt_write_runs(SimtGpu *gpu, FILE *stream)
{
    for (SimtModule *module = gpu->modules; module; module = module->next)
        for (uint32_t i = 0; i < module->kernels; i++)
            kernel_write_runs(&module->kernel[i], stream);
}

/* ---- memory ------------------------------------------------------------------------------- */
int simt_alloc(SimtGpu *gpu, uint64_t bytes, uint64_t *address, Error *error)
{
    return memory_alloc(&gpu->memory, bytes, address, NULL, error);
}

int simt_alloc_managed(SimtGpu *gpu, uint64_t bytes, uint64_t *address, Error *error)
{
    return memory_alloc_managed(&gpu->memory, bytes, address, NULL, error);
}

int simt_managed_pages(const SimtGpu *gpu, uint32_t *next, uint64_t *begin, uint64_t *end)
{
    enum { PAGE = 4096 };
    for (const Memory *memory = &gpu->memory; *next < memory->count;) {
        const Allocation *a = memory->table[(*next)++];
        if (!a->managed) continue;
        *begin = a->address, *end = a->address + (a->bytes + PAGE - 1) / PAGE * PAGE;
        return 1;
    }
    return 0;
}

int simt_is_managed(const SimtGpu *gpu, uint64_t address)
{
    const Allocation *a = memory_find(&gpu->memory, address);
    return a && a->managed;
}

int simt_free(SimtGpu *gpu, uint64_t address, Error *error)
{
    return memory_free(&gpu->memory, address, error);
}

int simt_retire(SimtGpu *gpu, uint64_t address, int retired, Error *error)
{
    return memory_retire(&gpu->memory, address, retired, error);
}

static unsigned char *host_of(const Allocation *a, uint64_t address)
{
    return a->host + (address - a->address);
}

/* A host-side write of everything spares the kernels' reads from asking the bitmap. */
static void written(SimtGpu *gpu, Allocation *a, uint64_t address, uint64_t bytes)
{
    if (a->initialised) return;
    memory_mark(&gpu->memory, address, bytes, 1);
    if (address == a->address && bytes == a->bytes) a->initialised = 1;
}

int simt_write(SimtGpu *gpu, uint64_t address, const void *data, uint64_t bytes, Error *error)
{
    Allocation *a = memory_range(&gpu->memory, address, bytes, error);
    if (!a) return -1;
    if (bytes) memcpy(host_of(a, address), data, bytes);
    written(gpu, a, address, bytes);
    return 0;
}

int simt_read(SimtGpu *gpu, uint64_t address, void *data, uint64_t bytes, Error *error)
{
    Allocation *a = memory_range(&gpu->memory, address, bytes, error);
    if (!a) return -1;
    if (bytes) memcpy(data, host_of(a, address), bytes);
    return 0;
}

uint64_t simt_unwritten(const SimtGpu *gpu, uint64_t address, uint64_t bytes, uint64_t *first)
{
    enum { WORD = 4, GROUP = 64, LONG = 64 }; /* bytes; a group has 64 marks */
    const Memory *memory = &gpu->memory;
    const Allocation *a = memory_find(memory, address);
    uint64_t missing = 0, step = 0, runs = 0, begin = 0, end = 0, longest = 0;
    if (!memory->shadow || !a || a->initialised || memory_is_written(memory, address, bytes))
        return 0;
    for (uint64_t at = address; at < address + bytes; at += step) {
        uint64_t byte = at - DEVICE_BASE, left = address + bytes - at, marks = 0;
        const unsigned char *shadow = memory->shadow + byte / 8;
        step = byte % 8 == 0 && left >= GROUP ? GROUP : left < WORD ? left : WORD;
        if (step == GROUP) memcpy(&marks, shadow, sizeof marks);
        if (step == GROUP && marks && ~marks) step = WORD;
        if (step != GROUP) {
            uint32_t all = (1u << step) - 1;
            marks = shadow[0] >> byte % 8 & all;
            if (byte % 8 + step > 8) marks |= shadow[1] & (all >> (8 - byte % 8));
        }
        if (marks) continue;
        if (!missing) *first = at;
        if (!missing || at != end) begin = at, runs++;
        end = at + step, missing += step;
        if (end - begin > longest) longest = end - begin;
    }
    return runs == 1 || longest >= LONG ? missing : 0;
}

int simt_fill(SimtGpu *gpu, uint64_t address, int byte, uint64_t bytes, Error *error)
{
    Allocation *a = memory_range(&gpu->memory, address, bytes, error);
    if (!a) return -1;
    memset(host_of(a, address), byte, bytes);
    written(gpu, a, address, bytes);
    return 0;
}

/* Copies carry along what is not written yet. */
int simt_copy(SimtGpu *gpu, uint64_t to, uint64_t from, uint64_t bytes, Error *error)
{
    Allocation *source = memory_range(&gpu->memory, from, bytes, error);
    Allocation *target = source ? memory_range(&gpu->memory, to, bytes, error) : NULL;
    if (!target) return -1;
    memmove(host_of(target, to), host_of(source, from), bytes);
    if (!gpu->memory.shadow) return 0;
    if (source->initialised || memory_is_written(&gpu->memory, from, bytes)) {
        written(gpu, target, to, bytes);
        return 0;
    }
    if (target->initialised) memory_mark(&gpu->memory, target->address, target->bytes, 1);
    target->initialised = 0;
    memory_marks_copy(&gpu->memory, to, from, bytes);
    return 0;
}

int simt_name(SimtGpu *gpu, uint64_t address, const ArrayName *array, Error *error)
{
    return memory_name(&gpu->memory, address, array, error);
}

int simt_poison(SimtGpu *gpu, uint64_t address, uint64_t bytes, uint32_t word, Error *error)
{
    Allocation *a = memory_range(&gpu->memory, address, bytes, error);
    if (!a) return -1;
    unsigned char *at = host_of(a, address);
    for (uint64_t i = 0; i + 4 <= bytes; i += 4)
        memcpy(at + i, &word, 4);
    memcpy(at + bytes / 4 * 4, &word, bytes % 4);
    if (a->initialised) memory_mark(&gpu->memory, a->address, a->bytes, 1);
    a->initialised = 0;
    memory_mark(&gpu->memory, address, bytes, 0);
    return 0;
}

uint64_t simt_leaks(const SimtGpu *gpu, char *text, size_t bytes)
{
    return memory_leaks(&gpu->memory, text, bytes);
}

int simt_describe(const SimtGpu *gpu, uint64_t address, char *text, size_t bytes)
{
    if (address - DEVICE_BASE >= gpu->memory.reserved) return 0;
    memory_describe(&gpu->memory, address, text, bytes);
    return 1;
}

void simt_memory_info(const SimtGpu *gpu, uint64_t *free_bytes, uint64_t *total_bytes)
{
    *free_bytes = gpu->memory.capacity - gpu->memory.used;
    *total_bytes = gpu->memory.capacity;
}

/* ---- modules ------------------------------------------------------------------------------ */

static int in_device_memory(const PtxVariable *v)
{
    return (v->space == PTX_GLOBAL || v->space == PTX_CONST) && !v->is_extern;
}

static int symbol_place(SimtModule *module, const PtxVariable *v, Error *error)
{
    Symbol *symbol = &module->symbol[module->symbols];
    Memory *memory = &module->gpu->memory;
    symbol->variable = v;
    int (*alloc)(Memory *, uint64_t, uint64_t *, Allocation **, Error *) =
        v->is_managed ? memory_alloc_managed : memory_alloc;
    if (alloc(memory, v->bytes, &symbol->address, &symbol->allocation, error) != 0) return -1;
    symbol->allocation->name = v->name;
    symbol->allocation->read_only = v->space == PTX_CONST;
    memory_mark(memory, symbol->address, v->bytes, 1);
    symbol->allocation->initialised = 1;
    module->symbols++;
    return 0;
}

/* Writes the initial values of the module's variables. */
static int symbols_fill(SimtModule *module, Error *error)
{
    for (uint32_t i = 0; i < module->symbols; i++) {
        const PtxVariable *v = module->symbol[i].variable;
        if (v->data)
            memcpy(module->symbol[i].allocation->host, v->data, v->bytes);
        else
            memset(module->symbol[i].allocation->host, 0, v->bytes);
        for (uint32_t k = 0; k < v->relocation_count; k++) {
            const PtxRelocation *r = &v->relocation[k];
            const Symbol *target = symbol_find(module, r->symbol);
            uint64_t base = target ? target->address : function_address(module, r->symbol);
            if (!base)
                return error_set(error,
                                 "the initialiser of %s names %s, whose address is not supported",
                                 v->name, r->symbol);
            uint64_t value = base + (uint64_t)r->addend;
            if (r->bytes > 8 || r->offset > v->bytes || r->bytes > v->bytes - r->offset)
                return error_set(error, "the initialiser of %s has an address outside of it",
                                 v->name);
            memcpy(module->symbol[i].allocation->host + r->offset, &value, r->bytes);
        }
    }
    return 0;
}

/* Each counts at least what the memory's table holds about it. */
static void bytes_add(const PtxVariable *v, uint64_t *all)
{
    uint64_t bytes = v->bytes > VARIABLE_LEAST ? v->bytes : VARIABLE_LEAST;
    if (in_device_memory(v)) *all = bytes > UINT64_MAX - *all ? UINT64_MAX : *all + bytes;
}

static int symbols_place(SimtModule *module, Error *error)
{
    const PtxModule *ptx = module->ptx;
    uint64_t most = ptx->variables;
    for (uint32_t i = 0; i < ptx->functions; i++)
        most += ptx->function[i].variables;
    module->symbol = calloc(most + 1, sizeof *module->symbol);
    if (!module->symbol) return error_set(error, "out of host memory for a module's variables");
    for (uint32_t i = 0; i < ptx->variables; i++)
        if (in_device_memory(&ptx->variable[i]) &&
            symbol_place(module, &ptx->variable[i], error) != 0)
            return -1;
    for (uint32_t i = 0; i < ptx->functions; i++)
        for (uint32_t k = 0; k < ptx->function[i].variables; k++)
            if (in_device_memory(&ptx->function[i].variable[k]) &&
                symbol_place(module, &ptx->function[i].variable[k], error) != 0)
                return -1;
    if (symbols_sort(module))
        return error_set(error, "out of host memory for a module's variables");
    return symbols_fill(module, error);
}

static void info_fill(SimtKernel *kernel)
{
    const PtxFunction *f = kernel->function;
    SimtKernelInfo *info = &kernel->info;
    uint64_t at = 0;
    info->name = f->name;
    info->ptx_target = kernel->module->ptx->target;
    info->params = f->params < 64 ? f->params : 64;
    for (uint32_t i = 0; i < info->params; i++) {
        const PtxVariable *p = &f->param[i];
        uint32_t align = p->align ? p->align : ptx_type_bytes(p->type);
        if (align > 1) at = (at + align - 1) / align * align;
        info->param_offset[i] = (uint32_t)at;
        info->param_bytes[i] = (uint32_t)p->bytes;
        at += p->bytes;
    }
    info->params_bytes = (uint32_t)(at < (1u << 20) ? at : 1u << 20);
    const uint32_t *most = f->required_threads[0] ? f->required_threads : f->max_threads;
    uint64_t threads = most[0] ? most[0] : 0;
    for (int k = 1; k < 3 && threads; k++)
        threads *= most[k] ? most[k] : 1;
    info->max_threads = threads > 1024 ? 1024 : (uint32_t)threads;
    info->registers = 32;
    const CubinKernel *c = fatbin_kernel(kernel->module->fatbin, f->name);
    if (c) {
        info->registers = c->registers;
        kernel->cubin.local_bytes = c->local_bytes;
        kernel->cubin.sass = &c->machine;
    }
    kernel->cubin.has_registers = c && c->sm;
}

static int kernels_list(SimtModule *module, Error *error)
{
    const PtxModule *ptx = module->ptx;
    module->kernel = calloc(ptx->functions + 1, sizeof *module->kernel);
    if (!module->kernel) return error_set(error, "out of host memory for a module's kernels");
    for (uint32_t i = 0; i < ptx->functions; i++) {
        if (!ptx->function[i].is_entry || ptx->function[i].is_extern) continue;
        SimtKernel *kernel = &module->kernel[module->kernels++];
        kernel->module = module;
        kernel->function = &ptx->function[i];
        if (kernel->function->params > 64)
            return error_set(error, "kernel %s has %u parameters; 64 are supported",
                             kernel->function->name, kernel->function->params);
        info_fill(kernel);
    }
    return 0;
}

uint64_t simt_module_bytes(const SimtModule *module)
{
    const PtxModule *ptx = module->ptx;
    uint64_t all = 0;
    for (uint32_t i = 0; i < ptx->variables; i++)
        bytes_add(&ptx->variable[i], &all);
    for (uint32_t i = 0; i < ptx->functions; i++)
        for (uint32_t k = 0; k < ptx->function[i].variables; k++)
            bytes_add(&ptx->function[i].variable[k], &all);
    return all;
}

/* Before any is placed: placing writes them. */
static int variables_fit(const SimtModule *module, uint64_t room, Error *error)
{
    uint64_t all = simt_module_bytes(module);
    if (module->ptx->variables > VARIABLES_MAX)
        return error_set(error, "%u variables in a module; %d are supported",
                         module->ptx->variables, VARIABLES_MAX);
    if (!room || all <= room) return 0;
    return error_set(error,
                     "its __device__ and __constant__ variables take %" PRIu64 " MiB, and "
                     "%" PRIu64 " MiB are left of what a lab may hold",
                     all >> 20, room >> 20);
}

/* PTX for a newer generation than the machine's has instructions whose meaning is not known here.
 * Older machines execute PTX of up to 9.0, as far as they have its features. */
static int target_check(const SimtGpu *gpu, const PtxModule *ptx, Error *error)
{
    enum { NEWEST = 90 };
    const SimtMachine *machine = &gpu->machine;
    if (ptx->target <= NEWEST || ptx->target / 10 <= machine->cc_major) return 0;
    return error_set(error,
                     "the program has PTX for compute capability %u.%u (sm_%u), which the machine "
                     "%s, of %u.%u, cannot execute: compile it for compute_90 or older",
                     ptx->target / 10, ptx->target % 10, ptx->target, machine->name,
                     machine->cc_major, machine->cc_minor);
}

static int names_sort(SimtModule *module, Error *error)
{
    if (functions_sort(module))
        return error_set(error, "out of host memory for the names of a module's functions");
    return 0;
}

SimtModule *simt_module_load(SimtGpu *gpu, const void *image, size_t bytes, uint64_t room,
                             Error *error)
{
    SimtModule *module = calloc(1, sizeof *module);
    if (!module) {
        error_set(error, "out of host memory for a module");
        return NULL;
    }
    module->gpu = gpu;
    module->next = gpu->modules;
    gpu->modules = module;
    module->image = image_take(image, bytes, error);
    if (module->image) {
        module->ptx = module->image->ptx;
        module->fatbin = &module->image->fatbin;
        if (target_check(gpu, module->ptx, error) == 0 && variables_fit(module, room, error) == 0 &&
            names_sort(module, error) == 0 && symbols_place(module, error) == 0 &&
            kernels_list(module, error) == 0)
            return module;
    }
    simt_module_unload(gpu, module);
    return NULL;
}

void simt_heap_restore(SimtGpu *gpu)
{
    heap_restore(gpu);
}

void simt_modules_restore(SimtGpu *gpu)
{
    Error error; /* errors of initialisers were found at loading */
    for (SimtModule *module = gpu->modules; module; module = module->next)
        symbols_fill(module, &error);
}

void simt_module_unload(SimtGpu *gpu, SimtModule *module)
{
    SimtModule **link = &gpu->modules;
    simt_settle(gpu, NULL);
    while (*link && *link != module)
        link = &(*link)->next;
    if (!*link) return;
    *link = module->next;
    repeats_forget(gpu, module);
    for (uint32_t i = 0; i < module->kernels; i++)
        kernel_release(&module->kernel[i]);
    for (uint32_t i = 0; i < module->symbols; i++) {
        module->symbol[i].allocation->name = NULL;
        memory_free(&gpu->memory, module->symbol[i].address, NULL);
    }
    free(module->kernel);
    free(module->symbol);
    free(module->symbol_by_name);
    free(module->function_by_name);
    free(module->taken);
    image_leave(module->image);
    free(module);
}

/* The order of a function and a kernel's: kernels are in the order of the functions in the PTX. */
static int by_function(const void *function, const void *kernel)
{
    const PtxFunction *a = function, *b = ((const SimtKernel *)kernel)->function;
    return (a > b) - (a < b);
}

SimtKernel *simt_kernel_find(SimtModule *module, const char *name, Error *error)
{
    uint32_t first, count = functions_find(module, name, &first);
    for (uint32_t i = 0; i < count; i++) {
        const PtxFunction *function = &module->ptx->function[module->function_by_name[first + i]];
        SimtKernel *kernel =
            bsearch(function, module->kernel, module->kernels, sizeof *module->kernel, by_function);
        if (kernel) return kernel_decode(kernel, exec_handlers(), error) == 0 ? kernel : NULL;
    }
    error_set(error, "there is no kernel %s in the module", name);
    return NULL;
}

uint64_t simt_decode_work(void)
{
    return decode_work();
}

void simt_decode_allow(uint64_t more)
{
    decode_allow(more);
}

int simt_decode_is_stopped(void)
{
    return decode_is_stopped();
}

int simt_variable_find(SimtModule *module, const char *name, uint64_t *address, uint64_t *bytes,
                       Error *error)
{
    const Symbol *symbol = symbol_find(module, name);
    if (!symbol)
        return error_set(error, "there is no __device__ or __constant__ variable %s in the module",
                         name);
    *address = symbol->address;
    *bytes = symbol->variable->bytes;
    return 0;
}

void simt_kernel_info(const SimtKernel *kernel, SimtKernelInfo *info)
{
    *info = kernel->info;
    info->fences = kernel->traits.has_fences || kernel->traits.has_system_atomics;
}

uint32_t simt_resident_blocks(const SimtGpu *gpu, const SimtKernel *kernel, uint32_t threads,
                              uint32_t dynamic_shared, const char **limit)
{
    return resident_blocks(&gpu->machine, &kernel->info, threads, dynamic_shared, limit);
}

uint64_t simt_memory_span(const SimtGpu *gpu)
{
    return gpu->memory.next;
}

uint64_t simt_memory_begin(void)
{
    return DEVICE_BASE;
}
