#include "autograder/workbench/lab_json.h"

#include <stdlib.h>
#include <string.h>

#include "autograder/lab/todo.h"
#include "autograder/record/best_record.h"
#include "autograder/text/files.h"
#include "autograder/text/text.h"
#include "autograder/workbench/markdown.h"
#include "autograder/workbench/source.h"
#include "common/simulator/machine/machine.h"

int lab_file_path(const Workbench *bench, const Lab *lab, const char *which, char *path,
                  size_t bytes)
{
    const int predict = !strcmp(which, "predict");
    if (!predict && strcmp(which, "source") != 0) return -1;
    text_set(path, bytes, "%s/labs/%s/%s", bench->root, lab->name,
             predict ? "predict.ini" : lab->ini.source);
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

static json_t *machines_json(const Workbench *bench)
{
    char folder[1200], names[4000], *rest = names;
    json_t *machines = json_array();
    text_set(folder, sizeof folder, "%s/common/simulator/gpus", bench->root);
    *names = 0;
    machine_names(folder, names, sizeof names);
    for (char *name; (name = strsep(&rest, " ,\n")) != NULL;)
        if (*name) json_array_append_new(machines, json_string(name));
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
    return json_pack("{s:o, s:o}", "labs", list, "machines", machines_json(bench));
}

/* Lines are counted from 1; `first` is the marker's line and `last` that of its end. */
static json_t *regions_json(const char *text)
{
    TodoList list;
    json_t *regions = json_array();
    if (todo_scan("", text, &list, NULL)) return regions;
    for (int i = 0; i < list.regions; i++) {
        const TodoRegion *region = &list.region[i];
        int last = 1;
        for (size_t at = 0; at < region->body_end; at++)
            last += text[at] == '\n';
        json_array_append_new(regions,
                              json_pack("{s:i, s:i, s:i, s:s}", "number", region->number, "first",
                                        region->line, "last", last, "task", region->sentence));
    }
    return regions;
}

static json_t *file_json(const Workbench *bench, const Lab *lab, const char *which)
{
    char path[1300], digest[DIGEST_CHARACTERS + 1];
    Error error;
    lab_file_path(bench, lab, which, path, sizeof path);
    char *text = source_read(path, digest, &error);
    if (!text) return json_pack("{s:s, s:s}", "error", error.text, "digest", "");
    json_t *file =
        json_pack("{s:s, s:s, s:o}", "text", text, "digest", digest, "regions", regions_json(text));
    free(text);
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

static json_t *predictions_json(const LabIni *ini)
{
    json_t *list = json_array();
    for (int i = 0; i < ini->predictions; i++)
        json_array_append_new(list, json_pack("{s:s, s:s, s:f}", "name", ini->prediction[i].name,
                                              "question", ini->prediction[i].question, "points",
                                              ini->prediction[i].points));
    return list;
}

static json_t *handout_json(const Workbench *bench, const Lab *lab)
{
    char path[1300];
    text_set(path, sizeof path, "%s/labs/%s/README.md", bench->root, lab->name);
    char *text = file_text(path, NULL), *html = text ? markdown_html(text) : NULL;
    json_t *handout =
        json_string(html ? html : "<p>The handout README.md is missing in the lab's folder.</p>");
    free(text);
    free(html);
    return handout;
}

json_t *lab_json(const Workbench *bench, const Lab *lab)
{
    json_t *object = json_pack("{s:s, s:s, s:s, s:s, s:b}", "name", lab->name, "title",
                               lab->ini.title, "sourceName", lab->ini.source, "gpu",
                               *lab->ini.gpu ? lab->ini.gpu : "h200", "host", lab->ini.host);
    json_object_set_new(object, "cases", cases_json(&lab->ini));
    json_object_set_new(object, "predictions", predictions_json(&lab->ini));
    json_object_set_new(object, "source", file_json(bench, lab, "source"));
    json_object_set_new(object, "predict", file_json(bench, lab, "predict"));
    json_object_set_new(object, "handout", handout_json(bench, lab));
    points_add(bench, lab, object);
    return object;
}

static json_t *digest_json(const Workbench *bench, const Lab *lab, const char *which)
{
    char path[1300], digest[DIGEST_CHARACTERS + 1] = "";
    lab_file_path(bench, lab, which, path, sizeof path);
    free(source_read(path, digest, NULL));
    return json_string(digest);
}

json_t *lab_state_json(const Workbench *bench, const Lab *lab)
{
    json_t *object = json_pack("{s:o, s:o}", "source", digest_json(bench, lab, "source"), "predict",
                               digest_json(bench, lab, "predict"));
    points_add(bench, lab, object);
    return object;
}
