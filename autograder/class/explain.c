#include "autograder/class/explain.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "autograder/class/handed.h"
#include "autograder/record/report.h"
#include "autograder/text/text.h"

typedef struct Best {
    char lab[64], submission[4096];
} Best;

typedef struct Explaining {
    const char *student;
    FILE *stream;
    Best *best;
    size_t bests, results;
    char **holder; /* the people whose marks the student's are */
    size_t holders, answers;
    Record *record;
} Explaining;

static int is_asked(const Explaining *e, const GradebookResult *result)
{
    return strcmp(result->student, e->student) == 0;
}

static int is_holder(const Explaining *e, const char *holder)
{
    for (size_t i = 0; i < e->holders; i++)
        if (!strcmp(e->holder[i], holder)) return 1;
    return 0;
}

static int holder_note(Explaining *e, const char *holder, Error *error)
{
    if (is_holder(e, holder)) return 0;
    char **grown = realloc(e->holder, (e->holders + 1) * sizeof *grown);
    if (grown) e->holder = grown;
    char *copy = grown ? strdup(holder) : NULL;
    if (!copy) return error_set(error, "out of memory");
    e->holder[e->holders++] = copy;
    return 0;
}

static int best_note(const GradebookResult *result, void *context, Error *error)
{
    Explaining *e = context;
    if (!is_asked(e, result)) return 0;
    if (holder_note(e, result->holder, error)) return -1;
    Best *grown = realloc(e->best, (e->bests + 1) * sizeof *grown);
    if (!grown) return error_set(error, "out of memory");
    e->best = grown;
    text_set(grown[e->bests].lab, sizeof grown->lab, "%s", result->lab);
    text_set(grown[e->bests++].submission, sizeof grown->submission, "%s", result->submission);
    return 0;
}

static int is_best(const Explaining *e, const GradebookResult *result)
{
    for (size_t i = 0; i < e->bests; i++)
        if (!strcmp(e->best[i].lab, result->lab) &&
            !strcmp(e->best[i].submission, result->submission))
            return 1;
    return 0;
}

static void row(FILE *stream, double points, double possible, const char *what)
{
    fprintf(stream, "  %6.1f %6.1f  %s\n", points, possible, what);
}

static void case_row(FILE *stream, const RecordCase *item)
{
    char what[600];
    text_set(what, sizeof what, "case %s%s: %s%s", item->name, item->hidden ? " (hidden)" : "",
             case_verdict_name(item->verdict),
             case_is_left_out(item->verdict) ? ", left out of the points" : "");
    if (item->total > 0 && item->wrong > 0)
        text_add(what, sizeof what, ", %.0f of %.0f outputs wrong", item->wrong, item->total);
    if (item->fault[0]) text_add(what, sizeof what, " (%s)", item->fault);
    row(stream, item->points, case_is_left_out(item->verdict) ? 0 : item->possible, what);
}

static void speed_row(FILE *stream, const Record *record, const RecordCase *item)
{
    const RecordSpeed *speed = &item->speed;
    char what[1200], cost[2][40];
    if (speed->verdict == SPEED_NOT_TIMED) return;
    text_set(what, sizeof what, "speed of %s: %s", item->name, speed_verdict_name(speed->verdict));
    if (speed->student > 0)
        text_add(what, sizeof what,
                 ", %.2f times as fast as the baseline (%s, baseline %s); all points from %.2f "
                 "times on, none at 1",
                 speed->s, report_cost(record->unit, speed->student, cost[0]),
                 report_cost(record->unit, speed->baseline, cost[1]), speed->needed);
    if (speed->text[0]) text_add(what, sizeof what, "; %s", speed->text);
    row(stream, speed->points, speed_counts(speed->verdict) ? speed->possible : 0, what);
}

static void prediction_row(FILE *stream, const RecordPrediction *prediction)
{
    char what[800];
    text_set(what, sizeof what, "prediction %s: ", prediction->name);
    if (!prediction->answered)
        text_add(what, sizeof what, "no answer");
    else if (prediction->measured)
        text_add(what, sizeof what, "answered %g, true value %g%s", prediction->answer,
                 prediction->truth,
                 strcmp(prediction->text, RECORD_OWN_LAUNCH) ? ""
                                                             : " (of the student's own kernel)");
    else
        text_add(what, sizeof what, "answered %g, its true value was not found",
                 prediction->answer);
    row(stream, prediction->points, prediction->possible, what);
}

/* The rows are added up here, apart from what the record says of their sum. */
static double rows_write(FILE *stream, const Record *record)
{
    double points = 0;
    fprintf(stream, "  points     of  for\n");
    for (int i = 0; i < record->cases; i++) {
        case_row(stream, &record->item[i]);
        points += record->item[i].points;
    }
    for (int i = 0; i < record->cases; i++) {
        speed_row(stream, record, &record->item[i]);
        points += record->item[i].speed.points;
    }
    for (int i = 0; i < record->predictions; i++) {
        prediction_row(stream, &record->prediction[i]);
        points += record->prediction[i].points;
    }
    return points;
}

static void result_write(Explaining *e, const GradebookResult *result, const Record *record)
{
    char name[600], points[72];
    name_show(result->submission, name, sizeof name);
    fprintf(e->stream, "\n%s, %s: %s%s\n", result->lab, name,
            report_points(result->points, result->possible, points),
            is_best(e, result) ? ", counts for this lab" : "");
    fprintf(e->stream, "  submitted %s%s%s%s; status %s\n",
            result->submitted_at[0] ? result->submitted_at : "at a time that is not known",
            result->late ? ", after the deadline" : "", record->graded_at[0] ? "; graded " : "",
            record->graded_at, result->status);
    fprintf(e->stream, "  engine %s, machine %s, seed %" PRIu64 "\n  digest of the source %s\n",
            record->engine, record->machine, result->seed, result->digest);
    if (record->message[0]) fprintf(e->stream, "  %s\n", record->message);
    double sum = rows_write(e->stream, record);
    row(e->stream, record->points, record->possible, "together");
    if (record->deferred[0])
        fprintf(e->stream, "  left out, %.1f points: %s\n", record->deferred_points,
                record->deferred);
    if (fabs(sum - record->points) > 0.05 || fabs(record->points - result->points) > 0.05)
        fprintf(e->stream,
                "  The rows add up to %.1f, the record says %.1f and the gradebook %.1f.\n", sum,
                record->points, result->points);
}

static int result_explain(const GradebookResult *result, void *context, Error *error)
{
    Explaining *e = context;
    if (!is_asked(e, result)) return 0;
    e->results++;
    if (record_parse(result->record, e->record, error)) return -1;
    result_write(e, result, e->record);
    record_clear(e->record);
    return 0;
}

static int answer_explain(const GradebookAnswer *answer, void *context, Error *error)
{
    Explaining *e = context;
    char what[900];
    (void)error;
    if (!is_holder(e, answer->holder)) return 0;
    if (!e->answers++)
        fprintf(e->stream, "\nOpen questions, marked by a person\n  points     of  for\n");
    text_set(what, sizeof what, "%s%s%s: %s%s%s", e->holders > 1 ? answer->holder : "",
             e->holders > 1 ? ", " : "", answer->question, answer->text,
             *answer->comment ? "; " : "", answer->comment);
    row(e->stream, answer->points, answer->possible, what);
    return 0;
}

int explain_student(Gradebook *book, const char *student, FILE *stream, Error *error)
{
    char name[600];
    Explaining e = {.student = student, .stream = stream, .record = calloc(1, sizeof *e.record)};
    name_show(student, name, sizeof name);
    int status =
        e.record ? gradebook_best(book, best_note, &e, error) : error_set(error, "out of memory");
    if (!status) {
        fprintf(stream,
                "%s: how each point was earned, from the gradebook alone.  Nothing is "
                "graded again.\n",
                name);
        status = gradebook_each(book, result_explain, &e, error);
        if (!status) status = gradebook_answers(book, answer_explain, &e, error);
    }
    if (!status && !e.results)
        status = error_set(error, "EXPLAIN=%.300s: the gradebook has no such student", name);
    for (size_t i = 0; i < e.holders; i++)
        free(e.holder[i]);
    free(e.holder);
    free(e.best);
    free(e.record);
    return status;
}
