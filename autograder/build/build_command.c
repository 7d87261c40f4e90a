/* build_command.c - the grader's compiler command lines, and the sandbox for them.
 *
 * nvcc generates PTX for compute_75 or the lab's requirement, which the simulator executes and any
 * newer driver can compile, and from that PTX machine code for sm_90.  So the source is compiled
 * once, ptxas's registers belong to the executed code, and __CUDA_ARCH__ is the same for both.  A
 * lab that needs 9.0 uses Hopper's units, which PTX calls compute_90a and only sm_90a has.  The C
 * of host labs is compiled with -O3 and without -march for submission, baseline and reference, so
 * that a measured ratio depends on the code and not on the flags. */
#include <ctype.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "autograder/build/build_parts.h"

/* -O1 affects the host's code, which launches kernels and is not judged for speed; device code is
 * the same at any level.  177 and 550: a variable is never used, which is usual in skeletons. */
#define DEVICE_FLAGS                                                                               \
    "-O1", "-lineinfo", "-std=c++17", "-cudart", "none", "-Xcompiler=-Wall",                       \
        "-Wno-deprecated-gpu-targets", "-diag-suppress=177,550"
#define NATIVE_CODE "sm_90"

/* Compiles host and device code in parallel; with Toolchain.nvcc_flags also kernels in parallel. */
#define SIDE_BY_SIDE "--threads=2"
#define HOST_FLAGS   "-O3", "-std=c11", "-Wall"

enum { ARGUMENTS = 64, ENVIRONMENT = 8, BUILD_PROCESSES = 64, HOPPER = 90 };

static const char *const device_flags[] = {DEVICE_FLAGS, NULL};
static const char *const host_flags[] = {HOST_FLAGS, NULL};

#define TEXT2(...) #__VA_ARGS__
#define TEXT(...)  TEXT2(__VA_ARGS__)
const char build_flags_text[] = "8 " TEXT(DEVICE_FLAGS) " " NATIVE_CODE " " TEXT(HOST_FLAGS);

typedef struct Command {
    const char *argv[ARGUMENTS];
    int count;
    char include[BUILD_PATH], lean[BUILD_PATH + 64], host_compiler[BUILD_PATH], ptx[64], ptxas[80];
    char steps[BUILD_PATH + 64];
} Command;

static void command_add(Command *command, const char *argument)
{
    if (command->count + 1 < ARGUMENTS) command->argv[command->count++] = argument;
}

static void command_add_all(Command *command, const char *const *list)
{
    while (*list)
        command_add(command, *list++);
}

/* ---- the sandbox ----------------------------------------------------------------------------- */

/* The directory above the program's bin/, with links resolved: the root of a toolkit. */
static void prefix_of(const char *program, char *prefix, size_t bytes)
{
    char full[PATH_MAX];
    if (!realpath(program, full)) snprintf(full, sizeof full, "%s", program);
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(full, '/');
        if (slash) *slash = 0;
    }
    snprintf(prefix, bytes, "%s", full);
}

/* Whether the sandbox already contains the directory: /usr/bin and similar ones. */
static int is_system(const char *prefix)
{
    return !*prefix || !strcmp(prefix, "/usr") || !strncmp(prefix, "/usr/lib/", 9);
}

static int box_run(const BuildJob *job, const Command *command, const char *const *extra, char *log,
                   SandboxEnd *end, Error *error)
{
    const Toolchain *toolchain = job->toolchain;
    const char *tool[] = {toolchain->nvcc, toolchain->cc, toolchain->cxx};
    char prefix[3][PATH_MAX], include[BUILD_PATH];
    /* The directory in which nvcc works; nvcc --threads does not support a path with a space. */
    const char *environment[] = {"PATH=/usr/bin:/bin", "LC_ALL=C", "TMPDIR=.", NULL};
    int count = 0;
    SandboxSpec spec = {.argv = command->argv,
                        .environment = environment,
                        .directory = job->directory,
                        .writable = {job->directory},
                        .cpu_seconds = BUILD_SECONDS,
                        .memory_bytes = BUILD_MEMORY,
                        .file_bytes = BUILD_FILE_BYTES,
                        .processes = BUILD_PROCESSES};
    snprintf(include, sizeof include, "%s/common/include", toolchain->root);
    spec.read_only[count++] = include;
    for (int i = job->device ? 0 : 1; i < 3; i++) {
        prefix_of(tool[i], prefix[i], sizeof prefix[i]);
        if (!is_system(prefix[i])) spec.read_only[count++] = prefix[i];
    }
    while (extra && *extra)
        spec.read_only[count++] = *extra++;
    return sandbox_run(&spec, BUILD_SECONDS, log, BUILD_LOG_MAX, end, error);
}

/* ---- compile --------------------------------------------------------------------------------- */

/* Every CUDA source includes cuda_runtime.h and <cmath>, which are read four times and take most of
 * its compilation.  A source that contains none of a part's words does not need that part:
 *   - from C++17 on g++'s <cmath> has Bessel functions and similar ones, all in namespace std, and
 *     much of the library that they need;
 *   - the C library's functions of _Float32 and similar types: all of <math.h> again for each;
 *   - parts that the toolkit's other headers also use: textures and surfaces, loads and stores by
 *     cache (a function for each type), shuffles, atomics, and dot products of bytes.  A source
 *     that includes one of those headers has all of these parts.
 * A part is left out by defining its header's include guard. */
enum { PART_WORDS = 8, PART_GUARDS = 4 };

typedef struct Part {
    const char *guard[PART_GUARDS], *word[PART_WORDS];
    int toolkit; /* Boolean: other headers of the toolkit use it */
} Part;

static const Part parts[] = {
    {{"-D_GLIBCXX_BITS_SPECFUN_H=1"}, {"std"}, 0},
    {{"-D_BITS_FLOATN_H", "-D_BITS_FLOATN_COMMON_H"},
     {"*_Float", "*f32", "*f64", "*f128", "*_F32", "*_F64", "*_F128"},
     0},
    {{"-D__TEXTURE_INDIRECT_FUNCTIONS_H__", "-D__SURFACE_INDIRECT_FUNCTIONS_H__",
      "-D__CHANNEL_DESCRIPTOR_H__"},
     {"*tex1", "*tex2", "*tex3", "*texC", "*surf", "*CreateChannelDesc"},
     1},
    {{"-D__SM_32_INTRINSICS_H__"}, {"*__ld", "*__st", "*__funnel"}, 1},
    {{"-D__SM_30_INTRINSICS_H__"},
     {"*__shfl", "*_sync", "*__syncwarp", "*__activemask", "*__fns"},
     1},
    {{"-D__SM_20_ATOMIC_FUNCTIONS_H__", "-D__SM_32_ATOMIC_FUNCTIONS_H__",
      "-D__SM_60_ATOMIC_FUNCTIONS_H__"},
     {"*atomic", "*pipeline"},
     1},
    {{"-D__SM_61_INTRINSICS_H__"}, {"*__dp"}, 1},
};

/* The mathematical functions are a third of the headers.  A source needs them if it includes a
 * header of them, uses namespace std, or calls one of these, with or without a final f.
 * -Xcompiler=-D also reaches the last step, which includes the same header again. */
static const char *const math_guards[] = {"-Xcompiler=-D__MATH_FUNCTIONS_H__",
                                          "-Xcompiler=-D__DEVICE_FUNCTIONS_HPP__"};
static const char *const math_names[] = {
    "abs",       "acos",   "acosh",    "asin",   "asinh",     "atan",   "atan2",    "atanh",
    "cbrt",      "ceil",   "copysign", "cos",    "cosh",      "cospi",  "erf",      "erfc",
    "exp",       "exp10",  "exp2",     "expm1",  "fabs",      "fdim",   "floor",    "fma",
    "fmax",      "fmin",   "fmod",     "frexp",  "hypot",     "ilogb",  "isfinite", "isinf",
    "isnan",     "ldexp",  "lgamma",   "llrint", "llround",   "log",    "log10",    "log1p",
    "log2",      "logb",   "lrint",    "lround", "max",       "min",    "modf",     "nan",
    "nearbyint", "norm",   "pow",      "rcbrt",  "remainder", "rhypot", "rint",     "round",
    "rsqrt",     "scalbn", "sin",      "sincos", "sincospi",  "sinh",   "sinpi",    "signbit",
    "sqrt",      "tan",    "tanh",     "tgamma", "trunc",     "umax",   "umin",
};

/* Headers that use no part of the toolkit beyond the basic ones. */
static const char *const plain_headers[] = {
    "convlab/",  "stdio.h",  "stdlib.h",       "stdint.h",        "stddef.h",
    "stdbool.h", "stdarg.h", "string.h",       "math.h",          "limits.h",
    "float.h",   "assert.h", "cuda_runtime.h", "cuda_pipeline.h", "cuda.h",
};

static int is_word(char letter)
{
    return isalnum((unsigned char)letter) || letter == '_';
}

/* "std": a whole word; "*tex": also inside other words. */
static int source_says(const BuildJob *job, const char *word)
{
    const char *end = job->source + job->source_bytes, *from = job->source;
    const int within = *word == '*';
    const size_t length = strlen(word += within);
    for (const char *at; (at = memmem(from, (size_t)(end - from), word, length)); from = at + 1) {
        if (within) return 1;
        if ((at == job->source || !is_word(at[-1])) && (at + length == end || !is_word(at[length])))
            return 1;
    }
    return 0;
}

/* Whether `at`, after the word "include", names one of plain_headers. */
static int names_plain(const char *at)
{
    at += strspn(at, " <");
    for (size_t i = 0; i < sizeof plain_headers / sizeof *plain_headers; i++)
        if (!strncmp(at, plain_headers[i], strlen(plain_headers[i]))) return 1;
    return 0;
}

/* Replaces g++'s header by common/include/lean/utility for a source that uses nothing of namespace
 * std and includes no header that does.  `make setup` has tested it. */
static void lean_add(const BuildJob *job, int others, Command *command)
{
    if (others || !job->toolchain->lean[0] || source_says(job, "std")) return;
    snprintf(command->lean, sizeof command->lean, "-I%s/%s", job->toolchain->root,
             job->toolchain->lean);
    command_add(command, command->lean);
}

/* Searches for the word alone, anywhere; "included" is another word.  job->source ends with 0. */
static int source_includes_others(const BuildJob *job)
{
    const char *end = job->source + job->source_bytes, *at = job->source;
    while ((at = memmem(at, (size_t)(end - at), "include", 7))) {
        at += 7;
        if (!isalpha((unsigned char)*at) && !names_plain(at)) return 1;
    }
    return 0;
}

static int part_is_needed(const Part *part, const BuildJob *job, int others)
{
    if (part->toolkit && others) return 1;
    for (int i = 0; i < PART_WORDS && part->word[i]; i++)
        if (source_says(job, part->word[i])) return 1;
    return 0;
}

static int is_math_name(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof math_names / sizeof *math_names; i++) {
        const size_t whole = strlen(math_names[i]);
        if (length < whole || memcmp(name, math_names[i], whole)) continue;
        if (length == whole || (length == whole + 1 && name[whole] == 'f')) return 1;
    }
    return 0;
}

/* Whether a name before a parenthesis is one of math_names. */
static int source_calls_math(const BuildJob *job)
{
    for (const char *at = job->source; (at = strchr(at, '(')); at++) {
        const char *stop = at;
        while (stop > job->source && isspace((unsigned char)stop[-1]))
            stop--;
        const char *name = stop;
        while (name > job->source && is_word(name[-1]))
            name--;
        if (is_math_name(name, (size_t)(stop - name))) return 1;
    }
    return 0;
}

/* Other functions, and calls that a macro or a template hides, do not compile without the headers:
 * then steps.sh compiles again without these options.  __vimax_s32_relu and similar functions would
 * compile, because the headers declare them, but without their definitions. */
static void math_leave_out(const BuildJob *job, int others, Command *command)
{
    if (others || !*command->steps || !job->toolchain->lean[0]) return;
    if (source_says(job, "*math") || source_says(job, "*__vi") || source_says(job, "std")) return;
    if (source_calls_math(job)) return;
    for (size_t i = 0; i < sizeof math_guards / sizeof *math_guards; i++)
        command_add(command, math_guards[i]);
}

static void parts_leave_out(const BuildJob *job, Command *command)
{
    const int others = source_includes_others(job);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (part_is_needed(&parts[i], job, others)) continue;
        for (int j = 0; j < PART_GUARDS && parts[i].guard[j]; j++)
            command_add(command, parts[i].guard[j]);
    }
    math_leave_out(job, others, command);
    lean_add(job, others, command);
}

/* Processes kernels in parallel: optimisation and generation of machine code, or the latter alone.
 * Functions that are not inlined then get a name per kernel, which is not possible with
 * accelerators, because they are identified by name. */
static void kernels_add(const BuildJob *job, Command *command)
{
    const Toolchain *toolchain = job->toolchain;
    const int by_name = source_says(job, "*noinline") || source_says(job, "*accelerator");
    if (toolchain->nvcc_flags[0] && !by_name) {
        command_add(command, toolchain->nvcc_flags);
        return;
    }
    snprintf(command->ptxas, sizeof command->ptxas, "-Xptxas=%s", toolchain->ptxas_flags);
    if (toolchain->ptxas_flags[0]) command_add(command, command->ptxas);
}

/* Performs nvcc's steps with steps.sh, which leaves no core idle; else nvcc, which can compile host
 * and device code in parallel. */
static void steps_add(const BuildJob *job, const char *nvcc, Command *command)
{
    const Toolchain *toolchain = job->toolchain;
    if (toolchain->steps[0] && job->kind != BUILD_RUN_DEBUG) {
        snprintf(command->steps, sizeof command->steps, "%s/%s", toolchain->root, toolchain->steps);
        command_add(command, "/bin/sh");
        command_add(command, command->steps);
        command_add(command, nvcc);
    } else {
        command_add(command, nvcc);
        command_add(command, SIDE_BY_SIDE);
        command_add(command, "--keep");
    }
    command_add_all(command, device_flags);
}

static int device_compile(const BuildJob *job, char *log, SandboxEnd *end, Error *error)
{
    char nvcc[PATH_MAX];
    Command command = {.count = 0};
    if (!realpath(job->toolchain->nvcc, nvcc))
        return error_set(error, "nvcc is not at %s any more: run `make setup`",
                         job->toolchain->nvcc);
    snprintf(command.include, sizeof command.include, "-I%s/common/include", job->toolchain->root);
    snprintf(command.host_compiler, sizeof command.host_compiler, "-ccbin=%s", job->toolchain->cxx);
    steps_add(job, nvcc, &command);
    const char *units = job->cc == HOPPER ? "a" : "";
    int used = snprintf(command.ptx, sizeof command.ptx, "arch=compute_%d%s,code=[compute_%d%s",
                        job->cc, units, job->cc, units);
    snprintf(command.ptx + used, sizeof command.ptx - (size_t)used, "%s%s]",
             job->kind == BUILD_RUNNER_PTX ? "" : "," NATIVE_CODE,
             job->kind == BUILD_RUNNER_PTX ? "" : units);
    command_add(&command, "-gencode");
    command_add(&command, command.ptx);
    kernels_add(job, &command);
    if (job->kind == BUILD_RUN_DEBUG) command_add(&command, "-g");
    parts_leave_out(job, &command);
    const char *const rest[] = {
        command.host_compiler, command.include, "-c", job->name, "-o", BUILD_OBJECT, NULL};
    command_add_all(&command, rest);
    const char *const extra[] = {*command.steps ? command.steps : NULL, NULL};
    return box_run(job, &command, extra, log, end, error);
}

static int host_compile(const BuildJob *job, char *log, SandboxEnd *end, Error *error)
{
    Command command = {.count = 0};
    snprintf(command.include, sizeof command.include, "-I%s/common/include", job->toolchain->root);
    command_add(&command, job->toolchain->cc);
    command_add_all(&command, host_flags);
    if (job->kind == BUILD_RUN_DEBUG) command_add(&command, "-g");
    const char *const rest[] = {command.include, "-c", job->name, "-o", BUILD_OBJECT, NULL};
    command_add_all(&command, rest);
    return box_run(job, &command, NULL, log, end, error);
}

int build_compile(const BuildJob *job, char *log, SandboxEnd *end, Error *error)
{
    return job->device ? device_compile(job, log, end, error) : host_compile(job, log, end, error);
}

/* ---- link ------------------------------------------------------------------------------------ */

int build_entry_next(const char **at, char entry[BUILD_ENTRY])
{
    *at += strspn(*at, " ");
    int length = (int)strcspn(*at, " ");
    snprintf(entry, BUILD_ENTRY, "%.*s", length, *at);
    *at += length;
    return length > 0;
}

static int is_runner(const BuildJob *job)
{
    return job->kind == BUILD_RUNNER || job->kind == BUILD_RUNNER_PTX;
}

int build_inputs(const BuildJob *job, BuildInput input[BUILD_INPUTS])
{
    const char *build = job->toolchain->build, *program = is_runner(job) ? "runner" : "run";
    const char *at = job->entries;
    char entry[BUILD_ENTRY];
    size_t room = sizeof input->path;
    int count = 0;
    while (count < BUILD_INPUTS - 2 && build_entry_next(&at, entry))
        snprintf(input[count++].path, room, "%s/obj/common/operations/calls/%s.o", build, entry);
    for (int i = 0; i < count; i++)
        input[i].whole = 0;
    input[count].whole = 1;
    snprintf(input[count++].path, room, "%s/lib/%s.a", build, program);
    input[count].whole = 0;
    snprintf(input[count++].path, room, "%s/lib/%s-modules.a", build, program);
    return count;
}

int build_link(const BuildJob *job, char *log, SandboxEnd *end, Error *error)
{
    static const char *const run[] = {"-ljansson", "-linih", "-lmuparser", "-lsodium", NULL};
    static const char *const always[] = {"-lzstd", "-llz4", "-ldl", "-lpthread", "-lm", NULL};
    char library[BUILD_PATH], object[BUILD_PATH];
    const char *const extra[] = {library, object, NULL};
    BuildInput input[BUILD_INPUTS];
    Command command = {.count = 0};
    int inputs = build_inputs(job, input);
    snprintf(library, sizeof library, "%s/lib", job->toolchain->build);
    snprintf(object, sizeof object, "%s/obj/common/operations/calls", job->toolchain->build);
    command_add(&command, job->toolchain->cxx);
    if (job->toolchain->linker[0]) command_add(&command, job->toolchain->linker);
    command_add(&command, "-o");
    command_add(&command, "program");
    command_add(&command, BUILD_OBJECT);
    for (int i = 0; i < inputs; i++) {
        if (input[i].whole) command_add(&command, "-Wl,--whole-archive");
        command_add(&command, input[i].path);
        if (input[i].whole) command_add(&command, "-Wl,--no-whole-archive");
    }
    if (!is_runner(job)) command_add_all(&command, run);
    command_add_all(&command, always);
    return box_run(job, &command, extra, log, end, error);
}
