#include "autograder/export/tally.h"

#include <stdlib.h>
#include <string.h>

#include "autograder/text/text.h"

const char *case_fault(const RecordCase *item)
{
    return *item->fault ? item->fault : case_verdict_name(item->verdict);
}

/* A diagnosis has the first wrong output on its first line, and the cause below. */
const char *case_reason(const RecordCase *item)
{
    const char *below = strchr(item->text, '\n');
    return below && below[1] ? below + 1 : item->text;
}

/* ---- growing lists: the entry of that lab and name, appended if new; NULL: out of memory */

static TallyCase *case_of(Tally *tally, const char *lab, const char *name)
{
    for (size_t i = 0; i < tally->cases; i++)
        if (!strcmp(tally->item[i].lab, lab) && !strcmp(tally->item[i].name, name))
            return &tally->item[i];
    TallyCase *grown = realloc(tally->item, (tally->cases + 1) * sizeof *grown);
    if (!grown) return NULL;
    tally->item = grown;
    TallyCase *item = &grown[tally->cases++];
    *item = (TallyCase){.students = 0};
    text_set(item->lab, sizeof item->lab, "%s", lab);
    text_set(item->name, sizeof item->name, "%s", name);
    return item;
}

static TallyFault *fault_of(Tally *tally, const char *lab, const char *name)
{
    for (size_t i = 0; i < tally->faults; i++)
        if (!strcmp(tally->fault[i].lab, lab) && !strcmp(tally->fault[i].name, name))
            return &tally->fault[i];
    TallyFault *grown = realloc(tally->fault, (tally->faults + 1) * sizeof *grown);
    if (!grown) return NULL;
    tally->fault = grown;
    TallyFault *fault = &grown[tally->faults++];
    *fault = (TallyFault){.students = 0};
    text_set(fault->lab, sizeof fault->lab, "%s", lab);
    text_set(fault->name, sizeof fault->name, "%s", name);
    return fault;
}

/* ---- one record ----------------------------------------------------------------------------- */

static int count_fault(Tally *tally, const char *lab, const char *name, const char *example)
{
    TallyFault *fault = fault_of(tally, lab, name);
    if (!fault) return -1;
    if (!fault->students) text_set(fault->example, sizeof fault->example, "%s", example);
    fault->students += fault->last != tally->records;
    fault->last = tally->records;
    return 0;
}

static int count_time(TallyCase *item, const RecordSpeed *speed)
{
    if (speed->student <= 0 || speed->reference <= 0) return 0;
    double *grown = realloc(item->slowness, (item->timed + 1) * sizeof *grown);
    if (!grown) return -1;
    item->slowness = grown;
    item->slowness[item->timed++] = speed->student / speed->reference;
    return 0;
}

/* 1: correct, 0: not; -1: no evidence about the student. */
static int judged(const RecordCase *item)
{
    return case_is_left_out(item->verdict) ? -1 : item->verdict == CASE_CORRECT;
}

static int count_case(Tally *tally, const char *lab, const char *name, int right,
                      const RecordSpeed *speed)
{
    TallyCase *item = right < 0 ? NULL : case_of(tally, lab, name);
    if (right < 0) return 0;
    if (!item) return -1;
    item->students++;
    item->right += (size_t)right;
    return speed ? count_time(item, speed) : 0;
}

static int count_record(Tally *tally, const Record *record)
{
    int hidden = -1;
    tally->records++;
    if (record->status == RECORD_DEFERRED || record->status == RECORD_BROKEN) return 0;
    if (record->status != RECORD_GRADED &&
        count_fault(tally, record->lab, record_status_name(record->status), record->message))
        return -1;
    for (int i = 0; i < record->cases; i++) {
        const RecordCase *item = &record->item[i];
        int right = judged(item);
        if (item->hidden) hidden = right == 0 || hidden == 0 ? 0 : right > 0 ? 1 : hidden;
        if (!item->hidden && count_case(tally, record->lab, item->name, right, &item->speed))
            return -1;
        if (right || record->status != RECORD_GRADED || item->verdict == CASE_NOT_RUN) continue;
        if (count_fault(tally, record->lab, case_fault(item), case_reason(item))) return -1;
    }
    return count_case(tally, record->lab, "hidden", hidden, NULL);
}

static int take(const GradebookResult *result, void *context, Error *error)
{
    Tally *tally = context;
    Error inner;
    Record *record = malloc(sizeof *record);
    if (!record) return error_set(error, "out of memory");
    int status = record_parse(result->record, record, &inner);
    if (status) {
        error_set(error, "the record of %.100s in %s: %.300s", result->student, result->lab,
                  inner.text);
    } else if (count_record(tally, record)) {
        status = error_set(error, "out of memory");
    }
    record_clear(record);
    free(record);
    return status;
}

/* ---- order ---------------------------------------------------------------------------------- */

static int by_size(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double share_right(const TallyCase *item)
{
    return (double)item->right / (double)item->students;
}

static int by_failure(const void *left, const void *right)
{
    const TallyCase *a = left, *b = right;
    int lab = strcmp(a->lab, b->lab);
    if (lab) return lab;
    double more = share_right(a) - share_right(b);
    if (more < 0 || more > 0) return more > 0 ? 1 : -1;
    if (a->median < b->median || a->median > b->median) return a->median < b->median ? 1 : -1;
    return strcmp(a->name, b->name);
}

static int by_students(const void *left, const void *right)
{
    const TallyFault *a = left, *b = right;
    if (a->students != b->students) return a->students < b->students ? 1 : -1;
    int lab = strcmp(a->lab, b->lab);
    return lab ? lab : strcmp(a->name, b->name);
}

int tally_make(Gradebook *book, Tally *tally, Error *error)
{
    *tally = (Tally){.cases = 0};
    if (gradebook_best(book, take, tally, error)) return -1;
    for (size_t i = 0; i < tally->cases; i++) {
        TallyCase *item = &tally->item[i];
        if (!item->timed) continue;
        qsort(item->slowness, item->timed, sizeof *item->slowness, by_size);
        item->median =
            (item->slowness[(item->timed - 1) / 2] + item->slowness[item->timed / 2]) / 2;
    }
    if (tally->cases) qsort(tally->item, tally->cases, sizeof *tally->item, by_failure);
    if (tally->faults) qsort(tally->fault, tally->faults, sizeof *tally->fault, by_students);
    return 0;
}

void tally_clear(Tally *tally)
{
    for (size_t i = 0; i < tally->cases; i++)
        free(tally->item[i].slowness);
    free(tally->item);
    free(tally->fault);
    *tally = (Tally){.cases = 0};
}
