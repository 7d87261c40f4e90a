#include "autograder/lms/roster.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autograder/lms/times.h"
#include "autograder/text/text.h"
#include "common/base/intake.h"

/* ---- headings ------------------------------------------------------------------------------- */

enum { FIRST_NAME = PERSON_FIELDS, LAST_NAME, COLUMNS };

/* Headings in lower case, without blanks and signs.  Sources: Canvas, lib/gradebook_importer.rb;
 * Moodle, mod/assign/gradingtable.php and user/index.php (its participants as CSV); Brightspace,
 * "Import grades"; Blackboard, "Work offline with grade data"; Open edX, edx-bulk-grades. */
static const struct {
    int column;
    const char *heading;
} HEADINGS[] = {
    {PERSON_ID, "id"},
    {PERSON_ID, "userid"},
    {PERSON_ID, "canvasuserid"},
    {PERSON_PARTICIPANT, "identifier"},
    {PERSON_PARTICIPANT, "participant"},
    {PERSON_NUMBER, "sisuserid"},
    {PERSON_NUMBER, "idnumber"},
    {PERSON_NUMBER, "orgdefinedid"},
    {PERSON_NUMBER, "studentid"},
    {PERSON_NUMBER, "number"},
    {PERSON_LOGIN, "username"},
    {PERSON_LOGIN, "login"},
    {PERSON_LOGIN, "loginid"},
    {PERSON_LOGIN, "sisloginid"},
    {PERSON_NAME, "name"},
    {PERSON_NAME, "fullname"},
    {PERSON_NAME, "student"},
    {PERSON_NAME, "studentname"},
    {FIRST_NAME, "firstname"},
    {LAST_NAME, "lastname"},
    {LAST_NAME, "surname"},
    {PERSON_EMAIL, "email"},
    {PERSON_EMAIL, "emailaddress"},
    {PERSON_GROUP, "group"},
    {PERSON_GROUP, "groups"},
    {PERSON_GROUP, "groupname"},
    {PERSON_GROUP, "team"},
    {PERSON_SECTION, "section"},
    {PERSON_EXTENSION, "extension"},
    {PERSON_EXTENSION, "extendedto"},
    {PERSON_EXTENSION, "deadline"},
    {PERSON_SUBMITTED, "submitted"},
    {PERSON_SUBMITTED, "submittedat"},
    {PERSON_SUBMITTED, "lastmodifiedsubmission"},
    {PERSON_SUBMITTED, "submissiontime"},
};

static void fold(const char *text, char *folded, size_t bytes)
{
    size_t to = 0;
    for (; *text && to + 1 < bytes; text++)
        if (isalnum((unsigned char)*text) || (unsigned char)*text >= 0x80)
            folded[to++] = (char)tolower((unsigned char)*text);
    folded[to] = '\0';
}

static int column_of(const char *heading)
{
    char folded[80];
    fold(heading, folded, sizeof folded);
    for (size_t i = 0; i < sizeof HEADINGS / sizeof *HEADINGS; i++)
        if (!strcmp(folded, HEADINGS[i].heading)) return HEADINGS[i].column;
    return -1;
}

/* The columns of the file for each field; the first of two with one meaning counts. */
static int columns_find(const char *name, const CsvTable *table, int column[COLUMNS], Error *error)
{
    for (int i = 0; i < COLUMNS; i++)
        column[i] = -1;
    if (table->rows < 2)
        return error_set(error,
                         "%.300s:1:1: the roster has no row for a person: the first line holds the "
                         "headings, each other line a person",
                         name);
    const CsvRow *head = &table->row[0];
    for (int i = 0; i < head->cells; i++) {
        int found = column_of(head->cell[i]);
        if (found >= 0 && column[found] < 0) column[found] = i;
    }
    static const int IDENTITY[] = {PERSON_ID,   PERSON_PARTICIPANT, PERSON_NUMBER, PERSON_LOGIN,
                                   PERSON_NAME, PERSON_EMAIL,       LAST_NAME};
    for (size_t i = 0; i < sizeof IDENTITY / sizeof *IDENTITY; i++)
        if (column[IDENTITY[i]] >= 0) return 0;
    return error_set(error,
                     "%.300s:%d:1: no heading names a person: one of the columns must be called "
                     "Username, Email address, ID, ID number, Name or Identifier",
                     name, head->line);
}

/* ---- people --------------------------------------------------------------------------------- */

static const char *cell_of(const CsvRow *row, int column)
{
    if (column < 0 || column >= row->cells) return "";
    char *cell = row->cell[column];
    while (*cell == ' ')
        cell++;
    size_t length = strlen(cell);
    while (length && cell[length - 1] == ' ')
        cell[--length] = '\0';
    return cell;
}

/* "First Last" from two columns; NULL: out of memory. */
static const char *name_join(LmsRoster *roster, const char *first, const char *last)
{
    char *name = NULL;
    char **grown = realloc(roster->owned, (roster->owned_count + 1) * sizeof *grown);
    if (grown) roster->owned = grown;
    if (!grown || asprintf(&name, "%s%s%s", first, *first && *last ? " " : "", last) < 0)
        return NULL;
    return roster->owned[roster->owned_count++] = name;
}

/* The number of Moodle's "Participant 4711", in any language. */
static const char *participant_number(const char *text)
{
    const char *at = text + strlen(text);
    while (at > text && isdigit((unsigned char)at[-1]))
        at--;
    return *at ? at : text;
}

static int times_parse(const char *name, Person *person, const int column[COLUMNS], Error *error)
{
    const char *extension = person->field[PERSON_EXTENSION];
    const char *submitted = person->field[PERSON_SUBMITTED];
    person->until = *extension ? time_parse_lms(extension) : -1;
    person->extra =
        *extension && person->until < 0 ? duration_parse(extension + (*extension == '+')) : 0;
    if (person->extra < 0)
        return error_set(error,
                         "%.300s:%d:%d: '%.60s' is no extension: write a time such as "
                         "2026-10-08T12:00, or 3d, 12h or 30m after the deadline",
                         name, person->line, column[PERSON_EXTENSION] + 1, extension);
    int is_given = *submitted && strcmp(submitted, "-") != 0;
    person->submitted = is_given ? time_parse_lms(submitted) : 0;
    if (person->submitted >= 0) return 0;
    return error_set(error,
                     "%.300s:%d:%d: '%.60s' is no time of a submission: write it as "
                     "2026-10-01T11:58, of this time zone, or with Z",
                     name, person->line, column[PERSON_SUBMITTED] + 1, submitted);
}

/* Rows that Canvas's export has in addition to the people. */
static int is_no_person(const Person *person)
{
    const char *name = person->field[PERSON_NAME];
    while (*name == ' ')
        name++;
    return !strncmp(name, "Points Possible", 15) || !strcmp(name, "Student, Test") ||
           !strcmp(name, "Test Student");
}

static int person_read(const char *name, LmsRoster *roster, const CsvRow *row,
                       const int column[COLUMNS], Error *error)
{
    static const PersonField KEYS[] = {PERSON_LOGIN, PERSON_EMAIL,       PERSON_NUMBER,
                                       PERSON_ID,    PERSON_PARTICIPANT, PERSON_NAME};
    Person *person = &roster->person[roster->people];
    *person = (Person){.line = row->line, .key = "", .row = (size_t)(row - roster->table.row)};
    for (int i = 0; i < PERSON_FIELDS; i++)
        person->field[i] = cell_of(row, column[i]);
    if (!*person->field[PERSON_NAME]) {
        const char *first = cell_of(row, column[FIRST_NAME]),
                   *last = cell_of(row, column[LAST_NAME]);
        person->field[PERSON_NAME] = name_join(roster, first, last);
        if (!person->field[PERSON_NAME]) return error_set(error, "out of memory");
    }
    person->field[PERSON_PARTICIPANT] = participant_number(person->field[PERSON_PARTICIPANT]);
    if (*person->field[PERSON_LOGIN] == '#') person->field[PERSON_LOGIN]++; /* Brightspace's */
    if (*person->field[PERSON_NUMBER] == '#') person->field[PERSON_NUMBER]++;
    for (size_t i = 0; i < sizeof KEYS / sizeof *KEYS && !*person->key; i++)
        person->key = person->field[KEYS[i]];
    if (is_no_person(person)) return 0;
    if (!*person->key)
        return error_set(error,
                         "%.300s:%d:1: the row names nobody: fill in a login, an e-mail address, a "
                         "number or a name, or remove the row",
                         name, row->line);
    if (times_parse(name, person, column, error)) return -1;
    roster->people++;
    return 0;
}

static int by_key(const void *left, const void *right)
{
    const Person *const *a = left, *const *b = right;
    int order = strcmp((*a)->key, (*b)->key);
    return order ? order : ((*a)->line > (*b)->line) - ((*a)->line < (*b)->line);
}

static int keys_check(const char *name, const LmsRoster *roster, Error *error)
{
    const Person **sorted = malloc((roster->people + 1) * sizeof *sorted);
    if (!sorted) return error_set(error, "out of memory");
    for (size_t i = 0; i < roster->people; i++)
        sorted[i] = &roster->person[i];
    qsort(sorted, roster->people, sizeof *sorted, by_key);
    int status = 0;
    for (size_t i = 1; i < roster->people && !status; i++)
        if (!strcmp(sorted[i - 1]->key, sorted[i]->key))
            status = error_set(error,
                               "%.300s:%d:1: '%.100s' is also on line %d: remove one of the rows, "
                               "or add a column Username that tells them apart",
                               name, sorted[i]->line, sorted[i]->key, sorted[i - 1]->line);
    free(sorted);
    return status;
}

static int people_read(const char *name, LmsRoster *roster, Error *error)
{
    int column[COLUMNS];
    const CsvTable *table = &roster->table;
    if (columns_find(name, table, column, error)) return -1;
    roster->person = calloc(table->rows, sizeof *roster->person);
    if (!roster->person) return error_set(error, "out of memory");
    for (size_t i = 1; i < table->rows; i++) {
        const CsvRow *row = &table->row[i], *head = &table->row[0];
        int blank = 1;
        for (int j = 0; j < row->cells; j++)
            blank = blank && !*cell_of(row, j);
        if (blank) continue;
        if (row->cells > head->cells + 1)
            return error_set(error,
                             "%.300s:%d:%d: the row has %d cells and the headings %d: put quotes "
                             "around a cell that contains the separator",
                             name, row->line, head->cells + 1, row->cells, head->cells);
        if (person_read(name, roster, row, column, error)) return -1;
    }
    if (!roster->people) return error_set(error, "%.300s:1:1: the roster names nobody", name);
    return keys_check(name, roster, error);
}

/* A quoted cell may hold anything; a message is one line. */
static int message_clean(int status, Error *error)
{
    if (!status || !error) return status;
    intake_clean(error->text);
    for (char *at = error->text; *at; at++)
        if (*at == '\n' || *at == '\t') *at = '?';
    return status;
}

int lms_roster_parse(const char *name, const char *data, size_t bytes, LmsRoster *roster,
                     Error *error)
{
    *roster = (LmsRoster){.people = 0};
    int status = csv_table_parse(name, data, bytes, &roster->table, error);
    return message_clean(status ? status : people_read(name, roster, error), error);
}

int lms_roster_read(const char *path, LmsRoster *roster, Error *error)
{
    *roster = (LmsRoster){.people = 0};
    int status = csv_table_read(path, &roster->table, error);
    return message_clean(status ? status : people_read(path, roster, error), error);
}

void lms_roster_clear(LmsRoster *roster)
{
    for (size_t i = 0; i < roster->owned_count; i++)
        free(roster->owned[i]);
    free(roster->owned);
    free(roster->person);
    csv_table_clear(&roster->table);
    *roster = (LmsRoster){.people = 0};
}

const char *lms_roster_cell(const LmsRoster *roster, const Person *person, int column)
{
    return cell_of(&roster->table.row[person->row], column);
}

int lms_heading_is(const char *heading, const char *other)
{
    char folded[2][120];
    fold(heading, folded[0], sizeof folded[0]);
    fold(other, folded[1], sizeof folded[1]);
    return !strcmp(folded[0], folded[1]);
}

const char *person_field_name(PersonField field)
{
    static const char *const NAME[] = {"id",    "participant", "number",  "login",     "name",
                                       "email", "group",       "section", "extension", "submitted"};
    return NAME[field];
}

/* ---- whose is an entry? --------------------------------------------------------------------- */

/* "Byron, Ada" and "Ada Byron" have the same letters in another order. */
static void name_fold(const char *name, int is_sortable, char *folded, size_t bytes)
{
    char turned[ENTRY_TEXT];
    const char *comma = strchr(name, ',');
    if (comma && !is_sortable) {
        text_set(turned, sizeof turned, "%s %.*s", comma + 1, (int)(comma - name), name);
        fold(turned, folded, bytes);
    } else if (!comma && is_sortable) { /* the last word comes first */
        const char *last = strrchr(name, ' ');
        text_set(turned, sizeof turned, "%s %.*s", last ? last + 1 : name,
                 last ? (int)(last - name) : 0, name);
        fold(turned, folded, bytes);
    } else {
        fold(name, folded, bytes);
    }
}

static int is_same_text(const char *a, const char *b)
{
    return *a && !strcasecmp(a, b);
}

static int is_named(const Person *person, const char *name, int is_sortable)
{
    char given[ENTRY_TEXT], own[ENTRY_TEXT];
    if (is_sortable)
        fold(name, given, sizeof given);
    else
        name_fold(name, 0, given, sizeof given);
    name_fold(person->field[PERSON_NAME], is_sortable, own, sizeof own);
    return *own && !strcmp(given, own);
}

/* A person's login, numbers or e-mail address, or what is before its '@'. */
static int is_key_of(const Person *person, const char *text)
{
    const char *email = person->field[PERSON_EMAIL], *at = strchr(email, '@');
    size_t length = strlen(text);
    return is_same_text(text, person->field[PERSON_LOGIN]) ||
           is_same_text(text, person->field[PERSON_NUMBER]) ||
           is_same_text(text, person->field[PERSON_ID]) || is_same_text(text, email) ||
           (at && length && (size_t)(at - email) == length && !strncasecmp(email, text, length));
}

static int is_match(const Person *person, const EntryName *entry, const char *text, int step)
{
    int is_canvas = entry->kind == ENTRY_CANVAS_FILE || entry->kind == ENTRY_CANVAS_TEXT;
    int is_plain = entry->kind == ENTRY_PLAIN;
    switch (step) {
    case 0:
        if (is_plain || !*entry->id) return 0;
        return !strcmp(person->field[is_canvas ? PERSON_ID : PERSON_PARTICIPANT], entry->id);
    case 1:
        return is_plain && is_key_of(person, text);
    case 2:
        return is_named(person, is_plain ? text : entry->name, is_canvas);
    default:
        return is_same_text(is_plain ? text : entry->name, person->field[PERSON_GROUP]);
    }
}

enum { GROUP_STEP = 3 };

/* The people whom the first successful step finds.  Two people with one name are not distinguished;
 * all members of a group are found. */
static size_t find_one(const LmsRoster *roster, const EntryName *entry, const char *text,
                       char *is_found)
{
    for (int step = 0; step <= GROUP_STEP; step++) {
        size_t count = 0, last = 0;
        for (size_t i = 0; i < roster->people; i++)
            if (is_match(&roster->person[i], entry, text, step)) count++, last = i;
        if (!count) continue;
        if (step < GROUP_STEP && count > 1) return 0;
        for (size_t i = 0; i < roster->people && step == GROUP_STEP; i++)
            is_found[i] |= (char)is_match(&roster->person[i], entry, text, step);
        is_found[last] = 1;
        return count;
    }
    return 0;
}

size_t lms_roster_find(const LmsRoster *roster, const EntryName *entry, char *is_found)
{
    char text[ENTRY_TEXT], *rest = NULL;
    memset(is_found, 0, roster->people);
    size_t count = find_one(roster, entry, entry->student, is_found);
    if (count || entry->kind != ENTRY_PLAIN || !strchr(entry->student, '+')) return count;
    text_set(text, sizeof text, "%s", entry->student);
    for (char *part = strtok_r(text, "+", &rest); part; part = strtok_r(NULL, "+", &rest)) {
        while (*part == ' ')
            part++;
        size_t length = strlen(part);
        while (length && part[length - 1] == ' ')
            part[--length] = '\0';
        if (!*part || !find_one(roster, entry, part, is_found)) {
            memset(is_found, 0, roster->people);
            return 0;
        }
    }
    for (size_t i = 0; i < roster->people; i++)
        count += is_found[i] != 0;
    return count;
}
