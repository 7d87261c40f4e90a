/* command_words.c - the words and numbers of a command line. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/debugger/ui/commands.h"

const char *command_skip(const char *at)
{
    while (isspace((unsigned char)*at))
        at++;
    return at;
}

/* The next word; what follows it. */
const char *command_word(const char *at, char word[WORD])
{
    size_t length = 0;
    at = command_skip(at);
    while (at[length] && !isspace((unsigned char)at[length]) && length + 1 < WORD)
        length++;
    memcpy(word, at, length);
    word[length] = 0;
    return command_skip(at + length);
}

int command_number(const char *text, long *number)
{
    char *end;
    text = command_skip(text);
    *number = strtol(text, &end, 0);
    return end != text && !*command_skip(end);
}
