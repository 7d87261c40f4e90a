#include "autograder/export/feedback.h"

#include <archive.h>
#include <archive_entry.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "autograder/lms/entry_name.h"
#include "autograder/text/files.h"
#include "autograder/text/text.h"
#include "common/base/intake.h"

typedef struct Writing {
    const ClassResults *results;
    FeedbackPlace place;
    const Format *format; /* NULL: pages */
    const char *out;
    struct archive *archive; /* NULL: a folder */
    char **name;             /* names of the files so far */
    int files;
    /* The holder whose results are being read. */
    const MarksStudent *student;
    Submission submission;
} Writing;

/* ---- names ---------------------------------------------------------------------------------- */

/* A file's name from a person's, for any file system: no path, no hidden file, no option, and no
 * characters that change the order in which a list of files shows the others. */
static void name_to_file(const char *name, char *file, size_t bytes)
{
    text_set(file, bytes, "%.200s", name);
    intake_clean(file);
    for (char *at = file; *at; at++) {
        unsigned char one = (unsigned char)*at;
        if (one < 0x80 && !isalnum(one) && !strchr(" ._@+-", one)) *at = '_';
    }
    if (*file == '.' || *file == '-' || !*file) *file = '_';
}

static int is_used(const Writing *writing, const char *name)
{
    for (int i = 0; i < writing->files; i++)
        if (!strcmp(writing->name[i], name)) return 1;
    return 0;
}

static const char *extension_of(const Format *format)
{
    static const char *const XML[] = {"junit"}, *const TEXT[] = {"terminal", "tap"};
    if (!format || !strcmp(format->name, "html")) return "html";
    if (!strcmp(format->name, XML[0])) return "xml";
    for (int i = 0; i < 2; i++)
        if (!strcmp(format->name, TEXT[i])) return i ? "tap" : "txt";
    return "json";
}

static int entry_of(const Writing *writing, EntryName *entry, char top[ENTRY_TEXT])
{
    const char *submission = writing->student->result[0].submission;
    if (!submission) return 0;
    text_set(top, ENTRY_TEXT, "%.*s", (int)strcspn(submission, "/"), submission);
    entry_name_parse(top, entry);
    return 1;
}

/* Moodle's importer splits "name_number_type_plugin" at the underscores. */
static void moodle_name(const Writing *writing, char *name, size_t bytes)
{
    char number[32], file[ENTRY_TEXT];
    marks_participant(writing->student, 0, number);
    name_to_file(marks_name(writing->student), file, sizeof file);
    for (char *at = file; *at; at++)
        if (*at == '_') *at = ' ';
    text_set(name, bytes, "%s_%s_assignsubmission_file/feedback-%s.html", file, number,
             writing->results->marks.lab[0]);
    if (!*number) *name = '\0';
}

/* Canvas's importer takes the first two numbers between underscores: the user and an attachment of
 * the user's submission. */
static void canvas_name(const Writing *writing, char *name, size_t bytes)
{
    EntryName entry;
    char top[ENTRY_TEXT];
    *name = '\0';
    if (!entry_of(writing, &entry, top) || entry.kind != ENTRY_CANVAS_FILE) return;
    text_set(name, bytes, "%s_%s%s_%s_feedback-%s.html", entry.name, entry.is_late ? "LATE_" : "",
             entry.id, entry.attachment, writing->results->marks.lab[0]);
}

/* "": the platform could not find the student. */
static void file_name(const Writing *writing, char *name, size_t bytes)
{
    char stem[300];
    if (writing->place == FEEDBACK_MOODLE) {
        moodle_name(writing, name, bytes);
    } else if (writing->place == FEEDBACK_CANVAS) {
        canvas_name(writing, name, bytes);
    } else {
        name_to_file(writing->student->name, stem, sizeof stem);
        text_set(name, bytes, "%s.%s", stem, extension_of(writing->format));
        for (int i = 2; is_used(writing, name); i++)
            text_set(name, bytes, "%s-%d.%s", stem, i, extension_of(writing->format));
    }
}

/* ---- files ---------------------------------------------------------------------------------- */

static int archive_fail(const Writing *writing, Error *error)
{
    const char *why = archive_error_string(writing->archive);
    return error_set(error, "%.300s: %.200s", writing->out, why ? why : "cannot be written");
}

static int archive_add(const Writing *writing, const char *name, const char *text, size_t bytes,
                       Error *error)
{
    struct archive_entry *entry = archive_entry_new();
    if (!entry) return error_set(error, "out of memory");
    archive_entry_set_pathname_utf8(entry, name);
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    archive_entry_set_size(entry, (la_int64_t)bytes);
    archive_entry_set_mtime(entry, time(NULL), 0);
    int status = archive_write_header(writing->archive, entry) == ARCHIVE_OK &&
                         archive_write_data(writing->archive, text, bytes) == (la_ssize_t)bytes
                     ? 0
                     : archive_fail(writing, error);
    archive_entry_free(entry);
    return status;
}

static int file_add(Writing *writing, const char *name, const char *text, size_t bytes,
                    Error *error)
{
    char path[4300];
    char **grown = realloc(writing->name, (size_t)(writing->files + 1) * sizeof *grown);
    if (!grown) return error_set(error, "out of memory");
    writing->name = grown;
    if (!(grown[writing->files] = strdup(name))) return error_set(error, "out of memory");
    writing->files++;
    if (writing->archive) return archive_add(writing, name, text, bytes, error);
    text_set(path, sizeof path, "%s/%s", writing->out, name);
    return file_write(path, text, error);
}

/* ---- students ------------------------------------------------------------------------------- */

static const char *lacking(FeedbackPlace place)
{
    return place == FEEDBACK_MOODLE ? "participant number" : "file in Canvas's download";
}

/* Writes the current holder's file and frees the records. */
static int student_end(Writing *writing, Error *error)
{
    char name[ENTRY_TEXT + 200], *text = NULL;
    size_t bytes;
    if (!writing->student) return 0;
    file_name(writing, name, sizeof name);
    int status = 0;
    if (!*name && writing->results->left_out)
        left_out_add(writing->results->left_out, marks_name(writing->student),
                     lacking(writing->place));
    /* The members of a group have one submission in Canvas. */
    int is_wanted = *name && !is_used(writing, name);
    FILE *stream = is_wanted ? open_memstream(&text, &bytes) : NULL;
    if (is_wanted && !stream) status = error_set(error, "out of memory");
    FeedbackPage page = {writing->student, &writing->submission, writing->results};
    if (stream && writing->format) writing->format->submission(stream, &writing->submission);
    if (stream && !writing->format) feedback_page_write(stream, &page);
    if (stream && fclose(stream) && !status) status = error_set(error, "out of memory");
    if (stream && !status) status = file_add(writing, name, text, bytes, error);
    free(text);
    submission_clear(&writing->submission);
    writing->student = NULL;
    return status;
}

static int student_begin(Writing *writing, const MarksStudent *student, Error *error)
{
    if (student_end(writing, error)) return -1;
    writing->student = student;
    writing->submission = (Submission){.name = ""};
    text_set(writing->submission.name, sizeof writing->submission.name, "%s", student->name);
    return 0;
}

static int take_result(const GradebookResult *result, void *context, Error *error)
{
    Writing *writing = context;
    Submission *submission = &writing->submission;
    const Marks *marks = &writing->results->marks;
    if (marks_lab(marks, result->lab) == marks->labs) return 0; /* another lab than LAB= */
    if (!writing->student || strcmp(writing->student->name, result->holder) != 0) {
        const MarksStudent *student = marks_student(marks, result->holder);
        if (!student) return error_set(error, "the gradebook has no '%.100s'", result->holder);
        if (student_begin(writing, student, error)) return -1;
    }
    Record **grown =
        realloc(submission->record, (size_t)(submission->records + 1) * sizeof(Record *));
    Record *record = calloc(1, sizeof *record);
    if (grown) submission->record = grown;
    if (!grown || !record) {
        free(record);
        return error_set(error, "out of memory");
    }
    grown[submission->records++] = record;
    if (record_parse(result->record, record, error)) return -1;
    record->seed = 0; /* a student who submits again could compute the hidden shapes from it */
    submission->points += record->points;
    submission->possible += record->possible;
    return 0;
}

static int has_result(const MarksStudent *student, const Marks *marks)
{
    for (int i = 0; i < marks->labs; i++)
        if (*student->result[i].status && !marks_is_questions(marks, i)) return 1;
    return 0;
}

static int students_write(Writing *writing, Error *error)
{
    const Marks *marks = &writing->results->marks;
    int status = gradebook_best(writing->results->book, take_result, writing, error);
    if (!status) status = student_end(writing, error);
    /* Pages also for those who submitted nothing. */
    for (int i = 0; i < marks->students && !status; i++)
        if (!writing->format && writing->place == FEEDBACK_FOLDER &&
            !has_result(&marks->student[i], marks) &&
            !(status = student_begin(writing, &marks->student[i], error)))
            status = student_end(writing, error);
    submission_clear(&writing->submission);
    return status;
}

static int archive_write(Writing *writing, Error *error)
{
    char part[4200];
    text_set(part, sizeof part, "%.4000s.part", writing->out);
    writing->archive = archive_write_new();
    if (!writing->archive) return error_set(error, "out of memory");
    archive_write_set_format_zip(writing->archive);
    archive_write_set_options(writing->archive, "zip:hdrcharset=UTF-8");
    int status = archive_write_open_filename(writing->archive, part) == ARCHIVE_OK
                     ? 0
                     : archive_fail(writing, error);
    if (!status) status = students_write(writing, error);
    if (archive_write_close(writing->archive) != ARCHIVE_OK && !status)
        status = archive_fail(writing, error);
    archive_write_free(writing->archive);
    if (!status && !writing->files)
        status = error_set(error,
                           "no student has a %s: was the class graded from this LMS's "
                           "download?",
                           lacking(writing->place));
    if (!status && rename(part, writing->out))
        status = error_set(error, "%.300s: %s", writing->out, strerror(errno));
    if (status) unlink(part);
    return status;
}

static int write_all(Writing *writing, int *files, Error *error)
{
    int is_folder = writing->place == FEEDBACK_FOLDER, status;
    if (!writing->out)
        return error_set(error, "where to?  OUT=%s", is_folder ? "folder" : "feedback.zip");
    if (!is_folder && writing->results->marks.labs != 1)
        return error_set(error, "an archive is for one assignment: name the lab, LAB=04");
    if (is_folder && directory_make(writing->out))
        return error_set(error, "OUT=%.300s: %s", writing->out, strerror(errno));
    status = is_folder ? students_write(writing, error) : archive_write(writing, error);
    *files = writing->files;
    for (int i = 0; i < writing->files; i++)
        free(writing->name[i]);
    free(writing->name);
    return status;
}

int feedback_write(FeedbackPlace place, const char *out, const ClassResults *results, int *files,
                   Error *error)
{
    Writing writing = {.results = results, .place = place, .out = out};
    return write_all(&writing, files, error);
}

int feedback_format_write(const Format *format, const char *folder, const ClassResults *results,
                          int *files, Error *error)
{
    Writing writing = {
        .results = results, .place = FEEDBACK_FOLDER, .format = format, .out = folder};
    return write_all(&writing, files, error);
}
