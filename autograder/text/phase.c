#include "autograder/text/phase.h"

#include <string.h>

#include "autograder/text/text.h"

static const char MARK[] = "// phase: ";

void phase_begin(PhaseReader *reader, const char *source)
{
    *reader = (PhaseReader){.marked = strstr(source, MARK) != NULL};
}

static const char *mark_in(const char *line, const char *mark)
{
    const char *at = strstr(line, mark), *end = strchr(line, '\n');
    return at && (!end || at < end) ? at : NULL;
}

void phase_read(PhaseReader *reader, const char *line)
{
    const char *begins = mark_in(line, reader->marked ? MARK : "// TODO(");
    if (begins) {
        begins += strlen(reader->marked ? MARK : "// ");
        text_set(reader->name, sizeof reader->name, "%.*s",
                 (int)strcspn(begins, reader->marked ? "\r\n" : ":\r\n"), begins);
    }
    if (!reader->marked && mark_in(line, "// END TODO(")) reader->name[0] = '\0';
    if (line[0] == '}') reader->name[0] = '\0'; /* end of the function */
}
