/* findings.h - findings of the checks as a file for other programs, and their suppression.
 *
 * Module: reports of make simulate and of programs built with simnvcc.
 * Callers: simulate.
 * May use: text, base. */
#ifndef CONVLAB_AUTOGRADER_FINDINGS_FINDINGS_H
#define CONVLAB_AUTOGRADER_FINDINGS_FINDINGS_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"

/* A finding and those like it. */
typedef struct Finding {
    char check[32];    /* "memcheck", "api" for a call that failed */
    char kernel[256];  /* "": none */
    char source[256];  /* file without folders; "": unknown */
    char text[1024];   /* one or more lines */
    char launch[700];  /* launch and line of the host program, or "" */
    uint32_t line;     /* 0: unknown */
    int is_warning;    /* Boolean: does not change the exit status */
    int is_suppressed; /* Boolean: a suppression matched; such findings are only counted */
    uint64_t count;
} Finding;

/* ---- suppressions ---- */

/* One section of the file: a finding matches if all of its keys do. */
typedef struct Suppression {
    char *name, *check, *kernel, *source, *text; /* patterns of fnmatch; NULL: any */
    uint32_t line;                               /* 0: any */
    uint64_t used;                               /* number of suppressed findings */
} Suppression;

typedef struct Suppressions {
    Suppression *item;
    size_t items;
} Suppressions;

/* Adds the suppressions of a file; -1 with "file:line: message". */
int suppressions_read(Suppressions *suppressions, const char *path, Error *error);
/* The first one that matches, or NULL. */
Suppression *suppressions_find(const Suppressions *suppressions, const Finding *finding);
void suppressions_clear(Suppressions *suppressions);

/* ---- files ---- */

/* The path of a source file for its name without folders, from the caller: relative to the root of
 * the project if it is below; `name` itself if it is unknown. */
typedef const char *FindingPath(const void *context, const char *name);

typedef struct FindingReport {
    const Finding *finding;
    size_t findings;
    const char *machine; /* "h200" */
    uint64_t cycles;
    FindingPath *path;
    const void *context;
} FindingReport;

/* Writes a report; the ending of the path names its format: .json, .sarif (SARIF 2.1.0) or .supp
 * (suppressions of all findings).  -1 with error. */
int findings_write(const FindingReport *report, const char *path, Error *error);

#endif
