/* case_words.h - messages about the result of a case, shared by `make grade` and `make run`. */
#ifndef CONVLAB_AUTOGRADER_RECORD_CASE_WORDS_H
#define CONVLAB_AUTOGRADER_RECORD_CASE_WORDS_H

#include "autograder/record/record.h"
#include "common/operations/operation/diagnose.h"

/* A judged output: verdict, fault, where, text, and the number of wrong outputs. */
void case_judged(const Judgement *judged, const Finding *found, RecordCase *item);

/* A run that an engine or a limit ended. */
void case_stopped(CaseVerdict verdict, const char *message, RecordCase *item);

/* Appends advice on unnecessary calls of an entry point (DeviceHabit bits) to `text`. */
void case_habits(uint32_t habits, char *text, size_t bytes);

/* Makes a right case wrong if a launch named no stream; returns whether it did. */
int case_ignores_stream(uint32_t habits, RecordCase *item);

#endif
