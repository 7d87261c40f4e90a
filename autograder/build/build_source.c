/* build_source.c - reading a submission's source: one regular file with a simple name and a limited
 * size. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "autograder/build/build_parts.h"
#include "common/base/intake.h"

enum { NAME_MAX_BYTES = 64 };

static int ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);
    return length > tail && !strcmp(text + length - tail, end);
}

/* Letters, digits, '.', '_' and '-', not first '.' or '-': no name can be an option or a path. */
static int name_is_plain(const char *name)
{
    if (!*name || *name == '.' || *name == '-' || strlen(name) > NAME_MAX_BYTES) return 0;
    for (const char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && *c != '.' && *c != '_' && *c != '-') return 0;
    return ends_with(name, ".cu") || ends_with(name, ".c");
}

int build_source_read(BuildJob *job, const char *folder, const char *source, char *message,
                      size_t bytes)
{
    const char *slash = strrchr(source, '/'), *name = slash ? slash + 1 : source;
    Error error = {""};
    if (!name_is_plain(name)) {
        snprintf(
            message, bytes,
            "%.80s: a source's name has letters, digits, '_', '-' and '.', and ends in .cu or .c",
            name);
        intake_clean(message);
        return -1;
    }
    strcpy(job->name, name);
    job->device = ends_with(name, ".cu");
    job->source = intake_read(folder, source, BUILD_SOURCE_MAX, &job->source_bytes, &error);
    if (job->source) return 0;
    snprintf(message, bytes, "%.1000s", error.text);
    return -1;
}
