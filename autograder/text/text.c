#include "autograder/text/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void text_set(char *text, size_t bytes, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, bytes, format, arguments);
    va_end(arguments);
}

void text_add(char *text, size_t bytes, const char *format, ...)
{
    size_t have = strnlen(text, bytes);
    va_list arguments;
    va_start(arguments, format);
    if (have < bytes) vsnprintf(text + have, bytes - have, format, arguments);
    va_end(arguments);
}
