#include "autograder/lab/handout.h"

#include <ctype.h>
#include <string.h>

#include "autograder/text/table.h"
#include "autograder/text/text.h"

enum { COLUMNS = 24 };

/* A case as keys and values: "N=16 pad=same" and its output's axes. */
typedef struct Fields {
    int count;
    char key[COLUMNS][16], value[COLUMNS][40];
} Fields;

static const char *field_find(const Fields *fields, const char *key)
{
    for (int i = 0; i < fields->count; i++)
        if (!strcmp(fields->key[i], key)) return fields->value[i];
    return NULL;
}

/* Adds a field; an existing field keeps its value. */
static void field_add(Fields *fields, const char *key, const char *value)
{
    if (field_find(fields, key) || fields->count == COLUMNS) return;
    text_set(fields->key[fields->count], sizeof fields->key[0], "%s", key);
    text_set(fields->value[fields->count++], sizeof fields->value[0], "%s", value);
}

/* Adds the axes of the outputs, for example "P" = 28: those that are no key of the shape and have a
 * single letter as name.  An output of rank 1 has none: its length follows from the keys, and in
 * lab 18 it would reveal the number of parameters. */
static void fields_add_outputs(Fields *fields, const Operation *operation, const Problem *problem)
{
    TensorShape shape[OPERATION_TENSORS];
    int tensors = operation->tensors(problem, shape);
    for (int i = 0; i < tensors; i++)
        for (int j = 0; shape[i].role == TENSOR_OUTPUT && j < shape[i].rank; j++) {
            char key[16], value[40];
            text_set(key, sizeof key, "%s", shape[i].axes[j]);
            for (char *at = key; *at; at++)
                *at = (char)toupper((unsigned char)*at);
            text_set(value, sizeof value, "%zu", shape[i].dim[j]);
            if (key[1] || shape[i].rank == 1) continue;
            field_add(fields, key, value);
        }
}

static void fields_add_shape(Fields *fields, const Operation *operation, const Problem *problem)
{
    char shape[256], *rest = shape;
    operation->print(problem, shape, sizeof shape);
    for (char *word; (word = strsep(&rest, " "));) {
        char *value = strchr(word, '=');
        if (!value) continue;
        *value++ = 0;
        field_add(fields, word, value);
    }
}

static Fields fields_of(const Operation *operation, const Problem *problem)
{
    Fields fields = {0};
    fields_add_shape(&fields, operation, problem);
    fields_add_outputs(&fields, operation, problem);
    return fields;
}

/* Every key that occurs in a case of the operation, the outputs' keys last. */
static Fields columns_of(const LabIni *ini, const Operation *operation)
{
    Fields columns = {0};
    for (int i = 0; i < ini->cases; i++)
        if (ini->item[i].operation == operation)
            fields_add_shape(&columns, operation, &ini->item[i].problem);
    for (int i = 0; i < ini->cases; i++)
        if (ini->item[i].operation == operation)
            fields_add_outputs(&columns, operation, &ini->item[i].problem);
    return columns;
}

/* Escapes characters that are Markdown syntax. */
static void print_cell(FILE *stream, const char *text)
{
    fputs(" ", stream);
    for (; *text; text++) {
        if (*text == '<') {
            fputs("&lt;", stream);
        } else {
            if (strchr("*|", *text)) fputc('\\', stream);
            fputc(*text, stream);
        }
    }
    fputs(" |", stream);
}

static void print_case(FILE *stream, const LabIni *ini, const LabCase *item, const Fields *columns)
{
    Fields sim = fields_of(item->operation, &item->problem);
    Fields gpu = fields_of(item->operation, &item->problem_gpu);
    fprintf(stream, "| `%s` |", item->name);
    if (ini->stages) fprintf(stream, " %s |", item->stage_name);
    for (int i = 0; i < columns->count; i++) {
        const char *here = field_find(&sim, columns->key[i]);
        const char *there = field_find(&gpu, columns->key[i]);
        char text[100];
        text_set(text, sizeof text, "%s", here ? here : "");
        if (here && there && strcmp(here, there)) text_add(text, sizeof text, " (%s)", there);
        print_cell(stream, text);
    }
    fprintf(stream, " %s |", item->timed ? "yes" : "");
    print_cell(stream, item->about);
    fputc('\n', stream);
}

static int sizes_differ(const LabIni *ini)
{
    for (int i = 0; i < ini->cases; i++)
        if (memcmp(&ini->item[i].problem, &ini->item[i].problem_gpu, sizeof(Problem)) != 0)
            return 1;
    return 0;
}

static void print_cases(FILE *stream, const LabIni *ini, const Operation *operation)
{
    Fields columns = columns_of(ini, operation);
    if (!columns.count) return;
    if (ini->operations > 1) fprintf(stream, "`%s`:\n\n", operation->name);
    fputs(ini->stages ? "| case | part |" : "| case |", stream);
    for (int i = 0; i < columns.count; i++)
        print_cell(stream, columns.key[i]);
    fputs(" timed | purpose |\n| --- |", stream);
    if (ini->stages) fputs(" --- |", stream);
    for (int i = 0; i < columns.count; i++)
        fputs(" --- |", stream);
    fputs(" --- | --- |\n", stream);
    for (int i = 0; i < ini->cases; i++)
        if (ini->item[i].operation == operation) print_case(stream, ini, &ini->item[i], &columns);
    fputc('\n', stream);
}

/* Prints the times at which the speed points begin, relative to the solution's time. */
static void print_floors(FILE *stream, const LabIni *ini)
{
    if (ini->none_below > 0)
        fprintf(stream, "It earns none from %.2f times the solution's time on.\n",
                1 / ini->none_below);
    for (int i = 0; i < ini->cases; i++) {
        const LabCase *item = &ini->item[i];
        if (!item->timed || item->none_below <= 0 || item->none_below == ini->none_below) continue;
        fprintf(stream, "Case `%s` earns none from %.2f times the solution's time on.\n",
                item->name, 1 / item->none_below);
    }
}

/* Prints the points that the cases of each part can earn. */
static void print_stages(FILE *stream, const LabIni *ini)
{
    const double share = ini->points_correct / (ini->cases + (ini->hidden_count > 0));
    for (int i = 0; i < ini->stages; i++) {
        double points = 0;
        for (int j = 0; j < ini->cases; j++)
            if (ini->item[j].stage == i + 1)
                points += share + (ini->item[j].timed ? ini->points_speed / ini->timed_cases : 0);
        if (points > 0)
            fprintf(stream, "Part %s, %s: its cases earn %.4g points.\n", ini->stage[i].name,
                    ini->stage[i].title, points);
    }
}

void handout_print_shapes(FILE *stream, const LabIni *ini)
{
    char macs[40];
    for (int i = 0; i < ini->operations; i++)
        print_cases(stream, ini, ini->operation[i]);
    if (sizes_differ(ini)) fputs("Sizes in brackets are those on a GPU.\n", stream);
    if (ini->hidden_count)
        fprintf(stream,
                "Each grading run also tests %d hidden shapes of at most %s multiply-adds each.\n",
                ini->hidden_count, text_thousands(ini->hidden_max_macs, macs));
    if (ini->points_speed > 0)
        fprintf(stream,
                "Correct results earn %g points, predictions %g and speed %g. "
                "A timed case earns its full speed\npoints within %g times the solution's time.\n",
                ini->points_correct, ini->points_predict, ini->points_speed, ini->slack);
    if (ini->points_speed > 0) print_floors(stream, ini);
    print_stages(stream, ini);
    if (ini->points_speed <= 0)
        fprintf(stream, "Correct results earn %g points and predictions %g.\n", ini->points_correct,
                ini->points_predict);
}

void handout_print_questions(FILE *stream, const LabIni *ini)
{
    fputs("| prediction | question to answer | points |\n| --- | --- | --- |\n", stream);
    for (int i = 0; i < ini->predictions; i++) {
        fprintf(stream, "| `%s` |", ini->prediction[i].name);
        print_cell(stream, ini->prediction[i].question);
        fprintf(stream, " %g |\n", ini->prediction[i].points);
    }
}

void handout_print_plan(FILE *stream, const Catalog *catalog)
{
    fputs("| lab | prerequisites | duration | subject |\n| --- | --- | --- | --- |\n", stream);
    for (int i = 0; i < catalog->labs; i++) {
        const Lab *lab = &catalog->lab[i];
        fprintf(stream, "| [%s](../../labs/%s/README.md) | %s | %s |", lab->name, lab->name,
                lab->ini.after, lab->ini.takes);
        print_cell(stream, lab->ini.title);
        fputc('\n', stream);
    }
}
