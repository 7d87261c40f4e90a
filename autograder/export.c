/* export - writes results in formats of other programs.  `export --help` lists them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    "  --out FILE         default: standard output\n"
    "  --root DIR         the workbook's directory (default .)\n"
    "  --build DIR        the build directory (default build)\n"
    "  --list             the formats\n"
    "Exit: 0 written; 1 not; 2 wrong usage.\n";

typedef struct Options {
    const char *format, *results, *gradebook, *since, *out, *root, *build;
    int list;
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

static int write_class(FILE *stream, const Options *options, const Format *format, Error *error)
{
    static ClassResults results;
    char path[1024];
    text_set(path, sizeof path, "%s/class/gradebook.sqlite", options->build);
    int status = class_results_open(options->gradebook ? options->gradebook : path, options->since,
                                    options->root, &results, error);
    if (!status && !results.marks.students)
        status = error_set(error, "no marks in the gradebook yet: make class SUBMISSIONS=dir");
    if (!status) status = format->class(stream, &results, error);
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
    int status = parse_options(argc, argv, &options, &error);
    if (!status && options.list) {
        format_list(stdout);
        return EXIT_WORKED;
    }
    if (!status && !options.format)
        status = error_set(&error, "which format?  FORMAT=junit, for example; export --list");
    if (status || !(format = format_find(options.format, &error))) {
        screen_error("export", error.text);
        return EXIT_USAGE;
    }
    if (!export_write(&options, format, &error)) return EXIT_WORKED;
    screen_error("export", error.text);
    return EXIT_TROUBLE;
}
