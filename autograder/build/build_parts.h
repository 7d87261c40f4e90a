/* build_parts.h - steps of build.c: read the source, compute digests, compile in the sandbox,
 * store, explain errors. */
#ifndef CONVLAB_AUTOGRADER_BUILD_BUILD_PARTS_H
#define CONVLAB_AUTOGRADER_BUILD_BUILD_PARTS_H

#include <stddef.h>

#include "autograder/build/build.h"
#include "autograder/sandbox/sandbox.h"

/* BUILD_SECONDS: CPU time of all the compiler's processes together; any lab takes less than 10. */
enum { BUILD_PATH = 640, BUILD_SOURCE_MAX = 1 << 20, BUILD_LOG_MAX = 64 << 10, BUILD_SECONDS = 60 };
#define BUILD_MEMORY (4ull << 30)
/* The compiler's output in the private directory, and the linker's input. */
#define BUILD_OBJECT  "submission.o"
#define BUILD_PROGRAM "program"
#define BUILD_KEPT    "object" /* the name of BUILD_OBJECT in the cache */

/* State of one build. */
typedef struct BuildJob {
    const Toolchain *toolchain;
    const char *entries; /* functions that the source has to define, separated by blanks */
    int cc;              /* compute capability of the PTX */
    BuildKind kind;
    int device;     /* Boolean: .cu, not .c */
    int compiled;   /* Boolean: BUILD_OBJECT exists already and is only linked */
    char name[128]; /* "conv.cu" */
    char *source;   /* contents of the source file */
    size_t source_bytes;
    char object[65];                 /* digest of the object */
    char code[65];                   /* digest of its GPU code, or "" */
    char cache[BUILD_PATH];          /* build/cache */
    char directory[BUILD_PATH + 32]; /* the private directory of this build, beneath the cache */
    pid_t janitor;
    int janitor_fd; /* -1: none */
} BuildJob;

/* Reads the source (intake_read): a simple name, at most BUILD_SOURCE_MAX bytes.  -1 with the
 * student's line in `message`. */
int build_source_read(BuildJob *job, const char *folder, const char *source, char *message,
                      size_t bytes);

/* Digests as 64 hex digits: of the object's inputs, into job->object, and of the program's inputs.
 * -1 with error: a file of the course is missing. */
int build_digest_object(BuildJob *job, Error *error);
int build_digest(BuildJob *job, char digest[65], Error *error);

/* Fills job->code from the fat binary that nvcc left in job->directory. */
int build_digest_code(BuildJob *job, Error *error);

/* Iterates over the entry points of job->entries: *at starts as job->entries.  0 after the last. */
enum { BUILD_ENTRY = 100 };
int build_entry_next(const char **at, char entry[BUILD_ENTRY]);

/* The link's inputs in order, one call for each entry point and two archives: files that the digest
 * includes and the linker gets.  Returns their number. */
enum { BUILD_INPUTS = 10 };
typedef struct BuildInput {
    char path[BUILD_PATH + 160];
    int whole; /* Boolean: link every member of this archive */
} BuildInput;
int build_inputs(const BuildJob *job, BuildInput input[BUILD_INPUTS]);

/* Runs the compiler or the linker.  `log` has BUILD_LOG_MAX bytes.  -1 with error only if the
 * sandbox cannot be started. */
int build_compile(const BuildJob *job, char *log, SandboxEnd *end, Error *error);
int build_link(const BuildJob *job, char *log, SandboxEnd *end, Error *error);

/* The compiler's flags as one text, for the digest. */
extern const char build_flags_text[];

/* Fills build->status and build->message from what the compiler (linking 0) or the linker (linking
 * 1) said. */
void build_explain(const BuildJob *job, int linking, const SandboxEnd *end, Build *build);

/* Whether the installation caused a failed compilation: its disk is full, or its compiler fails on
 * a file that is known to be good, in the same sandbox.  1 with build->status BUILD_BROKEN (or
 * BUILD_STARVED) and the remedy; else 0. */
int build_environment_failed(const BuildJob *job, Build *build);

/* Opens or creates build/cache; removes stale directories. */
int build_cache_open(BuildJob *job, Error *error);
/* The path of file `name` of the entry `digest`, and its log, which the caller frees.  Fills
 * job->code.  NULL: no entry. */
char *build_cache_find(BuildJob *job, const char *digest, const char *name, char *path,
                       size_t bytes);
/* Fills job->code with that of the entry `digest`.  -1: out of memory. */
int build_cache_code(BuildJob *job, const char *digest);
int build_cache_begin(BuildJob *job, Error *error); /* makes job->directory and writes the source
                                                     * into it */
int build_cache_add(const BuildJob *job, const char *name, const void *data, size_t bytes,
                    Error *error); /* writes another file into job->directory */
/* Copies the regular file `from`, through no link, as `name` into job->directory. */
int build_cache_copy(const BuildJob *job, const char *from, const char *name, Error *error);
/* Moves the file `name` of job->directory into the entry `digest`, with a log and job->code. */
int build_cache_publish(const BuildJob *job, const char *digest, const char *name, const char *log,
                        Error *error);
/* Ensures that job->directory is removed when this process ends, until build_cleanup_end. */
void build_cleanup_start(BuildJob *job);
void build_cleanup_end(BuildJob *job);
void build_cache_end(BuildJob *job); /* removes job->directory */

#endif
