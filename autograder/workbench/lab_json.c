#include "autograder/workbench/lab_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autograder/lab/predict.h"
#include "autograder/lab/todo.h"
#include "autograder/record/best_record.h"
#include "autograder/text/files.h"
#include "autograder/text/text.h"
#include "autograder/workbench/first_answers.h"
#include "autograder/workbench/markdown.h"
#include "autograder/workbench/playground.h"
#include "autograder/workbench/source.h"
#include "common/base/intake.h"
#include "common/simulator/machine/machine.h"

int lab_file_name(const Workbench *bench, const Lab *lab, const char *which, char *folder,
                  char *name, size_t bytes)
{
    const int predict = !strcmp(which, "predict");
    if (!predict && strcmp(which, "source") != 0) return -1;
    text_set(folder, bytes, "%s/labs", bench->root);
    text_set(name, bytes, "%s/%s", lab->name, predict ? "predict.ini" : lab->ini.source);
    return 0;
}

static const char *state_of(const Record *best)
{
    if (!best) return "not graded yet";
    return record_passed(best) ? "passed" : "not passed yet";
}

static void points_add(const Workbench *bench, const Lab *lab, json_t *object)
{
    BestRecord records = best_record_read(bench->build, lab->name);
    json_object_set_new(object, "points", json_real(records.best ? records.best->points : 0));
    json_object_set_new(object, "state", json_string(state_of(records.best)));
    best_record_free(&records);
}

/* Numbers of the machine's file, with their units, by which a student compares machines. */
static json_t *machine_json(const char *folder, const char *name)
{
    static const struct {
        const char *key, *format;
        double scale;
    } NUMBERS[] = {{"sms", "%.6g SMs", 1},
                   {"clock_mhz", "%.6g MHz", 1},
                   {"dram_gb_s", "%.6g GB/s of DRAM", 1},
                   {"l2_bytes", "%.4g MiB of L2", 1.0 / (1 << 20)},
                   {"fp32_lanes", "%.6g FP32 lanes per SM", 1},
                   {"registers_per_sm", "%.6g registers per SM", 1},
                   {"shared_per_sm", "%.6g KiB of shared memory per SM", 1.0 / 1024},
                   {"max_threads_per_sm", "%.6g threads per SM", 1}};
    SimtMachine machine;
    if (machine_load(folder, name, &machine, NULL)) return json_pack("{s:s}", "name", name);
    json_t *facts = json_array();
    for (size_t i = 0; i < sizeof NUMBERS / sizeof *NUMBERS; i++) {
        double value;
        char text[80];
        if (machine_number(&machine, NUMBERS[i].key, &value)) continue;
        snprintf(text, sizeof text, NUMBERS[i].format, value * NUMBERS[i].scale);
        json_array_append_new(facts, json_string(text));
    }
    return json_pack("{s:s, s:s, s:s, s:o}", "name", name, "title", machine.title, "architecture",
                     machine.architecture, "facts", facts);
}

static json_t *machines_json(const Workbench *bench)
{
    char folder[1200], names[4000], *rest = names;
    json_t *machines = json_array();
    text_set(folder, sizeof folder, "%s/common/simulator/gpus", bench->root);
    *names = 0;
    machine_names(folder, names, sizeof names);
    for (char *name; (name = strsep(&rest, " ,\n")) != NULL;)
        if (*name) json_array_append_new(machines, machine_json(folder, name));
    return machines;
}

json_t *labs_json(const Workbench *bench)
{
    json_t *list = json_array();
    for (int i = 0; i < bench->catalog.labs; i++) {
        const Lab *lab = &bench->catalog.lab[i];
        json_t *row = json_pack("{s:s, s:s, s:s, s:s}", "name", lab->name, "title", lab->ini.title,
                                "part", lab->ini.part, "takes", lab->ini.takes);
        points_add(bench, lab, row);
        json_array_append_new(list, row);
    }
    return json_pack("{s:o, s:o, s:o}", "labs", list, "machines", machines_json(bench), "programs",
                     playground_json(bench));
}

static int line_of(const char *text, size_t byte)
{
    int line = 1;
    for (size_t at = 0; at < byte; at++)
        line += text[at] == '\n';
    return line;
}

/* The body of the region with that number in the skeleton that `make reset` restores; null if there
 * is none. */
static json_t *skeleton_body(const char *skeleton, const TodoList *list, int number)
{
    for (int i = 0; i < list->regions; i++)
        if (list->region[i].number == number)
            return json_stringn(skeleton + list->region[i].body,
                                list->region[i].body_end - list->region[i].body);
    return json_null();
}

/* Lines are counted from 1; `first` is the marker's line, `body` that of the body's first line and
 * `last` that of the end marker. */
static json_t *regions_json(const char *text, const char *skeleton)
{
    TodoList list, stubs = {.regions = 0};
    json_t *regions = json_array();
    if (todo_scan("", text, &list, NULL)) return regions;
    if (skeleton && todo_scan("", skeleton, &stubs, NULL)) stubs.regions = 0;
    for (int i = 0; i < list.regions; i++) {
        const TodoRegion *region = &list.region[i];
        json_array_append_new(
            regions, json_pack("{s:i, s:i, s:i, s:i, s:s, s:o}", "number", region->number, "first",
                               region->line, "body", line_of(text, region->body), "last",
                               line_of(text, region->body_end), "task", region->sentence,
                               "skeleton", skeleton_body(skeleton, &stubs, region->number)));
    }
    return regions;
}

static json_t *file_json(const char *folder, const char *name, const char *skeleton)
{
    char digest[DIGEST_CHARACTERS + 1];
    Error error;
    char *text = source_read(folder, name, digest, &error);
    if (!text) return json_pack("{s:s, s:s}", "error", error.text, "digest", "");
    json_t *file = json_pack("{s:s, s:s, s:o}", "text", text, "digest", digest, "regions",
                             regions_json(text, skeleton));
    free(text);
    return file;
}

static json_t *lab_file_json(const Workbench *bench, const Lab *lab, const char *which)
{
    char folder[1300], name[1300];
    lab_skeleton_path(bench->root, lab, folder, sizeof folder);
    char *skeleton = strcmp(which, "source") ? NULL : file_text(folder, NULL);
    lab_file_name(bench, lab, which, folder, name, sizeof name);
    json_t *file = file_json(folder, name, skeleton);
    free(skeleton);
    return file;
}

static json_t *cases_json(const LabIni *ini)
{
    json_t *cases = json_array();
    for (int i = 0; i < ini->cases; i++)
        json_array_append_new(cases, json_pack("{s:s, s:s, s:s, s:b}", "name", ini->item[i].name,
                                               "shape", ini->item[i].shape, "about",
                                               ini->item[i].about, "timed", ini->item[i].timed));
    return cases;
}

static json_t *predictions_json(const Workbench *bench, const Lab *lab)
{
    const LabIni *ini = &lab->ini;
    json_t *list = json_array();
    PredictFile first;
    first_answers_read(bench, lab, &first);
    for (int i = 0; i < ini->predictions; i++) {
        const char *name = ini->prediction[i].name;
        const double *answer = predict_find(&first, name);
        json_array_append_new(list, json_pack("{s:s, s:s, s:f, s:o}", "name", name, "question",
                                              ini->prediction[i].question, "points",
                                              ini->prediction[i].points, "first",
                                              answer ? json_real(*answer) : json_null()));
    }
    return list;
}

static json_t *handout_json(const Workbench *bench, const Lab *lab)
{
    enum { MOST = 4 << 20 };
    char folder[1300], name[300];
    size_t bytes;
    text_set(folder, sizeof folder, "%s/labs", bench->root);
    text_set(name, sizeof name, "%s/README.md", lab->name);
    char *text = intake_read(folder, name, MOST, &bytes, NULL),
         *html = text ? markdown_html(text) : NULL;
    json_t *handout =
        json_string(html ? html : "<p>The handout README.md is missing in the lab's folder.</p>");
    free(text);
    free(html);
    return handout;
}

/* The header of the course that the source includes, with the names of a problem's fields: its name
 * and text; null: there is none. */
static json_t *header_json(const Workbench *bench, const char *source)
{
    enum { MOST = 1 << 20 };
    static const char INCLUDE[] = "#include <convlab/";
    char folder[1300], name[64];
    size_t bytes, length;
    const char *at = source ? strstr(source, INCLUDE) : NULL;
    if (!at) return json_null();
    at += sizeof INCLUDE - 1;
    length = strspn(at, "abcdefghijklmnopqrstuvwxyz0123456789_");
    if (!length || length > 40 || strncmp(at + length, ".h>", 3) != 0) return json_null();
    text_set(folder, sizeof folder, "%s/common/include/convlab", bench->root);
    text_set(name, sizeof name, "%.*s.h", (int)length, at);
    char *text = intake_read(folder, name, MOST, &bytes, NULL);
    json_t *header =
        text ? json_pack("{s:s+, s:s}", "name", "convlab/", name, "text", text) : json_null();
    free(text);
    return header;
}

json_t *lab_json(const Workbench *bench, const Lab *lab)
{
    json_t *object = json_pack("{s:s, s:s, s:s, s:s, s:b}", "name", lab->name, "title",
                               lab->ini.title, "sourceName", lab->ini.source, "gpu",
                               *lab->ini.gpu ? lab->ini.gpu : "h200", "host", lab->ini.host);
    json_object_set_new(object, "cases", cases_json(&lab->ini));
    json_object_set_new(object, "predictions", predictions_json(bench, lab));
    json_object_set_new(object, "source", lab_file_json(bench, lab, "source"));
    json_object_set_new(object, "predict", lab_file_json(bench, lab, "predict"));
    json_object_set_new(object, "handout", handout_json(bench, lab));
    const char *text =
        json_string_value(json_object_get(json_object_get(object, "source"), "text"));
    json_object_set_new(object, "header", header_json(bench, text));
    points_add(bench, lab, object);
    return object;
}

static json_t *digest_json(const char *folder, const char *name)
{
    char digest[DIGEST_CHARACTERS + 1] = "";
    free(source_read(folder, name, digest, NULL));
    return json_string(digest);
}

json_t *lab_state_json(const Workbench *bench, const Lab *lab)
{
    static const char *const WHICH[] = {"source", "predict"};
    json_t *object = json_object();
    char folder[1300], name[1300];
    for (int i = 0; i < 2; i++) {
        lab_file_name(bench, lab, WHICH[i], folder, name, sizeof name);
        json_object_set_new(object, WHICH[i], digest_json(folder, name));
    }
    points_add(bench, lab, object);
    return object;
}

json_t *program_json(const Workbench *bench, const char *name)
{
    char folder[1300];
    playground_folder(bench, folder, sizeof folder);
    return json_pack("{s:s, s:s, s:s, s:o}", "name", name, "sourceName", name, "title", name,
                     "source", file_json(folder, name, NULL));
}

json_t *program_state_json(const Workbench *bench, const char *name)
{
    char folder[1300];
    playground_folder(bench, folder, sizeof folder);
    return json_pack("{s:o}", "source", digest_json(folder, name));
}
