/* case_words.h - what became of a case, in the words that `make grade` and `make run` share. */
#ifndef CONVLAB_AUTOGRADER_RECORD_CASE_WORDS_H
#define CONVLAB_AUTOGRADER_RECORD_CASE_WORDS_H

#include "autograder/record/record.h"
#include "common/operations/operation/diagnose.h"

/* An output that was judged: verdict, fault, where, text, and how many are wrong. */
void case_judged(const Judgement *judged, const Finding *found, RecordCase *item);

/* A run that an engine or a limit ended. */
void case_stopped(CaseVerdict verdict, const char *message, RecordCase *item);

/* Advice on what an entry point does that nobody asks of it (DeviceHabit bits), behind what
 * `text` holds. */
void case_habits(uint32_t habits, char *text, size_t bytes);

/* Makes a right case wrong if a launch named no stream; returns whether it did. */
int case_ignores_stream(uint32_t habits, RecordCase *item);

#endif
