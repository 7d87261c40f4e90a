/* speed_setup.c - parts of a measurement that do not depend on how it measures. */
#include <stdarg.h>
#include <stdio.h>

#include "autograder/judging/speed.h"
#include "autograder/text/text.h"

void speed_end(RecordSpeed *speed, SpeedVerdict verdict, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(speed->text, sizeof speed->text, format, arguments);
    va_end(arguments);
    speed->verdict = verdict;
}

int speed_start(SpeedSetup *setup, int slot, Workload *workload, RecordCase *failed)
{
    Judge *judge = setup->judge;
    Error error;
    Observed observed = {0};
    RunOutcome outcome = {0};
    *failed = (RecordCase){.verdict = CASE_BROKEN};
    if (setup->build[slot]->status != BUILD_OK) {
        text_set(failed->text, sizeof failed->text, "%s", setup->build[slot]->message);
        return -1;
    }
    if (!setup->started[slot]) {
        if (session_start_runner(judge->session, slot, setup->build[slot], &error)) {
            text_set(failed->text, sizeof failed->text, "%s", error.text);
            return -1;
        }
        setup->started[slot] = 1;
    }
    judge_run(judge, slot, JUDGE_PROBE, workload ? (const float *const *)workload->tensor : NULL,
              judge->host ? workload->output : NULL, &observed, &outcome);
    if (outcome.status == RUN_OK) return 0;
    judge_output(judge, workload, &observed, &outcome, 0, failed);
    return -1;
}

void speed_wrong(RecordCase *item, const RecordCase *later)
{
    RecordSpeed *speed = &item->speed;
    if (case_is_left_out(later->verdict)) {
        speed_end(speed, SPEED_DEFERRED, "%.500s", later->text);
        return;
    }
    speed_end(speed, SPEED_WRONG, "A timed run failed. %.480s", later->text);
    if (later->verdict != CASE_LIMIT) judge_wrong_later(item, later);
}

void speed_own_inputs(Random *random)
{
    random_seed(random, 1);
}
