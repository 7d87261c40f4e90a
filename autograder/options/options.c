#include "autograder/options/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int take_seed(const Option *option, const char *text, Error *error)
{
    char *end;
    Seed *seed = option->value;
    errno = 0;
    *seed = (Seed){.value = strtoull(text, &end, 0), .given = 1};
    if (*text && !*end && !errno && *text != '-') return 0;
    return error_set(error, "--%s takes a number from 0 to 2^64-1, not '%.80s'", option->name,
                     text);
}

static int take_percent(const Option *option, const char *text, Error *error)
{
    char *end;
    double value = strtod(text, &end);
    if (!*text || *end || !(value >= 0 && value <= 100))
        return error_set(error, "--%s takes per cent, 0 to 100, not '%.80s'", option->name, text);
    *(double *)option->value = value;
    return 0;
}

static int take_seconds(const Option *option, const char *text, Error *error)
{
    char *end;
    double value = strtod(text, &end);
    if (!*text || *end || !(value > 0 && value <= 86400))
        return error_set(error, "--%s takes seconds, up to 86400, not '%.80s'", option->name, text);
    *(double *)option->value = value;
    return 0;
}

static int take_engine(const char *text, DeviceEngine *engine, Error *error)
{
    if (!*text || !engine_find(text, engine)) return 0;
    return error_set(error, "there is no engine '%.40s'; there are: auto, sim, gpu", text);
}

static int take(const Option *option, const char *text, Error *error)
{
    switch (option->kind) {
    case OPTION_TEXT:
        if (*text) *(const char **)option->value = text;
        return 0;
    case OPTION_FLAG:
        *(int *)option->value = 1;
        return 0;
    case OPTION_SEED:
        return take_seed(option, text, error);
    case OPTION_PERCENT:
        return take_percent(option, text, error);
    case OPTION_SECONDS:
        return take_seconds(option, text, error);
    case OPTION_ENGINE:
        return take_engine(text, option->value, error);
    case OPTION_HELP:
        fputs(option->value, stdout);
        exit(0);
    }
    return 0;
}

int options_parse(int argc, char **argv, const Option *option, int words, const char **word,
                  Error *error)
{
    struct option table[OPTIONS + 1] = {{0}};
    for (int i = 0; option[i].name && i < OPTIONS; i++)
        table[i] = (struct option){.name = option[i].name,
                                   .has_arg = option[i].kind != OPTION_FLAG &&
                                              option[i].kind != OPTION_HELP};
    for (int i = 0; i < words; i++)
        word[i] = NULL;
    /* getopt itself reports an unknown option or a missing value. */
    for (int letter, at = 0; (letter = getopt_long(argc, argv, "", table, &at)) != -1;) {
        if (letter == '?') return error_set(error, "see %s --help", program_invocation_short_name);
        if (take(&option[at], optarg ? optarg : "", error)) return -1;
    }
    for (int i = 0; optind < argc; optind++, i++) {
        if (i == words)
            return error_set(error, "what is '%.80s'?  see %s --help", argv[optind],
                             program_invocation_short_name);
        word[i] = argv[optind];
    }
    return 0;
}

DeviceEngine engine_resolve(DeviceEngine engine)
{
    if (engine != ENGINE_AUTO) return engine;
    return !access("/dev/nvidiactl", F_OK) || !access("/dev/dxg", F_OK) ? ENGINE_GPU : ENGINE_SIM;
}
