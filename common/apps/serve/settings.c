#include "common/apps/serve/settings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int set_number(const Setting *setting, const char *text, Error *error)
{
    char *end;
    double value = strtod(text, &end);
    if (!*end && value >= setting->low && value <= setting->high &&
        (!setting->whole || value == floor(value))) {
        *setting->number = value;
        return 0;
    }
    return error_set(error, "%s is %s from %g to %g, not '%.60s'", setting->name, setting->unit,
                     setting->low, setting->high, text);
}

static int set_word(const char *word, const Setting *setting, Error *error)
{
    for (; setting->name; setting++) {
        size_t length = strlen(setting->name);
        if (strncmp(word, setting->name, length) || word[length] != '=') continue;
        const char *text = word + length + 1;
        if (!*text) return 0;
        if (!setting->text) return set_number(setting, text, error);
        *setting->text = text;
        return 0;
    }
    return error_set(error, "there is no setting '%.60s'", word);
}

int settings_read(int argc, char **argv, const Setting *setting, Error *error)
{
    for (int i = 1; i < argc; i++)
        if (set_word(argv[i], setting, error)) return -1;
    return 0;
}

uint64_t clock_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t from_milliseconds(double milliseconds)
{
    return (uint64_t)(milliseconds * 1e6);
}
