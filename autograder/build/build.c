/* build.c - build of a source file to a program: read, look up in the cache, compile, link,
 * store. */
#include "autograder/build/build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "autograder/build/build_parts.h"
#include "common/base/intake.h"

/* Removes every "<private directory>/" from the log, so that the student reads the file's own
 * name. */
static void log_shorten(char *log, const char *directory)
{
    char prefix[BUILD_PATH + 64];
    snprintf(prefix, sizeof prefix, "%s/", directory);
    size_t length = strlen(prefix);
    for (char *at = log; (at = strstr(at, prefix));)
        memmove(at, at + length, strlen(at + length) + 1);
}

static void broken(Build *build, const Error *error)
{
    build->status = BUILD_BROKEN;
    snprintf(build->message, sizeof build->message, "%s", error->text);
}

static int run_compiler(const BuildJob *job, Build *build, Error *error)
{
    SandboxEnd end;
    if (build_compile(job, build->log, &end, error)) return -1;
    log_shorten(build->log, job->directory);
    intake_clean(build->log);
    build_explain(job, 0, &end, build);
    /* A compiler that was killed for exceeding a limit did run. */
    if (build->status != BUILD_OK && end.excess == EXCESS_NONE && !end.flooded)
        build_environment_failed(job, build);
    return 0;
}

/* Looks up the object of this source; copies it to job->directory, with the compiler's output.  1:
 * found. */
static int object_find(BuildJob *job, Build *build)
{
    char path[2 * BUILD_PATH];
    Error error;
    char *log = build_cache_find(job, job->object, BUILD_KEPT, path, sizeof path);
    int found = log && !build_cache_copy(job, path, BUILD_OBJECT, &error);
    if (found) snprintf(build->log, BUILD_LOG_MAX, "%s", log);
    free(log);
    return found;
}

/* Stores a copy, because the linker's sandbox can change the original.  If it fails, the source is
 * compiled again. */
static void object_keep(const BuildJob *job, const Build *build)
{
    char path[2 * BUILD_PATH];
    Error error;
    snprintf(path, sizeof path, "%s/" BUILD_OBJECT, job->directory);
    if (!build_cache_copy(job, path, BUILD_KEPT, &error))
        build_cache_publish(job, job->object, BUILD_KEPT, build->log, &error);
}

/* Makes BUILD_OBJECT in job->directory, or sets build->status to the reason of the failure. */
static int object_make(BuildJob *job, Build *build, Error *error)
{
    build->status = BUILD_OK;
    if (job->compiled || (build->object_cached = object_find(job, build))) return 0;
    if (run_compiler(job, build, error)) return -1;
    if (build->status != BUILD_OK) return 0;
    if (job->device && build_digest_code(job, error)) return -1;
    object_keep(job, build);
    return 0;
}

/* Compiler and linker share the log; the compiler's warnings come first. */
static int run_tools(BuildJob *job, Build *build, Error *error)
{
    SandboxEnd end;
    build->log = calloc(2, BUILD_LOG_MAX);
    if (!build->log) return error_set(error, "out of memory");
    if (object_make(job, build, error)) return -1;
    if (build->status != BUILD_OK) return 0;
    size_t used = strlen(build->log);
    if (build_link(job, build->log + used, &end, error)) return -1;
    log_shorten(build->log, job->directory);
    intake_clean(build->log);
    build_explain(job, 1, &end, build);
    return 0;
}

/* The sandbox needs absolute paths. */
static int tool_missing(const char *what, const char *path, Error *error)
{
    if (!path || (*path == '/' && !access(path, X_OK))) return 0;
    return error_set(error, "%s is not at %s: run `make setup`, which finds or downloads it", what,
                     path);
}

static int build_fresh(BuildJob *job, Build *build, Error *error)
{
    if (tool_missing("nvcc", job->device ? job->toolchain->nvcc : NULL, error) ||
        tool_missing("a C compiler", job->device ? NULL : job->toolchain->cc, error) ||
        tool_missing("a C++ compiler", job->toolchain->cxx, error))
        return -1;
    if (build_cache_begin(job, error) || run_tools(job, build, error)) return -1;
    if (build->status != BUILD_OK) return 0;
    if (build_cache_publish(job, build->digest, BUILD_PROGRAM, build->log, error)) return -1;
    /* The program may be that of a parallel build of the same source, whose GPU code can differ in
     * nvcc's names for it. */
    return build_cache_code(job, build->digest) ? error_set(error, "out of memory") : 0;
}

static int program_find(BuildJob *job, Build *build)
{
    build->log =
        build_cache_find(job, build->digest, BUILD_PROGRAM, build->program, sizeof build->program);
    return build->log != NULL;
}

/* Builds a program from job->source, or finds it in the cache. */
static void build_taken(BuildJob *job, Build *build)
{
    Error error = {""};
    if (build_cache_open(job, &error) || build_digest(job, build->digest, &error)) {
        broken(build, &error);
    } else if (program_find(job, build)) {
        build->status = BUILD_OK;
        build->cached = 1;
    } else if (build_fresh(job, build, &error)) {
        broken(build, &error);
    }
    if (build->status == BUILD_OK && job->device && !job->code[0]) {
        error_set(&error, "%s/%s has no digest of its GPU code: delete that folder", job->cache,
                  build->digest);
        broken(build, &error);
    }
    if (build->status != BUILD_OK) build->program[0] = 0;
    snprintf(build->code, sizeof build->code, "%s", job->code);
    build_cache_end(job);
}

void build_submission(const Toolchain *toolchain, const char *folder, const char *source,
                      const char *entries, int cc, BuildKind kind, Build *build)
{
    BuildJob job = {
        .toolchain = toolchain, .entries = entries, .cc = cc, .kind = kind, .janitor_fd = -1};
    double start = sandbox_clock();
    *build = (Build){.status = BUILD_BROKEN};
    if (build_source_read(&job, folder, source, build->message, sizeof build->message))
        build->status = BUILD_REFUSED;
    else
        build_taken(&job, build);
    build->source = job.source;
    build->seconds = sandbox_clock() - start;
}

void build_program(const Toolchain *toolchain, const char *object, size_t object_bytes,
                   const char *entries, BuildKind kind, Build *build)
{
    BuildJob job = {.toolchain = toolchain,
                    .entries = entries,
                    .kind = kind,
                    .compiled = 1,
                    .name = BUILD_OBJECT,
                    .source = (char *)object,
                    .source_bytes = object_bytes,
                    .janitor_fd = -1};
    double start = sandbox_clock();
    *build = (Build){.status = BUILD_BROKEN};
    build_taken(&job, build);
    build->seconds = sandbox_clock() - start;
}

static int object_compile(BuildJob *job, const char *object, Error *error)
{
    Build build = {.status = BUILD_BROKEN, .log = calloc(1, BUILD_LOG_MAX)};
    char made[sizeof job->directory + 32];
    int status = build.log ? build_cache_open(job, error) : error_set(error, "out of memory");
    if (!status) status = build_digest_object(job, error);
    if (!status) status = build_cache_begin(job, error);
    if (!status) status = object_make(job, &build, error);
    if (!status && build.status != BUILD_OK) status = error_set(error, "%s", build.message);
    snprintf(made, sizeof made, "%s/" BUILD_OBJECT, job->directory);
    if (!status && rename(made, object)) status = error_set(error, "%s: %m", object);
    build_clear(&build);
    return status;
}

int build_object(const Toolchain *toolchain, const char *source, int cc, const char *object,
                 Error *error)
{
    BuildJob job = {.toolchain = toolchain, .cc = cc, .janitor_fd = -1};
    char message[sizeof error->text];
    int status = build_source_read(&job, NULL, source, message, sizeof message);
    status = status ? error_set(error, "%s", message) : object_compile(&job, object, error);
    build_cache_end(&job);
    free(job.source);
    return status;
}

void build_clear(Build *build)
{
    free(build->log);
    free(build->source);
    build->log = build->source = NULL;
}
