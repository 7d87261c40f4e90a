/* build.h - compiling a submission in the sandbox with the grader's own command line.
 *
 * Module: a submission's compilation and link, and the cache of what came out.
 * Callers: session, judging, the programs.
 * May use: sandbox, base.
 *
 * The program that comes out is linked from the submission's object, its entry points' calls and
 * librunner.a; nothing of the submission's directory but the one named source is visible to the
 * compiler (and the toolkit, and common/include). */
#ifndef CONVLAB_AUTOGRADER_BUILD_BUILD_H
#define CONVLAB_AUTOGRADER_BUILD_BUILD_H

#include <stddef.h>

#include "common/base/error.h"

/* From build/toolchain.env, which `make setup` writes: lines KEY=value. */
typedef struct Toolchain {
    char nvcc[512];         /* NVCC=, an absolute path */
    char include[512];      /* CUDA_INCLUDE=, the directory of cuda_runtime.h */
    char cc[512], cxx[512]; /* CC=, CXX= */
    char ptxas_flags[64];   /* PTXAS_FLAGS=, what this ptxas knows that others do not, or "" */
    char nvcc_flags[64];    /* NVCC_FLAGS=, the same of nvcc; it does what PTXAS_FLAGS does, too */
    char linker[64];        /* LINKER=, the switch for a faster linker than the usual, or "" */
    char lean[64];          /* LEAN=, where common/include/lean is, or "": build_command.c */
    char steps[64];         /* STEPS=, where steps.sh is, which does as this nvcc does, or "" */
    char root[512];         /* the workbook's root directory */
    char build[512];        /* the build directory */
} Toolchain;

int toolchain_load(const char *root, const char *build_directory, Toolchain *toolchain,
                   Error *error);

typedef enum BuildStatus {
    BUILD_OK,
    BUILD_ERROR,
    BUILD_LIMIT,
    BUILD_REFUSED,
    BUILD_STARVED, /* the machine was too busy to compile: nobody's fault */
    BUILD_BROKEN
} BuildStatus;

typedef struct Build {
    BuildStatus status;
    char program[512];  /* the runner or run executable, valid while the cache keeps it */
    char digest[65];    /* of all that went in: source, flags, compiler version, libraries */
    char *source;       /* the bytes that were compiled, NUL-terminated; NULL: refused */
    char *log;          /* the compiler's own lines, bounded, paths shortened; see build_clear */
    char message[1024]; /* one line for the student when not BUILD_OK */
    double seconds;
    int cached, object_cached; /* linked before; only compiled before */
} Build;

/* The sandboxed runner; the same of PTX without machine code, whose registers are guessed; the
 * one-process `run` program, and that with what a debugger wants. */
typedef enum BuildKind { BUILD_RUNNER, BUILD_RUNNER_PTX, BUILD_RUN, BUILD_RUN_DEBUG } BuildKind;

/* Compiles folder/source (.cu or .c; common/base/intake.h says what is taken), which defines
 * `entries` (one or several names with blanks between: "pool_forward fc_forward"), into a program.
 * `cc`, 75 or more, is the compute capability that its PTX is for: what a lab's `needs` says, or
 * 75, which every driver since Turing takes.  Cached by digest under build/cache; a cached build
 * costs milliseconds, and a further kind of one that was compiled before only its link.  Always
 * fills *build; never trusts the source. */
void build_submission(const Toolchain *toolchain, const char *folder, const char *source,
                      const char *entries, int cc, BuildKind kind, Build *build);
void build_clear(Build *build);

/* The two halves, for the workbook's own programs in a student's copy, which has no source of them.
 *
 * build_object compiles `source`, as above, into the file `object`, which
 * lies on the build directory's file system.  -1 with error: it does not compile. */
int build_object(const Toolchain *toolchain, const char *source, int cc, const char *object,
                 Error *error);
/* build_program links such an object into a program, with the same cache: as build_submission from
 * there on.  Build.source stays NULL. */
void build_program(const Toolchain *toolchain, const char *object, size_t object_bytes,
                   const char *entries, BuildKind kind, Build *build);

#endif
