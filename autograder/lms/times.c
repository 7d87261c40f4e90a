#include "autograder/lms/times.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int64_t time_parse(const char *text)
{
    struct tm tm = {.tm_isdst = -1, .tm_hour = 23, .tm_min = 59, .tm_sec = 59};
    char zone = 0, rest = 0;
    int parts = sscanf(text, "%4d-%2d-%2d%*1[T _]%2d%*1[:.-]%2d%*1[:.-]%2d%c%c", &tm.tm_year,
                       &tm.tm_mon, &tm.tm_mday, &tm.tm_hour, &tm.tm_min, &tm.tm_sec, &zone, &rest);
    if (parts == 5) {
        tm.tm_sec = 0;
        sscanf(text, "%*4d-%*2d-%*2d%*1[T _]%*2d%*1[:.-]%*2d%c%c", &zone, &rest);
    } else if (parts == 3) {
        sscanf(text, "%*4d-%*2d-%*2d%c", &rest);
    }
    if (parts < 3 || parts == 4 || rest || (zone && zone != 'Z')) return -1;
    if (tm.tm_mon < 1 || tm.tm_mon > 12 || tm.tm_mday < 1 || tm.tm_mday > 31 || tm.tm_hour > 23 ||
        tm.tm_min > 59 || tm.tm_sec > 60 || tm.tm_year < 1970)
        return -1;
    tm.tm_year -= 1900;
    tm.tm_mon -= 1;
    return zone ? timegm(&tm) : mktime(&tm);
}

static int month_of(const char *name)
{
    static const char *const MONTHS[] = {"January",   "February", "March",    "April",
                                         "May",       "June",     "July",     "August",
                                         "September", "October",  "November", "December"};
    for (int i = 0; i < 12; i++)
        if (!strcasecmp(name, MONTHS[i])) return i;
    return -1;
}

int64_t time_parse_lms(const char *text)
{
    int64_t at = time_parse(text);
    if (at >= 0) return at;
    struct tm tm = {.tm_isdst = -1};
    char month[12], half[3] = "", rest = 0;
    int parts = sscanf(text, "%*12[A-Za-z], %2d %11[A-Za-z] %4d, %2d:%2d %2[AMPamp]%c", &tm.tm_mday,
                       month, &tm.tm_year, &tm.tm_hour, &tm.tm_min, half, &rest);
    if (parts != 6 || rest || (tm.tm_mon = month_of(month)) < 0 || tm.tm_mday < 1 ||
        tm.tm_mday > 31 || tm.tm_hour < 1 || tm.tm_hour > 12 || tm.tm_min < 0 || tm.tm_min > 59 ||
        tm.tm_year < 1970)
        return -1;
    if (strcasecmp(half, "AM") != 0 && strcasecmp(half, "PM") != 0) return -1;
    tm.tm_hour = tm.tm_hour % 12 + (strcasecmp(half, "PM") ? 0 : 12);
    tm.tm_year -= 1900;
    return mktime(&tm);
}

void time_text(int64_t seconds, char text[24])
{
    time_t at = (time_t)seconds;
    struct tm tm;
    if (!gmtime_r(&at, &tm) || !strftime(text, 24, "%Y-%m-%dT%H:%M:%SZ", &tm)) text[0] = '\0';
}

int64_t duration_parse(const char *text)
{
    static const char *const UNITS[3][4] = {
        {"m", "min", "minute", "minutes"}, {"h", "hr", "hour", "hours"}, {"d", "d", "day", "days"}};
    static const double SECONDS[] = {60, 3600, 86400};
    char *end;
    double number = strtod(text, &end);
    if (end == text || !isfinite(number) || number < 0 || number > 1e5) return -1;
    end += strspn(end, " ");
    for (int unit = 0; unit < 3; unit++)
        for (int i = 0; i < 4; i++)
            if (!strcasecmp(end, UNITS[unit][i])) return (int64_t)(number * SECONDS[unit] + 0.5);
    return -1;
}
