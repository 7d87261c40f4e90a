#include "autograder/workbench/command.h"

#include <string.h>

#include "autograder/text/text.h"

enum { VALUE_CHARACTERS = 200 };

/* Actions, their programs, and which settings each takes. */
static const struct Action {
    const char *name, *program;
    const char *settings; /* separated by blanks; each is --NAME of the program */
    const char *file;     /* the option for a folder or file of results; NULL none */
    const char *result;   /* below the job's folder */
    int engine, submission;
} ACTIONS[] = {
    {"run", "lab", "case shape gpu", NULL, NULL, 1, 1},
    {"grade", "grade", "gpu", NULL, NULL, 1, 1},
    {"profile", "lab", "case shape gpu against", "--out", "", 1, 1},
    {"see", "lab", "case shape gpu line", "--out", "/see.html", 1, 1},
    {"hint", "lab", "todo", NULL, NULL, 0, 0},
    {"ladder", "lab", "", "--out", "", 0, 0},
    {"reset", "lab", "", NULL, NULL, 0, 0},
};

static const struct Action *action_find(const char *name)
{
    for (size_t i = 0; i < sizeof ACTIONS / sizeof *ACTIONS; i++)
        if (name && !strcmp(ACTIONS[i].name, name)) return &ACTIONS[i];
    return NULL;
}

static void add(Command *command, const char *argument)
{
    command->argv[command->arguments++] = (char *)argument;
    command->argv[command->arguments] = NULL;
}

static int setting_add(Command *command, const json_t *request, const char *name,
                       const char *const *options, Error *error)
{
    const json_t *value = json_object_get(request, name);
    if (!value || json_is_null(value)) return 0;
    const char *text = json_string_value(value);
    if (!text) return error_set(error, "%s is not text", name);
    if (strlen(text) > VALUE_CHARACTERS)
        return error_set(error, "%s has more than %d characters", name, VALUE_CHARACTERS);
    if (!*text) return 0;
    for (; *options; options++)
        if (!strcmp(*options + 2, name)) {
            add(command, *options);
            add(command, text);
        }
    return 0;
}

static int settings_add(Command *command, const json_t *request, const char *settings, Error *error)
{
    static const char *const OPTIONS[] = {"--case",    "--shape", "--gpu", "--todo",
                                          "--against", "--line",  NULL};
    char list[80], *rest = list;
    text_set(list, sizeof list, "%s", settings);
    for (char *name; (name = strsep(&rest, " ")) != NULL;)
        if (*name && setting_add(command, request, name, OPTIONS, error)) return -1;
    return 0;
}

static void results_add(const Workbench *bench, const Lab *lab, const struct Action *action,
                        Command *command)
{
    text_set(command->folder, sizeof command->folder, "%s/workbench/%s/%s", bench->build, lab->name,
             action->name);
    text_set(command->text[1], sizeof command->text[1], "%s%s", command->folder, action->result);
    add(command, action->file);
    add(command, command->text[1]);
}

/* common/setup/debug.sh takes its settings from the environment: env sets them. */
static int debug_make(const Workbench *bench, const Lab *lab, const json_t *request,
                      Command *command, Error *error)
{
    static const char *const SETTINGS[][2] = {{"case", "CASE"}, {"shape", "SHAPE"}, {"gpu", "GPU"}};
    int texts = 0;
    add(command, "/usr/bin/env");
    for (size_t i = 0; i < sizeof SETTINGS / sizeof *SETTINGS; i++) {
        const char *value = json_string_value(json_object_get(request, SETTINGS[i][0]));
        if (!value || !*value) continue;
        if (strlen(value) > VALUE_CHARACTERS)
            return error_set(error, "%s has more than %d characters", SETTINGS[i][0],
                             VALUE_CHARACTERS);
        text_set(command->text[texts], sizeof command->text[texts], "%s=%s", SETTINGS[i][1], value);
        add(command, command->text[texts++]);
    }
    text_set(command->text[texts], sizeof command->text[texts], "%s/common/setup/debug.sh",
             bench->root);
    add(command, "sh"), add(command, command->text[texts]);
    add(command, bench->build), add(command, lab->name);
    command->is_dialog = 1;
    return 0;
}

int command_make(const Workbench *bench, const Lab *lab, const json_t *request, Command *command,
                 Error *error)
{
    const char *name = json_string_value(json_object_get(request, "action"));
    const struct Action *action = action_find(name);
    *command = (Command){0};
    if (name && !strcmp(name, "debug")) return debug_make(bench, lab, request, command, error);
    if (!action)
        return error_set(error,
                         "there is no action %.40s; there are run, grade, profile, see, hint, "
                         "ladder, debug and reset",
                         name ? name : "without a name");
    text_set(command->text[0], sizeof command->text[0], "%s/bin/%s", bench->build, action->program);
    add(command, command->text[0]);
    if (strcmp(action->program, "grade") != 0) add(command, action->name);
    add(command, "--root"), add(command, bench->root);
    add(command, "--build"), add(command, bench->build);
    add(command, "--lab"), add(command, lab->name);
    if (action->submission) add(command, "--submission"), add(command, "labs");
    if (action->engine) add(command, "--engine"), add(command, lab->ini.host ? "auto" : "sim");
    if (settings_add(command, request, action->settings, error)) return -1;
    if (action->file) results_add(bench, lab, action, command);
    return 0;
}
