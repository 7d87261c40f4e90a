/* build_explain.c - the student's one-line message, derived from the compiler's or linker's output.
 *
 * The submission can influence this output (#error), so it affects only the wording;
 * build_environment.c finds out whether the installation is at fault. */
#include <ctype.h>
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autograder/build/build_parts.h"

enum { SYMBOL_BYTES = 200, SIGNATURE_BYTES = 400 };

static int has_any(const char *text, const char *const *list)
{
    for (; *list; list++)
        if (strstr(text, *list)) return 1;
    return 0;
}

/* The name in quotes after `phrase`: GNU ld writes undefined reference to `name', gold 'name'. */
static int symbol_after(const char *log, const char *phrase, char symbol[SYMBOL_BYTES])
{
    const char *start = strstr(log, phrase);
    if (!start) return 0;
    start += strlen(phrase);
    start += strspn(start, " `'\"");
    size_t length = strcspn(start, "'\"\n");
    if (length >= SYMBOL_BYTES) length = SYMBOL_BYTES - 1;
    memcpy(symbol, start, length);
    symbol[length] = 0;
    return length > 0;
}

static int symbol_is_undefined(const char *log, const char *symbol)
{
    char gnu[SYMBOL_BYTES + 32], gold[SYMBOL_BYTES + 32];
    snprintf(gnu, sizeof gnu, "undefined reference to `%s'", symbol);
    snprintf(gold, sizeof gold, "undefined reference to '%s'", symbol);
    return strstr(log, gnu) || strstr(log, gold);
}

/* ---- the entry point's declaration, from the course's headers -------------------------------- */

static int declaration_in(const char *path, const char *entry, char *out)
{
    char name[SYMBOL_BYTES], *text = calloc(1, 65536);
    FILE *file = text ? fopen(path, "r") : NULL;
    int found = 0;
    if (file && fread(text, 1, 65535, file) > 0) {
        snprintf(name, sizeof name, "CONVLAB_ENTRY void %s(", entry);
        const char *start = strstr(text, name);
        size_t used = 0;
        for (const char *c = start; c && *c && *c != ';' && used + 2 < SIGNATURE_BYTES; c++) {
            if (isspace((unsigned char)*c) && (!used || out[used - 1] == ' ')) continue;
            out[used++] = isspace((unsigned char)*c) ? ' ' : *c;
        }
        out[used] = 0;
        found = used > 0;
    }
    if (file) fclose(file);
    free(text);
    return found;
}

/* Stores the header's name ("conv.h") in `header`, and its declaration of the entry in `out`. */
static int declaration_find(const BuildJob *job, const char *entry, char header[64],
                            char out[SIGNATURE_BYTES])
{
    char directory[BUILD_PATH], path[BUILD_PATH + 300];
    int found = 0;
    snprintf(directory, sizeof directory, "%s/common/include/convlab", job->toolchain->root);
    DIR *list = opendir(directory);
    for (struct dirent *file; list && !found && (file = readdir(list));) {
        snprintf(path, sizeof path, "%s/%s", directory, file->d_name);
        snprintf(header, 64, "%.60s", file->d_name);
        found = declaration_in(path, entry, out);
    }
    if (list) closedir(list);
    return found;
}

/* ---- the link -------------------------------------------------------------------------------- */

/* A linker reports every undefined name; a missing entry point is reported first. */
static int explain_entry(const BuildJob *job, Build *build)
{
    char signature[SIGNATURE_BYTES] = "", header[64] = "conv.h", entry[BUILD_ENTRY];
    for (const char *at = job->entries; build_entry_next(&at, entry);) {
        if (!symbol_is_undefined(build->log, entry)) continue;
        int declared = declaration_find(job, entry, header, signature);
        snprintf(build->message, sizeof build->message,
                 "%s does not define %s; the grader calls%s%s (include <convlab/%s> and keep its "
                 "types)",
                 job->name, entry, declared ? " " : " it as ", declared ? signature : entry,
                 declared ? header : "conv.h");
        return 1;
    }
    return 0;
}

static void explain_undefined(const BuildJob *job, const char *symbol, Build *build)
{
    static const char *const libraries[] = {"cublas",   "cudnn", "cufft",     "curand", "cusparse",
                                            "cusolver", "nvrtc", "nvJitLink", NULL};
    if (!strncmp(symbol, "cuda", 4) || !strncmp(symbol, "__cuda", 6))
        snprintf(build->message, sizeof build->message,
                 "%s calls %s, which these labs do not support: docs/simulator/cuda-calls.md lists "
                 "the supported CUDA calls",
                 job->name, symbol);
    else if (has_any(symbol, libraries) ||
             (!strncmp(symbol, "cu", 2) && isupper((unsigned char)symbol[2])))
        snprintf(build->message, sizeof build->message,
                 "%s calls %s: the driver API and NVIDIA's libraries are not linked; write the "
                 "kernel yourself",
                 job->name, symbol);
    else
        snprintf(build->message, sizeof build->message, "%s uses %s, which is not defined",
                 job->name, symbol);
}

static void explain_link(const BuildJob *job, Build *build)
{
    char symbol[SYMBOL_BYTES];
    build->status = BUILD_ERROR;
    if (explain_entry(job, build)) return;
    if (symbol_after(build->log, "multiple definition of", symbol)) {
        build->status = BUILD_REFUSED;
        snprintf(
            build->message, sizeof build->message,
            "%s defines %s, which is a function of the grader: rename yours, or make it static",
            job->name, symbol);
    } else if (symbol_after(build->log, "undefined reference to", symbol)) {
        explain_undefined(job, symbol, build);
    } else {
        snprintf(build->message, sizeof build->message,
                 "%s does not link: see the linker's messages above", job->name);
    }
}

/* ---- the compiler ---------------------------------------------------------------------------- */

/* Device functions that nvcc declares from a compute capability on, in CUDA's headers for sm_80 and
 * sm_90; namespaces of mma.h.  `instead`: what earlier capabilities have. */
typedef struct NewerName {
    const char *start; /* beginning of the compiler's error message */
    int cc;
    const char *instead;
} NewerName;

static const NewerName newer_names[] = {
    {"identifier \"__reduce_", 80,
     "reduce over the warp with five steps of __shfl_xor_sync instead"},
    {"identifier \"__nv_associate_access_property", 80, "leave it out"},
    {"identifier \"__cluster", 90, "use a launch without clusters"},
    {"identifier \"__isCtaShared", 90, "use a launch without clusters"},
    {"identifier \"__isClusterShared", 90, "use a launch without clusters"},
};

/* "conv.cu(12)" before the error; the name after the first quotation mark. */
static int explain_newer(const BuildJob *job, const char *line, Build *build)
{
    for (size_t i = 0; i < sizeof newer_names / sizeof *newer_names; i++) {
        const NewerName *name = &newer_names[i];
        char symbol[SYMBOL_BYTES];
        if (job->cc >= name->cc || !strstr(line, name->start) || !strstr(line, "is undefined") ||
            !symbol_after(line, "identifier", symbol))
            continue;
        snprintf(build->message, sizeof build->message,
                 "%.*s: %s needs compute capability %d.%d, and this lab compiles for %d.%d: %s",
                 (int)strcspn(line, ":"), line, symbol, name->cc / 10, name->cc % 10, job->cc / 10,
                 job->cc % 10, name->instead);
        return 1;
    }
    return 0;
}

static void explain_compile(const BuildJob *job, Build *build)
{
    static const char *const marks[] = {"error", "Error", "fatal", NULL};
    build->status = BUILD_ERROR;
    for (const char *line = build->log; line && *line;) {
        int length = (int)strcspn(line, "\n");
        char one[600];
        snprintf(one, sizeof one, "%.*s", length, line);
        if (has_any(one, marks)) {
            if (explain_newer(job, one, build)) return;
            /* ptxas: an instruction in asm() that the lab's compute capability lacks. */
            if (strstr(one, "requires .target sm_"))
                snprintf(build->message, sizeof build->message,
                         "%s does not compile: %s (this lab compiles for compute capability %d.%d)",
                         job->name, one, job->cc / 10, job->cc % 10);
            else
                snprintf(build->message, sizeof build->message, "%s does not compile: %s",
                         job->name, one);
            return;
        }
        line += length + (line[length] == '\n');
    }
    snprintf(build->message, sizeof build->message,
             "%s does not compile, and the compiler gave no reason", job->name);
}

static int explain_limits(const BuildJob *job, const SandboxEnd *end, Build *build)
{
    /* These words distinguish failures of the submission; no points depend on them. */
    static const char *const memory[] = {"virtual memory exhausted", "out of memory",
                                         "annot allocate memory", "bad_alloc", NULL};
    static const char *const size[] = {"File too large", "File size limit", NULL};
    const char *what = NULL;
    if (end->excess == EXCESS_STARVED) {
        build->status = BUILD_STARVED;
        snprintf(build->message, sizeof build->message,
                 "compiling %s got %.0f s of CPU time in %.0f s, because this machine is too busy: "
                 "grade again when the machine is less busy",
                 job->name, end->used, end->seconds);
        return 1;
    }
    if (end->excess == EXCESS_CPU || end->signal == SIGXCPU)
        what = "more than 60 s of CPU time";
    else if (end->excess == EXCESS_WAITED)
        what = "60 s waiting for a file that does not arrive";
    else if (end->flooded)
        what = "more than 8 MiB of messages";
    else if (has_any(build->log, memory) || end->signal == SIGKILL)
        what = "more than 4 GiB of memory";
    else if (end->signal == SIGXFSZ || has_any(build->log, size))
        what = "a file of more than 256 MiB";
    if (!what) return 0;
    build->status = BUILD_LIMIT;
    snprintf(build->message, sizeof build->message,
             "compiling %s took %s and was stopped: no solution needs that much", job->name, what);
    return 1;
}

void build_explain(const BuildJob *job, int linking, const SandboxEnd *end, Build *build)
{
    if (end->code == 0) {
        build->status = BUILD_OK;
        build->message[0] = 0;
    } else if (!explain_limits(job, end, build)) {
        if (linking)
            explain_link(job, build);
        else
            explain_compile(job, build);
    }
}
