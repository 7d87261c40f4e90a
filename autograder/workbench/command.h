/* command.h - the program and the arguments of a job, from what the page asks for. */
#ifndef CONVLAB_AUTOGRADER_WORKBENCH_COMMAND_H
#define CONVLAB_AUTOGRADER_WORKBENCH_COMMAND_H

#include <jansson.h>

#include "autograder/workbench/workbench.h"

enum { COMMAND_TEXT = 16000 }; /* bytes */

typedef struct Command {
    char *argv[JOB_ARGUMENTS + 1]; /* points into `text` */
    int arguments;
    int is_dialog;     /* Boolean: the program reads commands */
    char folder[1300]; /* for the files that the program writes; "" none */
    char text[COMMAND_TEXT];
    size_t used;
} Command;

/* The command for a lab, or with `lab` NULL for the program of the playground at the path
 * `program`.
 *
 * `request` is {"action", ...}, with the action's settings as text: see command.c.  Values become
 * arguments or variables of the environment and are no shell text.  -1 with an error: an unknown
 * action, or a value of another type or of more than 200 characters. */
int command_make(const Workbench *bench, const Lab *lab, const char *program, const json_t *request,
                 Command *command, Error *error);

#endif
