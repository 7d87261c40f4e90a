#include "autograder/workbench/command.h"

#include <string.h>

#include "autograder/text/text.h"

enum { VALUE_CHARACTERS = 200 };

/* Values of a request: the option of the programs, and the variable of the scripts. */
static const struct Setting {
    const char *name, *option, *variable;
} SETTINGS[] = {
    {"case", "--case", "CASE"},     {"shape", "--shape", "SHAPE"}, {"gpu", "--gpu", "GPU"},
    {"todo", "--todo", NULL},       {"line", "--line", NULL},      {"arch", NULL, "ARCH"},
    {"against", "--against", NULL}, {"flags", NULL, "NVCCFLAGS"},  {"args", NULL, NULL},
    {"filter", NULL, NULL},
};
enum { SETTINGS_COUNT = sizeof SETTINGS / sizeof *SETTINGS };

#define LAB_TOOL     "{build}/bin/lab "
#define LAB_WHERE    " --root {root} --build {build} --lab {lab}"
#define LAB_SOURCE   LAB_WHERE " --submission labs --engine {engine}"
#define SCRIPT(name) "sh {root}/common/setup/" name ".sh {build} "

/* Words of `line` in braces are replaced: root, build, lab, program, engine, folder of the results,
 * "" for none, and the settings args and filter.  Settings in `settings` follow as options, or
 * precede a script as variables of its environment. */
static const struct Action {
    const char *name, *line, *settings;
    const char *folder; /* folder of the results; NULL: none */
    int is_dialog;
} LAB_ACTIONS[] =
    {
        {"run", LAB_TOOL "run" LAB_SOURCE, "case shape gpu", NULL, 0},
        {"grade", "{build}/bin/grade" LAB_SOURCE, "gpu", NULL, 0},
        {"profile", LAB_TOOL "profile" LAB_SOURCE " --out {folder}", "case shape gpu against",
         "{build}/workbench/{lab}/profile", 0},
        {"see", LAB_TOOL "see" LAB_SOURCE " --out {folder}/see.html", "case shape gpu line",
         "{build}/workbench/{lab}/see", 0},
        {"hint", LAB_TOOL "hint" LAB_WHERE, "todo", NULL, 0},
        {"reset", LAB_TOOL "reset" LAB_WHERE, "", NULL, 0},
        {"picture", SCRIPT("picture") "{lab} labs sim {none} {filter}", "", "{build}/picture/{lab}",
         0},
        {"ladder", SCRIPT("ladder") "{lab}", "", "{build}/ladder", 0},
        {"code", SCRIPT("code") "{folder} {lab}", "", "{build}/workbench/{lab}/code", 0},
        {"debug", SCRIPT("debug") "{lab}", "case shape gpu", NULL, 1},
        {0},
},
  PROGRAM_ACTIONS[] = {
      {"run", SCRIPT("simulate") "{program} {args}", "gpu arch flags", NULL, 0},
      {"profile", "PROFILE=1 " SCRIPT("simulate") "{program} {args}", "gpu arch flags", NULL, 0},
      {"code", SCRIPT("code") "{folder} {none} {program}", "arch flags",
       "{build}/workbench/playground/code", 0},
      {"debug", SCRIPT("debug") "{none} {program} {args}", "gpu arch flags", NULL, 1},
      {0},
};

static const struct Action *action_find(const struct Action *actions, const char *name,
                                        Error *error)
{
    char names[200] = "";
    for (; actions->name; actions++) {
        if (name && !strcmp(actions->name, name)) return actions;
        text_add(names, sizeof names, "%s%s", *names ? ", " : "", actions->name);
    }
    error_set(error, "there is no action %.40s; there are %s", name ? name : "without a name",
              names);
    return NULL;
}

/* The values of the words in braces. */
typedef struct Values {
    const Workbench *bench;
    const Lab *lab;
    const char *program, *folder;
    const char *setting[SETTINGS_COUNT]; /* "" if the request has none */
} Values;

static const char *value_of(const Values *values, const char *word, size_t length)
{
    const struct {
        const char *word, *value;
    } WORDS[] = {{"root", values->bench->root},
                 {"build", values->bench->build},
                 {"lab", values->lab ? values->lab->name : ""},
                 {"program", values->program},
                 {"engine", values->lab && values->lab->ini.host ? "auto" : "sim"},
                 {"folder", values->folder}};
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
        if (strlen(WORDS[i].word) == length && !strncmp(WORDS[i].word, word, length))
            return WORDS[i].value;
    for (int i = 0; i < SETTINGS_COUNT; i++)
        if (strlen(SETTINGS[i].name) == length && !strncmp(SETTINGS[i].name, word, length))
            return values->setting[i];
    return "";
}

/* A word with its braces replaced. */
static void word_fill(const Values *values, const char *word, char *text, size_t bytes)
{
    for (*text = 0; *word;) {
        size_t length = strcspn(word, "{");
        text_add(text, bytes, "%.*s", (int)length, word);
        word += length;
        if (!*word) break;
        length = strcspn(word, "}");
        text_add(text, bytes, "%s", value_of(values, word + 1, length - 1));
        word += length + 1;
    }
}

static int argument_add(Command *command, const char *text, Error *error)
{
    size_t bytes = strlen(text) + 1;
    if (command->arguments == JOB_ARGUMENTS || command->used + bytes > COMMAND_TEXT)
        return error_set(error, "the command is too long");
    char *copy = memcpy(command->text + command->used, text, bytes);
    command->used += bytes;
    command->argv[command->arguments++] = copy;
    return 0;
}

static int settings_read(const json_t *request, Values *values, Error *error)
{
    for (int i = 0; i < SETTINGS_COUNT; i++) {
        const json_t *value = json_object_get(request, SETTINGS[i].name);
        values->setting[i] = "";
        if (!value || json_is_null(value)) continue;
        const char *text = json_string_value(value);
        if (!text) return error_set(error, "%s is not text", SETTINGS[i].name);
        if (strlen(text) > VALUE_CHARACTERS)
            return error_set(error, "%s has more than %d characters", SETTINGS[i].name,
                             VALUE_CHARACTERS);
        values->setting[i] = text;
    }
    return 0;
}

/* Whether `name` is one of the words of `list`. */
static int list_has(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = list; (at = strstr(at, name)) != NULL; at += length)
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || !at[length])) return 1;
    return 0;
}

static int settings_add(Command *command, const struct Action *action, const Values *values,
                        int variables, Error *error)
{
    char text[VALUE_CHARACTERS + 40];
    for (int i = 0; i < SETTINGS_COUNT; i++) {
        if (!*values->setting[i] || !list_has(action->settings, SETTINGS[i].name)) continue;
        text_set(text, sizeof text, "%s=%s", SETTINGS[i].variable ? SETTINGS[i].variable : "",
                 values->setting[i]);
        if (variables ? argument_add(command, text, error)
                      : argument_add(command, SETTINGS[i].option, error) ||
                            argument_add(command, values->setting[i], error))
            return -1;
    }
    return 0;
}

int command_make(const Workbench *bench, const Lab *lab, const char *program, const json_t *request,
                 Command *command, Error *error)
{
    Values values = {.bench = bench, .lab = lab, .program = program ? program : "", .folder = ""};
    char line[600], word[1300], *rest = line;
    const struct Action *action =
        action_find(lab ? LAB_ACTIONS : PROGRAM_ACTIONS,
                    json_string_value(json_object_get(request, "action")), error);
    *command = (Command){0};
    if (!action || settings_read(request, &values, error)) return -1;
    if (action->folder) {
        word_fill(&values, action->folder, command->folder, sizeof command->folder);
        values.folder = command->folder;
    }
    command->is_dialog = action->is_dialog;
    text_set(line, sizeof line, "%s", action->line);
    int is_script = *line != '{';
    if (is_script && (argument_add(command, "/usr/bin/env", error) ||
                      settings_add(command, action, &values, 1, error)))
        return -1;
    for (char *part; (part = strsep(&rest, " ")) != NULL;) {
        if (!*part) continue;
        word_fill(&values, part, word, sizeof word);
        if (argument_add(command, word, error)) return -1;
    }
    return is_script ? 0 : settings_add(command, action, &values, 0, error);
}
