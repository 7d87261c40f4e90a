/* build_environment.c - check whether the installation caused a failed compilation.
 *
 * The compiler's output is no evidence, because the submission can influence it.  Instead, the disk
 * is checked for free space, and the compiler is run on a file that is known to be good. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "autograder/build/build_parts.h"

/* More than the compilation of a lab writes. */
#define ROOM_BYTES (16ll << 20)

static const char known_good_device[] =
    "#include <convlab/conv.h>\n"
    "__global__ void known_good(float *x) { x[threadIdx.x] = 1; }\n"
    "void known_good_launch(float *x) { known_good<<<1, 32>>>(x); }\n";
static const char known_good_host[] = "#include <convlab/conv.h>\n"
                                      "int known_good(int x) { return x + 1; }\n";

static int disk_is_full(const BuildJob *job)
{
    char path[BUILD_PATH + 64];
    snprintf(path, sizeof path, "%s/room", job->directory);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    int why = fd < 0 ? errno : posix_fallocate(fd, 0, ROOM_BYTES);
    if (fd >= 0) close(fd);
    unlink(path);
    return why == ENOSPC || why == EDQUOT;
}

static void first_line(char *log)
{
    log[strcspn(log, "\n")] = 0;
}

/* Runs the compiler on a good file; 1 with the status if that fails. */
static int compiler_fails(const BuildJob *job, Build *build)
{
    BuildJob good = *job;
    SandboxEnd end;
    Error error = {""};
    const char *source = job->device ? known_good_device : known_good_host;
    strcpy(good.name, job->device ? "known-good.cu" : "known-good.c");
    char *log = calloc(1, BUILD_LOG_MAX);
    int failed = !log || build_cache_add(&good, good.name, source, strlen(source), &error) ||
                 build_compile(&good, log, &end, &error);
    int starved = !failed && end.excess == EXCESS_STARVED;
    if (!failed && end.code != 0) {
        failed = 1;
        first_line(log);
        snprintf(error.text, sizeof error.text, "%.500s", *log ? log : "and it says nothing");
    }
    free(log);
    if (!failed) return 0;
    build->status = starved ? BUILD_STARVED : BUILD_BROKEN;
    snprintf(
        build->message, sizeof build->message,
        "the compiler also fails on a valid test file: %.600s; run `make setup` or `make doctor`",
        error.text);
    return 1;
}

int build_environment_failed(const BuildJob *job, Build *build)
{
    if (!disk_is_full(job)) return compiler_fails(job, build);
    build->status = BUILD_BROKEN;
    snprintf(build->message, sizeof build->message,
             "the disk of %.600s is full: free some space (`make clean` empties the build "
             "directory)",
             job->toolchain->build);
    return 1;
}
