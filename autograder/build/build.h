/* build.h - compiling a submission in the sandbox with the grader's own command line.
 *
 * Module: a submission's compilation and link, and the cache of the results.
 * Callers: session, judging, the programs.
 * May use: sandbox, base.
 *
 * The program is linked from the submission's object, its entry points' calls and librunner.a.
 * The compiler sees the toolkit, common/include and, of the submission's directory, only the named
 * source. */
#ifndef CONVLAB_AUTOGRADER_BUILD_BUILD_H
#define CONVLAB_AUTOGRADER_BUILD_BUILD_H

#include <stddef.h>

#include "common/base/error.h"

/* Contents of build/toolchain.env, which `make setup` writes: lines KEY=value. */
typedef struct Toolchain {
    char nvcc[512];         /* NVCC=, an absolute path */
    char include[512];      /* CUDA_INCLUDE=, the directory that contains cuda_runtime.h */
    char cc[512], cxx[512]; /* CC=, CXX= */
    char ptxas_flags[64];   /* PTXAS_FLAGS=, flags that only this version of ptxas has, or "" */
    char nvcc_flags[64];    /* NVCC_FLAGS=, flags that only this version of nvcc has, including the
                             * effect of PTXAS_FLAGS */
    char linker[64];        /* LINKER=, the option that selects a faster linker, or "" */
    char lean[64];          /* LEAN=, folder of common/include/lean, or "" (build_command.c) */
    char steps[64];         /* STEPS=, folder of steps.sh, which performs nvcc's steps in parallel,
                             * or "" */
    char root[512];         /* the course's root folder */
    char build[512];        /* the build directory */
} Toolchain;

int toolchain_load(const char *root, const char *build_directory, Toolchain *toolchain,
                   Error *error);

typedef enum BuildStatus {
    BUILD_OK,
    BUILD_ERROR,
    BUILD_LIMIT,
    BUILD_REFUSED,
    BUILD_STARVED, /* the machine was too busy to compile: not the submission's fault */
    BUILD_BROKEN
} BuildStatus;

typedef struct Build {
    BuildStatus status;
    char program[512];  /* digest of all inputs: source, flags, compiler version, libraries */
    char digest[65];    /* digest of all inputs: source, flags, compiler version, libraries */
    char code[65];      /* build_code_digest of the fat binary that nvcc made; "": no GPU code, or
                         * an object of the course */
    char *source;       /* the compiled bytes, NUL-terminated; NULL: rejected */
    char *log;          /* the compiler's output, bounded, with shortened paths; freed by
                         * build_clear */
    char message[1024]; /* one line for the student when not BUILD_OK */
    double seconds;
    int cached, object_cached; /* Booleans: the program, or only its object, came from the cache */
} Build;

/* The sandboxed runner; the same from PTX without machine code, with estimated registers; the
 * one-process program `run`; `run` with debugging information. */
typedef enum BuildKind { BUILD_RUNNER, BUILD_RUNNER_PTX, BUILD_RUN, BUILD_RUN_DEBUG } BuildKind;

/* Compiles folder/source (.cu or .c; accepted text: common/base/intake.h), which defines `entries`
 * (one or several names separated by blanks: "pool_forward fc_forward"), into a program. `cc`, 75
 * or more, is the compute capability of its PTX: a lab's `needs`, or 75, which every driver since
 * Turing accepts.  Cached by digest under build/cache: a cached build takes milliseconds, and
 * another kind of an already compiled source needs only the link.  Always fills *build; never
 * trusts the source. */
void build_submission(const Toolchain *toolchain, const char *folder, const char *source,
                      const char *entries, int cc, BuildKind kind, Build *build);
void build_clear(Build *build);

/* The largest file that the compiler may write, and so the largest fat binary. */
#define BUILD_FILE_BYTES (256ull << 20)

/* Digest of a fat binary as 64 hex digits.  The device process accepts only this code from a
 * submission, because a program could contain PTX or machine code that nvcc did not make. */
void build_code_digest(const void *image, size_t bytes, char digest[65]);

/* The two halves, for the course's own programs, whose sources a student's copy does not have.
 *
 * build_object compiles `source`, as above, into the file `object`, which is on the build
 * directory's file system.  -1 with error: it does not compile. */
int build_object(const Toolchain *toolchain, const char *source, int cc, const char *object,
                 Error *error);
/* build_program links such an object into a program, with the same cache, like the second half of
 * build_submission.  Build.source stays NULL. */
void build_program(const Toolchain *toolchain, const char *object, size_t object_bytes,
                   const char *entries, BuildKind kind, Build *build);

#endif
