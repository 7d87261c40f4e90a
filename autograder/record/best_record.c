#include "autograder/record/best_record.h"

#include <stdlib.h>
#include <string.h>

#include "autograder/text/text.h"

int record_passed(const Record *record)
{
    return record->status == RECORD_GRADED && record_all_correct(record) &&
           record->points >= 0.5 * record->possible;
}

/* The mark E/N; lowest for a record in which no case could be judged. */
static double mark_of(const Record *record)
{
    int judged = record->status != RECORD_DEFERRED && record->status != RECORD_BROKEN;
    return judged && record->possible > 0 ? record->points / record->possible : -1;
}

RecordTime record_time(const Record *record)
{
    RecordTime took = {0};
    for (int i = 0; i < record->cases; i++) {
        const RecordSpeed *speed = &record->item[i].speed;
        if (speed->verdict == SPEED_NOT_TIMED) continue;
        if (!(speed->student > 0 && speed->reference > 0)) return (RecordTime){0};
        took.student += speed->student;
        took.reference += speed->reference;
    }
    return took;
}

static int same_clock(const Record *a, const Record *b)
{
    return !strcmp(a->engine, b->engine) && !strcmp(a->machine, b->machine) &&
           !strcmp(a->device, b->device) && !strcmp(a->unit, b->unit);
}

int record_is_better(const Record *record, const Record *best)
{
    int passed = record_passed(record), before = record_passed(best);
    if (passed != before) return passed;
    double mark = mark_of(record), held = mark_of(best);
    if (mark != held) return mark > held;
    double took = record_time(record).student, least = record_time(best).student;
    return same_clock(record, best) && took > 0 && (least <= 0 || took < least);
}

static void folder(const char *build, const char *beneath, char *path, size_t bytes)
{
    text_set(path, bytes, "%s/%s", build, beneath);
}

static Record *read_one(const char *build, const char *beneath, const char *lab)
{
    char path[600];
    Record *record = malloc(sizeof *record);
    folder(build, beneath, path, sizeof path);
    if (record && !record_read(path, lab, record, NULL)) return record;
    free(record);
    return NULL;
}

static void forget(Record *record)
{
    if (record) record_clear(record);
    free(record);
}

BestRecord best_record_read(const char *build, const char *lab)
{
    BestRecord records = {read_one(build, "results", lab), read_one(build, "progress/best", lab)};
    if (!records.last) return records;
    /* Two grades may have the same second. */
    int same = records.best && !strcmp(records.best->graded_at, records.last->graded_at) &&
               !record_is_better(records.best, records.last);
    if (records.best && !same && !record_is_better(records.last, records.best)) return records;
    forget(records.best);
    records.best = records.last;
    return records;
}

void best_record_free(BestRecord *records)
{
    if (records->best != records->last) forget(records->best);
    forget(records->last);
    *records = (BestRecord){0};
}

int best_record_update(const char *build, const Record *record, Error *error)
{
    char path[600];
    BestRecord records = best_record_read(build, record->lab);
    folder(build, "progress/best", path, sizeof path);
    const Record *best =
        records.best && !record_is_better(record, records.best) ? records.best : record;
    int status = record_write(path, best, error);
    best_record_free(&records);
    return status;
}
