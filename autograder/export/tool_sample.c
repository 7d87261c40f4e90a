/* tool_sample DIR - writes difficult input for exporters, for autograder/tests/export. DIR/every
 * has a lab of each status and a case of each verdict; DIR/hostile has texts with special
 * characters of every format.  DIR/gradebook.sqlite is a class whose students have such names,
 * DIR/before.sqlite the same class in an earlier run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autograder/class/gradebook.h"
#include "autograder/record/record.h"
#include "autograder/text/text.h"

/* Control sequences of terminals, XML, HTML, TAP, YAML, spreadsheets and shells, and bytes that are
 * not UTF-8 at the end. */
static const char HOSTILE[] = "\033[31m]]> <script>alert(1)</script> &amp; \"q\" 'q' \\ # SKIP\n"
                              "...\nok 1\n1..0\n=1+1 $(id) `id` \302\233 \342\200\256 \377\300\257";

static void write_record(const char *directory, Record *record)
{
    Error error;
    record_total(record);
    if (!record_write(directory, record, &error)) return;
    fprintf(stderr, "tool_sample: %s\n", error.text);
    exit(1);
}

static Record *start(const char *lab, RecordStatus status)
{
    Record *record = calloc(1, sizeof *record);
    if (!record) exit(1);
    text_set(record->lab, sizeof record->lab, "%s", lab);
    text_set(record->title, sizeof record->title, "A lab that is %s", record_status_name(status));
    text_set(record->graded_at, sizeof record->graded_at, "2026-01-31T12:00:00Z");
    text_set(record->engine, sizeof record->engine, "sim");
    text_set(record->machine, sizeof record->machine, "h200");
    text_set(record->unit, sizeof record->unit, "cycles");
    record->status = status;
    record->seconds = 12.5;
    return record;
}

static RecordCase *add_case(Record *record, const char *name, CaseVerdict verdict)
{
    RecordCase *item = &record->item[record->cases++];
    text_set(item->name, sizeof item->name, "%s", name);
    text_set(item->text, sizeof item->text, "About %s.", name);
    item->verdict = verdict;
    item->possible = 100.0 / 7;
    if (verdict == CASE_CORRECT) item->points = item->possible;
    return item;
}

static void add_speed(RecordCase *item, SpeedVerdict verdict, double points)
{
    item->speed = (RecordSpeed){.verdict = verdict, .points = points, .possible = 10};
    if (verdict == SPEED_SCORED) item->speed.s = 1.5, item->speed.needed = 2;
}

static void finish(const char *directory, Record *record)
{
    write_record(directory, record);
    record_clear(record);
    free(record);
}

static void write_graded(const char *directory)
{
    char name[48];
    Record *record = start("01-graded", RECORD_GRADED);
    for (int verdict = CASE_CORRECT; verdict <= CASE_NOT_RUN; verdict++)
        add_case(record, case_verdict_name((CaseVerdict)verdict), (CaseVerdict)verdict);
    for (int verdict = SPEED_NOT_TIMED; verdict <= SPEED_DEFERRED; verdict++) {
        text_set(name, sizeof name, "timed %d", verdict);
        RecordCase *item = add_case(record, name, CASE_CORRECT);
        add_speed(item, (SpeedVerdict)verdict, verdict == SPEED_SCORED ? 4.0 / 3 : 0);
        if (verdict == SPEED_NOT_TIMED) item->speed.possible = 0;
    }
    add_case(record, "hidden 1", CASE_WRONG)->hidden = 1;
    add_case(record, "hidden 2", CASE_CORRECT)->hidden = 1;
    record->item[record->cases - 2].possible = 0;
    record->item[record->cases - 1].points = 0;
    record->predictions = 2;
    record->prediction[0] = (RecordPrediction){.name = "right",
                                               .question = "How many?",
                                               .answered = 1,
                                               .answer = 384,
                                               .measured = 1,
                                               .truth = 384,
                                               .points = 3,
                                               .possible = 3};
    record->prediction[1] = (RecordPrediction){
        .name = "none", .question = "How much?", .text = RECORD_NO_ANSWER, .possible = 3};
    finish(directory, record);
}

/* The record of a lab that could not be graded. */
static void write_stopped(const char *directory, const char *lab, RecordStatus status)
{
    Record *record = start(lab, status);
    int out = status == RECORD_DEFERRED || status == RECORD_BROKEN;
    RecordCase *item = add_case(record, "only", out ? CASE_BROKEN : CASE_NOT_RUN);
    item->text[0] = 0;
    add_speed(item, out ? SPEED_DEFERRED : SPEED_NOT_CORRECT, 0);
    text_set(record->message, sizeof record->message, "Why this lab is %s.",
             record_status_name(status));
    if (status == RECORD_NO_BUILD) record->compiler = strdup("conv.cu(3): error: expected a ;\n");
    finish(directory, record);
}

static void write_hostile(const char *directory)
{
    Record *record = start("02-hostile", RECORD_GRADED);
    text_set(record->title, sizeof record->title, "%.100s", HOSTILE);
    RecordCase *item = add_case(record, "\" onload=\"x\"'><b> # TODO", CASE_WRONG);
    text_set(item->text, sizeof item->text, "%s", HOSTILE);
    text_set(item->hint, sizeof item->hint, "%s", HOSTILE);
    record->printed = strdup(HOSTILE);
    record->compiler = strdup(HOSTILE);
    finish(directory, record);
}

static void commit(Gradebook *book, const char *student, const char *lab, double points,
                   double possible)
{
    Error error;
    Record *record = start(lab, possible > 0 ? RECORD_GRADED : RECORD_DEFERRED);
    RecordCase *item = add_case(record, "only", points > 0 ? CASE_CORRECT : CASE_WRONG);
    item->points = points;
    item->possible = possible;
    if (item->verdict == CASE_WRONG) text_set(item->fault, sizeof item->fault, "tile-edge");
    record_total(record);
    char *text = record_print(record);
    GradebookResult result = {.student = student,
                              .lab = lab,
                              .submission = student,
                              .submitted_at = "2026-01-31T12:00:00Z",
                              .digest = "00",
                              .status = record_status_name(record->status),
                              .points = points,
                              .possible = possible,
                              .record = text};
    if (gradebook_commit(book, &result, &error)) {
        fprintf(stderr, "tool_sample: %s\n", error.text);
        exit(1);
    }
    free(text);
    free(record);
}

static Gradebook *open_book(const char *path)
{
    Error error;
    Gradebook *book = gradebook_open(path, &error);
    if (book) return book;
    fprintf(stderr, "tool_sample: %s\n", error.text);
    exit(1);
}

static void finish_book(Gradebook *book)
{
    Error error;
    if (!gradebook_finish(book, &error)) return;
    fprintf(stderr, "tool_sample: %s\n", error.text);
    exit(1);
}

static void write_gradebook(const char *path)
{
    Gradebook *book = open_book(path);
    commit(book, "ada", "04-tiled", 50, 100);
    commit(book, "ada", "02-naive", 90, 100);
    commit(book, "o'neil, \"bob\"", "02-naive", 80, 80); /* 20 points were left out of N */
    commit(book, "=cmd|' /C calc'!A0", "02-naive", 0, 100);
    commit(book, "<script>alert(1)</script>", "02-naive", 12.5, 100);
    commit(book, "Zo\303\253 \377 $(id)", "04-tiled", 0, 0); /* deferred: no mark */
    finish_book(book);
}

/* The previous run: other marks of Ada, and neither Bob nor =cmd. */
static void write_before(const char *path)
{
    Gradebook *book = open_book(path);
    commit(book, "ada", "04-tiled", 40, 100);
    commit(book, "ada", "02-naive", 90, 100);
    commit(book, "<script>alert(1)</script>", "02-naive", 12.5, 100);
    finish_book(book);
}

int main(int argc, char **argv)
{
    char path[1000];
    if (argc != 2) {
        fprintf(stderr, "usage: tool_sample DIR\n");
        return 2;
    }
    text_set(path, sizeof path, "%s/every", argv[1]);
    write_graded(path);
    write_stopped(path, "02-missing", RECORD_MISSING);
    write_stopped(path, "03-no-build", RECORD_NO_BUILD);
    write_stopped(path, "04-deferred", RECORD_DEFERRED);
    write_stopped(path, "05-broken", RECORD_BROKEN);
    text_set(path, sizeof path, "%s/no-build", argv[1]);
    write_stopped(path, "03-no-build", RECORD_NO_BUILD);
    text_set(path, sizeof path, "%s/hostile", argv[1]);
    write_hostile(path);
    text_set(path, sizeof path, "%s/gradebook.sqlite", argv[1]);
    write_gradebook(path);
    text_set(path, sizeof path, "%s/before.sqlite", argv[1]);
    write_before(path);
    return 0;
}
