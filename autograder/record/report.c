#include "autograder/record/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "autograder/record/cause.h"
#include "autograder/record/hint.h"
#include "autograder/record/report_cause.h"
#include "autograder/record/score.h"
#include "autograder/text/screen.h"
#include "autograder/text/table.h"
#include "autograder/text/text.h"

enum { INDENT = 2 };

const char *report_cost(const char *unit, double cost, char text[40])
{
    text[0] = 0;
    if (cost <= 0) return text;
    if (!strcmp(unit, "cycles")) return text_thousands(cost, text);
    if (cost >= 1) {
        text_set(text, 40, "%.2f s", cost);
    } else if (cost >= 1e-3) {
        text_set(text, 40, "%.2f ms", cost * 1e3);
    } else {
        text_set(text, 40, "%.1f us", cost * 1e6);
    }
    return text;
}

const char *report_points(double points, double possible, char text[72])
{
    char left[32], right[32];
    text_set(text, 72, "%s/%s", score_text(points, left), score_text(possible, right));
    return text;
}

static const char *verdict_text(const RecordCase *item, char text[40])
{
    const char *name = case_verdict_name(item->verdict);
    int shout = item->verdict != CASE_CORRECT && item->verdict != CASE_NOT_RUN;
    text_set(text, 40, "%s", name);
    for (char *at = text; shout && *at; at++)
        *at = (char)(*at >= 'a' && *at <= 'z' ? *at - 32 : *at);
    return text;
}

/* An earlier case with the same message, or NULL; repeated messages are not printed. */
static const RecordCase *same_fault_before(const Record *record, const RecordCase *item)
{
    for (const RecordCase *before = record->item; before < item && *item->text; before++)
        if (cause_is_one(item) ? cause_same(before, item) : !strcmp(before->text, item->text))
            return before;
    return NULL;
}

static void case_notes(Table *table, const Record *record, const RecordCase *item)
{
    char text[1700];
    const RecordCase *before = same_fault_before(record, item);
    if (before) {
        text_set(text, sizeof text, "As in %s.", before->name);
        table_note(table, text);
    } else {
        table_note(table, item->text);
    }
    SpeedVerdict speed = item->speed.verdict;
    int said = speed != SPEED_NOT_TIMED && speed != SPEED_NOT_CORRECT && *item->speed.text;
    if (said && speed == SPEED_SCORED) table_note(table, item->speed.text);
    if (said && speed != SPEED_SCORED) {
        text_set(text, sizeof text, "%s: %s", speed_verdict_name(speed), item->speed.text);
        table_note(table, text);
    }
    if (!*item->hint) return;
    hint_offer(record->lab, text, sizeof text);
    table_note(table, text);
}

static void public_row(Table *table, const Record *record, const RecordCase *item)
{
    char verdict[40], cost[40], s[32] = "", needed[32] = "", points[72];
    const RecordSpeed *speed = &item->speed;
    double own = !strcmp(record->unit, "cycles") ? (double)item->cost.cycles : 0;
    if (item->verdict != CASE_CORRECT) own = 0;
    if (speed->student > 0) own = speed->student;
    if (speed->s > 0) text_set(s, sizeof s, "%.2fx", speed->s);
    if (speed->needed > 0) text_set(needed, sizeof needed, "%.2fx", speed->needed);
    double possible = item->possible;
    if (speed_counts(speed->verdict)) possible += speed->possible;
    table_row(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s", item->name, verdict_text(item, verdict),
              report_cost(record->unit, own, cost), s, needed,
              report_points(item->points + speed->points, possible, points), item->about);
    case_notes(table, record, item);
}

/* The hidden set is one row; its shapes are shown only if they failed. */
static void hidden_row(Table *table, const Record *record)
{
    int count = 0, wrong = 0, not_run = 0;
    double points = 0, possible = 0;
    char text[72], what[64];
    for (int i = 0; i < record->cases; i++) {
        const RecordCase *item = &record->item[i];
        if (!item->hidden) continue;
        count++;
        not_run += item->verdict == CASE_NOT_RUN;
        wrong += item->verdict != CASE_CORRECT;
        points += item->points;
        possible += item->possible;
    }
    if (!count) return;
    if (record->status != RECORD_GRADED || not_run == count) {
        text_set(what, sizeof what, "not-run");
    } else if (wrong) {
        text_set(what, sizeof what, "%d of %d WRONG", wrong, count);
    } else {
        text_set(what, sizeof what, "correct");
    }
    table_row(table, "hidden\t%s\t\t\t\t%s\t%d shapes drawn from the seed", what,
              report_points(points, possible, text), count);
    for (int i = 0; i < record->cases; i++) {
        const RecordCase *item = &record->item[i];
        if (!item->hidden || item->verdict == CASE_CORRECT || item->verdict == CASE_NOT_RUN)
            continue;
        char note[2200], verdict[40];
        const RecordCase *before = same_fault_before(record, item);
        text_set(note, sizeof note, "%s %s: ", verdict_text(item, verdict), item->shape);
        if (before) {
            text_add(note, sizeof note, "as in %s.", before->name);
        } else {
            text_add(note, sizeof note, "(%s) %s", item->name, item->text);
        }
        table_note(table, note);
        if (*item->hint) {
            hint_offer(record->lab, note, sizeof note);
            table_note(table, note);
        }
    }
}

/* The description of a case is in the handout, so the short report omits it. */
static void print_cases(FILE *stream, const Record *record, ReportDepth depth)
{
    Table table = table_start(depth == REPORT_SCREEN ? "llrrrr" : "llrrrrw");
    table_row(&table, "case\tverdict\t%s\tfaster\tneeded\tpoints\twhat",
              !strcmp(record->unit, "cycles") ? "cycles" : "time");
    for (int i = 0; i < record->cases; i++)
        if (!record->item[i].hidden) public_row(&table, record, &record->item[i]);
    hidden_row(&table, record);
    table_end(&table, stream, INDENT);
}

/* "written", "2 of 6 written" or "not written": the stage's TODO regions. */
static void stage_row(Table *table, const Record *record, int which)
{
    const RecordStage *stage = &record->stage[which - 1];
    const int all = stage->last - stage->first + 1;
    double points = 0, possible = 0;
    char written[64], regions[32], text[72] = "";
    text_set(written, sizeof written,
             stage->written == all ? "written"
             : stage->written      ? "%d of %d written"
                                   : "not written",
             stage->written, all);
    text_set(regions, sizeof regions, all > 1 ? "TODO(%d) to (%d)" : "TODO(%d)", stage->first,
             stage->last);
    for (int i = 0; i < record->cases; i++) {
        const RecordCase *item = &record->item[i];
        if (item->stage != which) continue;
        points += item->points + item->speed.points;
        possible += item->possible;
        if (speed_counts(item->speed.verdict)) possible += item->speed.possible;
    }
    if (possible > 0) report_points(points, possible, text);
    table_row(table, "%s\t%s\t%s\t%s\t%s", stage->name, text, regions, written, stage->title);
}

/* One row per stage: the points of its cases, and what is written. */
static void print_stages(FILE *stream, const Record *record)
{
    if (!record->stages) return;
    Table table = table_start("lrllw");
    table_row(&table, "part\tpoints\tregions\t\tsubject");
    for (int i = 1; i <= record->stages; i++)
        stage_row(&table, record, i);
    fputc('\n', stream);
    table_end(&table, stream, INDENT);
}

static const char *number_text(double number, char text[40])
{
    if (number == floor(number) && fabs(number) < 1e15) return text_thousands(number, text);
    text_set(text, 40, "%.5g", number);
    return text;
}

/* Whether prediction i has a reason why no answer was read that no earlier prediction has. */
static int reports_trouble(const Record *record, int i)
{
    const RecordPrediction *item = &record->prediction[i];
    for (int before = 0; before < i; before++)
        if (!strcmp(item->text, record->prediction[before].text)) return 0;
    return !item->answered && *item->text && strcmp(item->text, RECORD_NO_ANSWER) != 0;
}

/* The short report shows a question only if points are missing. */
static void print_predictions(FILE *stream, const Record *record, ReportDepth depth)
{
    int own = 0; /* number of true values from the student's own launches, which have a mark */
    if (!record->predictions) return;
    Table table = table_start("lrrrw");
    table_row(&table, "prediction\tyours\ttrue\tpoints\tquestion");
    for (int i = 0; i < record->predictions; i++) {
        const RecordPrediction *item = &record->prediction[i];
        char points[72], yours[40] = "-", truth[40] = "";
        if (item->answered) number_text(item->answer, yours);
        if (item->answered && item->measured) number_text(item->truth, truth);
        const int is_own = *truth && !strcmp(item->text, RECORD_OWN_LAUNCH);
        own += is_own;
        if (is_own) text_add(truth, sizeof truth, "*");
        int ask = depth != REPORT_SCREEN || item->points < item->possible;
        table_row(&table, "%s\t%s\t%s\t%s\t%s", item->name, yours, truth,
                  report_points(item->points, item->possible, points), ask ? item->question : "");
        if ((item->answered && !is_own) || reports_trouble(record, i))
            table_note(&table, item->text);
    }
    fputc('\n', stream);
    table_end(&table, stream, INDENT);
    if (own) text_wrap(stream, INDENT, "* " RECORD_OWN_LAUNCH);
}

/* ---- the whole report ------------------------------------------------------------------------ */

static void print_where(FILE *stream, const Record *record, ReportDepth depth)
{
    char line[700];
    text_set(line, sizeof line, "engine %s", record->engine);
    if (*record->machine) text_add(line, sizeof line, ", machine %s", record->machine);
    if (!*record->machine && *record->device) text_add(line, sizeof line, " (%s)", record->device);
    if (depth != REPORT_SCREEN) text_add(line, sizeof line, ", sandbox %s", record->sandbox);
    text_add(line, sizeof line, ", seed %" PRIu64 ", %.1f s", record->seed, record->seconds);
    text_wrap(stream, INDENT, line);
}

/* The phases of the grading time. */
static void print_spent(FILE *stream, const Record *record)
{
    static const char *const name[SPENT_KINDS] = {
        [SPENT_BUILD] = "build",          [SPENT_START] = "start",
        [SPENT_INPUTS] = "inputs",        [SPENT_CROSSING] = "crossing",
        [SPENT_UPLOAD] = "upload",        [SPENT_CALLS] = "calls",
        [SPENT_REPLAYS] = "replays",      [SPENT_DOWNLOAD] = "download",
        [SPENT_JUDGING] = "judging",      [SPENT_SAMPLES] = "samples",
        [SPENT_SIMULATING] = "simulating"};
    char line[400] = "spent:";
    double other = record->seconds;
    for (int i = 0; i < SPENT_KINDS; i++) {
        other -= record->spent[i];
        text_add(line, sizeof line, " %s %.2f s,", name[i], record->spent[i]);
    }
    text_add(line, sizeof line, " other %.2f s", other);
    text_wrap(stream, INDENT, line);
}

/* Prints each line after a bar, to distinguish it from the grader's own lines.  The first `most`,
 * 0: all. */
static void print_printed(FILE *stream, const Record *record, int most)
{
    if (!record->printed || !*record->printed) return;
    int shown = 0;
    const char *line = record->printed;
    fprintf(stream,
            "\n"
            "%*sOutput of the kernels, the beginning:\n",
            INDENT, "");
    for (; *line && (!most || shown < most); shown++) {
        size_t bytes = strcspn(line, "\n");
        fprintf(stream, "%*s| %.*s\n", INDENT, "", (int)bytes, line);
        line += bytes + (line[bytes] == '\n');
    }
    if (*line) fprintf(stream, "%*s... VERBOSE=1 shows more of it\n", INDENT, "");
}

/* ---- report of a grade with an error: one screen --------------------------------------------- */

static void names_add(char *text, size_t bytes, const char *name)
{
    text_add(text, bytes, "%s%s", *text ? ", " : "", name);
}

/* The names of the cases that `chosen` selects; the hidden ones as one number. */
static void names_list(const Record *record, const RecordCase *like,
                       int (*chosen)(const RecordCase *like, const RecordCase *item), char *text,
                       size_t bytes)
{
    int hidden = 0, all = 0;
    char number[48];
    *text = 0;
    for (int i = 0; i < record->cases; i++) {
        const RecordCase *item = &record->item[i];
        all += item->hidden;
        if (!chosen(like, item)) continue;
        hidden += item->hidden;
        if (!item->hidden) names_add(text, bytes, item->name);
    }
    if (!hidden) return;
    text_set(number, sizeof number, "%d of %d hidden", hidden, all);
    names_add(text, bytes, number);
}

static int same_verdict(const RecordCase *like, const RecordCase *item)
{
    return like->verdict == item->verdict;
}

/* One row per verdict, with its cases. */
static void print_verdicts(FILE *stream, const Record *record)
{
    Table table = table_start("lw");
    for (int i = 0; i < record->cases; i++) {
        const RecordCase *item = &record->item[i];
        char names[2400], verdict[40];
        int before = 0;
        while (before < i && !same_verdict(item, &record->item[before]))
            before++;
        if (before < i) continue;
        names_list(record, item, same_verdict, names, sizeof names);
        if (item->verdict == CASE_NOT_RUN && *item->text)
            text_add(names, sizeof names, " (%s)", item->text);
        table_row(&table, "%s\t%s", verdict_text(item, verdict), names);
    }
    table_end(&table, stream, INDENT);
}

/* A prediction is scored after its case is correct. */
static int answer_waits(const RecordPrediction *item)
{
    return item->answered && !item->measured && item->possible > 0;
}

/* The points of predictions, and the reasons why answers could not be read. */
static void print_answers(FILE *stream, const Record *record)
{
    int answered = 0, waiting = 0;
    double points = 0, possible = 0;
    char text[72], wait[60] = "", line[200];
    for (int i = 0; i < record->predictions; i++) {
        answered += record->prediction[i].answered;
        waiting += answer_waits(&record->prediction[i]);
        points += record->prediction[i].points;
        possible += record->prediction[i].possible;
    }
    if (waiting == 1)
        text_set(wait, sizeof wait, "; one answer counts only when its case is correct");
    if (waiting > 1)
        text_set(wait, sizeof wait, "; %d answers count only when their cases are correct",
                 waiting);
    text_set(line, sizeof line, "predictions: %d of %d answered, %s points%s", answered,
             record->predictions, report_points(points, possible, text), wait);
    if (record->predictions) text_wrap(stream, INDENT, line);
    for (int i = 0; i < record->predictions; i++)
        if (reports_trouble(record, i)) text_wrap(stream, 2 * INDENT, record->prediction[i].text);
}

static void print_speed_waits(FILE *stream, const Record *record)
{
    double possible = 0;
    char points[32];
    for (int i = 0; i < record->cases; i++)
        if (speed_counts(record->item[i].speed.verdict)) possible += record->item[i].speed.possible;
    if (possible > 0)
        fprintf(stream, "%*sspeed: its %s points count only when every case is correct\n", INDENT,
                "", score_text(possible, points));
}

static void print_mark(FILE *stream, const Record *record)
{
    char points[72];
    fprintf(stream, "%*s%s  %s\n\n", INDENT, "", record->lab,
            report_points(record->points, record->possible, points));
}

/* "Fix this first: race in lenet-c3".  The shape of a hidden case is known to the grader only. */
static void print_cause_head(FILE *stream, const Record *record, const RecordCase *cause)
{
    char line[400];
    int others = 0;
    for (int i = 0; i < record->cases; i++)
        others += cause_is_one(&record->item[i]) && !cause_same(cause, &record->item[i]);
    text_set(line, sizeof line, "%s: %s (case %s", others ? "Fix this first" : "What is wrong",
             *cause->fault ? cause->fault : case_verdict_name(cause->verdict), cause->name);
    if (cause->hidden) text_add(line, sizeof line, ", %s", cause->shape);
    text_add(line, sizeof line, ")");
    text_wrap(stream, INDENT, line);
}

static void print_todo(FILE *stream, const Record *record)
{
    if (!*record->todo) return;
    fprintf(stream, "%*sNext task (make hint LAB=%.2s explains how):\n", INDENT, "", record->lab);
    text_wrap(stream, INDENT + 2, record->todo);
}

/* The error to fix first, after the tables; or `alone`, with a few lines about the others, within a
 * screen: the description of the error is shortened. */
static void print_wrong(FILE *stream, const Record *record, const RecordCase *cause, int alone)
{
    char *head = NULL, *todo = NULL, points[72], offer[80] = "";
    size_t bytes;
    FILE *lines = open_memstream(&head, &bytes);
    if (!lines) return;
    if (alone) {
        fprintf(lines, "%s: %s  %s\n\n", record->lab, record->title,
                report_points(record->points, record->possible, points));
        print_verdicts(lines, record);
        print_speed_waits(lines, record);
        print_answers(lines, record);
        print_stages(lines, record);
        print_printed(lines, record, 3);
        print_where(lines, record, REPORT_SCREEN);
        fputc('\n', lines);
    }
    print_cause_head(lines, record, cause);
    fclose(lines);
    lines = open_memstream(&todo, &bytes);
    if (lines) {
        print_todo(lines, record);
        fclose(lines);
    }
    size_t others = screen_lines(head) + screen_lines(todo ? todo : "") + 2;
    if (*cause_hint(record, cause)) hint_offer(record->lab, offer, sizeof offer);
    fputs(head, stream);
    report_cause(stream, cause, offer, record->source,
                 !alone                      ? 0
                 : others + 1 < SCREEN_LINES ? SCREEN_LINES - others
                                             : 1);
    fputs(todo ? todo : "", stream);
    fputc('\n', stream);
    free(head);
    free(todo);
}

/* ---- the whole report ------------------------------------------------------------------------ */

/* "conv.cu does not compile:", and the first error in the compiler's words. */
static void print_message(FILE *stream, const Record *record)
{
    static const char fails[] = "does not compile: ";
    const char *error = record->compiler ? strstr(record->message, fails) : NULL;
    if (!error) {
        text_wrap(stream, INDENT, record->message);
        return;
    }
    int before = (int)(error + strlen(fails) - 1 - record->message);
    fprintf(stream, "%*s%.*s\n", INDENT, "", before, record->message);
    report_compiler(stream, error + strlen(fails), record->source, 0);
}

static void print_tables(FILE *stream, const Record *record, ReportDepth depth)
{
    int verbose = depth == REPORT_VERBOSE;
    print_cases(stream, record, depth);
    print_predictions(stream, record, depth);
    print_stages(stream, record);
    print_printed(stream, record, verbose ? 0 : 12);
    for (int i = 0; verbose && i < record->cases; i++) {
        if (!record->item[i].cost.launches) continue;
        fprintf(stream, "\n%*s%s: %s\n", INDENT, "", record->item[i].name, record->item[i].shape);
        report_counters(stream, 2 * INDENT, &record->item[i].cost, NULL, NULL);
    }
}

void report_print(FILE *stream, const Record *record, ReportDepth depth)
{
    enum { COMPILER_LINES = SCREEN_LINES - 6 };
    const RecordCase *cause = cause_first(record);
    int graded = record->status == RECORD_GRADED, verbose = depth == REPORT_VERBOSE;
    if (graded && cause && depth == REPORT_SCREEN) {
        print_wrong(stream, record, cause, 1);
        return;
    }
    if (record->compiler)
        report_compiler(stream, record->compiler, record->source, verbose ? 0 : COMPILER_LINES);
    fprintf(stream, "%s: %s\n", record->lab, record->title);
    print_message(stream, record);
    if (graded) {
        fputc('\n', stream);
        print_tables(stream, record, depth);
        print_where(stream, record, depth);
        if (verbose) print_spent(stream, record);
    }
    print_mark(stream, record);
    if (graded && !cause) print_todo(stream, record);
    if (graded && cause) print_wrong(stream, record, cause, 0);
}
