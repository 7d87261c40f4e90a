/* nvrtc_program.h - NVRTC, CUDA's compiler as a library, by calling nvcc.
 *
 * Module: the functions of nvrtc.h, as a static library and as libnvrtc.so.
 * Callers: programs on the simulated GPU that compile kernels themselves.
 * May use: nothing.
 *
 * A program is written into a temporary folder and compiled to PTX.  A request for a cubin returns
 * the PTX, because the simulated GPU loads PTX. */
#ifndef CONVLAB_CUDA_NVRTC_PROGRAM_H
#define CONVLAB_CUDA_NVRTC_PROGRAM_H

#include <stddef.h>

typedef enum {
    NVRTC_SUCCESS = 0,
    NVRTC_ERROR_OUT_OF_MEMORY = 1,
    NVRTC_ERROR_PROGRAM_CREATION_FAILURE = 2,
    NVRTC_ERROR_INVALID_INPUT = 3,
    NVRTC_ERROR_INVALID_PROGRAM = 4,
    NVRTC_ERROR_INVALID_OPTION = 5,
    NVRTC_ERROR_COMPILATION = 6,
    NVRTC_ERROR_BUILTIN_OPERATION_FAILURE = 7,
    NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION = 8,
    NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION = 9,
    NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID = 10,
    NVRTC_ERROR_INTERNAL_ERROR = 11
} nvrtcResult;

typedef struct _nvrtcProgram *nvrtcProgram;

/* A text that the program owns. */
typedef struct NvrtcFile {
    char *name, *text;
} NvrtcFile;

struct _nvrtcProgram {
    char *name, *source, *log, *ptx; /* name: of the source file, for lines in messages */
    NvrtcFile *header;
    int headers;
    char **expression, **lowered; /* asked names, and those in the PTX or NULL */
    int expressions;
};

/* Compiles: fills log, and ptx if it succeeds. */
nvrtcResult nvrtc_compile(nvrtcProgram program, int count, const char *const *options);

/* The path of nvcc; set by the script that links the library, else nvcc is searched in PATH. */
extern const char simulate_nvcc[] __attribute__((weak));

#endif
