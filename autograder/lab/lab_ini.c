#include "autograder/lab/lab_ini.h"

#include <ctype.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autograder/lab/hidden.h"
#include "autograder/lab/sealed.h"
#include "autograder/text/ini_file.h"
#include "autograder/lab/slow.h"
#include "autograder/text/text.h"
#include "common/operations/catalog/operations.h"

/* ---- a section as a table of fields ---- */

typedef enum FieldType { FIELD_TEXT, FIELD_NUMBER, FIELD_COUNT, FIELD_YES } FieldType;

typedef struct Field {
    const char *key;
    FieldType type;
    int required;
    size_t offset, bytes;
    double low, high; /* range of numbers and counts */
} Field;

#define TEXT(of, member, required)                                                                 \
    {                                                                                              \
#member, FIELD_TEXT, required, offsetof(of, member), sizeof(((of *)0)->member), 0, 0       \
    }

static const Field LAB_FIELDS[] = {
    TEXT(LabIni, title, 1),
    TEXT(LabIni, part, 1),
    {"order", FIELD_COUNT, 1, offsetof(LabIni, order), 0, 0, 9999},
    TEXT(LabIni, takes, 0),
    TEXT(LabIni, after, 0),
    TEXT(LabIni, source, 1),
    {"operation", FIELD_TEXT, 1, offsetof(LabIni, operation_name), 64, 0, 0},
    {"precision", FIELD_TEXT, 1, 0, 0, 0, 0}, /* offsets unused: parsed by a function for this
                                               * key */
    {"algorithm", FIELD_TEXT, 0, 0, 0, 0, 0},
    {"rules", FIELD_TEXT, 0, 0, 0, 0, 0},
    TEXT(LabIni, baseline, 1),
    {"needs", FIELD_TEXT, 0, 0, 0, 0, 0},
    TEXT(LabIni, gpu, 0),
    TEXT(LabIni, papers, 0),
    {0},
};

static const Field POINTS_FIELDS[] = {
    {"correct", FIELD_NUMBER, 1, offsetof(LabIni, points_correct), 0, 0, 1000},
    {"speed", FIELD_NUMBER, 1, offsetof(LabIni, points_speed), 0, 0, 1000},
    {"predict", FIELD_NUMBER, 1, offsetof(LabIni, points_predict), 0, 0, 1000},
    {0},
};

static const Field SPEED_FIELDS[] = {
    {"slack", FIELD_NUMBER, 1, offsetof(LabIni, slack), 0, 1, 10},
    {"none_below", FIELD_NUMBER, 0, offsetof(LabIni, none_below), 0, 0, 1},
    {0},
};

static const Field CASE_FIELDS[] = {
    TEXT(LabCase, shape, 1),
    TEXT(LabCase, shape_gpu, 0),
    {"timed", FIELD_YES, 0, offsetof(LabCase, timed), 0, 0, 0},
    {"none_below", FIELD_NUMBER, 0, offsetof(LabCase, none_below), 0, 0, 1},
    TEXT(LabCase, about, 1),
    {"operation", FIELD_TEXT, 0, offsetof(LabCase, operation_name), 64, 0, 0},
    {"stage", FIELD_TEXT, 0, offsetof(LabCase, stage_name), 48, 0, 0},
    {0},
};

static const Field STAGE_FIELDS[] = {TEXT(LabStage, title, 1), TEXT(LabStage, todos, 1), {0}};

static const Field HIDDEN_FIELDS[] = {
    {"count", FIELD_COUNT, 1, offsetof(LabIni, hidden_count), 0, 0, LAB_HIDDEN},
    {"max_macs", FIELD_NUMBER, 1, offsetof(LabIni, hidden_max_macs), 0, 1e3, 1e10},
    {"with", FIELD_TEXT, 0, offsetof(LabIni, hidden_with), sizeof((LabIni *)0)->hidden_with, 0, 0},
    {0},
};

static const Field PREDICT_FIELDS[] = {
    {"case", FIELD_TEXT, 1, 0, 0, 0, 0},
    {"metric", FIELD_TEXT, 0, 0, 0, 0, 0}, /* also stored in formula */
    TEXT(LabPrediction, formula, 0),
    {"value", FIELD_TEXT, 0, 0, 0, 0, 0}, /* listed only so that it can be rejected */
    TEXT(LabPrediction, question, 1),
    {"tolerance", FIELD_NUMBER, 1, offsetof(LabPrediction, tolerance), 0, 0, 1},
    {"points", FIELD_NUMBER, 1, offsetof(LabPrediction, points), 0, 0, 1000},
    {0},
};

static const Field HINT_FIELDS[] = {
    TEXT(LabHint, question, 0), TEXT(LabHint, text, 1), TEXT(LabHint, speed, 0), {0}};

static const Field TODO_FIELDS[] = {
    TEXT(LabTodoHint, question, 1), TEXT(LabTodoHint, idea, 1), TEXT(LabTodoHint, code, 1), {0}};

const char *const LAB_LEVEL_NAMES[LAB_LEVELS] = {"question", "idea", "code"};

static int field_set(const IniFile *file, const IniEntry *entry, const Field *field, void *object,
                     Error *error)
{
    char *at = (char *)object + field->offset;
    double number = 0;
    switch (field->type) {
    case FIELD_TEXT:
        if (!*entry->value) return ini_error(error, file, entry->line, "'%s' is empty", entry->key);
        if (!field->bytes) return 0;
        if (strlen(entry->value) >= field->bytes) {
            return ini_error(error, file, entry->line, "'%s' is longer than %zu characters",
                             entry->key, field->bytes - 1);
        }
        memcpy(at, entry->value, strlen(entry->value) + 1);
        return 0;
    case FIELD_YES:
        if (strcmp(entry->value, "yes") && strcmp(entry->value, "no")) {
            return ini_error(error, file, entry->line, "'%s' is yes or no, not '%s'", entry->key,
                             entry->value);
        }
        *(int *)(void *)at = !strcmp(entry->value, "yes");
        return 0;
    case FIELD_NUMBER:
    case FIELD_COUNT:
        if (ini_number(entry->value, &number)) {
            return ini_error(error, file, entry->line, "'%s' is not a number: '%s'", entry->key,
                             entry->value);
        }
        if (number < field->low || number > field->high) {
            return ini_error(error, file, entry->line, "'%s' is %s, but must lie in %g..%g",
                             entry->key, entry->value, field->low, field->high);
        }
        if (field->type == FIELD_NUMBER) {
            *(double *)(void *)at = number;
            return 0;
        }
        if (number != floor(number)) {
            return ini_error(error, file, entry->line, "'%s' is a whole number, not %s", entry->key,
                             entry->value);
        }
        *(int *)(void *)at = (int)number;
        return 0;
    }
    return 0;
}

static int section_fill(const IniFile *file, const IniSection *section, const Field *fields,
                        void *object, Error *error)
{
    for (size_t i = 0; i < section->entries; i++) {
        const IniEntry *entry = &section->entry[i];
        const Field *field = fields;
        while (field->key && strcmp(field->key, entry->key))
            field++;
        if (!field->key) {
            char known[256] = "";
            for (size_t j = 0, used = 0; fields[j].key && used < sizeof known; j++)
                used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", j ? ", " : "",
                                         fields[j].key);
            return ini_error(error, file, entry->line, "unknown key '%s' in [%s]; it takes: %s",
                             entry->key, section->name, known);
        }
        if (field_set(file, entry, field, object, error)) return -1;
    }
    for (const Field *field = fields; field->key; field++)
        if (field->required && !ini_entry_find(section, field->key)) {
            return ini_error(error, file, section->line, "[%s] lacks '%s'", section->name,
                             field->key);
        }
    return 0;
}

/* ---- the sections ---- */

static int take_precision(const IniFile *file, const IniEntry *entry, LabIni *lab, Error *error)
{
    if (!precision_find(entry->value, &lab->precision)) return 0;
    return ini_error(error, file, entry->line, "precision is " PRECISION_NAMES ", not '%s'",
                     entry->value);
}

static int take_algorithm(const IniFile *file, const IniEntry *entry, LabIni *lab, Error *error)
{
    if (!entry || !algorithm_find(entry->value, &lab->algorithm)) return 0;
    return ini_error(error, file, entry->line, "algorithm is " ALGORITHM_NAMES ", not '%s'",
                     entry->value);
}

static int take_rules(const IniFile *file, const IniEntry *entry, LabIni *lab, Error *error)
{
    if (!entry) return 0;
    if (!strcmp(entry->value, "warp-sync")) {
        lab->warp_sync = 1;
        return 0;
    }
    return ini_error(error, file, entry->line, "rules is warp-sync, not '%s'", entry->value);
}

static int take_need(const IniFile *file, const IniEntry *entry, char *text, LabIni *lab,
                     Error *error)
{
    while (isspace((unsigned char)*text))
        text++;
    for (size_t n = strlen(text); n && isspace((unsigned char)text[n - 1]); n--)
        text[n - 1] = 0;
    if (lab->needs == LAB_NEEDS || strlen(text) >= sizeof lab->need[0].text) {
        return ini_error(error, file, entry->line, "too many or too long needs");
    }
    LabNeed *need = &lab->need[lab->needs++];
    *need = (LabNeed){.engine = ENGINE_AUTO};
    text_set(need->text, sizeof need->text, "%s", text);
    int end = 0;
    if (sscanf(text, "cc >= %2u.%2u%n", &need->cc_major, &need->cc_minor, &end) == 2 && !text[end])
        return 0;
    if (!strcmp(text, "cc = 9.0")) {
        need->cc_major = 9, need->exact = 1;
        return 0;
    }
    if (!strncmp(text, "engine = ", 9) && !engine_find(text + 9, &need->engine) &&
        need->engine != ENGINE_AUTO)
        return 0;
    return ini_error(
        error, file, entry->line,
        "'%s' is not a valid requirement; write cc >= X.Y, cc = 9.0, engine = gpu or engine = sim",
        text);
}

static int take_needs(const IniFile *file, const IniEntry *entry, LabIni *lab, Error *error)
{
    char text[256], *state = NULL;
    if (strlen(entry->value) >= sizeof text) {
        return ini_error(error, file, entry->line, "'needs' is too long");
    }
    text_set(text, sizeof text, "%s", entry->value);
    for (char *part = strtok_r(text, ",", &state); part; part = strtok_r(NULL, ",", &state))
        if (take_need(file, entry, part, lab, error)) return -1;
    return 0;
}

/* "conv_forward_host" is conv_forward with an entry point that runs on the host. */
static const Operation *find_operation(const char *name, int *host)
{
    char plain[64];
    size_t length = strlen(name);
    *host = length > 5 && !strcmp(name + length - 5, "_host");
    text_set(plain, sizeof plain, "%.*s", (int)(*host ? length - 5 : length), name);
    return operation_find(plain);
}

/* The operation of `name`, the value of `entry`, which is added to the lab's list.  NULL with
 * error. */
static const Operation *take_operation(const IniFile *file, const IniEntry *entry, const char *name,
                                       LabIni *lab, Error *error)
{
    int host;
    const Operation *operation = find_operation(name, &host);
    if (!operation) {
        ini_error(error, file, entry->line,
                  "unknown operation '%s'; there are: %s; add _host for C on the host", name,
                  operation_names());
        return NULL;
    }
    for (int i = 0; i < lab->operations; i++)
        if (lab->operation[i] == operation && lab->host == host) return operation;
    if (lab->operations && lab->host != host) {
        ini_error(error, file, entry->line, "'%s' does not run where the lab's operation does",
                  name);
        return NULL;
    }
    if (lab->operations == LAB_OPERATIONS) {
        ini_error(error, file, entry->line, "more than %d operations", LAB_OPERATIONS);
        return NULL;
    }
    lab->host = host;
    lab->operation[lab->operations++] = operation;
    text_add(lab->entries, sizeof lab->entries, "%s%s", *lab->entries ? " " : "", name);
    return operation;
}

static int take_lab(const IniFile *file, const IniSection *section, LabIni *lab, Error *error)
{
    if (section_fill(file, section, LAB_FIELDS, lab, error)) return -1;
    if (!*lab->gpu) text_set(lab->gpu, sizeof lab->gpu, "h200");
    const IniEntry *operation = ini_entry_find(section, "operation");
    if (!take_operation(file, operation, lab->operation_name, lab, error)) return -1;
    const char *dot = strrchr(lab->source, '.');
    if (strchr(lab->source, '/') || !dot || (strcmp(dot, ".cu") && strcmp(dot, ".c"))) {
        return ini_error(error, file, ini_entry_find(section, "source")->line,
                         "source is the name of a .cu or .c file in this directory, not '%s'",
                         lab->source);
    }
    if (strchr(lab->baseline, '/') || lab->baseline[0] == '.') {
        return ini_error(error, file, ini_entry_find(section, "baseline")->line,
                         "baseline is a file of this directory or a lab's name, not '%s'",
                         lab->baseline);
    }
    if (take_precision(file, ini_entry_find(section, "precision"), lab, error)) return -1;
    if (take_algorithm(file, ini_entry_find(section, "algorithm"), lab, error)) return -1;
    if (take_rules(file, ini_entry_find(section, "rules"), lab, error)) return -1;
    const IniEntry *needs = ini_entry_find(section, "needs");
    return needs ? take_needs(file, needs, lab, error) : 0;
}

static int take_shape(const IniFile *file, const IniSection *section, const char *key,
                      const Operation *operation, Problem *problem, Error *error)
{
    const IniEntry *entry = ini_entry_find(section, key);
    Error why;
    if (!entry || !operation->parse(entry->value, problem, &why)) return 0;
    return ini_error(error, file, entry->line, "%s: %s", key, why.text);
}

/* A stage's regions follow those of the stage before. */
static int take_stage(const IniFile *file, const IniSection *section, LabIni *lab, Error *error)
{
    int end = 0;
    if (lab->stages == LAB_STAGES) {
        return ini_error(error, file, section->line, "more than %d stages", LAB_STAGES);
    }
    LabStage *stage = &lab->stage[lab->stages++];
    text_set(stage->name, sizeof stage->name, "%s", section->name + strlen("stage "));
    if (section_fill(file, section, STAGE_FIELDS, stage, error)) return -1;
    if (sscanf(stage->todos, "%2d-%2d%n", &stage->first, &stage->last, &end) < 2)
        stage->last = sscanf(stage->todos, "%2d%n", &stage->first, &end) == 1 ? stage->first : 0;
    const int next = lab->stages > 1 ? stage[-1].last + 1 : 1;
    if (end && !stage->todos[end] && stage->first == next && stage->last >= next &&
        stage->last <= LAB_TODOS)
        return 0;
    return ini_error(error, file, section->line,
                     "todos is a range of TODO regions that starts with %d, such as %d-%d, not "
                     "'%s'",
                     next, next, next + 2, stage->todos);
}

static int take_case_stage(const IniFile *file, const IniEntry *entry, const LabIni *lab,
                           LabCase *item, Error *error)
{
    for (int i = 0; entry && i < lab->stages; i++)
        if (!strcmp(lab->stage[i].name, entry->value)) item->stage = i + 1;
    if (!entry || item->stage) return 0;
    return ini_error(error, file, entry->line, "there is no [stage %s] above", entry->value);
}

static int take_case(const IniFile *file, const IniSection *section, LabIni *lab, Error *error)
{
    if (lab->cases == LAB_CASES) {
        return ini_error(error, file, section->line, "more than %d cases", LAB_CASES);
    }
    LabCase *item = &lab->item[lab->cases++];
    text_set(item->name, sizeof item->name, "%s", section->name + strlen("case "));
    if (section_fill(file, section, CASE_FIELDS, item, error)) return -1;
    const IniEntry *named = ini_entry_find(section, "operation");
    if (take_case_stage(file, ini_entry_find(section, "stage"), lab, item, error)) return -1;
    item->operation = lab->operation[0];
    if (named) item->operation = take_operation(file, named, item->operation_name, lab, error);
    if (!item->operation) return -1;
    if (take_shape(file, section, "shape", item->operation, &item->problem, error)) return -1;
    item->problem_gpu = item->problem;
    lab->timed_cases += item->timed;
    return take_shape(file, section, "shape_gpu", item->operation, &item->problem_gpu, error);
}

/* Rejects a plain number, because its derivation cannot be checked. */
static int refuse_value(const IniFile *file, const IniEntry *entry, Error *error)
{
    return ini_error(error, file, entry->line,
                     "%s = %s is a bare number; write its calculation, such as  formula = "
                     "floor(32768 / (28 * 64))",
                     entry->key, entry->value);
}

static int take_metric(const IniFile *file, const IniEntry *metric, LabPrediction *prediction,
                       Error *error)
{
    if (metric_find(metric->value) < 0) {
        return ini_error(error, file, metric->line, "unknown metric '%s'; there are: %s",
                         metric->value, metric_names());
    }
    text_set(prediction->formula, sizeof prediction->formula, "%s", metric->value);
    return 0;
}

/* Reads the key that gives a prediction's true value and checks it. */
static int take_truth(const IniFile *file, const IniSection *section, const LabIni *lab,
                      LabPrediction *prediction, Error *error)
{
    const IniEntry *metric = ini_entry_find(section, "metric");
    const IniEntry *formula = ini_entry_find(section, "formula");
    const IniEntry *value = ini_entry_find(section, "value");
    double number;
    Error why;
    if (value) return refuse_value(file, value, error);
    if (!metric == !formula) {
        return ini_error(error, file, section->line, "[%s] needs one of metric and formula",
                         section->name);
    }
    if (metric && take_metric(file, metric, prediction, error)) return -1;
    if (!ini_number(prediction->formula, &number)) return refuse_value(file, formula, error);
    const IniEntry *truth = metric ? metric : formula;
    const LabCase *item = &lab->item[prediction->case_index];
    if (formula_check(prediction->formula, item->operation, &item->problem,
                      &prediction->needs_launch, &why)) {
        return ini_error(error, file, truth->line, "formula: %s", why.text);
    }
    if (lab->host && prediction->needs_launch) {
        return ini_error(error, file, truth->line, "'%s' needs a launch; this lab runs on the CPU",
                         truth->value);
    }
    return 0;
}

static int take_prediction(const IniFile *file, const IniSection *section, LabIni *lab,
                           Error *error)
{
    if (lab->predictions == LAB_PREDICTIONS) {
        return ini_error(error, file, section->line, "more than %d predictions", LAB_PREDICTIONS);
    }
    LabPrediction *prediction = &lab->prediction[lab->predictions++];
    text_set(prediction->name, sizeof prediction->name, "%s", section->name + strlen("predict "));
    if (section_fill(file, section, PREDICT_FIELDS, prediction, error)) return -1;
    const IniEntry *item = ini_entry_find(section, "case");
    prediction->case_index = lab_case_find(lab, item->value);
    if (prediction->case_index < 0) {
        return ini_error(error, file, item->line, "there is no [case %s] above", item->value);
    }
    return take_truth(file, section, lab, prediction, error);
}

static int is_fault(const char *name)
{
    for (int fault = FAULT_NONE + 1; fault <= FAULT_EVERYWHERE; fault++)
        if (!strcmp(fault_name((Fault)fault), name)) return 1;
    return 0;
}

static int check_causes(const IniFile *file, const IniSection *section, const char *causes,
                        Error *error)
{
    char words[96], *rest = words;
    text_set(words, sizeof words, "%s", causes);
    for (char *word; (word = strsep(&rest, " "));)
        if (*word && slow_named(word) == SLOW_CAUSES)
            return ini_error(error, file, section->line,
                             "'%s' is not a known cause of slowness; see autograder/lab/slow.h",
                             word);
    return 0;
}

static int take_hint(const IniFile *file, const IniSection *section, LabIni *lab, Error *error)
{
    const char *key = section->name + strlen("hint ");
    if (lab->hints == LAB_HINTS) {
        return ini_error(error, file, section->line, "more than %d hints", LAB_HINTS);
    }
    LabHint *hint = &lab->hint[lab->hints++];
    if (section_fill(file, section, HINT_FIELDS, hint, error) ||
        check_causes(file, section, hint->speed, error))
        return -1;
    if (!isdigit((unsigned char)*key)) {
        text_set(hint->fault, sizeof hint->fault, "%s", key);
        if (is_fault(key)) return 0;
        return ini_error(error, file, section->line,
                         "'%s' is not a known fault; see common/operations/operation/verdict.h",
                         key);
    }
    int next = 1;
    while (lab_stage_hint(lab, next))
        next++;
    char expected[16];
    text_set(expected, sizeof expected, "%d", next);
    if (strcmp(expected, key)) {
        return ini_error(error, file, section->line, "the next staged hint is [hint %d]", next);
    }
    hint->stage = next;
    return 0;
}

/* [todo 1], [todo 2] ...: whether the source has such regions is for `lab check`. */
static int take_todo(const IniFile *file, const IniSection *section, LabIni *lab, Error *error)
{
    char expected[16];
    if (lab->todos == LAB_TODOS) {
        return ini_error(error, file, section->line, "more than %d TODO regions", LAB_TODOS);
    }
    LabTodoHint *hint = &lab->todo[lab->todos++];
    hint->number = lab->todos;
    text_set(expected, sizeof expected, "%d", hint->number);
    if (strcmp(expected, section->name + strlen("todo "))) {
        return ini_error(error, file, section->line, "the next hints of a region are [todo %d]",
                         hint->number);
    }
    return section_fill(file, section, TODO_FIELDS, hint, error);
}

typedef struct SectionKind {
    const char *prefix; /* a whole name, or "case " for "case lenet-c1" */
    int (*take)(const IniFile *, const IniSection *, LabIni *, Error *);
} SectionKind;

static int take_points(const IniFile *file, const IniSection *section, LabIni *lab, Error *error)
{
    return section_fill(file, section, POINTS_FIELDS, lab, error);
}

static int take_speed(const IniFile *file, const IniSection *section, LabIni *lab, Error *error)
{
    return section_fill(file, section, SPEED_FIELDS, lab, error);
}

static int take_hidden(const IniFile *file, const IniSection *section, LabIni *lab, Error *error)
{
    return section_fill(file, section, HIDDEN_FIELDS, lab, error);
}

static const SectionKind KINDS[] = {
    {"lab", take_lab},       {"points", take_points}, {"speed", take_speed},
    {"hidden", take_hidden}, {"case ", take_case},    {"predict ", take_prediction},
    {"hint ", take_hint},    {"todo ", take_todo},    {"stage ", take_stage},
};

static int take_section(const IniFile *file, const IniSection *section, LabIni *lab, Error *error)
{
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++) {
        const char *prefix = KINDS[i].prefix;
        size_t length = strlen(prefix);
        int named = prefix[length - 1] == ' ';
        if (named ? strncmp(section->name, prefix, length) || !section->name[length]
                  : strcmp(section->name, prefix))
            continue;
        if (named && strpbrk(section->name + length, " \t/=;\"")) {
            return ini_error(error, file, section->line, "'%s' is no plain name",
                             section->name + length);
        }
        return KINDS[i].take(file, section, lab, error);
    }
    return ini_error(error, file, section->line,
                     "unknown section [%s]; there are: lab, points, speed, case NAME, hidden, "
                     "predict NAME, hint N, hint FAULT, todo N, stage NAME",
                     section->name);
}

/* ---- the whole file ----------------------------------------------------------------------- */

static int check_sums(const IniFile *file, const LabIni *lab, Error *error)
{
    int points_line = ini_section_find(file, "points")->line;
    double predict = 0;
    for (int i = 0; i < lab->predictions; i++)
        predict += lab->prediction[i].points;
    if (fabs(predict - lab->points_predict) > 1e-9) {
        return ini_error(error, file, points_line, "predict = %g, but the predictions add up to %g",
                         lab->points_predict, predict);
    }
    if (lab->points_speed > 0 && !lab->timed_cases) {
        return ini_error(error, file, points_line,
                         "speed = %g, but no case has timed = yes to earn it", lab->points_speed);
    }
    if (lab->points_correct + lab->points_speed + lab->points_predict <= 0) {
        return ini_error(error, file, points_line, "the lab has no points at all");
    }
    if (!lab_stage_hint(lab, 1)) {
        return ini_error(error, file, points_line, "there is no [hint 1]");
    }
    return 0;
}

/* A case without a floor of its own has the lab's.  All points must be within reach above it. */
static int check_floors(const IniFile *file, LabIni *lab, Error *error)
{
    for (int i = 0; i < lab->cases; i++) {
        LabCase *item = &lab->item[i];
        if (item->none_below <= 0) item->none_below = lab->none_below;
        if (item->none_below * lab->slack <= 1) continue;
        return ini_error(error, file, ini_section_find(file, "speed")->line,
                         "none_below = %g in case %s is above 1 / slack = %.3f", item->none_below,
                         item->name, 1 / lab->slack);
    }
    return 0;
}

/* Once every case has said what its operation is. */
static int check_hidden(const IniFile *file, const LabIni *lab, Error *error)
{
    Error why;
    const IniSection *hidden = ini_section_find(file, "hidden");
    if (lab->hidden_count && lab->hidden_count < lab->operations) {
        return ini_error(error, file, ini_entry_find(hidden, "count")->line,
                         "count = %d leaves one of %d operations without a hidden shape",
                         lab->hidden_count, lab->operations);
    }
    if (!hidden_check(lab, &why)) return 0;
    return ini_error(error, file, ini_entry_find(hidden, "with")->line, "with: %s", why.text);
}

static int fill(const IniFile *file, LabIni *lab, Error *error)
{
    static const char *const NEEDED[] = {"lab", "points", "speed", "hidden"};
    *lab = (LabIni){0};
    for (size_t i = 0; i < sizeof NEEDED / sizeof *NEEDED; i++)
        if (!ini_section_find(file, NEEDED[i])) {
            return ini_error(error, file, 1, "there is no section [%s]", NEEDED[i]);
        }
    /* [lab] is read first, because every other section needs its operation. */
    if (take_lab(file, ini_section_find(file, "lab"), lab, error)) return -1;
    for (size_t i = 0; i < file->sections; i++) {
        if (!strcmp(file->section[i].name, "lab")) continue;
        if (take_section(file, &file->section[i], lab, error)) return -1;
    }
    if (!lab->cases) return ini_error(error, file, 1, "there is no [case NAME]");
    if (check_floors(file, lab, error)) return -1;
    return check_hidden(file, lab, error) ? -1 : check_sums(file, lab, error);
}

int lab_ini_parse(const char *shown, const char *text, size_t bytes, LabIni *lab, Error *error)
{
    IniFile file;
    if (ini_file_parse(shown, text, bytes, &file, error)) return -1;
    int status = fill(&file, lab, error);
    ini_file_clear(&file);
    return status;
}

/* A student's copy shows the public part of lab.ini; the complete file is sealed next to it. */
static int read_sealed(const char *folder, const char *shown, LabIni *lab, Error *error)
{
    size_t bytes;
    char *text = sealed_part(folder, SEALED_INI, &bytes, error);
    int status = text ? lab_ini_parse(shown, text, bytes, lab, error) : -1;
    free(text);
    return status;
}

int lab_ini_read(const char *path, const char *shown, LabIni *lab, Error *error)
{
    IniFile file;
    char folder[1024];
    text_set(folder, sizeof folder, "%s", path);
    char *slash = strrchr(folder, '/');
    if (slash) *slash = 0;
    if (slash && sealed_exists(folder)) return read_sealed(folder, shown, lab, error);
    if (ini_file_read(path, shown, &file, error)) return -1;
    int status = fill(&file, lab, error);
    ini_file_clear(&file);
    return status;
}

const char *lab_fault_hint(const LabIni *lab, const char *fault)
{
    for (int i = 0; fault && *fault && i < lab->hints; i++)
        if (!strcmp(lab->hint[i].fault, fault)) return lab->hint[i].text;
    return NULL;
}

const char *lab_fault_question(const LabIni *lab, const char *fault)
{
    for (int i = 0; fault && *fault && i < lab->hints; i++)
        if (!strcmp(lab->hint[i].fault, fault) && *lab->hint[i].question)
            return lab->hint[i].question;
    return lab_fault_hint(lab, fault);
}

const char *lab_todo_hint(const LabIni *lab, int number, int level)
{
    for (int i = 0; i < lab->todos; i++) {
        const LabTodoHint *hint = &lab->todo[i];
        if (hint->number != number) continue;
        return level == 0   ? hint->question
               : level == 1 ? hint->idea
               : level == 2 ? hint->code
                            : NULL;
    }
    return NULL;
}

const char *lab_stage_hint(const LabIni *lab, int stage)
{
    for (int i = 0; i < lab->hints; i++)
        if (lab->hint[i].stage == stage) return lab->hint[i].text;
    return NULL;
}

int lab_case_find(const LabIni *lab, const char *name)
{
    for (int i = 0; i < lab->cases; i++)
        if (!strcmp(lab->item[i].name, name)) return i;
    return -1;
}

int lab_ini_cc(const LabIni *lab)
{
    int cc = 75;
    for (int i = 0; i < lab->needs; i++) {
        int wanted = (int)(lab->need[i].cc_major * 10 + lab->need[i].cc_minor);
        if (wanted > cc) cc = wanted;
    }
    return cc;
}
