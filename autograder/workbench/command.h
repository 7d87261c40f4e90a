/* command.h - the program and the arguments of a job, from what the page asks for. */
#ifndef CONVLAB_AUTOGRADER_WORKBENCH_COMMAND_H
#define CONVLAB_AUTOGRADER_WORKBENCH_COMMAND_H

#include <jansson.h>

#include "autograder/workbench/workbench.h"

typedef struct Command {
    char *argv[JOB_ARGUMENTS + 1]; /* points into `text` and into the request */
    int arguments;
    int is_dialog; /* Boolean: the program reads commands */
    char text[8][1300];
    char folder[1300]; /* for the files that the program writes; "" none */
} Command;

/* `request` is {"action", "case", "shape", "gpu", "todo", "line"}; only the action is needed: run,
 * grade, profile, see, hint, ladder, debug or reset. Values become arguments of the program and are
 * no shell text. -1 with an error: an unknown action, or a value of another type or of more than
 * 200 characters. */
int command_make(const Workbench *bench, const Lab *lab, const json_t *request, Command *command,
                 Error *error);

#endif
