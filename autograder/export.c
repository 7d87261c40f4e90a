/* export - writes results in formats of other programs.  `export --help` lists them. */
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autograder/export/feedback.h"
#include "autograder/export/format.h"
#include "autograder/options/options.h"
#include "autograder/text/files.h"
#include "autograder/text/screen.h"
#include "autograder/text/text.h"

enum { EXIT_WORKED = 0, EXIT_TROUBLE = 1, EXIT_USAGE = 2 };

static const char USAGE[] =
    "usage: export --format FORMAT [options]\n"
    "  --format FORMAT    one of those below\n"
    "  --results DIR      one submission's records (default <build>/results)\n"
    "  --gradebook FILE   a class's marks (default <build>/class/gradebook.sqlite)\n"
    "  --since FILE       the class's gradebook of an earlier run, to compare with\n"
    "  --lab NN           only this lab of the class\n"
    "  --items NAMES      the platform's names of labs: 04=Lab 4 (1234); 05=Lab 5\n"
    "  --course ID        Open edX's course, course-v1:Org+Course+Run\n"
    "  --anonymous        the page of a class without names\n"
    "  --out FILE         default: standard output; a folder or an archive for files per student\n"
    "  --root DIR         the workbook's directory (default .)\n"
    "  --build DIR        the build directory (default build)\n"
    "  --list             the formats\n"
    "Exit: 0 written; 1 not; 2 wrong usage.\n";

typedef struct Options {
    const char *format, *results, *gradebook, *since, *out, *root, *build, *lab, *items, *course;
    int list, is_anonymous;
} Options;

static int parse_options(int argc, char **argv, Options *options, Error *error)
{
    *options = (Options){.root = ".", .build = "build"};
    const Option table[] = {
        {"format", OPTION_TEXT, &options->format},
        {"results", OPTION_TEXT, &options->results},
        {"gradebook", OPTION_TEXT, &options->gradebook},
        {"since", OPTION_TEXT, &options->since},
        {"out", OPTION_TEXT, &options->out},
        {"lab", OPTION_TEXT, &options->lab},
        {"items", OPTION_TEXT, &options->items},
        {"course", OPTION_TEXT, &options->course},
        {"anonymous", OPTION_FLAG, &options->is_anonymous},
        {"root", OPTION_TEXT, &options->root},
        {"build", OPTION_TEXT, &options->build},
        {"list", OPTION_FLAG, &options->list},
        {"help", OPTION_HELP, (void *)USAGE},
        {0},
    };
    return options_parse(argc, argv, table, 0, NULL, error);
}

static int write_submission(FILE *stream, const Options *options, const Format *format,
                            Error *error)
{
    char path[1024];
    Submission submission;
    text_set(path, sizeof path, "%s/results", options->build);
    int status = submission_read(options->results ? options->results : path, &submission, error);
    if (!status) format->submission(stream, &submission);
    submission_clear(&submission);
    return status;
}

static void tell_left_out(const LeftOut *left_out)
{
    if (left_out->count)
        fprintf(stderr,
                "export: %zu left out, because the platform could not find them without a %s: "
                "%s\n",
                left_out->count, left_out->lacks, left_out->names);
}

/* Opens the class's results.  An unfinished run lacks results. */
static int results_open(const Options *options, const char *since, ClassResults *results,
                        Error *error)
{
    char path[1024];
    text_set(path, sizeof path, "%s/class/gradebook.sqlite", options->build);
    if (class_results_open(options->gradebook ? options->gradebook : path, since, options->root,
                           options->lab, results, error))
        return -1;
    int is_unfinished = gradebook_is_unfinished(results->book, error);
    if (is_unfinished > 0)
        fprintf(stderr,
                "export: make class has not finished: submissions that are not graded yet "
                "have no mark here.  Finish it with the same command, then export again.\n");
    return is_unfinished < 0 ? -1 : 0;
}

static int write_class(FILE *stream, const Options *options, const Format *format, Error *error)
{
    static ClassResults results;
    LeftOut left_out = {0};
    int status = results_open(options, options->since, &results, error);
    results.items = options->items;
    results.course = options->course;
    results.is_anonymous = options->is_anonymous;
    results.left_out = &left_out;
    if (!status && !results.marks.students)
        status = error_set(error, "no marks in the gradebook yet: make class SUBMISSIONS=dir");
    if (!status) status = format->class(stream, &results, error);
    if (!status) tell_left_out(&left_out);
    class_results_close(&results);
    return status;
}

/* The formats that are one file per student of a class. */
static const struct {
    const char *name, *about;
    FeedbackPlace place;
} FEEDBACK[] = {
    {"feedback", "a page for each student, into the folder OUT", FEEDBACK_FOLDER},
    {"moodle-feedback", "those of one lab as a zip for Moodle", FEEDBACK_MOODLE},
    {"canvas-feedback", "those of one lab as a zip for Canvas", FEEDBACK_CANVAS},
};
enum { FEEDBACKS = sizeof FEEDBACK / sizeof *FEEDBACK };

static int feedback_find(const char *name)
{
    for (int i = 0; i < FEEDBACKS; i++)
        if (!strcmp(FEEDBACK[i].name, name)) return i;
    return -1;
}

static void list_all(void)
{
    format_list(stdout);
    for (int i = 0; i < FEEDBACKS; i++)
        printf("  %-16s %s\n", FEEDBACK[i].name, FEEDBACK[i].about);
    printf("With a gradebook, a format of one submission is written for each student, into the "
           "folder OUT.\n");
}

/* Files for each student: pages, or a format of one submission. */
static int write_students(const Options *options, int feedback, const Format *format, Error *error)
{
    static ClassResults results;
    LeftOut left_out = {0};
    int files = 0;
    int status = results_open(options, NULL, &results, error);
    results.left_out = &left_out;
    if (!status)
        status = format ? feedback_format_write(format, options->out, &results, &files, error)
                        : feedback_write(FEEDBACK[feedback].place, options->out, &results, &files,
                                         error);
    if (!status) tell_left_out(&left_out);
    if (!status) printf("export: %d files in %s\n", files, options->out);
    class_results_close(&results);
    return status;
}

/* Builds the whole text first, so that a file is written atomically. */
static int export_write(const Options *options, const Format *format, Error *error)
{
    char *text = NULL;
    size_t bytes;
    FILE *stream = open_memstream(&text, &bytes);
    if (!stream) return error_set(error, "out of memory");
    int status = format->class ? write_class(stream, options, format, error)
                               : write_submission(stream, options, format, error);
    if (fclose(stream) && !status) status = error_set(error, "out of memory");
    if (!status && options->out) status = file_write(options->out, text, error);
    if (!status && !options->out && (fputs(text, stdout) < 0 || fflush(stdout)))
        status = error_set(error, "standard output: %s", strerror(errno));
    free(text);
    return status;
}

int main(int argc, char **argv)
{
    Options options;
    Error error;
    const Format *format = NULL;
    setlocale(LC_CTYPE, "C.UTF-8"); /* for file names in archives */
    int status = parse_options(argc, argv, &options, &error);
    if (!status && options.list) {
        list_all();
        return EXIT_WORKED;
    }
    if (!status && !options.format)
        status = error_set(&error, "which format?  FORMAT=junit, for example; export --list");
    int feedback = status ? -1 : feedback_find(options.format);
    if (status || (feedback < 0 && !(format = format_find(options.format, &error)))) {
        screen_error("export", error.text);
        return EXIT_USAGE;
    }
    int is_per_student = feedback >= 0 || (format->submission && options.gradebook);
    status = is_per_student ? write_students(&options, feedback, format, &error)
                            : export_write(&options, format, &error);
    if (!status) return EXIT_WORKED;
    screen_error("export", error.text);
    return EXIT_TROUBLE;
}
