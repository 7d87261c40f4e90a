#include "autograder/class/gradebook.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "autograder/text/files.h"
#include "autograder/text/text.h"

#define APPLICATION    0x436c4762 /* "ClGb" */
#define VERSION        3
#define TEXT_OF(macro) TEXT_AS(macro)
#define TEXT_AS(text)  #text

enum { PATIENCE_MS = 5000 };

struct Gradebook {
    sqlite3 *sqlite;
    char path[4096];
};

/* The primary key's order is the order of all rows and iterations.  One transaction, so that a
 * killed process leaves no incomplete gradebook. */
/* clang-format off */
static const char SCHEMA[] =
    "BEGIN IMMEDIATE;"
    "PRAGMA application_id = " TEXT_OF(APPLICATION) ";"
    "PRAGMA user_version = " TEXT_OF(VERSION) ";"
    "CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE result (student TEXT NOT NULL, lab TEXT NOT NULL, submission TEXT NOT NULL,"
    " submitted_at TEXT NOT NULL, late INTEGER NOT NULL, digest TEXT NOT NULL,"
    " basis TEXT NOT NULL, seed TEXT NOT NULL, status TEXT NOT NULL, points REAL NOT NULL,"
    " possible REAL NOT NULL, counted REAL NOT NULL, record TEXT NOT NULL,"
    " PRIMARY KEY (student, lab, submission)) WITHOUT ROWID;"
    "CREATE INDEX mark ON result (student, lab, submission, submitted_at, late, status, counted,"
    " possible);"
    "CREATE TABLE person (holder TEXT PRIMARY KEY, id TEXT NOT NULL, participant TEXT NOT NULL,"
    " number TEXT NOT NULL, login TEXT NOT NULL, name TEXT NOT NULL, email TEXT NOT NULL,"
    " team TEXT NOT NULL, section TEXT NOT NULL, extension TEXT NOT NULL,"
    " submitted TEXT NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE member (student TEXT NOT NULL, person TEXT NOT NULL,"
    " PRIMARY KEY (student, person)) WITHOUT ROWID;"
    "CREATE TABLE question (name TEXT PRIMARY KEY, lab TEXT NOT NULL, points REAL NOT NULL,"
    " text TEXT NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE answer (holder TEXT NOT NULL, question TEXT NOT NULL, points REAL NOT NULL,"
    " comment TEXT NOT NULL, PRIMARY KEY (holder, question)) WITHOUT ROWID;"
    "CREATE TABLE entry (lab TEXT NOT NULL, path TEXT NOT NULL, student TEXT NOT NULL,"
    " reason TEXT NOT NULL, refused INTEGER NOT NULL, PRIMARY KEY (lab, path)) WITHOUT ROWID;"
    "COMMIT";
/* clang-format on */

#define COLUMNS                                                                                    \
    "student, lab, submission, submitted_at, late, digest, basis, seed, status, points, possible," \
    " counted, record"
enum { COLUMN_COUNT = 13 };

static const char EACH[] =
    "SELECT " COLUMNS ", student, 0 FROM result ORDER BY student, lab, submission";

/* The index `mark` has all that the choice needs, so that no record is read for it.  Records are
 * joined last. */
#define BEST_WITH(RECORD)                                                                          \
    "WITH policy AS (SELECT coalesce((SELECT value FROM setting WHERE name = 'counts'), 'best')"   \
    " AS counts, CAST(coalesce((SELECT value FROM setting WHERE name = 'attempts'), '0')"          \
    " AS INTEGER) AS attempt_limit),"                                                              \
    " owner AS (SELECT student AS whose, person AS holder FROM member UNION ALL"                   \
    " SELECT DISTINCT student, student FROM result WHERE student NOT IN"                           \
    " (SELECT student FROM member)),"                                                              \
    " numbered AS (SELECT holder, student AS s, lab AS l, submission AS m, late, status,"          \
    " submitted_at, counted / max(possible, 1e-9) AS share,"                                       \
    " sum(status != 'missing') OVER (PARTITION BY holder, lab ORDER BY submitted_at, submission)"  \
    " AS nth,"                                                                                     \
    " sum(status != 'missing') OVER (PARTITION BY holder, lab) AS attempts"                        \
    " FROM result JOIN owner ON student = whose),"                                                 \
    " placed AS (SELECT *, row_number() OVER (PARTITION BY holder, l ORDER BY"                     \
    " status = 'deferred', status = 'missing', CASE counts WHEN 'in-time' THEN late > 0 ELSE 0 "   \
    "END,"                                                                                         \
    " CASE counts WHEN 'last' THEN submitted_at ELSE '' END DESC, share DESC, late, submitted_at," \
    " m) AS place FROM numbered, policy WHERE attempt_limit = 0 OR nth <= attempt_limit)"          \
    " SELECT student, lab, submission, result.submitted_at, result.late, digest, basis, seed,"     \
    " result.status, points, possible, counted, " RECORD ", holder, attempts"                      \
    " FROM placed JOIN result ON student = s AND lab = l AND submission = m"                       \
    " WHERE place = 1 ORDER BY holder, lab"

static const char BEST[] = BEST_WITH("record");
static const char BEST_MARKS[] = BEST_WITH("''");

static const char PEOPLE[] =
    "SELECT holder, id, participant, number, login, name, email, team, section, extension,"
    " submitted, coalesce((SELECT min(submission) FROM result JOIN member USING (student)"
    " WHERE person = holder), ''), 1 FROM person UNION ALL"
    " SELECT student, '', '', '', '', '', '', '', '', '', '', min(submission), 0 FROM result"
    " WHERE student NOT IN (SELECT student FROM member) GROUP BY student ORDER BY 1";

/* ---- one statement -------------------------------------------------------------------------- */

static int fail(Gradebook *book, Error *error)
{
    int code = sqlite3_errcode(book->sqlite);
    if (code == SQLITE_FULL || code == SQLITE_IOERR)
        return error_set(
            error,
            "%.300s: %s: free some disk space and run the same command again; nothing is lost",
            book->path, sqlite3_errmsg(book->sqlite));
    if (code == SQLITE_BUSY)
        return error_set(error, "%.300s: another run writes it: wait for that to end", book->path);
    if (code == SQLITE_NOTADB)
        return error_set(error, "%.300s is not a gradebook: name another folder for results",
                         book->path);
    return error_set(error, "%.300s: %s", book->path, sqlite3_errmsg(book->sqlite));
}

static int execute(Gradebook *book, const char *sql, Error *error)
{
    return sqlite3_exec(book->sqlite, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : fail(book, error);
}

/* A statement with `texts` bound in order; NULL with error. */
static sqlite3_stmt *prepare(Gradebook *book, const char *sql, int texts, const char *const *text,
                             Error *error)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(book->sqlite, sql, -1, &statement, NULL);
    for (int i = 0; i < texts && code == SQLITE_OK; i++)
        code = sqlite3_bind_text(statement, i + 1, text[i], -1, SQLITE_STATIC);
    if (code == SQLITE_OK) return statement;
    fail(book, error);
    sqlite3_finalize(statement);
    return NULL;
}

/* Runs a statement with at most one result row and finalises it: 1 with the row's first column, 0:
 * no row, -1 with error.  `value` may be NULL. */
static int step_once(Gradebook *book, sqlite3_stmt *statement, char *value, size_t bytes,
                     Error *error)
{
    if (!statement) return -1;
    int code = sqlite3_step(statement);
    if (code == SQLITE_ROW && value)
        text_set(value, bytes, "%s", (const char *)sqlite3_column_text(statement, 0));
    if (code != SQLITE_ROW && code != SQLITE_DONE) fail(book, error);
    sqlite3_finalize(statement);
    return code == SQLITE_ROW ? 1 : code == SQLITE_DONE ? 0 : -1;
}

/* ---- opening -------------------------------------------------------------------------------- */

static int pragma(Gradebook *book, const char *sql, int *number, Error *error)
{
    char value[32] = "";
    int found = step_once(book, prepare(book, sql, 0, NULL, error), value, sizeof value, error);
    *number = atoi(value);
    return found == 1 ? 0 : -1;
}

/* Creates the tables in a new file; any other file has to be a gradebook of this version. */
static int check(Gradebook *book, int may_create, Error *error)
{
    int application, version, tables;
    if (pragma(book, "PRAGMA application_id", &application, error) ||
        pragma(book, "PRAGMA user_version", &version, error) ||
        pragma(book, "SELECT count(*) FROM sqlite_master", &tables, error))
        return -1;
    if (tables && application == APPLICATION && version == VERSION) return 0;
    if (tables && application == APPLICATION)
        return error_set(error,
                         "%.300s is a gradebook of version %d and this program writes %d: grade "
                         "into another folder",
                         book->path, version, VERSION);
    if (tables || !may_create)
        return error_set(error, "%.300s is not a gradebook: name another folder for results",
                         book->path);
    return execute(book, SCHEMA, error);
}

static Gradebook *open_as(const char *path, int flags, Error *error)
{
    Gradebook *book = calloc(1, sizeof *book);
    if (!book) {
        error_set(error, "out of memory");
        return NULL;
    }
    text_set(book->path, sizeof book->path, "%s", path);
    int writes = flags & SQLITE_OPEN_READWRITE;
    if (sqlite3_open_v2(path, &book->sqlite, flags, NULL) != SQLITE_OK ||
        sqlite3_busy_timeout(book->sqlite, PATIENCE_MS) != SQLITE_OK) {
        fail(book, error);
    } else if (!check(book, writes, error)) {
        return book;
    }
    gradebook_close(book);
    return NULL;
}

Gradebook *gradebook_open(const char *path, Error *error)
{
    char folder[4096];
    text_set(folder, sizeof folder, "%s", path);
    char *slash = strrchr(folder, '/');
    if (slash && slash != folder) {
        *slash = '\0';
        if (directory_make(folder)) {
            error_set(error, "%.300s: %s", folder, strerror(errno));
            return NULL;
        }
    }
    return open_as(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, error);
}

Gradebook *gradebook_read(const char *path, Error *error)
{
    if (!file_exists(path)) {
        error_set(error, "%.300s: there is no gradebook yet: make class SUBMISSIONS=dir", path);
        return NULL;
    }
    return open_as(path, SQLITE_OPEN_READONLY, error);
}

void gradebook_close(Gradebook *book)
{
    if (!book) return;
    sqlite3_close(book->sqlite);
    free(book);
}

/* ---- settings ------------------------------------------------------------------------------- */

int gradebook_setting(Gradebook *book, const char *name, char *value, size_t bytes, Error *error)
{
    return step_once(book,
                     prepare(book, "SELECT value FROM setting WHERE name = ?", 1, &name, error),
                     value, bytes, error);
}

int gradebook_settle(Gradebook *book, const char *name, const char *value, Error *error)
{
    char held[256];
    const char *pair[] = {name, value};
    int found = gradebook_setting(book, name, held, sizeof held, error);
    if (found < 0) return -1;
    if (found && strcmp(held, value))
        return error_set(error,
                         "%.300s was started with %s '%.100s', not '%.100s': name another folder "
                         "for results, or remove it",
                         book->path, name, held, value);
    if (found) return 0;
    return step_once(book, prepare(book, "INSERT INTO setting VALUES (?, ?)", 2, pair, error), NULL,
                     0, error);
}

/* ---- results -------------------------------------------------------------------------------- */

int gradebook_has(Gradebook *book, const char *student, const char *lab, const char *submission,
                  const char *digest, Error *error)
{
    const char *key[] = {student, lab, submission, digest};
    return step_once(book,
                     prepare(book,
                             "SELECT 1 FROM result WHERE student = ? AND lab = ? AND"
                             " submission = ? AND digest = ? AND status != 'deferred'",
                             4, key, error),
                     NULL, 0, error);
}

int gradebook_basis(Gradebook *book, const char *student, const char *lab, const char *submission,
                    char basis[40], Error *error)
{
    const char *key[] = {student, lab, submission};
    return step_once(book,
                     prepare(book,
                             "SELECT basis FROM result WHERE student = ? AND lab = ? AND"
                             " submission = ?",
                             3, key, error),
                     basis, 40, error);
}

/* The one statement is its own transaction. */
int gradebook_commit(Gradebook *book, const GradebookResult *result, Error *error)
{
    char late[24], seed[24];
    text_set(late, sizeof late, "%" PRId64, result->late);
    text_set(seed, sizeof seed, "%" PRIu64, result->seed);
    const char *value[] = {result->student,
                           result->lab,
                           result->submission,
                           result->submitted_at,
                           late,
                           result->digest,
                           result->basis ? result->basis : "",
                           seed,
                           result->status,
                           result->record};
    sqlite3_stmt *statement =
        prepare(book,
                "INSERT INTO result (student, lab, submission, submitted_at, late, digest, basis,"
                " seed, status, record, points, possible, counted)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?11, ?12, ?11)"
                " ON CONFLICT DO UPDATE SET submitted_at = excluded.submitted_at,"
                " late = excluded.late, digest = excluded.digest, basis = excluded.basis,"
                " seed = excluded.seed, status = excluded.status, points = excluded.points,"
                " possible = excluded.possible, counted = excluded.counted,"
                " record = excluded.record"
                " WHERE digest != excluded.digest OR basis != excluded.basis"
                " OR status = 'deferred'",
                10, value, error);
    if (!statement) return -1;
    sqlite3_bind_double(statement, 11, result->points);
    sqlite3_bind_double(statement, 12, result->possible);
    if (step_once(book, statement, NULL, 0, error) < 0) return -1;
    if (sqlite3_changes(book->sqlite) == 1) return 0;
    return error_set(error, "%.300s has a result of '%.100s' in %s already", book->path,
                     result->submission, result->lab);
}

int gradebook_mark_late(Gradebook *book, const char *student, const char *submission,
                        const char *lab, const char *submitted_at, int64_t late, Error *error)
{
    char seconds[24];
    text_set(seconds, sizeof seconds, "%" PRId64, late);
    const char *value[] = {seconds, student, submission, submitted_at, lab};
    return step_once(book,
                     prepare(book,
                             "UPDATE result SET late = ?1, submitted_at = ?4 WHERE student = ?2"
                             " AND submission = ?3 AND ?5 IN (lab, '')"
                             " AND (late != CAST(?1 AS INTEGER) OR submitted_at != ?4)",
                             5, value, error),
                     NULL, 0, error);
}

/* A started day counts as a whole one. */
int gradebook_count(Gradebook *book, Error *error)
{
    return execute(book,
                   "UPDATE result SET counted = points * max(0.0, 1 - coalesce((SELECT"
                   " CAST(value AS REAL) FROM setting WHERE name = 'penalty'), 0) / 100"
                   " * ((late + 86399) / 86400))",
                   error);
}

/* ---- people, entries, policy ---------------------------------------------------------------- */

static int run(Gradebook *book, const char *sql, int texts, const char *const *text, Error *error)
{
    return step_once(book, prepare(book, sql, texts, text, error), NULL, 0, error) < 0 ? -1 : 0;
}

static int setting_put(Gradebook *book, const char *name, const char *value, Error *error)
{
    const char *pair[] = {name, value};
    if (!*value) return run(book, "DELETE FROM setting WHERE name = ?", 1, pair, error);
    return run(book, "INSERT OR REPLACE INTO setting VALUES (?, ?)", 2, pair, error);
}

static int policy_put(Gradebook *book, const GradebookPolicy *policy, Error *error)
{
    char penalty[32] = "", attempts[16] = "";
    if (policy->penalty > 0) text_set(penalty, sizeof penalty, "%.10g", policy->penalty);
    if (policy->attempts) text_set(attempts, sizeof attempts, "%d", policy->attempts);
    int is_best = !strcmp(policy->counts, "best");
    return setting_put(book, "deadline", policy->deadline, error) ||
                   setting_put(book, "grace", policy->grace, error) ||
                   setting_put(book, "counts", is_best ? "" : policy->counts, error) ||
                   setting_put(book, "penalty", penalty, error) ||
                   setting_put(book, "attempts", attempts, error)
               ? -1
               : 0;
}

static int people_put(Gradebook *book, const LmsRoster *roster, Error *error)
{
    int status = execute(book, "DELETE FROM person", error);
    for (size_t i = 0; i < roster->people && !status; i++) {
        const char *value[PERSON_FIELDS + 1] = {roster->person[i].key};
        memcpy(value + 1, roster->person[i].field, sizeof roster->person[i].field);
        status = run(book, "INSERT INTO person VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                     PERSON_FIELDS + 1, value, error);
    }
    return status;
}

static int transaction_end(Gradebook *book, int status, Error *error)
{
    if (!status) return execute(book, "COMMIT", error);
    execute(book, "ROLLBACK", NULL);
    return -1;
}

int gradebook_begin(Gradebook *book, Error *error)
{
    return execute(book, "PRAGMA journal_mode = WAL", error);
}

int gradebook_is_unfinished(Gradebook *book, Error *error)
{
    char mode[16] = "";
    if (step_once(book, prepare(book, "PRAGMA journal_mode", 0, NULL, error), mode, sizeof mode,
                  error) < 0)
        return -1;
    return !strcmp(mode, "wal");
}

int gradebook_describe(Gradebook *book, const LmsRoster *roster, const GradebookMember *member,
                       size_t members, const GradebookPolicy *policy, Error *error)
{
    if (execute(book, "BEGIN IMMEDIATE", error)) return -1;
    int status = policy_put(book, policy, error);
    if (!status && roster) status = people_put(book, roster, error);
    for (size_t i = 0; i < members && !status; i++)
        status = run(book, "DELETE FROM member WHERE student = ?", 1, &member[i].student, error);
    for (size_t i = 0; i < members && !status; i++) {
        const char *pair[] = {member[i].student, member[i].person};
        status = run(book, "INSERT OR IGNORE INTO member VALUES (?, ?)", 2, pair, error);
    }
    if (!status)
        status = execute(book, "DELETE FROM member WHERE person NOT IN (SELECT holder FROM person)",
                         error);
    return transaction_end(book, status, error);
}

int gradebook_entries_set(Gradebook *book, const char *lab, const GradebookEntry *entry,
                          size_t entries, Error *error)
{
    if (execute(book, "BEGIN IMMEDIATE", error)) return -1;
    int status = run(book, "DELETE FROM entry WHERE lab = ?", 1, &lab, error);
    for (size_t i = 0; i < entries && !status; i++) {
        const char *value[] = {lab, entry[i].path, entry[i].student, entry[i].reason,
                               entry[i].is_refused ? "1" : "0"};
        status = run(book, "INSERT OR REPLACE INTO entry VALUES (?, ?, ?, ?, ?)", 5, value, error);
    }
    return transaction_end(book, status, error);
}

/* ---- answers to open questions -------------------------------------------------------------- */

static int question_put(Gradebook *book, const RubricQuestion *question, const char *lab,
                        Error *error)
{
    char points[32];
    text_set(points, sizeof points, "%.10g", question->points);
    const char *value[] = {question->name, lab, points, question->text};
    return run(book, "INSERT INTO question VALUES (?, ?, ?, ?)", 4, value, error);
}

static int answer_put(Gradebook *book, const LmsRoster *roster, const Person *person,
                      const RubricQuestion *question, Error *error)
{
    double points;
    char text[32];
    if (!rubric_mark(roster, person, question, &points)) return 0;
    text_set(text, sizeof text, "%.10g", points);
    const char *value[] = {person->key, question->name, text,
                           lms_roster_cell(roster, person, question->comment)};
    return run(book, "INSERT INTO answer VALUES (?, ?, ?, ?)", 4, value, error);
}

int gradebook_rubric_set(Gradebook *book, const Rubric *rubric, const char *const *lab,
                         const LmsRoster *roster, Error *error)
{
    int status = execute(book, "BEGIN IMMEDIATE; DELETE FROM question; DELETE FROM answer", error);
    if (status) return -1;
    for (size_t i = 0; i < rubric->questions && !status; i++) {
        status = question_put(book, &rubric->question[i], lab[i], error);
        for (size_t j = 0; j < roster->people && !status; j++)
            status = answer_put(book, roster, &roster->person[j], &rubric->question[i], error);
    }
    return transaction_end(book, status, error);
}

/* ---- iteration ------------------------------------------------------------------------------ */

/* Called for each row of a statement; other than 0 ends the iteration. */
typedef int RowVisit(sqlite3_stmt *row, void *visit, void *context, Error *error);

static int walk(Gradebook *book, const char *sql, RowVisit *row_visit, void *visit, void *context,
                Error *error)
{
    sqlite3_stmt *row = prepare(book, sql, 0, NULL, error);
    int code, status = row ? 0 : -1;
    while (!status && (code = sqlite3_step(row)) != SQLITE_DONE)
        status = code != SQLITE_ROW                           ? fail(book, error)
                 : row_visit(row, visit, context, error) != 0 ? -1
                                                              : 0;
    sqlite3_finalize(row);
    return status;
}

static const char *column(sqlite3_stmt *row, int number)
{
    return (const char *)sqlite3_column_text(row, number);
}

static int result_visit(sqlite3_stmt *row, void *visit, void *context, Error *error)
{
    GradebookResult result = {.student = column(row, 0),
                              .lab = column(row, 1),
                              .submission = column(row, 2),
                              .submitted_at = column(row, 3),
                              .late = sqlite3_column_int64(row, 4),
                              .digest = column(row, 5),
                              .basis = column(row, 6),
                              .seed = strtoull(column(row, 7), NULL, 10),
                              .status = column(row, 8),
                              .points = sqlite3_column_double(row, 9),
                              .possible = sqlite3_column_double(row, 10),
                              .counted = sqlite3_column_double(row, 11),
                              .record = column(row, 12),
                              .holder = column(row, COLUMN_COUNT),
                              .attempts = sqlite3_column_int(row, COLUMN_COUNT + 1)};
    return (*(GradebookVisit **)visit)(&result, context, error);
}

int gradebook_each(Gradebook *book, GradebookVisit *visit, void *context, Error *error)
{
    return walk(book, EACH, result_visit, &visit, context, error);
}

int gradebook_best(Gradebook *book, GradebookVisit *visit, void *context, Error *error)
{
    return walk(book, BEST, result_visit, &visit, context, error);
}

int gradebook_best_marks(Gradebook *book, GradebookVisit *visit, void *context, Error *error)
{
    return walk(book, BEST_MARKS, result_visit, &visit, context, error);
}

static int person_visit(sqlite3_stmt *row, void *visit, void *context, Error *error)
{
    GradebookPerson person = {.holder = column(row, 0),
                              .submission = column(row, PERSON_FIELDS + 1),
                              .is_on_roster = sqlite3_column_int(row, PERSON_FIELDS + 2)};
    for (int i = 0; i < PERSON_FIELDS; i++)
        person.field[i] = column(row, i + 1);
    return (*(GradebookPersonVisit **)visit)(&person, context, error);
}

int gradebook_people(Gradebook *book, GradebookPersonVisit *visit, void *context, Error *error)
{
    return walk(book, PEOPLE, person_visit, &visit, context, error);
}

static int entry_visit(sqlite3_stmt *row, void *visit, void *context, Error *error)
{
    GradebookEntry entry = {column(row, 0), column(row, 1), column(row, 2), column(row, 3),
                            sqlite3_column_int(row, 4)};
    return (*(GradebookEntryVisit **)visit)(&entry, context, error);
}

int gradebook_entries(Gradebook *book, GradebookEntryVisit *visit, void *context, Error *error)
{
    return walk(book, "SELECT path, student, reason, lab, refused FROM entry ORDER BY lab, path",
                entry_visit, &visit, context, error);
}

static int answer_visit(sqlite3_stmt *row, void *visit, void *context, Error *error)
{
    GradebookAnswer answer = {.holder = column(row, 0),
                              .question = column(row, 1),
                              .lab = column(row, 2),
                              .text = column(row, 3),
                              .points = sqlite3_column_double(row, 4),
                              .possible = sqlite3_column_double(row, 5),
                              .comment = column(row, 6)};
    return (*(GradebookAnswerVisit **)visit)(&answer, context, error);
}

int gradebook_answers(Gradebook *book, GradebookAnswerVisit *visit, void *context, Error *error)
{
    return walk(book,
                "SELECT holder, name, lab, text, answer.points, question.points, comment"
                " FROM answer JOIN question ON question = name ORDER BY holder, lab, name",
                answer_visit, &visit, context, error);
}

int gradebook_questions(Gradebook *book, GradebookAnswerVisit *visit, void *context, Error *error)
{
    return walk(book, "SELECT '', name, lab, text, 0, points, '' FROM question ORDER BY lab, name",
                answer_visit, &visit, context, error);
}

/* ---- close ---------------------------------------------------------------------------------- */

static int sync_file(const char *path, Error *error)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int status = fd < 0 || fsync(fd) ? error_set(error, "%.300s: %s", path, strerror(errno)) : 0;
    if (fd >= 0) close(fd);
    return status;
}

/* The file is written again so that equal tables give equal bytes, because the schema's version
 * counts changes.  The old file is closed, which removes its WAL, before the new one gets its name:
 * SQLite would apply a WAL to any file with that name. */
int gradebook_finish(Gradebook *book, Error *error)
{
    char path[sizeof book->path], part[sizeof book->path + 8];
    text_set(path, sizeof path, "%s", book->path);
    text_set(part, sizeof part, "%s.part", path);
    unlink(part);
    const char *value = part;
    int status = execute(book, "PRAGMA schema_version = 1", error);
    if (!status)
        status = step_once(book, prepare(book, "VACUUM INTO ?", 1, &value, error), NULL, 0, error);
    gradebook_close(book);
    if (!status) status = sync_file(part, error);
    if (!status && rename(part, path))
        status = error_set(error, "%.300s: %s", path, strerror(errno));
    if (status) unlink(part);
    return status;
}
