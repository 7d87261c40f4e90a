/* workbench.h - `make workbench`: the labs on one page in the browser, served to this machine only.
 *
 * Module: the page's server: requests, sources, jobs, labs as JSON (docs/student/workbench.md).
 * Callers: the program workbench.
 * May use: record, lab, text, base.
 *
 * The server judges nothing.  A job is one of the programs that `make run`, `make grade` and the
 * other targets call, and the page shows its output. */
#ifndef CONVLAB_AUTOGRADER_WORKBENCH_WORKBENCH_H
#define CONVLAB_AUTOGRADER_WORKBENCH_WORKBENCH_H

#include "autograder/lab/catalog.h"
#include "autograder/workbench/job.h"
#include "autograder/workbench/token.h"

typedef struct Workbench {
    const char *root, *build; /* folders, as in the other programs */
    Catalog catalog;
    JobQueue *jobs;
    char token[TOKEN_CHARACTERS + 1]; /* hexadecimal; every request of data needs it */
    int port;  /* port on 127.0.0.1; 0: any free one; after the start the real one */
    int opens; /* Boolean: the desktop's browser is started */
} Workbench;

/* The server; NULL with an error, for example if the port is in use.  It runs in threads of its
 * own until server_stop. */
typedef struct Server Server;
Server *server_start(Workbench *bench, Error *error);
void server_stop(Server *server);

#endif
