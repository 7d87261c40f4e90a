/* set_options.c - command line of the programs that generate a set. */
#include "datasets/set_options.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

static int number_read(const char *text, uint64_t least, uint64_t most, uint64_t *number)
{
    char *end;
    errno = 0;
    *number = strtoull(text, &end, 10);
    return !isdigit((unsigned char)*text) || *end || errno || *number < least || *number > most;
}

int set_options_read(int argc, char **argv, int least, int most, SetOptions *asked, Error *error)
{
    uint64_t size[2];
    if (argc != 5) return error_set(error, "it takes DIRECTORY SEED TRAIN TEST");
    asked->directory = argv[1];
    if (number_read(argv[2], 0, UINT64_MAX, &asked->seed))
        return error_set(error, "the seed '%s' is no whole number", argv[2]);
    for (int i = 0; i < 2; i++)
        if (number_read(argv[3 + i], (uint64_t)least, (uint64_t)most, &size[i]))
            return error_set(error, "'%s' is no whole number from %d to %d", argv[3 + i], least,
                             most);
    asked->train = (int)size[0], asked->test = (int)size[1];
    return 0;
}
