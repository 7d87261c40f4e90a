#include "autograder/lab/check.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "autograder/text/files.h"
#include "autograder/lab/predict.h"
#include "autograder/text/text.h"
#include "autograder/lab/todo.h"

typedef struct Check {
    const char *root;
    const Lab *lab;
    void (*say)(void *context, const char *line);
    void *context;
    int wrong;
} Check;

static void wrong(Check *check, const char *text)
{
    check->wrong++;
    check->say(check->context, text);
}

/* The file's text, or NULL after reporting that it is missing. */
static char *read_part(Check *check, const char *shown)
{
    char path[1200];
    Error error;
    text_set(path, sizeof path, "%s/%s", check->root, shown);
    char *text = file_text(path, &error);
    if (!text) wrong(check, error.text);
    return text;
}

static void check_stubs(Check *check, const char *shown, const char *skeleton)
{
    TodoList list;
    Error error;
    char line[600];
    if (todo_scan(shown, skeleton, &list, &error)) return; /* already reported */
    if (!list.regions) {
        text_set(line, sizeof line, "%s: there is no TODO region", shown);
        wrong(check, line);
    }
    const LabIni *ini = &check->lab->ini;
    const int last = ini->stages ? ini->stage[ini->stages - 1].last : list.regions;
    if (last != list.regions) {
        text_set(line, sizeof line,
                 "%s: it has %d TODO regions, but the stages of lab.ini end "
                 "with TODO(%d)",
                 shown, list.regions, last);
        wrong(check, line);
    }
    for (int i = 0; i < list.regions; i++) {
        if (todo_is_stub(skeleton, &list.region[i])) continue;
        text_set(line, sizeof line, "%s:%d: TODO(%d) is solved already", shown, list.region[i].line,
                 list.region[i].number);
        wrong(check, line);
    }
}

static void check_sources(Check *check)
{
    const char *name = check->lab->name, *source = check->lab->ini.source;
    char skeleton_path[256], lab_path[256], solution_path[256];
    Error error;
    text_set(skeleton_path, sizeof skeleton_path, "autograder/tests/skeletons/%s/%s", name, source);
    text_set(lab_path, sizeof lab_path, "labs/%s/%s", name, source);
    text_set(solution_path, sizeof solution_path, "solutions/%s/%s", name, source);
    char *skeleton = read_part(check, skeleton_path), *mine = read_part(check, lab_path);
    char *solution = read_part(check, solution_path);
    if (skeleton && solution) {
        if (todo_compare(skeleton_path, skeleton, solution, &error)) wrong(check, error.text);
        check_stubs(check, skeleton_path, skeleton);
    }
    if (mine && solution && todo_compare(lab_path, mine, solution, &error))
        wrong(check, error.text);
    free(skeleton);
    free(mine);
    free(solution);
}

static void check_predictions(Check *check, const char *directory)
{
    const LabIni *ini = &check->lab->ini;
    const char *name[LAB_PREDICTIONS + 1] = {0};
    char shown[256], path[1300];
    PredictFile file;
    Error error;
    for (int i = 0; i < ini->predictions; i++)
        name[i] = ini->prediction[i].name;
    text_set(shown, sizeof shown, "%s/%s/predict.ini", directory, check->lab->name);
    text_set(path, sizeof path, "%s/%s", check->root, shown);
    char *text = read_part(check, shown);
    if (text && predict_read(NULL, path, shown, name, &file, &error)) wrong(check, error.text);
    for (int i = 0; text && i < file.troubles; i++)
        wrong(check, file.trouble[i].text);
    for (int i = 0; text && i < ini->predictions; i++) {
        char line[64];
        text_set(line, sizeof line, "\n%s", name[i]);
        if (strstr(text, line)) continue;
        text_set(path, sizeof path, "%s: there is no line for '%s'", shown, name[i]);
        wrong(check, path);
    }
    free(text);
}

/* Line breaks in sentences are ignored. */
static void join_lines(char *text)
{
    char *to = text;
    for (const char *at = text; *at; at++)
        if (!strchr(" \n", *at) || (to > text && to[-1] != ' ')) *to++ = *at == '\n' ? ' ' : *at;
    *to = 0;
}

/* lab.ini's prerequisites and time are stated in the handout's opening, before the end of its first
 * section. */
static void check_opening(Check *check, const char *shown, char *text)
{
    enum { OPENING = 4000 };
    const LabIni *ini = &check->lab->ini;
    char line[400], after[sizeof ini->after], *rest = after;
    text_set(after, sizeof after, "%s", ini->after);
    if (strlen(text) > OPENING) text[OPENING] = 0;
    join_lines(text);
    if (!strstr(text, ini->takes)) {
        text_set(line, sizeof line, "%s: its opening does not say that it takes '%s'", shown,
                 ini->takes);
        wrong(check, line);
    }
    for (char *lab; (lab = strsep(&rest, " "));) {
        if (strstr(text, lab)) continue;
        text_set(line, sizeof line, "%s: its opening does not name lab %s, which comes before",
                 shown, lab);
        wrong(check, line);
    }
}

static void check_handout(Check *check)
{
    char shown[256], line[400];
    text_set(shown, sizeof shown, "labs/%s/README.md", check->lab->name);
    char *text = read_part(check, shown);
    if (!text) return;
    if (!strstr(text, "```") && !strstr(text, "![")) {
        text_set(line, sizeof line, "%s: there is no figure (a drawing in ``` or an image)", shown);
        wrong(check, line);
    }
    check_opening(check, shown, text);
    free(text);
}

static int is_expected(const LabIni *ini, const char *name)
{
    const char *dot = strrchr(name, '.');
    return name[0] == '.' || !strcmp(name, "README.md") || !strcmp(name, "lab.ini") ||
           !strcmp(name, "predict.ini") || !strcmp(name, ini->source) ||
           !strcmp(name, ini->baseline) || !strcmp(name, "steps") || strstr(name, ".bak") ||
           (dot && (!strcmp(dot, ".svg") || !strcmp(dot, ".png") || !strcmp(dot, ".gp")));
}

static void check_files(Check *check, const char *directory)
{
    char path[1200], line[600];
    text_set(path, sizeof path, "%s/%s/%s", check->root, directory, check->lab->name);
    DIR *stream = opendir(path);
    for (struct dirent *entry; stream && (entry = readdir(stream));) {
        if (is_expected(&check->lab->ini, entry->d_name)) continue;
        text_set(line, sizeof line, "%s/%s/%s: unexpected file", directory, check->lab->name,
                 entry->d_name);
        wrong(check, line);
    }
    if (stream) closedir(stream);
}

int check_lab(const char *root, const Lab *lab, void (*say)(void *context, const char *line),
              void *context)
{
    Check check = {root, lab, say, context, 0};
    check_sources(&check);
    check_predictions(&check, "labs");
    check_predictions(&check, "solutions");
    check_handout(&check);
    check_files(&check, "labs");
    check_files(&check, "solutions");
    return check.wrong;
}
