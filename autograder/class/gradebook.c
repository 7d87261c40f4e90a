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
#define VERSION        1
#define TEXT_OF(macro) TEXT_AS(macro)
#define TEXT_AS(text)  #text

enum { PATIENCE_MS = 5000 };

struct Gradebook {
    sqlite3 *sqlite;
    char path[4096];
};

/* The primary key's order is the order of all rows and iterations.  One transaction, so that a
 * killed process leaves no incomplete gradebook. */
static const char SCHEMA[] =
    "BEGIN IMMEDIATE;"
    "PRAGMA application_id = " TEXT_OF(
        APPLICATION) ";"
                     "PRAGMA user_version = " TEXT_OF(
                         VERSION) ";"
                                  "CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT "
                                  "NULL) WITHOUT ROWID;"
                                  "CREATE TABLE result ("
                                  " student TEXT NOT NULL, lab TEXT NOT NULL, submission TEXT NOT "
                                  "NULL,"
                                  " submitted_at TEXT NOT NULL, late INTEGER NOT NULL, digest TEXT "
                                  "NOT NULL,"
                                  " seed TEXT NOT NULL, status TEXT NOT NULL, points REAL NOT "
                                  "NULL, possible REAL NOT NULL,"
                                  " record TEXT NOT NULL, PRIMARY KEY (student, lab, submission)) "
                                  "WITHOUT ROWID;"
                                  "COMMIT";

#define COLUMNS                                                                                    \
    "student, lab, submission, submitted_at, late, digest, seed, status, points, possible, record"

static const char EACH[] = "SELECT " COLUMNS " FROM result ORDER BY student, lab, submission";

static const char BEST[] =
    "SELECT " COLUMNS " FROM (SELECT *, row_number() OVER (PARTITION BY student, lab ORDER BY"
    " status = 'deferred', points / max(possible, 1e-9) DESC, late, submitted_at, submission)"
    " AS place FROM result) WHERE place = 1 ORDER BY student, lab";

/* ---- one statement -------------------------------------------------------------------------- */

static int fail(Gradebook *book, Error *error)
{
    int code = sqlite3_errcode(book->sqlite);
    if (code == SQLITE_FULL || code == SQLITE_IOERR)
        return error_set(error, "%.300s: %s: make room and run the same again; nothing is lost",
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
    } else if (!check(book, writes, error) &&
               (!writes || !execute(book, "PRAGMA journal_mode = WAL", error))) {
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

/* The one statement is its own transaction. */
int gradebook_commit(Gradebook *book, const GradebookResult *result, Error *error)
{
    char late[2] = {result->late ? '1' : '0', 0}, seed[24];
    text_set(seed, sizeof seed, "%" PRIu64, result->seed);
    const char *value[] = {
        result->student, result->lab, result->submission, result->submitted_at, late,
        result->digest,  seed,        result->status,     result->record};
    sqlite3_stmt *statement =
        prepare(book,
                "INSERT INTO result (student, lab, submission, submitted_at, late, digest, seed,"
                " status, record, points, possible) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
                " ON CONFLICT DO UPDATE SET submitted_at = excluded.submitted_at,"
                " late = excluded.late, digest = excluded.digest, seed = excluded.seed,"
                " status = excluded.status, points = excluded.points,"
                " possible = excluded.possible, record = excluded.record"
                " WHERE digest != excluded.digest OR status = 'deferred'",
                9, value, error);
    if (!statement) return -1;
    sqlite3_bind_double(statement, 10, result->points);
    sqlite3_bind_double(statement, 11, result->possible);
    if (step_once(book, statement, NULL, 0, error) < 0) return -1;
    if (sqlite3_changes(book->sqlite) == 1) return 0;
    return error_set(error, "%.300s has a result of '%.100s' in %s already", book->path,
                     result->submission, result->lab);
}

int gradebook_mark_late(Gradebook *book, const char *student, const char *submission, int late,
                        Error *error)
{
    const char *value[] = {late ? "1" : "0", student, submission};
    return step_once(book,
                     prepare(book,
                             "UPDATE result SET late = ?1 WHERE student = ?2 AND submission = ?3"
                             " AND late != CAST(?1 AS INTEGER)",
                             3, value, error),
                     NULL, 0, error);
}

static int walk(Gradebook *book, const char *sql, GradebookVisit *visit, void *context,
                Error *error)
{
    sqlite3_stmt *row = prepare(book, sql, 0, NULL, error);
    int code, status = row ? 0 : -1;
    while (!status && (code = sqlite3_step(row)) != SQLITE_DONE) {
        if (code != SQLITE_ROW) {
            status = fail(book, error);
            break;
        }
        const char *text[11];
        for (int i = 0; i < 11; i++)
            text[i] = (const char *)sqlite3_column_text(row, i);
        GradebookResult result = {.student = text[0],
                                  .lab = text[1],
                                  .submission = text[2],
                                  .submitted_at = text[3],
                                  .late = sqlite3_column_int(row, 4),
                                  .digest = text[5],
                                  .seed = strtoull(text[6], NULL, 10),
                                  .status = text[7],
                                  .points = sqlite3_column_double(row, 8),
                                  .possible = sqlite3_column_double(row, 9),
                                  .record = text[10]};
        status = visit(&result, context, error) ? -1 : 0;
    }
    sqlite3_finalize(row);
    return status;
}

int gradebook_each(Gradebook *book, GradebookVisit *visit, void *context, Error *error)
{
    return walk(book, EACH, visit, context, error);
}

int gradebook_best(Gradebook *book, GradebookVisit *visit, void *context, Error *error)
{
    return walk(book, BEST, visit, context, error);
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
