#include "autograder/export/checks.h"

#include <stdlib.h>
#include <string.h>

#include "autograder/text/text.h"

const char *check_outcome_name(CheckOutcome outcome)
{
    static const char *const NAME[] = {"passed", "failed", "skipped", "broken"};
    return NAME[outcome];
}

const char *points_exact(double points, char text[32])
{
    text_set(text, 32, "%.6g", points);
    return text;
}

static Check *check_add(Checks *checks, const char *name, const char *what)
{
    Check *check = &checks->item[checks->count++];
    text_set(check->name, sizeof check->name, "%s%s", name, what);
    return check;
}

static CheckOutcome by_points(double points, double possible)
{
    return points >= possible - 1e-9 ? CHECK_PASSED : CHECK_FAILED;
}

static CheckOutcome case_outcome(const Record *record, const RecordCase *item)
{
    if (record->status == RECORD_DEFERRED || item->verdict == CASE_DEFERRED) return CHECK_SKIPPED;
    if (item->verdict == CASE_BROKEN) return CHECK_BROKEN;
    return item->verdict == CASE_CORRECT ? CHECK_PASSED : CHECK_FAILED;
}

/* A lab that was not graded has the same text for every check. */
static void case_text(const Record *record, const RecordCase *item, char *text, size_t bytes)
{
    if (record->status != RECORD_GRADED) {
        text_add(text, bytes, "%s\n", record->message);
        return;
    }
    text_add(text, bytes, "%s%s%s\n", case_verdict_name(item->verdict), *item->text ? ": " : "",
             item->text);
    if (*item->hint && item->verdict != CASE_CORRECT)
        text_add(text, bytes, "make hint LAB=%.2s explains it.\n", record->lab);
}

static void add_case(Checks *checks, const Record *record, const RecordCase *item)
{
    Check *check = check_add(checks, item->name, "");
    check->outcome = case_outcome(record, item);
    check->seconds = item->cost.seconds;
    if (!case_is_left_out(item->verdict)) {
        check->points = item->points;
        check->possible = item->possible;
    }
    case_text(record, item, check->text, sizeof check->text);
}

static void add_speed(Checks *checks, const Record *record, const RecordCase *item)
{
    const RecordSpeed *speed = &item->speed;
    if (speed->verdict == SPEED_NOT_TIMED && speed->possible <= 0) return;
    Check *check = check_add(checks, item->name, ", speed");
    check->outcome = CHECK_SKIPPED;
    if (speed_counts(speed->verdict)) {
        check->points = speed->points;
        check->possible = speed->possible;
        check->outcome = by_points(speed->points, speed->possible);
    }
    if (record->status == RECORD_BROKEN) check->outcome = CHECK_BROKEN;
    text_set(check->text, sizeof check->text, "%s", speed_verdict_name(speed->verdict));
    if (speed->s > 0)
        text_add(check->text, sizeof check->text,
                 ": %.2f times as fast as the baseline, %.2f wanted", speed->s, speed->needed);
    text_add(check->text, sizeof check->text, "%s%s\n", *speed->text ? ": " : "", speed->text);
}

/* One check, because the points are one share; it lists each shape that failed. */
static void add_hidden(Checks *checks, const Record *record)
{
    Check *check = NULL;
    int wrong = 0, count = 0;
    for (int i = 0; i < record->cases; i++) {
        const RecordCase *item = &record->item[i];
        if (!item->hidden) continue;
        if (!check) check = check_add(checks, "hidden", "");
        CheckOutcome outcome = case_outcome(record, item);
        count++;
        if (!case_is_left_out(item->verdict)) {
            check->points += item->points;
            check->possible += item->possible;
        }
        if (outcome == CHECK_PASSED) continue;
        /* A wrong shape takes precedence over one that could not be judged. */
        if (check->outcome != CHECK_FAILED) check->outcome = outcome;
        if (record->status == RECORD_GRADED)
            text_add(check->text, sizeof check->text, "%s, %s: ", item->name, item->shape);
        if (record->status == RECORD_GRADED || !wrong)
            case_text(record, item, check->text, sizeof check->text);
        wrong++;
    }
    if (check && !wrong)
        text_set(check->text, sizeof check->text, "correct: %d shapes drawn from the seed\n",
                 count);
}

static void add_prediction(Checks *checks, const Record *record, const RecordPrediction *item)
{
    Check *check = check_add(checks, "prediction ", item->name);
    check->points = item->points;
    check->possible = item->possible;
    check->outcome = item->possible > 0 ? by_points(item->points, item->possible) : CHECK_SKIPPED;
    if (record->status == RECORD_BROKEN) check->outcome = CHECK_BROKEN;
    text_set(check->text, sizeof check->text, "%s\n", item->question);
    if (item->answered)
        text_add(check->text, sizeof check->text, "Your answer: %.10g.\n", item->answer);
    if (item->answered && item->measured)
        text_add(check->text, sizeof check->text, "True: %.10g.\n", item->truth);
    if (*item->text) text_add(check->text, sizeof check->text, "%s\n", item->text);
}

Checks *checks_of(const Record *record)
{
    Checks *checks = calloc(1, sizeof *checks);
    if (!checks) return NULL;
    for (int i = 0; i < record->cases; i++) {
        if (record->item[i].hidden || checks->count + 2 > 2 * LAB_CASES) continue;
        add_case(checks, record, &record->item[i]);
        add_speed(checks, record, &record->item[i]);
    }
    add_hidden(checks, record);
    for (int i = 0; i < record->predictions; i++)
        add_prediction(checks, record, &record->prediction[i]);
    for (int i = 0; i < checks->count; i++)
        checks->of[checks->item[i].outcome]++;
    return checks;
}
