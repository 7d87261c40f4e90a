#include "autograder/record/report.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "autograder/record/score.h"
#include "autograder/text/table.h"
#include "autograder/text/text.h"

enum { INDENT = 2, ABOUT_WIDTH = 30, QUESTION_WIDTH = 40 };

/* "1.23 ms", or "12,345" for cycles. */
static const char *report_cost(const Record *record, double cost, char text[40])
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
    if (speed == SPEED_NOT_TIMED || speed == SPEED_NOT_CORRECT || !*item->speed.text) return;
    char note[600];
    if (speed == SPEED_SCORED)
        text_set(note, sizeof note, "%s", item->speed.text);
    else
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
    if (speed_counts(speed->verdict)) possible += speed->possible;
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
        /* Why none was read is said once. */
        int said = i && !strcmp(item->text, record->prediction[i - 1].text);
        if (item->answered || (!said && strcmp(item->text, RECORD_NO_ANSWER) != 0))
            table_note(&table, item->text);
    }
    fputc('\n', stream);
    table_end(&table, stream, INDENT);
}

/* ---- counters ------------------------------------------------------------------------------ */

enum { COUNTERS_MAX = 40 };

typedef struct CounterRow {
    const char *name, *note;
    char text[48];
} CounterRow;

typedef struct CounterRows {
    int count;
    CounterRow item[COUNTERS_MAX];
} CounterRows;

static CounterRow *counter_add(CounterRows *counters, const char *name, const char *note)
{
    CounterRow *counter = &counters->item[counters->count];
    if (counters->count + 1 < COUNTERS_MAX) counters->count++;
    *counter = (CounterRow){.name = name, .note = note};
    return counter;
}

static void counter_whole(CounterRows *counters, const char *name, uint64_t value, const char *note)
{
    text_thousands((double)value, counter_add(counters, name, note)->text);
}

/* part / whole with some decimals; nothing of nothing is 0. */
static void counter_ratio(CounterRows *counters, const char *name, int decimals, uint64_t part,
                          uint64_t whole, const char *note)
{
    CounterRow *counter = counter_add(counters, name, note);
    text_set(counter->text, sizeof counter->text, "%.*f", decimals,
             whole ? (double)part / (double)whole : 0);
}

static void counter_percent(CounterRows *counters, const char *name, uint64_t part, uint64_t whole,
                            const char *note)
{
    counter_ratio(counters, name, 1, 100 * part, whole, note);
}

static void counter_sizes(CounterRows *counters, const char *name, const uint32_t size[3],
                          const char *note)
{
    CounterRow *counter = counter_add(counters, name, note);
    text_set(counter->text, sizeof counter->text, "%ux%ux%u", size[0], size[1], size[2]);
}

static void counters_of_launch(CounterRows *counters, const DeviceCost *cost)
{
    counter_whole(counters, "launches", cost->launches, "of the costliest: grid to occupancy");
    counter_sizes(counters, "grid", cost->grid, "blocks: x, y, z");
    counter_sizes(counters, "block", cost->block, "threads: x, y, z");
    counter_whole(counters, "registers", cost->registers, "a thread");
    counter_whole(counters, "shared memory", cost->shared_bytes, "bytes a block");
    counter_whole(counters, "resident blocks", cost->resident_blocks, "an SM");
    counter_whole(counters, "occupancy", cost->occupancy_percent,
                  "% of the warps that an SM can hold, achieved");
}

static void counters_of_instructions(CounterRows *counters, const DeviceCost *cost)
{
    uint64_t warps = cost->warp_instructions;
    counter_whole(counters, "instructions", cost->instructions, "by threads");
    counter_whole(counters, "warp instructions", warps, "by warps");
    counter_ratio(counters, "lanes active", 1, cost->instructions, warps, "of a warp's 32");
    counter_percent(counters, "float",
                    cost->float_instructions + cost->tensor_instructions +
                        cost->special_instructions,
                    warps, "% of the warps' instructions");
    counter_percent(counters, "integer", cost->integer_instructions, warps, "%");
    counter_percent(counters, "memory", cost->memory_instructions, warps, "%");
    counter_percent(counters, "control", cost->control_instructions, warps, "%");
    counter_whole(counters, "branches", cost->branches, "by warps");
    counter_percent(counters, "divergent", cost->divergent_branches, cost->branches,
                    "% of the branches");
    counter_whole(counters, "barriers", cost->barriers, "by warps");
}

static void counters_of_memory(CounterRows *counters, const DeviceCost *cost)
{
    uint64_t loaded = cost->global_load_sectors;
    uint64_t shared = cost->shared_load_requests + cost->shared_store_requests;
    counter_whole(counters, "global loads", cost->global_load_bytes, "bytes asked for");
    counter_ratio(counters, "sectors a load", 2, loaded, cost->global_load_requests,
                  "of 32 bytes, for a warp");
    counter_whole(counters, "global stores", cost->global_store_bytes, "bytes asked for");
    counter_ratio(counters, "sectors a store", 2, cost->global_store_sectors,
                  cost->global_store_requests, "");
    counter_percent(counters, "sectors from L1", cost->l1_hit_sectors, loaded, "% of those loaded");
    counter_percent(counters, "sectors from L2", cost->l2_hit_sectors, loaded,
                    "%; the rest comes from DRAM");
    counter_whole(counters, "shared accesses", shared, "requests by warps");
    counter_ratio(counters, "wavefronts", 2, cost->shared_wavefronts, shared, "a shared access");
    counter_whole(counters, "bank conflicts", cost->bank_conflicts,
                  "wavefronts more than the words need");
    counter_whole(counters, "constant loads", cost->const_requests, "requests by warps");
    counter_whole(counters, "local memory", cost->local_sectors,
                  "sectors (spills, arrays indexed at run time)");
}

/* Last, for most machines have none. */
static void counters_of_accelerators(CounterRows *counters, const DeviceCost *cost)
{
    if (!cost->accelerator_calls) return;
    counter_whole(counters, "accelerator calls", cost->accelerator_calls, "by warps");
    counter_whole(counters, "accelerator cycles", cost->accelerator_cycles,
                  "for which those held their warps");
}

static void counters_fill(CounterRows *counters, const DeviceCost *cost)
{
    counters->count = 0;
    counters_of_launch(counters, cost);
    counters_of_instructions(counters, cost);
    counters_of_memory(counters, cost);
    counters_of_accelerators(counters, cost);
}

void report_counters(FILE *stream, int indent, const DeviceCost *cost, const DeviceCost *baseline)
{
    CounterRows yours, theirs = {0};
    Table table = table_start(baseline ? "lrrl" : "lrl");
    counters_fill(&yours, cost);
    if (baseline) {
        counters_fill(&theirs, baseline);
        table_row(&table, "\tyours\tbaseline");
    }
    for (int i = 0; i < yours.count; i++) {
        const CounterRow *counter = &yours.item[i];
        if (baseline) {
            table_row(&table, "%s\t%s\t%s\t%s", counter->name, counter->text, theirs.item[i].text,
                      counter->note);
        } else {
            table_row(&table, "%s\t%s\t%s", counter->name, counter->text, counter->note);
        }
    }
    table_end(&table, stream, indent);
}

/* ---- the whole ------------------------------------------------------------------------------- */

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

/* For who wants to know why a grade takes long. */
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

/* The compiler's lines, first and as editors want them: "conv.cu(3): ...".  A source can have other
 * lines printed too (.print); a bar keeps those from being read as the grader's. */
static void print_compiler(FILE *stream, const Record *record)
{
    const char *slash = strrchr(record->source, '/');
    const char *name = slash ? slash + 1 : record->source;
    size_t length = strlen(name);
    for (const char *line = record->compiler; line && *line;) {
        size_t bytes = strcspn(line, "\n");
        int place = !strncmp(line, name, length) && strchr(":(", line[length]) && line[length];
        fprintf(stream, "%s%.*s\n", place || *line == ' ' || !bytes ? "" : "| ", (int)bytes, line);
        line += bytes + (line[bytes] == '\n');
    }
    if (record->compiler && *record->compiler) fputc('\n', stream);
}

/* Each line behind a bar: the grader's own begin without one. */
static void print_printed(FILE *stream, const Record *record)
{
    if (!record->printed || !*record->printed) return;
    fprintf(stream, "\n%*sWhat its kernels printed, the beginning:\n", INDENT, "");
    for (const char *line = record->printed; *line;) {
        size_t bytes = strcspn(line, "\n");
        fprintf(stream, "%*s| %.*s\n", INDENT, "", (int)bytes, line);
        line += bytes + (line[bytes] == '\n');
    }
}

void report_print(FILE *stream, const Record *record, int verbose)
{
    char points[72];
    print_compiler(stream, record);
    fprintf(stream, "%s: %s\n", record->lab, record->title);
    if (*record->message) text_wrap(stream, INDENT, record->message);
    if (record->status == RECORD_GRADED) {
        fputc('\n', stream);
        print_cases(stream, record);
        print_predictions(stream, record);
        print_printed(stream, record);
    }
    for (int i = 0; verbose && i < record->cases; i++) {
        if (!record->item[i].cost.launches) continue;
        fprintf(stream, "\n%*s%s: %s\n", INDENT, "", record->item[i].name, record->item[i].shape);
        report_counters(stream, 2 * INDENT, &record->item[i].cost, NULL);
    }
    if (*record->todo) {
        fprintf(stream, "\n%*sWhat to do first:\n", INDENT, "");
        text_wrap(stream, INDENT + 2, record->todo);
    }
    if (record->status == RECORD_GRADED) print_where(stream, record);
    if (record->status == RECORD_GRADED && verbose) print_spent(stream, record);
    fprintf(stream, "%*s%s  %s\n\n", INDENT, "", record->lab,
            points_text(record->points, record->possible, points));
}
