#include "autograder/record/report.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "autograder/record/score.h"
#include "autograder/text/table.h"
#include "autograder/text/text.h"

enum { INDENT = 2, ABOUT_WIDTH = 30, QUESTION_WIDTH = 40 };

const char *report_cost(const Record *record, double cost, char text[40])
{
    text[0] = 0;
    if (cost <= 0) return text;
    if (!strcmp(record->unit, "cycles")) return text_thousands(cost, text);
    if (cost >= 1) {
        text_set(text, 40, "%.2f s", cost);
    } else if (cost >= 1e-3) {
        text_set(text, 40, "%.2f ms", cost * 1e3);
    } else {
        text_set(text, 40, "%.1f us", cost * 1e6);
    }
    return text;
}

/* At most `width` columns, ending in ".." where something was cut. */
static const char *shorten(const char *text, size_t width, char *cut, size_t bytes)
{
    size_t at = 0, columns = 0;
    if (text_width(text) <= width) return text;
    while (text[at] && at + 4 < bytes && columns + 2 < width) {
        do {
            at++;
        } while (((unsigned char)text[at] & 0xC0) == 0x80);
        columns++;
    }
    while (at && text[at - 1] == ' ')
        at--;
    text_set(cut, bytes, "%.*s..", (int)at, text);
    return cut;
}

static const char *points_text(double points, double possible, char text[72])
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

/* An earlier case that says the very same, or NULL: nobody reads it eight times. */
static const RecordCase *said_before(const Record *record, const RecordCase *item)
{
    for (const RecordCase *before = record->item; before < item; before++)
        if (*item->text && !strcmp(before->text, item->text)) return before;
    return NULL;
}

static void case_notes(Table *table, const Record *record, const RecordCase *item)
{
    char text[1700];
    const RecordCase *before = said_before(record, item);
    if (before) {
        text_set(text, sizeof text, "As in %s.", before->name);
        table_note(table, text);
    } else {
        table_note(table, item->text);
    }
    if (item->verdict != CASE_CORRECT && *item->hint) {
        text_set(text, sizeof text, "Hint: %s", item->hint);
        table_note(table, text);
    }
    SpeedVerdict speed = item->speed.verdict;
    if (speed == SPEED_SCORED || speed == SPEED_NOT_TIMED || speed == SPEED_NOT_CORRECT) return;
    char note[600];
    text_set(note, sizeof note, "%s: %s", speed_verdict_name(speed), item->speed.text);
    table_note(table, note);
}

static void public_row(Table *table, const Record *record, const RecordCase *item)
{
    char about[80], verdict[40], cost[40], s[32] = "", needed[32] = "", points[72];
    const RecordSpeed *speed = &item->speed;
    double own = !strcmp(record->unit, "cycles") ? (double)item->cost.cycles : 0;
    if (item->verdict != CASE_CORRECT) own = 0;
    if (speed->student > 0) own = speed->student;
    if (speed->s > 0) text_set(s, sizeof s, "%.2fx", speed->s);
    if (speed->needed > 0) text_set(needed, sizeof needed, "%.2fx", speed->needed);
    double possible = item->possible;
    if (speed->verdict == SPEED_SCORED || speed->verdict == SPEED_NOT_CORRECT ||
        speed->verdict == SPEED_REVIEW || speed->verdict == SPEED_WRONG)
        possible += speed->possible;
    table_row(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s", item->name,
              shorten(item->about, ABOUT_WIDTH, about, sizeof about), verdict_text(item, verdict),
              report_cost(record, own, cost), s, needed,
              points_text(item->points + speed->points, possible, points));
    case_notes(table, record, item);
}

/* The hidden set is one row: what was drawn only matters where it went wrong. */
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
    table_row(table, "hidden\t%d shapes drawn from the seed\t%s\t\t\t\t%s", count, what,
              points_text(points, possible, text));
    for (int i = 0; i < record->cases; i++) {
        const RecordCase *item = &record->item[i];
        if (!item->hidden || item->verdict == CASE_CORRECT || item->verdict == CASE_NOT_RUN)
            continue;
        char note[2200], verdict[40];
        const RecordCase *before = said_before(record, item);
        text_set(note, sizeof note, "%s %s: ", verdict_text(item, verdict), item->shape);
        if (before) {
            text_add(note, sizeof note, "as in %s.", before->name);
        } else {
            text_add(note, sizeof note, "(%s) %s", item->name, item->text);
        }
        table_note(table, note);
        if (*item->hint) {
            text_set(note, sizeof note, "Hint: %s", item->hint);
            table_note(table, note);
        }
    }
}

static void print_cases(FILE *stream, const Record *record)
{
    Table table = table_start("lllrrrr");
    table_row(&table, "case\twhat\tverdict\t%s\tfaster\tneeded\tpoints",
              !strcmp(record->unit, "cycles") ? "cycles" : "time");
    for (int i = 0; i < record->cases; i++)
        if (!record->item[i].hidden) public_row(&table, record, &record->item[i]);
    hidden_row(&table, record);
    table_end(&table, stream, INDENT);
}

static const char *number_text(double number, char text[40])
{
    if (number == floor(number) && fabs(number) < 1e15) return text_thousands(number, text);
    text_set(text, 40, "%.5g", number);
    return text;
}

static void print_predictions(FILE *stream, const Record *record)
{
    if (!record->predictions) return;
    Table table = table_start("llrrr");
    table_row(&table, "prediction\tquestion\tyours\ttrue\tpoints");
    for (int i = 0; i < record->predictions; i++) {
        const RecordPrediction *item = &record->prediction[i];
        char question[160], points[72], yours[40] = "-", truth[40] = "";
        if (item->answered) number_text(item->answer, yours);
        if (item->answered && item->measured) number_text(item->truth, truth);
        table_row(&table, "%s\t%s\t%s\t%s\t%s", item->name,
                  shorten(item->question, QUESTION_WIDTH, question, sizeof question), yours, truth,
                  points_text(item->points, item->possible, points));
        if (item->answered) table_note(&table, item->text);
    }
    fputc('\n', stream);
    table_end(&table, stream, INDENT);
}

static double percent(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

void report_counters(FILE *stream, int indent, const DeviceCost *cost)
{
    char a[40], b[40], c[40];
    double loads = (double)cost->global_load_requests, stores = (double)cost->global_store_requests;
    double shared = (double)(cost->shared_load_requests + cost->shared_store_requests);
    Table table = table_start("lrl");
    table_row(&table, "grid x block\t%ux%ux%u x %ux%ux%u\tof the costliest of %" PRIu64 " launches",
              cost->grid[0], cost->grid[1], cost->grid[2], cost->block[0], cost->block[1],
              cost->block[2], cost->launches);
    table_row(&table, "registers\t%u\ta thread", cost->registers);
    table_row(&table, "shared memory\t%u\tbytes a block", cost->shared_bytes);
    table_row(&table, "resident blocks\t%u\tan SM", cost->resident_blocks);
    table_row(&table, "instructions\t%s\tby threads, %s by warps",
              text_thousands((double)cost->instructions, a),
              text_thousands((double)cost->warp_instructions, b));
    if (cost->warp_instructions)
        table_row(
            &table,
            "of the warps'\t%.1f\tlanes active; %.0f %% float, %.0f %% integer, %.0f %% memory, "
            "%.0f %% control",
            (double)cost->instructions / (double)cost->warp_instructions,
            percent(cost->float_instructions + cost->tensor_instructions +
                        cost->special_instructions,
                    cost->warp_instructions),
            percent(cost->integer_instructions, cost->warp_instructions),
            percent(cost->memory_instructions, cost->warp_instructions),
            percent(cost->control_instructions, cost->warp_instructions));
    table_row(&table, "occupancy\t%u\t%% of the warps that an SM can hold, achieved",
              cost->occupancy_percent);
    table_row(&table, "global loads\t%s\tbytes asked for, %.2f sectors a request",
              text_thousands((double)cost->global_load_bytes, c),
              loads > 0 ? (double)cost->global_load_sectors / loads : 0);
    table_row(&table, "global stores\t%s\tbytes asked for, %.2f sectors a request",
              text_thousands((double)cost->global_store_bytes, a),
              stores > 0 ? (double)cost->global_store_sectors / stores : 0);
    table_row(&table,
              "sectors from L1\t%.1f\t%% of those loaded; %.1f %% from L2, the rest from DRAM",
              percent(cost->l1_hit_sectors, cost->global_load_sectors),
              percent(cost->l2_hit_sectors, cost->global_load_sectors));
    table_row(&table, "shared accesses\t%s\trequests, %.2f wavefronts each",
              text_thousands(shared, b), shared > 0 ? (double)cost->shared_wavefronts / shared : 0);
    if (cost->bank_conflicts)
        table_row(&table, "bank conflicts\t%s\twavefronts more than the words need",
                  text_thousands((double)cost->bank_conflicts, a));
    table_row(&table, "local memory\t%s\tsectors (spills, arrays indexed at run time)",
              text_thousands((double)cost->local_sectors, c));
    table_row(&table, "branches\t%s\t%.1f %% divergent", text_thousands((double)cost->branches, a),
              cost->branches ? 100.0 * (double)cost->divergent_branches / (double)cost->branches
                             : 0);
    table_row(&table, "barriers\t%s\t", text_thousands((double)cost->barriers, b));
    table_end(&table, stream, indent);
}

static void print_where(FILE *stream, const Record *record)
{
    char line[700];
    text_set(line, sizeof line, "engine %s", record->engine);
    if (*record->machine) text_add(line, sizeof line, ", machine %s", record->machine);
    if (!*record->machine && *record->device) text_add(line, sizeof line, " (%s)", record->device);
    text_add(line, sizeof line, ", sandbox %s, seed %" PRIu64 ", %.1f s", record->sandbox,
             record->seed, record->seconds);
    fprintf(stream, "\n%*s%s\n", INDENT, "", line);
}

void report_print(FILE *stream, const Record *record, int verbose)
{
    char points[72];
    if (record->compiler && *record->compiler) fprintf(stream, "%s\n", record->compiler);
    fprintf(stream, "%s: %s\n", record->lab, record->title);
    if (*record->message) text_wrap(stream, INDENT, record->message);
    if (record->status == RECORD_GRADED) {
        fputc('\n', stream);
        print_cases(stream, record);
        print_predictions(stream, record);
    }
    for (int i = 0; verbose && i < record->cases; i++) {
        if (!record->item[i].cost.launches) continue;
        fprintf(stream, "\n%*s%s: %s\n", INDENT, "", record->item[i].name, record->item[i].shape);
        report_counters(stream, 2 * INDENT, &record->item[i].cost);
    }
    if (*record->todo) {
        fprintf(stream, "\n%*sWhat to do first:\n", INDENT, "");
        text_wrap(stream, INDENT + 2, record->todo);
    }
    if (record->status == RECORD_GRADED) print_where(stream, record);
    fprintf(stream, "%*s%s  %s\n\n", INDENT, "", record->lab,
            points_text(record->points, record->possible, points));
}
