#include "autograder/record/record.h"

#include <jansson.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "autograder/text/files.h"
#include "autograder/text/text.h"
#include "common/base/intake.h"

/* ---- names -------------------------------------------------------------------------------- */

static const char *const STATUS_NAME[] = {"graded",   "missing", "no-build",
                                          "deferred", "broken",  NULL};
static const char *const CASE_NAME[] = {"correct", "wrong",   "error",    "exited",
                                        "crashed", "limit",   "protocol", "deferred",
                                        "broken",  "not-run", NULL};
static const char *const SPEED_NAME[] = {"not-timed", "scored",       "not-correct",
                                         "too-close", "inconclusive", "review",
                                         "wrong",     "deferred",     NULL};

const char *case_verdict_name(CaseVerdict verdict)
{
    return CASE_NAME[verdict];
}

const char *speed_verdict_name(SpeedVerdict verdict)
{
    return SPEED_NAME[verdict];
}

const char *record_status_name(RecordStatus status)
{
    return STATUS_NAME[status];
}

/* ---- sums --------------------------------------------------------------------------------- */

int record_all_correct(const Record *record)
{
    for (int i = 0; i < record->cases; i++)
        if (record->item[i].verdict != CASE_CORRECT) return 0;
    return record->cases > 0;
}

int case_is_left_out(CaseVerdict verdict)
{
    return verdict == CASE_DEFERRED || verdict == CASE_BROKEN;
}

int speed_counts(SpeedVerdict verdict)
{
    return verdict == SPEED_SCORED || verdict == SPEED_NOT_CORRECT || verdict == SPEED_REVIEW ||
           verdict == SPEED_WRONG;
}

void record_total(Record *record)
{
    record->points = record->possible = record->deferred_points = 0;
    for (int i = 0; i < record->cases; i++) {
        const RecordCase *item = &record->item[i];
        const RecordSpeed *speed = &item->speed;
        if (case_is_left_out(item->verdict)) {
            record->deferred_points += item->possible;
        } else {
            record->points += item->points;
            record->possible += item->possible;
        }
        if (speed_counts(speed->verdict)) {
            record->points += speed->points;
            record->possible += speed->possible;
        } else {
            record->deferred_points += speed->possible;
        }
    }
    for (int i = 0; i < record->predictions; i++) {
        record->points += record->prediction[i].points;
        record->possible += record->prediction[i].possible;
    }
}

/* ---- a struct as a table of JSON fields, used in both directions -------------------------- */

typedef enum FieldType { AS_TEXT, AS_DOUBLE, AS_U32, AS_U64, AS_FLAG, AS_NAME } FieldType;

typedef struct Field {
    const char *key;
    FieldType type;
    size_t offset, bytes;
    const char *const *names; /* AS_NAME: the names of an enum's values */
} Field;

#define FIELD(of, member, type)                                                                    \
    {                                                                                              \
#member, type, offsetof(of, member), sizeof(((of *)0)->member), NULL                       \
    }
#define NAMED(of, member, names)                                                                   \
    {                                                                                              \
#member, AS_NAME, offsetof(of, member), sizeof(int), names                                 \
    }

#define COUNTER_JSON(field, metric, about) FIELD(DeviceCost, field, AS_U64),

static const Field COST_FIELDS[] = {
    FIELD(DeviceCost, seconds, AS_DOUBLE),
    FIELD(DeviceCost, cycles, AS_U64),
    COUNTERS(COUNTER_JSON) /* occupancy and the following fields: of the most expensive launch */
    FIELD(DeviceCost, occupancy_percent, AS_U32),
    FIELD(DeviceCost, registers, AS_U32),
    FIELD(DeviceCost, shared_bytes, AS_U32),
    FIELD(DeviceCost, resident_blocks, AS_U32),
    {0},
};

static const Field SPEED_FIELDS[] = {
    NAMED(RecordSpeed, verdict, SPEED_NAME),
    FIELD(RecordSpeed, text, AS_TEXT),
    FIELD(RecordSpeed, baseline, AS_DOUBLE),
    FIELD(RecordSpeed, student, AS_DOUBLE),
    FIELD(RecordSpeed, reference, AS_DOUBLE),
    FIELD(RecordSpeed, s, AS_DOUBLE),
    FIELD(RecordSpeed, s_low, AS_DOUBLE),
    FIELD(RecordSpeed, s_high, AS_DOUBLE),
    FIELD(RecordSpeed, s_ref, AS_DOUBLE),
    FIELD(RecordSpeed, needed, AS_DOUBLE),
    FIELD(RecordSpeed, points, AS_DOUBLE),
    FIELD(RecordSpeed, possible, AS_DOUBLE),
    {0},
};

static const Field CASE_FIELDS[] = {
    FIELD(RecordCase, name, AS_TEXT),
    FIELD(RecordCase, about, AS_TEXT),
    FIELD(RecordCase, shape, AS_TEXT),
    FIELD(RecordCase, hidden, AS_FLAG),
    NAMED(RecordCase, verdict, CASE_NAME),
    FIELD(RecordCase, fault, AS_TEXT),
    FIELD(RecordCase, where, AS_TEXT),
    FIELD(RecordCase, text, AS_TEXT),
    FIELD(RecordCase, hint, AS_TEXT),
    FIELD(RecordCase, wrong, AS_DOUBLE),
    FIELD(RecordCase, total, AS_DOUBLE),
    FIELD(RecordCase, worst, AS_DOUBLE),
    FIELD(RecordCase, points, AS_DOUBLE),
    FIELD(RecordCase, possible, AS_DOUBLE),
    {0},
};

static const Field PREDICTION_FIELDS[] = {
    FIELD(RecordPrediction, name, AS_TEXT),
    FIELD(RecordPrediction, question, AS_TEXT),
    FIELD(RecordPrediction, metric, AS_TEXT),
    FIELD(RecordPrediction, text, AS_TEXT),
    FIELD(RecordPrediction, points, AS_DOUBLE),
    FIELD(RecordPrediction, possible, AS_DOUBLE),
    {0},
};

static const Field RECORD_FIELDS[] = {
    FIELD(Record, lab, AS_TEXT),
    FIELD(Record, title, AS_TEXT),
    NAMED(Record, status, STATUS_NAME),
    FIELD(Record, message, AS_TEXT),
    FIELD(Record, todo, AS_TEXT),
    FIELD(Record, graded_at, AS_TEXT),
    FIELD(Record, engine, AS_TEXT),
    FIELD(Record, machine, AS_TEXT),
    FIELD(Record, device, AS_TEXT),
    FIELD(Record, unit, AS_TEXT),
    FIELD(Record, sandbox, AS_TEXT),
    FIELD(Record, toolkit, AS_TEXT),
    FIELD(Record, source, AS_TEXT),
    FIELD(Record, submission_digest, AS_TEXT),
    FIELD(Record, baseline_digest, AS_TEXT),
    FIELD(Record, reference_digest, AS_TEXT),
    FIELD(Record, grader_digest, AS_TEXT),
    FIELD(Record, seconds, AS_DOUBLE),
    FIELD(Record, deferred_points, AS_DOUBLE),
    FIELD(Record, deferred, AS_TEXT),
    FIELD(Record, points, AS_DOUBLE),
    FIELD(Record, possible, AS_DOUBLE),
    {0},
};

/* Messages may quote a submission's bytes, which need not be UTF-8; then '?' replaces every byte
 * that is not printable ASCII. */
static json_t *text_to_json(const char *text)
{
    json_t *value = json_string(text);
    if (value) return value;
    char *clean = strdup(text);
    for (char *at = clean; at && *at; at++)
        if ((unsigned char)*at >= 128) *at = '?';
    value = clean ? json_string(clean) : NULL;
    free(clean);
    return value;
}

/* JSON has no NaN and no infinity. */
static double number_finite(double number)
{
    return isfinite(number) ? number : RECORD_NOT_FINITE;
}

static json_t *field_to_json(const Field *field, const void *object)
{
    const char *at = (const char *)object + field->offset;
    switch (field->type) {
    case AS_TEXT:
        return text_to_json(at);
    case AS_DOUBLE:
        return json_real(number_finite(*(const double *)(const void *)at));
    case AS_U32:
        return json_integer(*(const uint32_t *)(const void *)at);
    case AS_U64:
        return json_integer((json_int_t) * (const uint64_t *)(const void *)at);
    case AS_FLAG:
        return json_boolean(*(const int *)(const void *)at);
    case AS_NAME:
        return json_string(field->names[*(const int *)(const void *)at]);
    }
    return NULL;
}

static json_t *struct_to_json(const Field *fields, const void *object)
{
    json_t *json = json_object();
    for (const Field *field = fields; field->key; field++)
        json_object_set_new(json, field->key, field_to_json(field, object));
    return json;
}

static int field_from_json(const Field *field, const json_t *value, void *object)
{
    char *at = (char *)object + field->offset;
    switch (field->type) {
    case AS_TEXT:
        if (!json_is_string(value) || json_string_length(value) >= field->bytes) return -1;
        memcpy(at, json_string_value(value), json_string_length(value) + 1);
        intake_clean(at); /* shown on a terminal */
        return 0;
    case AS_DOUBLE:
        *(double *)(void *)at = json_number_value(value);
        return -!json_is_number(value);
    case AS_U32: /* these two types are counters: a record may be older than a counter */
        *(uint32_t *)(void *)at = (uint32_t)json_integer_value(value);
        return value && !json_is_integer(value) ? -1 : 0;
    case AS_U64:
        *(uint64_t *)(void *)at = (uint64_t)json_integer_value(value);
        return value && !json_is_integer(value) ? -1 : 0;
    case AS_FLAG:
        *(int *)(void *)at = json_is_true(value);
        return -!json_is_boolean(value);
    case AS_NAME:
        for (int i = 0; json_is_string(value) && field->names[i]; i++)
            if (!strcmp(field->names[i], json_string_value(value))) {
                *(int *)(void *)at = i;
                return 0;
            }
        break;
    }
    return -1;
}

static int struct_from_json(const Field *fields, const json_t *json, void *object, Error *error)
{
    for (const Field *field = fields; field->key; field++)
        if (field_from_json(field, json_object_get(json, field->key), object)) {
            return error_set(
                error, "'%s' is missing or invalid; docs/instructor/result-record.md describes it",
                field->key);
        }
    return 0;
}

/* ---- the record --------------------------------------------------------------------------- */

static json_t *triple_to_json(const uint32_t triple[3])
{
    return json_pack("[i,i,i]", (int)triple[0], (int)triple[1], (int)triple[2]);
}

static json_t *case_to_json(const RecordCase *item)
{
    json_t *json = struct_to_json(CASE_FIELDS, item);
    json_t *cost = struct_to_json(COST_FIELDS, &item->cost);
    json_object_set_new(cost, "grid", triple_to_json(item->cost.grid));
    json_object_set_new(cost, "block", triple_to_json(item->cost.block));
    json_object_set_new(json, "cost", cost);
    json_object_set_new(json, "speed", struct_to_json(SPEED_FIELDS, &item->speed));
    return json;
}

static json_t *prediction_to_json(const RecordPrediction *prediction)
{
    json_t *json = struct_to_json(PREDICTION_FIELDS, prediction);
    json_object_set_new(json, "answer",
                        prediction->answered ? json_real(number_finite(prediction->answer))
                                             : json_null());
    json_object_set_new(json, "truth",
                        prediction->answered && prediction->measured
                            ? json_real(number_finite(prediction->truth))
                            : json_null());
    return json;
}

char *record_print(const Record *record)
{
    json_t *json = json_object();
    json_object_set_new(json, "schema", json_string(RECORD_SCHEMA));
    json_t *fields = struct_to_json(RECORD_FIELDS, record);
    json_object_update(json, fields);
    json_decref(fields);
    char seed[32];
    text_set(seed, sizeof seed, "%llu", (unsigned long long)record->seed);
    json_object_set_new(json, "seed",
                        json_string(seed)); /* a string, because JSON numbers cannot hold 64 bits */
    json_object_set_new(json, "compiler",
                        record->compiler ? text_to_json(record->compiler) : json_null());
    json_object_set_new(json, "printed",
                        record->printed ? text_to_json(record->printed) : json_null());
    json_t *cases = json_array(), *predictions = json_array();
    for (int i = 0; i < record->cases; i++)
        json_array_append_new(cases, case_to_json(&record->item[i]));
    for (int i = 0; i < record->predictions; i++)
        json_array_append_new(predictions, prediction_to_json(&record->prediction[i]));
    json_object_set_new(json, "cases", cases);
    json_object_set_new(json, "predictions", predictions);
    char *text = json_dumps(json, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    json_decref(json);
    return text;
}

static int triple_from_json(const json_t *json, uint32_t triple[3])
{
    if (json_array_size(json) != 3) return -1;
    for (size_t i = 0; i < 3; i++)
        triple[i] = (uint32_t)json_integer_value(json_array_get(json, i));
    return 0;
}

static int case_from_json(const json_t *json, RecordCase *item, Error *error)
{
    const json_t *cost = json_object_get(json, "cost");
    if (struct_from_json(CASE_FIELDS, json, item, error) ||
        struct_from_json(COST_FIELDS, cost, &item->cost, error) ||
        struct_from_json(SPEED_FIELDS, json_object_get(json, "speed"), &item->speed, error)) {
        return -1;
    }
    if (triple_from_json(json_object_get(cost, "grid"), item->cost.grid) ||
        triple_from_json(json_object_get(cost, "block"), item->cost.block)) {
        return error_set(error, "'grid' and 'block' are three numbers");
    }
    return 0;
}

static int prediction_from_json(const json_t *json, RecordPrediction *prediction, Error *error)
{
    if (struct_from_json(PREDICTION_FIELDS, json, prediction, error)) return -1;
    const json_t *answer = json_object_get(json, "answer"), *truth = json_object_get(json, "truth");
    prediction->answered = json_is_number(answer);
    prediction->measured = json_is_number(truth);
    prediction->answer = json_number_value(answer);
    prediction->truth = json_number_value(truth);
    return 0;
}

static int record_from_json(const json_t *json, Record *record, Error *error)
{
    const json_t *schema = json_object_get(json, "schema");
    if (!json_is_string(schema) || strcmp(json_string_value(schema), RECORD_SCHEMA)) {
        return error_set(error, "not a result record of schema " RECORD_SCHEMA "; grade again");
    }
    if (struct_from_json(RECORD_FIELDS, json, record, error)) return -1;
    const char *seed = json_string_value(json_object_get(json, "seed"));
    if (!seed) return error_set(error, "'seed' is missing");
    record->seed = strtoull(seed, NULL, 10);
    const json_t *cases = json_object_get(json, "cases");
    const json_t *predictions = json_object_get(json, "predictions");
    if (json_array_size(cases) > RECORD_CASES || json_array_size(predictions) > LAB_PREDICTIONS) {
        return error_set(error, "more cases or predictions than a lab can have");
    }
    for (size_t i = 0; i < json_array_size(cases); i++) {
        if (case_from_json(json_array_get(cases, i), &record->item[record->cases++], error))
            return -1;
    }
    for (size_t i = 0; i < json_array_size(predictions); i++) {
        RecordPrediction *prediction = &record->prediction[record->predictions++];
        if (prediction_from_json(json_array_get(predictions, i), prediction, error)) return -1;
    }
    const char *compiler = json_string_value(json_object_get(json, "compiler"));
    record->compiler = compiler ? strdup(compiler) : NULL;
    const char *printed = json_string_value(json_object_get(json, "printed"));
    record->printed = printed ? strdup(printed) : NULL;
    return 0;
}

int record_parse(const char *text, Record *record, Error *error)
{
    memset(record, 0, sizeof *record);
    json_error_t why;
    json_t *json = json_loads(text, 0, &why);
    if (!json) return error_set(error, "line %d: %s", why.line, why.text);
    int status = record_from_json(json, record, error);
    json_decref(json);
    return status;
}

void record_clear(Record *record)
{
    free(record->compiler);
    free(record->printed);
    record->compiler = record->printed = NULL;
}

/* ---- the file ----------------------------------------------------------------------------- */

int record_write(const char *results, const Record *record, Error *error)
{
    char path[1000];
    text_set(path, sizeof path, "%s/%s.json", results, record->lab);
    char *text = record_print(record);
    if (!text) return error_set(error, "%s: out of memory", path);
    Error inner;
    int status = file_write(path, text, &inner);
    free(text);
    return status ? error_set(error, "%s; the result was not saved", inner.text) : 0;
}

int record_read(const char *results, const char *lab, Record *record, Error *error)
{
    char path[1000];
    memset(record, 0, sizeof *record);
    text_set(path, sizeof path, "%s/%s.json", results, lab);
    json_error_t why;
    json_t *json = json_load_file(path, 0, &why);
    if (!json)
        return error_set(error, "%s: %s", path, access(path, F_OK) ? "not graded yet" : why.text);
    Error inner;
    int status = record_from_json(json, record, &inner);
    if (!status && strcmp(record->lab, lab))
        status = error_set(&inner, "it is a record of another lab, '%.60s'", record->lab);
    if (status) {
        record_clear(record);
        error_set(error, "%s: %s", path, inner.text);
    }
    json_decref(json);
    return status;
}
