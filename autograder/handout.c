/* handout - the two parts of `make handout` that need C: sealing, and the search for secrets.
 * Called by autograder/handout/handout.sh. */
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "autograder/build/build.h"
#include "autograder/handout/search.h"
#include "autograder/judging/own_program.h"
#include "autograder/lab/sealed.h"
#include "autograder/options/options.h"
#include "autograder/text/files.h"
#include "autograder/text/text.h"

static const char USAGE[] =
    "usage: handout COMMAND [--root DIR] [--build DIR] [...]\n"
    "  names   [--lab NN]         the lab's name; without --lab, one a line, those whose "
    "skeletons\n"
    "                             give no other lab away\n"
    "  gives                      a line for each lab whose skeleton gives another one away, "
    "whole\n"
    "                             or some of its lines\n"
    "  seal    --lab NN --out DIR DIR/labs/NN/.sealed: lab.ini, baseline and reference, sealed\n"
    "  search  --out DIR          lists solutions, expected answers, hints and hidden shapes that "
    "DIR shows\n"
    "Exit: 0 done, search found nothing; 1 search found something; 2 it could not be done.\n";

typedef struct Options {
    const char *command, *root, *build, *lab, *out;
} Options;

static int parse_options(int argc, char **argv, Options *options, Error *error)
{
    *options = (Options){.root = ".", .build = "build"};
    const Option table[] = {
        {"root", OPTION_TEXT, &options->root}, {"build", OPTION_TEXT, &options->build},
        {"lab", OPTION_TEXT, &options->lab},   {"out", OPTION_TEXT, &options->out},
        {"help", OPTION_HELP, (void *)USAGE},  {0},
    };
    if (options_parse(argc, argv, table, 1, &options->command, error)) return -1;
    if (!options->command) return error_set(error, "which command?  handout --help");
    return 0;
}

/* ---- seal --------------------------------------------------------------------------------- */

/* Adds a line to the text of a sealed file. */
static int part_add(char **text, const char *name, const void *data, size_t bytes, Error *error)
{
    char *line = sealed_line(name, data, bytes);
    char *grown = line ? realloc(*text, strlen(*text) + strlen(line) + 1) : NULL;
    if (grown) strcat(*text = grown, line);
    free(line);
    return grown ? 0 : error_set(error, "out of memory");
}

static int ini_add(char **text, const Options *options, const Lab *lab, Error *error)
{
    char path[1100];
    size_t bytes;
    text_set(path, sizeof path, "%s/labs/%s/lab.ini", options->root, lab->name);
    char *ini = file_bytes(path, &bytes, error);
    int status = ini ? part_add(text, SEALED_INI, ini, bytes, error) : -1;
    free(ini);
    return status;
}

static int program_add(char **text, const Toolchain *toolchain, const Lab *lab, OwnProgram which,
                       Error *error)
{
    char source[1024], object[600];
    size_t bytes;
    text_set(object, sizeof object, "%s/cache/sealing-%ld.o", toolchain->build, (long)getpid());
    if (own_program_source(toolchain->root, lab, which, source, sizeof source, error) ||
        build_object(toolchain, source, lab_ini_cc(&lab->ini), object, error))
        return -1;
    char *data = file_bytes(object, &bytes, error);
    unlink(object);
    int status = data ? part_add(text, which == OWN_BASELINE ? SEALED_BASELINE : SEALED_REFERENCE,
                                 data, bytes, error)
                      : -1;
    free(data);
    return status;
}

static int seal(const Options *options, const Lab *lab, Error *error)
{
    char path[1100];
    Toolchain toolchain;
    char *text = strdup("");
    int status = !text ? error_set(error, "out of memory")
                       : toolchain_load(options->root, options->build, &toolchain, error);
    if (!status) status = ini_add(&text, options, lab, error);
    if (!status) status = program_add(&text, &toolchain, lab, OWN_BASELINE, error);
    if (!status) status = program_add(&text, &toolchain, lab, OWN_REFERENCE, error);
    text_set(path, sizeof path, "%s/labs/%s/" SEALED_FILE, options->out, lab->name);
    if (!status) status = file_write(path, text, error);
    free(text);
    return status;
}

/* ---- search ------------------------------------------------------------------------------- */

/* The lab of whose folder or skeleton `path` is a part, or NULL. */
static const Lab *path_lab(const Catalog *catalog, const char *path)
{
    static const char *const FOLDER[] = {"labs/", "autograder/tests/skeletons/"};
    for (int f = 0; f < 2; f++) {
        size_t prefix = strlen(FOLDER[f]);
        for (int i = 0; i < catalog->labs && !strncmp(path, FOLDER[f], prefix); i++) {
            const char *name = catalog->lab[i].name;
            if (!strncmp(path + prefix, name, strlen(name)) && path[prefix + strlen(name)] == '/')
                return &catalog->lab[i];
        }
    }
    return NULL;
}

/* Whether `path` is the lab's source or skeleton. */
static int path_is_source(const char *path, const Lab *lab)
{
    const char *folder = strstr(path, lab->name);
    return folder && !strcmp(folder + strlen(lab->name) + 1, lab->ini.source);
}

/* A file of a lab may contain another lab's solution if the instructor named that lab, or if it
 * contains a few of its lines.  `gives` reports both. */
static int is_meant(const char *path, const Secret *secret, int lines, const Catalog *catalog)
{
    const Lab *lab = path_lab(catalog, path);
    if (!lab || !secret->region || lab == secret->lab) return 0;
    return lines || path_is_source(path, lab);
}

typedef struct Search {
    const Catalog *catalog;
    int leaks;
} Search;

static void say_leak(void *context, const char *path, const Secret *secret, int lines)
{
    Search *search = context;
    if (is_meant(path, secret, lines, search->catalog)) return;
    if (lines)
        printf("%s shows %d of %d lines of %s\n", path, lines, secret->lines, secret->what);
    else
        printf("%s shows %s\n", path, secret->what);
    search->leaks++;
}

static int search_file(const char *full, const char *path, const Secrets *secrets, Search *search,
                       Error *error)
{
    size_t bytes;
    char *text = file_bytes(full, &bytes, error);
    if (!text) return -1;
    for (size_t i = 0; i < bytes; i++)
        if (!text[i]) text[i] = '\n';
    secrets_search(secrets, path, text, say_leak, search);
    free(text);
    return 0;
}

static int search_copy(const Options *options, const Catalog *catalog, const Secrets *secrets,
                       Error *error)
{
    Search search = {catalog, 0};
    char *roots[] = {(char *)options->out, NULL};
    FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    int status = tree ? 0 : error_set(error, "%s: %m", options->out);
    size_t prefix = strlen(options->out) + 1;
    for (FTSENT *entry; !status && (entry = fts_read(tree));) {
        if (entry->fts_info == FTS_D && !strcmp(entry->fts_name, ".git"))
            fts_set(tree, entry, FTS_SKIP);
        if (entry->fts_info == FTS_DNR || entry->fts_info == FTS_NS)
            status = error_set(error, "%s: cannot be read", entry->fts_path);
        if (entry->fts_info == FTS_F)
            status =
                search_file(entry->fts_path, entry->fts_path + prefix, secrets, &search, error);
    }
    if (tree) fts_close(tree);
    return status ? -1 : search.leaks > 0;
}

/* ---- which labs --------------------------------------------------------------------------- */

typedef struct Given {
    const Lab *lab; /* lab of the skeleton */
    int quiet;
    int said, given; /* number of reported regions; number of those that it contains whole */
} Given;

static void say_given(void *context, const char *path, const Secret *secret, int lines)
{
    Given *given = context;
    (void)path;
    /* Lab 00's regions occur in every kernel, so they reveal nothing there. */
    if (!secret->region || secret->lab == given->lab || !secret->lab->ini.order) return;
    given->given += !lines;
    if (given->quiet) return;
    printf("%s ", given->said ? "," : given->lab->name);
    if (!given->said++) printf("begins with ");
    if (lines) printf("%d of %d lines of ", lines, secret->lines);
    printf("%s", secret->what);
}

/* Whether the lab's skeleton contains another lab's solution; prints it, unless `quiet`. */
static int lab_gives(const Options *options, const Lab *lab, const Secrets *secrets, int quiet,
                     Error *error)
{
    Given given = {.lab = lab, .quiet = quiet};
    char path[1100];
    lab_skeleton_path(options->root, lab, path, sizeof path);
    char *text = file_text(path, error);
    if (!text) return -1;
    secrets_search(secrets, path, text, say_given, &given);
    if (given.said) printf("\n");
    free(text);
    return given.given > 0;
}

static int list_labs(const Options *options, const Catalog *catalog, const Secrets *secrets,
                     int names, Error *error)
{
    for (int i = 0; i < catalog->labs; i++) {
        int gives = lab_gives(options, &catalog->lab[i], secrets, names, error);
        if (gives < 0) return -1;
        if (names && !gives) printf("%s\n", catalog->lab[i].name);
    }
    return 0;
}

static int run_command(const Options *options, const Catalog *catalog, Error *error)
{
    const Lab *lab = options->lab ? catalog_find(catalog, options->lab, error) : NULL;
    if (options->lab && !lab) return -1;
    if (!strcmp(options->command, "names") && lab) return printf("%s\n", lab->name) < 0;
    if (!strcmp(options->command, "seal"))
        return lab && options->out ? seal(options, lab, error)
                                   : error_set(error, "seal wants --lab and --out");
    Secrets secrets;
    if (secrets_open(options->root, catalog, &secrets, error)) return -1;
    int names = !strcmp(options->command, "names"), status;
    if (names || !strcmp(options->command, "gives"))
        status = list_labs(options, catalog, &secrets, names, error);
    else if (!strcmp(options->command, "search") && options->out)
        status = search_copy(options, catalog, &secrets, error);
    else
        status = error_set(error, "'%s' is no command, or it wants --out", options->command);
    secrets_close(&secrets);
    return status;
}

int main(int argc, char **argv)
{
    Options options;
    Catalog catalog = {0};
    Error error = {""};
    int status = parse_options(argc, argv, &options, &error);
    if (!status) status = catalog_open(options.root, &catalog, &error);
    if (!status) status = run_command(&options, &catalog, &error);
    if (status < 0) fprintf(stderr, "handout: %s\n", error.text);
    catalog_close(&catalog);
    return status < 0 ? 2 : status;
}
