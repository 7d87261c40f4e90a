/* roster.h - the people of a class, from a CSV file that an LMS exported.
 *
 * Columns are found by their headings, in any order and spelling of case, blanks, '_' and '-'.
 * docs/instructor/class.md lists the headings.  A row is a person; rows of Canvas that are not
 * ("Points Possible", "Student, Test") are left out. */
#ifndef CONVLAB_AUTOGRADER_LMS_ROSTER_H
#define CONVLAB_AUTOGRADER_LMS_ROSTER_H

#include <stddef.h>
#include <stdint.h>

#include "autograder/lms/csv_table.h"
#include "autograder/lms/entry_name.h"

typedef enum PersonField {
    PERSON_ID,          /* the LMS's own number: Canvas's ID, Open edX's user_id */
    PERSON_PARTICIPANT, /* Moodle's participant number of one assignment */
    PERSON_NUMBER,      /* the institution's: ID number, SIS User ID, OrgDefinedId */
    PERSON_LOGIN,
    PERSON_NAME,
    PERSON_EMAIL,
    PERSON_GROUP,
    PERSON_SECTION,
    PERSON_EXTENSION, /* a time, or a duration after the deadline */
    PERSON_SUBMITTED, /* time of the submission, from the LMS */
    PERSON_FIELDS
} PersonField;

typedef struct Person {
    const char *field[PERSON_FIELDS]; /* "" if the roster has none */
    const char *key;   /* the first of login, e-mail, number, ID, participant and name: unique */
    int64_t until;     /* own deadline, seconds since 1970, or -1 */
    int64_t extra;     /* seconds after the deadline of all, if until is -1 */
    int64_t submitted; /* seconds since 1970, or 0 */
    int line;
    size_t row; /* index in table.row */
} Person;

typedef struct LmsRoster {
    CsvTable table;
    char **owned; /* names put together from two columns */
    size_t owned_count;
    Person *person; /* in the file's order */
    size_t people;
} LmsRoster;

/* -1 with error, "FILE:LINE:COLUMN: ...": it cannot be read, has no column that identifies a
 * person, a person twice, or a time that is none.  Either way lms_roster_clear frees it. */
int lms_roster_read(const char *path, LmsRoster *roster, Error *error);
int lms_roster_parse(const char *name, const char *data, size_t bytes, LmsRoster *roster,
                     Error *error);
void lms_roster_clear(LmsRoster *roster);

/* A person's cell without surrounding blanks; "" if the row or the file has no such column. */
const char *lms_roster_cell(const LmsRoster *roster, const Person *person, int column);
/* Whether two headings are equal apart from case, blanks and signs. */
int lms_heading_is(const char *heading, const char *other);

/* The name of a field: "login". */
const char *person_field_name(PersonField field);

/* Marks in is_found[roster->people] the people whose submission an entry is; returns their number.
 * It compares an LMS's number, then keys of all kinds, then the full name, then the group's name.
 * A plain name may be several of these, joined by '+'.  A name that two people have finds
 * neither. */
size_t lms_roster_find(const LmsRoster *roster, const EntryName *entry, char *is_found);

#endif
