/* times.h - points in time and durations, as people, rosters and LMSs write them.
 *
 * Module: data of a learning management system (LMS): names in its downloads, rosters, times.
 * Callers: class, exporters, the programs.
 * May use: text, base. */
#ifndef CONVLAB_AUTOGRADER_LMS_TIMES_H
#define CONVLAB_AUTOGRADER_LMS_TIMES_H

#include <stdint.h>

/* Accepts "2026-10-01T12:00" with or without seconds, 'Z' or the local time zone, '_' or ' ' for
 * 'T', '-' or '.' for ':'; a date alone means its end at midnight.  Seconds since 1970; -1: not a
 * time. */
int64_t time_parse(const char *text);
/* time_parse's forms, and Moodle's long English form, "Thursday, 1 October 2026, 11:58 PM".  Forms
 * in which day and month could be confused are no times. */
int64_t time_parse_lms(const char *text);
/* "2026-10-01T12:00:00Z". */
void time_text(int64_t seconds, char text[24]);

/* "15m", "3h", "2d", "1.5 days": a number with the first letter of minutes, hours or days.
 * Seconds; -1: not a duration. */
int64_t duration_parse(const char *text);

#endif
