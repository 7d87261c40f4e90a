#include "common/base/demangle.h"

#include <ctype.h>
#include <string.h>

/* The number at *at, which is advanced; larger than any name if it has too many digits. */
static size_t length_read(const char **at)
{
    size_t value = 0;
    for (; isdigit((unsigned char)**at); ++*at)
        if (value < 100000) value = value * 10 + (size_t)(**at - '0');
    return value;
}

/* The last identifier of the text after "_Z"; NULL: none. */
static const char *identifier_find(const char *at, size_t *length)
{
    const char *name = NULL;
    int nested = *at == 'N';
    at += nested;
    at += *at == 'L'; /* static */
    while (isdigit((unsigned char)*at)) {
        size_t given = length_read(&at);
        if (!given || given > strlen(at)) break;
        name = at;
        *length = given;
        at += given;
        if (!nested) break;
    }
    return name;
}

void demangle(const char *mangled, char *text, size_t bytes)
{
    size_t length = strlen(mangled);
    const char *name = strncmp(mangled, "_Z", 2) ? NULL : identifier_find(mangled + 2, &length);
    if (!name) name = mangled;
    if (length > bytes - 1) length = bytes - 1;
    for (size_t i = 0; i < length; i++)
        text[i] = isprint((unsigned char)name[i]) ? name[i] : '?';
    text[length] = 0;
}
