#include "autograder/handout/search.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autograder/lab/metric.h"
#include "autograder/lab/predict.h"
#include "autograder/lab/todo.h"
#include "autograder/text/files.h"
#include "autograder/text/text.h"

enum {
    SHORT_REGION = 20,    /* shorter regions occur everywhere, for example `__syncthreads();` */
    SHORT_FORMULA = 24,   /* shorter formulas reveal nothing outside their lab */
    SHORT_LINE = 16,      /* shorter lines occur in every kernel, for example `int k = k0 + f;` */
    SHORT_CODE = 40,      /* shorter code of a hint occurs in other kernels, too */
    SHORT_NUMBER = 5,     /* numbers with fewer digits occur everywhere */
    HINT_CHARACTERS = 40, /* characters of a hint's start */
    CODE_CHARACTERS = 100 /* characters of the start of a hint's code */
};

/* ---- normalised texts ----------------------------------------------------------------------- */

char *search_normal(const char *text, int comments)
{
    char *normal = malloc(strlen(text) + 1);
    size_t used = 0;
    while (normal && *text) {
        size_t length = strcspn(text, "\n");
        for (size_t at = 0; at < length; at++) {
            if (!comments && !strncmp(text + at, "//", 2)) break;
            if (!isspace((unsigned char)text[at]) && !strchr("/*#>+|", text[at]))
                normal[used++] = text[at];
        }
        text += length + (text[length] == '\n');
    }
    if (normal) normal[used] = 0;
    return normal;
}

/* The next number of a text, its digits and point: "1,234.50" gives "1234.5". */
static const char *number_next(const char *text, char number[40])
{
    size_t used = 0;
    int point = 0;
    while (*text && !isdigit((unsigned char)*text))
        text++;
    for (; isdigit((unsigned char)*text) ||
           ((*text == ',' || (*text == '.' && !point)) && isdigit((unsigned char)text[1]));
         text++) {
        point |= *text == '.';
        if (*text != ',' && used < 38) number[used++] = *text;
    }
    while (point && used && (number[used - 1] == '0' || number[used - 1] == '.'))
        if (number[--used] == '.') break;
    number[used] = 0;
    return text;
}

/* ---- the secrets -------------------------------------------------------------------------- */

static Secret *secret_add(Secrets *secrets, const Lab *lab, char *text, const char *what)
{
    Secret *grown = realloc(secrets->item, (size_t)(secrets->items + 1) * sizeof *grown);
    if (!grown || !text || !*text) {
        free(text);
        if (grown) secrets->item = grown;
        return NULL;
    }
    secrets->item = grown;
    Secret *secret = &grown[secrets->items++];
    *secret = (Secret){.lab = lab, .text = text};
    text_set(secret->what, sizeof secret->what, "%s of %s", what, lab->name);
    return secret;
}

static int line_add(Secret *secret, const char *line)
{
    for (int i = 0; i < secret->lines; i++)
        if (!strcmp(secret->line[i], line)) return 0;
    char **grown = realloc(secret->line, (size_t)(secret->lines + 1) * sizeof *grown);
    if (!grown) return -1;
    secret->line = grown;
    secret->line[secret->lines] = strdup(line);
    return secret->line[secret->lines] ? secret->lines++, 0 : -1;
}

/* The region's lines; `given` is the lab's own skeleton, normalised. */
static int lines_add(Secret *secret, char *body, const char *given)
{
    int status = 0;
    for (char *line; !status && (line = strsep(&body, "\n"));) {
        char *code = search_normal(line, 0);
        if (!code) return -1;
        if (strlen(code) >= SHORT_LINE && !strstr(given, code)) status = line_add(secret, code);
        free(code);
    }
    return status;
}

static int region_add(const Lab *lab, const TodoRegion *region, const char *text, const char *given,
                      Secrets *secrets)
{
    char what[40];
    char *body = strndup(text + region->body, region->body_end - region->body);
    char *code = body ? search_normal(body, 0) : NULL;
    int status = code ? 0 : -1;
    if (code && strlen(code) < SHORT_REGION) *code = 0;
    text_set(what, sizeof what, "TODO(%d)", region->number);
    Secret *secret = secret_add(secrets, lab, code, what);
    if (secret) {
        secret->region = 1;
        status = lines_add(secret, body, given);
    }
    free(body);
    return status;
}

/* Code that the student gets with the lab, normalised, malloc'd: the skeleton, and the baseline of
 * a host lab, which its page explains.  NULL with error. */
static char *given_text(const char *root, const Lab *lab, Error *error)
{
    char path[1100];
    lab_skeleton_path(root, lab, path, sizeof path);
    char *skeleton = file_text(path, error);
    text_set(path, sizeof path, "%s/labs/%s/baseline.c", root, lab->name);
    char *baseline = skeleton && file_exists(path) ? file_text(path, error) : NULL;
    char *text = NULL, *given = NULL;
    if (skeleton && asprintf(&text, "%s%s", skeleton, baseline ? baseline : "") >= 0)
        given = search_normal(text, 0);
    if (skeleton && !given) error_set(error, "out of memory");
    free(text);
    free(baseline);
    free(skeleton);
    return given;
}

static int add_regions(const char *root, const Lab *lab, Secrets *secrets, Error *error)
{
    char path[1100];
    TodoList list;
    char *given = given_text(root, lab, error);
    lab_solution_path(root, lab, path, sizeof path);
    char *text = given ? file_text(path, error) : NULL;
    int status = text ? todo_scan(path, text, &list, error) : -1;
    for (int i = 0; !status && i < list.regions; i++)
        if (region_add(lab, &list.region[i], text, given, secrets))
            status = error_set(error, "out of memory");
    free(text);
    free(given);
    return status;
}

/* A long formula is searched for anywhere; a short one and a metric's name only after a key. */
static void add_formula(const Lab *lab, const LabPrediction *prediction, Secrets *secrets)
{
    char text[400], what[100];
    text_set(what, sizeof what, "the truth of prediction %s", prediction->name);
    char *normal = search_normal(prediction->formula, 1);
    if (normal && strlen(normal) >= SHORT_FORMULA && metric_find(normal) < 0) {
        secret_add(secrets, lab, normal, what);
        return;
    }
    static const char *const KEY[] = {"formula", "metric"};
    for (int i = 0; normal && i < 2; i++) {
        text_set(text, sizeof text, "%s=%s", KEY[i], normal);
        Secret *secret = secret_add(secrets, lab, strdup(text), what);
        if (secret) secret->at_home = 1;
    }
    free(normal);
}

/* Whether a value is a power of two, or three times one: memories have such sizes (48 KiB, 96 KiB),
 * so these numbers reveal nothing. */
static int is_size(double value)
{
    int exponent;
    double part = frexp(value, &exponent);
    return part == 0.5 || part == 0.75;
}

static int add_values(const char *root, const Lab *lab, Secrets *secrets, Error *error)
{
    const char *name[LAB_PREDICTIONS + 1] = {0};
    char path[1100], text[40], digits[40], what[100];
    PredictFile file;
    for (int i = 0; i < lab->ini.predictions; i++)
        name[i] = lab->ini.prediction[i].name;
    text_set(path, sizeof path, "%s/solutions/%s/predict.ini", root, lab->name);
    if (predict_read(NULL, path, path, name, &file, error)) return -1;
    for (int i = 0; i < file.answers; i++) {
        text_set(text, sizeof text, "%.15g", file.answer[i].value);
        number_next(text, digits);
        if (strlen(digits) - (strchr(digits, '.') != NULL) < SHORT_NUMBER) continue;
        text_set(what, sizeof what, "the value of prediction %s", file.answer[i].name);
        Secret *secret = secret_add(secrets, lab, strdup(digits), what);
        if (!secret) continue;
        secret->number = secret->at_home = 1;
        secret->size = is_size(file.answer[i].value);
    }
    return 0;
}

static void add_hints(const Lab *lab, Secrets *secrets)
{
    char what[100];
    for (int i = 0; i < lab->ini.hints; i++) {
        const LabHint *hint = &lab->ini.hint[i];
        char *normal = search_normal(hint->text, 1);
        if (normal && strlen(normal) > HINT_CHARACTERS) normal[HINT_CHARACTERS] = 0;
        if (hint->stage)
            text_set(what, sizeof what, "hint %d", hint->stage);
        else
            text_set(what, sizeof what, "hint %s", hint->fault);
        secret_add(secrets, lab, normal, what);
    }
}

/* The idea and the code of a region; its question gives nothing away. */
static void add_todo_hints(const Lab *lab, Secrets *secrets)
{
    char what[100];
    for (int i = 0; i < lab->ini.todos; i++)
        for (int level = 1; level < LAB_LEVELS; level++) {
            const LabTodoHint *hint = &lab->ini.todo[i];
            int is_code = level == LAB_LEVELS - 1;
            size_t most = is_code ? CODE_CHARACTERS : HINT_CHARACTERS;
            char *normal = search_normal(lab_todo_hint(&lab->ini, hint->number, level), 1);
            if (normal && strlen(normal) > most) normal[most] = 0;
            if (normal && is_code && strlen(normal) < SHORT_CODE) *normal = 0;
            text_set(what, sizeof what, "hint of TODO(%d), %s", hint->number,
                     LAB_LEVEL_NAMES[level]);
            secret_add(secrets, lab, normal, what);
        }
}

/* Adds the hidden shapes to search for: each part of "layout=chwn | layout=chwn N=65" that has two
 * keys or more. */
static void add_hidden(const Lab *lab, Secrets *secrets)
{
    char with[sizeof lab->ini.hidden_with], *rest = with;
    text_set(with, sizeof with, "%s", lab->ini.hidden_with);
    for (char *part; (part = strsep(&rest, "|"));) {
        const char *first = strchr(part, '=');
        if (first && strchr(first + 1, '='))
            secret_add(secrets, lab, search_normal(part, 1), "keys of hidden shapes");
    }
}

int secrets_open(const char *root, const Catalog *catalog, Secrets *secrets, Error *error)
{
    *secrets = (Secrets){0};
    for (int i = 0; i < catalog->labs; i++) {
        const Lab *lab = &catalog->lab[i];
        if (add_regions(root, lab, secrets, error) || add_values(root, lab, secrets, error)) {
            secrets_close(secrets);
            return -1;
        }
        for (int j = 0; j < lab->ini.predictions; j++)
            add_formula(lab, &lab->ini.prediction[j], secrets);
        add_hints(lab, secrets);
        add_todo_hints(lab, secrets);
        add_hidden(lab, secrets);
    }
    return 0;
}

void secrets_close(Secrets *secrets)
{
    for (int i = 0; i < secrets->items; i++) {
        for (int j = 0; j < secrets->item[i].lines; j++)
            free(secrets->item[i].line[j]);
        free(secrets->item[i].line);
        free(secrets->item[i].text);
    }
    free(secrets->item);
    *secrets = (Secrets){0};
}

/* ---- the search --------------------------------------------------------------------------- */

static int number_stands_in(const char *text, const char *wanted)
{
    char number[40];
    while (*text) {
        text = number_next(text, number);
        if (!strcmp(number, wanted)) return 1;
    }
    return 0;
}

static int is_at_home(const Secret *secret, const char *path)
{
    char home[100];
    text_set(home, sizeof home, "labs/%s/", secret->lab->name);
    return !secret->at_home || !strncmp(path, home, strlen(home)) ||
           (secret->number && !secret->size && strncmp(path, "labs/", 5) != 0);
}

/* Number of the region's lines in the text, if it is enough to be a find; else 0. */
static int lines_found(const Secret *secret, const char *code, const char *all)
{
    int found = 0;
    for (int i = 0; i < secret->lines; i++)
        found += strstr(code, secret->line[i]) || strstr(all, secret->line[i]);
    return found >= SECRET_LINES ? found : 0;
}

int secrets_search(const Secrets *secrets, const char *path, const char *text, SecretFound *say,
                   void *context)
{
    char *code = search_normal(text, 0), *all = search_normal(text, 1);
    int found = 0;
    for (int i = 0; code && all && i < secrets->items; i++) {
        const Secret *secret = &secrets->item[i];
        if (!is_at_home(secret, path)) continue;
        int is_whole = secret->number ? number_stands_in(text, secret->text)
                                      : strstr(code, secret->text) || strstr(all, secret->text);
        int lines = is_whole ? 0 : lines_found(secret, code, all);
        if (!is_whole && !lines) continue;
        say(context, path, secret, lines);
        found++;
    }
    free(code);
    free(all);
    return found;
}
