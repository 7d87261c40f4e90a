/* fuzz_roster.c - libFuzzer target for rosters and for names of entries: each text is parsed as a
 * CSV roster, and its first line as the name of an entry whose person is looked up. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "autograder/lms/roster.h"
#include "autograder/lms/times.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void roster_check(const LmsRoster *roster, const char *line)
{
    EntryName entry;
    char original[64], *is_found = calloc(roster->people + 1, 1);
    if (!is_found) abort();
    for (size_t i = 0; i < roster->people; i++) {
        const Person *person = &roster->person[i];
        if (!*person->key || person->line < 2 || person->extra < 0 || person->submitted < 0)
            abort();
        for (int j = 0; j < PERSON_FIELDS; j++)
            if (!person->field[j]) abort();
    }
    entry_name_parse(line, &entry);
    if (entry.file < line || entry.file > line + strlen(line)) abort();
    if (lms_roster_find(roster, &entry, is_found) > roster->people) abort();
    file_name_original(line, original, sizeof original);
    if (duration_parse(line) < -1) abort();
    free(is_found);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    LmsRoster roster;
    Error error = {""};
    char line[300];
    size_t length = 0;
    while (length < size && length + 1 < sizeof line && data[length] && data[length] != '\n')
        length++;
    if (length) memcpy(line, data, length);
    line[length] = '\0';
    int status = lms_roster_parse("r", (const char *)data, size, &roster, &error);
    if (status && (!error.text[0] || strchr(error.text, '\n') || strncmp(error.text, "r", 1)))
        abort();
    if (!status) roster_check(&roster, line);
    lms_roster_clear(&roster);
    return 0;
}
