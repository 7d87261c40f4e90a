/* build_parts.h - the steps of build.c: take the source in, name what goes in, compile in the box,
 * keep, explain. */
#ifndef CONVLAB_AUTOGRADER_BUILD_BUILD_PARTS_H
#define CONVLAB_AUTOGRADER_BUILD_BUILD_PARTS_H

#include <stddef.h>

#include "autograder/build/build.h"
#include "autograder/sandbox/sandbox.h"

/* BUILD_SECONDS: of CPU time, of all the compiler's processes together; any lab takes under 10. */
enum { BUILD_PATH = 640, BUILD_SOURCE_MAX = 1 << 20, BUILD_LOG_MAX = 64 << 10, BUILD_SECONDS = 60 };
#define BUILD_MEMORY     (4ull << 30)
#define BUILD_FILE_BYTES (256ull << 20)
/* What the compiler leaves in the private directory, and the linker takes. */
#define BUILD_OBJECT  "submission.o"
#define BUILD_PROGRAM "program"
#define BUILD_KEPT    "object" /* what BUILD_OBJECT is called in the cache */

/* One build under way. */
typedef struct BuildJob {
    const Toolchain *toolchain;
    const char *entries; /* what the source has to define, with blanks between */
    int cc;              /* compute capability of the PTX */
    BuildKind kind;
    int device;     /* .cu rather than .c */
    int compiled;   /* the source is BUILD_OBJECT already: it is linked only */
    char name[128]; /* "conv.cu" */
    char *source;   /* its bytes */
    size_t source_bytes;
    char object[65];                 /* the digest of what it is compiled to */
    char cache[BUILD_PATH];          /* build/cache */
    char directory[BUILD_PATH + 32]; /* the private directory of this build, beneath the cache */
    pid_t janitor;
    int janitor_fd; /* -1: none */
} BuildJob;

/* Reads the source (intake_read): of a plain name, at most BUILD_SOURCE_MAX bytes.  -1 with the
 * student's line in `message`. */
int build_source_read(BuildJob *job, const char *folder, const char *source, char *message,
                      size_t bytes);

/* Digests as 64 hex digits: of everything that goes into the object, into job->object, and of
 * everything that goes into the program.  -1 with error: something of ours is missing. */
int build_digest_object(BuildJob *job, Error *error);
int build_digest(BuildJob *job, char digest[65], Error *error);

/* The entry points of job->entries, one after the other: *at begins as job->entries.  0 when there
 * is no further one. */
enum { BUILD_ENTRY = 100 };
int build_entry_next(const char **at, char entry[BUILD_ENTRY]);

/* The link's inputs in order, a call for each entry point and two archives: files that the digest
 * covers and the linker is given.  Returns how many. */
enum { BUILD_INPUTS = 10 };
typedef struct BuildInput {
    char path[BUILD_PATH + 160];
    int whole; /* every member of this archive, wanted or not */
} BuildInput;
int build_inputs(const BuildJob *job, BuildInput input[BUILD_INPUTS]);

/* The compiler's and the linker's turn.  `log` has BUILD_LOG_MAX bytes.  -1 with error only when
 * the box cannot be started. */
int build_compile(const BuildJob *job, char *log, SandboxEnd *end, Error *error);
int build_link(const BuildJob *job, char *log, SandboxEnd *end, Error *error);

/* The compiler's flags as one text, for the digest; changes when they change. */
extern const char build_flags_text[];

/* Fills build->status and build->message from what the compiler (linking 0) or the linker (linking
 * 1) said. */
void build_explain(const BuildJob *job, int linking, const SandboxEnd *end, Build *build);

/* Whose fault a failed compilation is: the house's if its disk is full, or if its compiler fails on
 * a file that is known to be good, in the same box.  1 with build->status BUILD_BROKEN (or
 * BUILD_STARVED) and the remedy; else 0. */
int build_house_failed(const BuildJob *job, Build *build);

/* build/cache: present or made; stale leftovers swept. */
int build_cache_open(BuildJob *job, Error *error);
/* The file `name` of the entry `digest`, and its log, which the caller frees.  NULL: not there. */
char *build_cache_find(const BuildJob *job, const char *digest, const char *name, char *path,
                       size_t bytes);
int build_cache_begin(BuildJob *job, Error *error); /* makes job->directory with the source in it */
int build_cache_add(const BuildJob *job, const char *name, const void *data, size_t bytes,
                    Error *error); /* another file into job->directory */
/* The regular file `from`, behind no link, as `name` into job->directory. */
int build_cache_copy(const BuildJob *job, const char *from, const char *name, Error *error);
/* Moves the file `name` of job->directory into the entry `digest`, beside a log. */
int build_cache_publish(const BuildJob *job, const char *digest, const char *name, const char *log,
                        Error *error);
/* Sees to it that job->directory goes when this process ends, until build_janitor_end. */
void build_janitor_start(BuildJob *job);
void build_janitor_end(BuildJob *job);
void build_cache_end(BuildJob *job); /* removes job->directory */

#endif
