#include "autograder/record/case_words.h"

#include <string.h>

#include "autograder/text/text.h"
#include "common/cuda/device.h"

/* Correct outputs of a program with a race, whose result may be wrong on another GPU or in another
 * run. */
static void judged_luck(const Judgement *judged, RecordCase *item)
{
    item->verdict = CASE_WRONG;
    text_set(item->fault, sizeof item->fault, "%s", fault_name(fault_checked(judged)));
    text_set(item->text, sizeof item->text,
             "The outputs are correct, but only by chance.\n"
             "%s",
             judged->observed.checked);
}

/* A checker's finding comes first, then its consequences. */
static void judged_wrong(const Judgement *judged, const Finding *found, RecordCase *item)
{
    const Verdict *verdict = &judged->verdict;
    const char *checked = judged->observed.checked;
    item->verdict = CASE_WRONG;
    text_set(item->fault, sizeof item->fault, "%s", fault_name(found->fault));
    text_set(item->where, sizeof item->where, "%s", verdict->where);
    if (checked && *checked) text_set(item->text, sizeof item->text, "%s\n", checked);
    if (verdict->wrong && found->fault != FAULT_UNWRITTEN && found->fault != FAULT_NAN)
        text_add(item->text, sizeof item->text,
                 "%zu of %zu outputs are wrong, first %s: got %.9g, expected %.9g.%s",
                 verdict->wrong, verdict->total, verdict->where, verdict->got, verdict->expected,
                 *found->text ? "\n" : "");
    text_add(item->text, sizeof item->text, "%s", found->text);
}

void case_judged(const Judgement *judged, const Finding *found, RecordCase *item)
{
    const Verdict *verdict = &judged->verdict;
    const char *checked = judged->observed.checked;
    item->verdict = CASE_CORRECT;
    item->wrong = (double)verdict->wrong;
    item->total = (double)verdict->total;
    item->worst = verdict->worst;
    if (!verdict->correct)
        judged_wrong(judged, found, item);
    else if (checked && *checked)
        judged_luck(judged, item);
}

void case_stopped(CaseVerdict verdict, const char *message, RecordCase *item)
{
    Fault fault = fault_stopped(message);
    item->verdict = verdict;
    char cause[400];
    /* The cause comes before the list of waiting threads, which is shown only in part. */
    const char *list = strstr(message, "\nwaiting: ");
    const size_t first = list ? (size_t)(list - message) : strlen(message);
    text_set(item->text, sizeof item->text, "%.*s", (int)first, message);
    if (stopped_cause(message, cause, sizeof cause))
        text_add(item->text, sizeof item->text, "\n%s", cause);
    text_add(item->text, sizeof item->text, "%s", message + first);
    if (fault) text_set(item->fault, sizeof item->fault, "%s", fault_name(fault));
}

int case_ignores_stream(uint32_t habits, RecordCase *item)
{
    if (!(habits & HABIT_NO_STREAM) || item->verdict != CASE_CORRECT) return 0;
    item->verdict = CASE_WRONG;
    text_set(item->fault, sizeof item->fault, "%s", fault_name(FAULT_STREAMS));
    text_set(item->text, sizeof item->text,
             "The outputs are right, but not on the given stream: a caller that waits for that "
             "stream only can read y too early.");
    return 1;
}

void case_habits(uint32_t habits, char *text, size_t bytes)
{
    const char *lines[] = {
        habits & HABIT_NO_STREAM ? "A launch names no stream, so it uses the default stream, which "
                                   "waits for all others: use the stream that your function "
                                   "receives, <<<grid, block, bytes, stream>>>. A grade counts "
                                   "this as wrong."
                                 : NULL,
        habits & HABIT_LEAKS
            ? "Each call leaves memory allocated (cudaMalloc without cudaFree), so a program that "
              "calls you often runs out of it: free what a call allocates."
            : NULL,
        habits & HABIT_WAITS
            ? "Your code waits for the device (cudaDeviceSynchronize or a similar call): remove "
              "that call. The caller waits, and may have more work for the GPU in the meantime."
            : NULL};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (lines[i]) text_add(text, bytes, "%s%s", *text ? "\n" : "", lines[i]);
}
