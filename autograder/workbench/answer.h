/* answer.h - answers to the page's requests. */
#ifndef CONVLAB_AUTOGRADER_WORKBENCH_ANSWER_H
#define CONVLAB_AUTOGRADER_WORKBENCH_ANSWER_H

#include "autograder/workbench/workbench.h"

typedef struct Request {
    const char *path, *method, *body; /* "/api/labs", "GET"; the body "" if there is none */
    size_t from;                      /* the value of ?from=, 0 if there is none */
} Request;

typedef struct Answer {
    unsigned status;  /* of HTTP */
    const char *type; /* content type */
    char *body;       /* malloc'd; its owner frees it */
    size_t bytes;
    int is_view;     /* Boolean: a page of `make see`, with the policy for that */
    int is_constant; /* Boolean: may stay in the browser's cache */
} Answer;

/* {"error": "..."} with that status. */
void answer_error(Answer *answer, unsigned status, const char *text);

/* Files that hold nothing of the user's and need no token: the page itself, CodeMirror, the
 * figures of the handouts; and files of a job, whose random name is their token. */
void answer_file(const Workbench *bench, const Request *request, Answer *answer);

/* Requests below /api/, after the token was checked:
 *
 *     GET    /api/labs                     all labs, machines and programs
 *     GET    /api/labs/NN                  one lab with its texts
 *     GET    /api/labs/NN/state            digests and points
 *     PUT    /api/labs/NN/source           {"text", "base"}; also predict
 *     POST   /api/labs/NN/jobs             {"action", ...} of command.h: {"id"}
 *     POST   /api/labs/NN/measured         {}: locks the predictions that have an answer
 *     GET    /api/playground               the names of the programs
 *     POST   /api/playground               {"name"}: a new program
 *     ...    /api/playground/NAME.cu/...   as for a lab
 *     GET    /api/jobs/ID?from=N           {"state", "status", "bytes", "text"}
 *     POST   /api/jobs/ID/input            {"text"}: a line for the debugger
 *     DELETE /api/jobs/ID                  cancels it */
void answer_data(const Workbench *bench, const Request *request, Answer *answer);

#endif
