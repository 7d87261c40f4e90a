#include "autograder/class/reproducible.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "autograder/record/record.h"
#include "autograder/text/text.h"

/* ---- removal of the folder from texts ------------------------------------------------------ */

/* Removes every "work/<part>/" from the text. */
static void remove_path(char *text, const char *work)
{
    for (char *from = text; (from = strstr(from, work));) {
        char *rest = from + strlen(work);
        rest += *rest == '/';
        rest += strcspn(rest, "/ ");
        rest += *rest == '/';
        memmove(from, rest, strlen(rest) + 1);
    }
}

/* `text` without any "work/<part>/", malloc'd; NULL: it contains none.  A grader writes a path
 * below the course's root relative to it, so the ends of `work` are removed, too. */
static char *without(const char *text, const char *work)
{
    const char *last = strrchr(work, '/');
    last = last ? last + 1 : work;
    char *clean = *last && strstr(text, last) ? strdup(text) : NULL;
    for (const char *part = clean ? work : NULL; part;) {
        remove_path(clean, part);
        part = strchr(part + 1, '/');
        part = part ? part + 1 : NULL;
    }
    return clean;
}

static json_t *reproducible_value(json_t *value, const char *work)
{
    size_t index;
    const char *key;
    void *next;
    json_t *part;
    if (json_is_string(value)) {
        char *clean = without(json_string_value(value), work);
        if (clean) json_string_set(value, clean);
        free(clean);
    }
    json_array_foreach(value, index, part) reproducible_value(part, work);
    json_object_foreach_safe(value, next, key, part) reproducible_value(part, work);
    return value;
}

/* ---- removal of times ------------------------------------------------------------------------ */

static void reproducible_case(json_t *item, int on_host)
{
    json_t *cost = json_object_get(item, "cost"), *speed = json_object_get(item, "speed");
    const char *verdict = json_string_value(json_object_get(speed, "verdict"));
    if (!on_host) return;
    json_object_set_new(cost, "seconds", json_real(0));
    if (verdict && !strcmp(verdict, speed_verdict_name(SPEED_SCORED)))
        json_object_set_new(speed, "text", json_string(""));
}

static void keep(const json_t *json, ReproducibleRecord *record)
{
    const char *status = json_string_value(json_object_get(json, "status"));
    text_set(record->status, sizeof record->status, "%s", status ? status : "");
    record->points = json_number_value(json_object_get(json, "points"));
    record->possible = json_number_value(json_object_get(json, "possible"));
    record->text = json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(17));
}

int reproducible_record(const char *text, const char *work, const char *problem,
                        ReproducibleRecord *record, Error *error)
{
    Record *parsed = malloc(sizeof *parsed);
    *record = (ReproducibleRecord){0};
    if (!parsed || record_parse(text, parsed, error)) {
        free(parsed);
        return -1;
    }
    int on_host = !strcmp(parsed->engine, "cpu");
    record_clear(parsed);
    free(parsed);
    json_t *json = reproducible_value(json_loads(text, 0, NULL), work);
    json_object_set_new(json, "graded_at", json_string(""));
    json_object_set_new(json, "seconds", json_real(0));
    if (*problem) json_object_set_new(json, "message", json_string(problem));
    size_t index;
    json_t *item;
    json_array_foreach(json_object_get(json, "cases"), index, item)
        reproducible_case(item, on_host);
    keep(json, record);
    json_decref(json);
    return record->text ? 0 : error_set(error, "out of memory");
}

int reproducible_deferred(const char *lab, const char *title, const char *why, const char *work,
                          ReproducibleRecord *record, Error *error)
{
    Record *deferred = calloc(1, sizeof *deferred);
    *record = (ReproducibleRecord){0};
    if (!deferred) return error_set(error, "out of memory");
    deferred->status = RECORD_DEFERRED;
    text_set(deferred->lab, sizeof deferred->lab, "%s", lab);
    text_set(deferred->title, sizeof deferred->title, "%s", title);
    text_set(deferred->message, sizeof deferred->message, "%s", why);
    text_set(deferred->deferred, sizeof deferred->deferred, "%s", why);
    char *text = record_print(deferred);
    int status = text ? reproducible_record(text, work, "", record, error)
                      : error_set(error, "out of memory");
    free(text);
    free(deferred);
    return status;
}
