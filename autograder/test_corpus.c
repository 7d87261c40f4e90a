/* test_corpus - test of the grader: solutions get full marks, skeletons get none and a first task,
 * mutants get the expected message, unusual but correct programs pass, attacks gain nothing.  Runs
 * the grade program itself and reads its records.
 *
 *   test_corpus BUILD [FILTER]    from the course's root; FILTER: a part of their names
 *
 * Called by autograder/tests/corpus/check.sh, which makes the mutants in BUILD/planted.  Prints "ok
 * NAME" or "not ok NAME: why" for each, and exits 1 if any failed. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "autograder/lab/catalog.h"
#include "autograder/text/files.h"
#include "autograder/text/ini_file.h"
#include "autograder/record/record.h"
#include "autograder/text/text.h"

typedef enum Kind { KIND_SOLUTION, KIND_SKELETON, KIND_MUTANT, KIND_ATTACK } Kind;

typedef struct Item {
    Kind kind;
    char name[256]; /* "mutants/04-tiled/one-barrier" */
    char lab[64], submission[600];
    char fault[256], words[256], verdict[32], only[64]; /* [expect]; only: the value of `case` */
    double least_points, most_points;                   /* [expect]; most 0: no limit */
} Item;

typedef struct Corpus {
    const char *build, *filter;
    Item *item;
    int items;
} Corpus;

/* ---- list of submissions --------------------------------------------------------------------- */

static int corpus_add(Corpus *corpus, const Item *item)
{
    if (corpus->filter && !strstr(item->name, corpus->filter)) return 0;
    Item *grown = realloc(corpus->item, (size_t)(corpus->items + 1) * sizeof *grown);
    if (!grown) return -1;
    corpus->item = grown;
    grown[corpus->items++] = *item;
    return 0;
}

static void expect_text(const IniFile *ini, const char *key, char *text, size_t bytes)
{
    const IniEntry *entry = ini_entry_find(ini_section_find(ini, "expect"), key);
    if (entry) text_set(text, bytes, "%s", entry->value);
}

static double expect_number(const IniFile *ini, const char *key)
{
    const IniEntry *entry = ini_entry_find(ini_section_find(ini, "expect"), key);
    return entry ? strtod(entry->value, NULL) : 0;
}

/* Reads the section [expect] of an ini file, or of the lines of a patch before its first hunk. */
static int expect_read(Item *item, const char *path, Error *error)
{
    IniFile ini;
    char *text = file_text(path, error);
    if (!text) return -1;
    char *diff = strstr(text, "\n--- ");
    if (diff) *diff = '\0';
    int status = ini_file_parse(path, text, strlen(text), &ini, error);
    free(text);
    if (status) return -1;
    if (!ini_section_find(&ini, "expect")) {
        ini_file_clear(&ini);
        return error_set(error, "%s: no section [expect]", path);
    }
    expect_text(&ini, "fault", item->fault, sizeof item->fault);
    expect_text(&ini, "words", item->words, sizeof item->words);
    expect_text(&ini, "verdict", item->verdict, sizeof item->verdict);
    expect_text(&ini, "lab", item->lab, sizeof item->lab);
    expect_text(&ini, "case", item->only, sizeof item->only);
    item->least_points = expect_number(&ini, "least_points");
    item->most_points = expect_number(&ini, "most_points");
    ini_file_clear(&ini);
    return 0;
}

static int by_name(const struct dirent **left, const struct dirent **right)
{
    return strcmp((*left)->d_name, (*right)->d_name);
}

static int is_item(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && !strchr(entry->d_name, '.');
}

static int is_patch(const struct dirent *entry)
{
    const char *ending = strrchr(entry->d_name, '.');
    return ending && ending != entry->d_name && !strcmp(ending, ".patch");
}

/* Adds every item directly under autograder/tests/<shown>: patches if `kind` is KIND_MUTANT, else
 * folders with an expect.ini.  Their submissions are in <submissions>/<shown>.  `lab` NULL: the
 * file names the lab.  0 or -1 with error, also if there is no item. */
static int add_items(Corpus *corpus, Kind kind, const char *submissions, const char *shown,
                     const char *lab, Error *error)
{
    struct dirent **entry;
    char directory[200];
    text_set(directory, sizeof directory, "autograder/tests/%s", shown);
    int patches = kind == KIND_MUTANT;
    int count = scandir(directory, &entry, patches ? is_patch : is_item, by_name);
    int status = 0, items = 0;
    if (count < 0) return error_set(error, "%s: %m", directory);
    for (int i = 0; i < count; i++) {
        Item item = {.kind = kind};
        char expect[700];
        int name = (int)strlen(entry[i]->d_name) - (patches ? (int)strlen(".patch") : 0);
        text_set(item.name, sizeof item.name, "%s/%.*s", shown, name, entry[i]->d_name);
        text_set(item.submission, sizeof item.submission, "%s/%s", submissions, item.name);
        text_set(item.lab, sizeof item.lab, "%s", lab ? lab : "");
        text_set(expect, sizeof expect, "%s/%s%s", directory, entry[i]->d_name,
                 patches ? "" : "/expect.ini");
        if (!status && file_exists(expect)) {
            status = expect_read(&item, expect, error);
            if (!status) status = corpus_add(corpus, &item);
            items++;
        }
        free(entry[i]);
    }
    free(entry);
    if (!status && !items) return error_set(error, "%s: nothing in it to test", directory);
    return status;
}

static int corpus_open(Corpus *corpus, Error *error)
{
    Catalog catalog;
    if (catalog_open(".", &catalog, error)) return -1;
    int status = 0;
    for (int i = 0; i < catalog.labs && !status; i++) {
        const char *lab = catalog.lab[i].name;
        char planted[300], shown[100];
        Item solution = {.kind = KIND_SOLUTION}, skeleton = {.kind = KIND_SKELETON};
        text_set(solution.name, sizeof solution.name, "solutions/%s", lab);
        text_set(skeleton.name, sizeof skeleton.name, "skeletons/%s", lab);
        text_set(solution.lab, sizeof solution.lab, "%s", lab);
        text_set(skeleton.lab, sizeof skeleton.lab, "%s", lab);
        text_set(solution.submission, sizeof solution.submission, "solutions");
        text_set(skeleton.submission, sizeof skeleton.submission, "autograder/tests/skeletons");
        text_set(planted, sizeof planted, "%s/planted", corpus->build);
        text_set(shown, sizeof shown, "mutants/%s", lab);
        if (corpus_add(corpus, &solution) || corpus_add(corpus, &skeleton) ||
            add_items(corpus, KIND_MUTANT, planted, shown, lab, error))
            status = -1;
    }
    catalog_close(&catalog);
    if (status) return -1;
    /* Unusual but correct code is judged like a harmless attack. */
    if (add_items(corpus, KIND_ATTACK, "autograder/tests", "right", NULL, error)) return -1;
    return add_items(corpus, KIND_ATTACK, "autograder/tests", "attacks", NULL, error);
}

/* ---- grading one ----------------------------------------------------------------------------- */

/* Seconds of CPU time: correct code needs no more if other programs run, and endless code need not
 * run long. */
#define CALL_SECONDS "3"

/* Stores in `seconds` the CPU time of grade and of all its children. */
static int grade_item(const Corpus *corpus, const Item *item, const char *results, Record *record,
                      double *seconds, Error *error)
{
    char program[600], log[800], record_path[800];
    text_set(program, sizeof program, "%s/bin/grade", corpus->build);
    text_set(log, sizeof log, "%s/log", results);
    text_set(record_path, sizeof record_path, "%s/%s.json", results, item->lab);
    if (directory_make(results)) return error_set(error, "%s: %m", results);
    unlink(record_path); /* left by an earlier test */
    pid_t child = fork();
    if (child == 0) {
        int fd = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0666);
        dup2(fd, 1);
        dup2(fd, 2);
        /* A mutant earns no points for speed, so its registers do not matter. */
        execl(program, program, "--build", corpus->build, "--lab", item->lab, "--submission",
              item->submission, "--engine", "sim", "--seed", "20260131", "--results", results,
              "--call-seconds", CALL_SECONDS, "--case", item->only,
              item->kind == KIND_MUTANT ? "--ptx-only" : NULL, (char *)NULL);
        _exit(127);
    }
    int status = -1;
    struct rusage used = {0};
    if (child < 0 || wait4(child, &status, 0, &used) != child)
        return error_set(error, "cannot run %s", program);
    *seconds = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
               1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
    if (!WIFEXITED(status) || WEXITSTATUS(status) > 1) {
        return error_set(error, "grade ended with status %d; see %s", status, log);
    }
    return record_read(results, item->lab, record, error);
}

/* ---- expectations ---------------------------------------------------------------------------- */

static double speed_points(const Record *record)
{
    double points = 0;
    for (int i = 0; i < record->cases; i++)
        points += record->item[i].speed.points;
    return points;
}

static int expect_solution(const Record *record, Error *error)
{
    for (int i = 0; i < record->cases; i++)
        if (record->item[i].verdict != CASE_CORRECT) {
            return error_set(error, "%s is %s: %.500s", record->item[i].name,
                             case_verdict_name(record->item[i].verdict), record->item[i].text);
        }
    if (record->possible > 0 && record->points > record->possible - 0.05) return 0;
    return error_set(error, "%.1f of %.1f points", record->points, record->possible);
}

static int expect_skeleton(const Record *record, Error *error)
{
    if (record->status != RECORD_GRADED) return error_set(error, "%.800s", record->message);
    if (record->points > 0) return error_set(error, "earned %.1f points", record->points);
    if (!*record->todo) return error_set(error, "nothing says what to do first");
    return 0;
}

/* Whether a comma-separated list contains a name. */
static int list_has(const char *list, const char *name)
{
    size_t length = strlen(name);
    while (*list) {
        list += strspn(list, ", ");
        size_t word = strcspn(list, ", ");
        if (word == length && !strncmp(list, name, word)) return 1;
        list += word;
    }
    return 0;
}

static int words_appear(const Record *record, const char *words)
{
    if (!*words || strcasestr(record->message, words)) return 1;
    if (record->compiler && strcasestr(record->compiler, words)) return 1;
    for (int i = 0; i < record->cases; i++) {
        const RecordCase *item = &record->item[i];
        if (strcasestr(item->text, words) || strcasestr(item->hint, words)) return 1;
    }
    return 0;
}

static int expect_mutant(const Item *item, const Record *record, Error *error)
{
    const RecordCase *wrong = NULL;
    int named = 0;
    for (int i = 0; i < record->cases; i++) {
        const RecordCase *at = &record->item[i];
        if (at->verdict == CASE_CORRECT) continue;
        if (at->verdict == CASE_NOT_RUN && record->status == RECORD_GRADED) continue;
        if (!wrong) wrong = at;
        named |= list_has(item->fault, *at->fault ? at->fault : "none");
    }
    if (!wrong) return error_set(error, "passed every case");
    if (record->status == RECORD_BROKEN) return error_set(error, "%.800s", record->message);
    if (speed_points(record) > 0) return error_set(error, "earned speed points");
    if (!named) {
        return error_set(error, "%s: found %s, not %s: %.500s", wrong->name,
                         *wrong->fault ? wrong->fault : case_verdict_name(wrong->verdict),
                         item->fault, wrong->text);
    }
    if (words_appear(record, item->words)) return 0;
    return error_set(error, "%s: the words '%s' are missing in: %.500s", wrong->name, item->words,
                     wrong->text);
}

/* The verdict on the whole record in the docs of attacks: the worst one of its cases. */
static const char *attack_verdict(const Record *record)
{
    if (record->status == RECORD_NO_BUILD || record->status == RECORD_MISSING) return "rejected";
    for (int i = 0; i < record->cases; i++)
        switch (record->item[i].verdict) {
        case CASE_CORRECT:
        case CASE_NOT_RUN:
            break;
        case CASE_LIMIT:
            return "limit";
        case CASE_EXITED:
        case CASE_CRASHED:
        case CASE_PROTOCOL:
            return "crashed";
        case CASE_DEFERRED:
            return "deferred";
        case CASE_BROKEN:
            return "broken";
        case CASE_WRONG:
        case CASE_ERROR:
            return "wrong";
        }
    for (int i = 0; i < record->cases; i++)
        if (record->item[i].speed.verdict == SPEED_WRONG) return "wrong";
    return "honest";
}

static int expect_attack(const Item *item, const Record *record, Error *error)
{
    if (record->points < item->least_points)
        return error_set(error, "earned %.1f points, not %g", record->points, item->least_points);
    if (item->most_points > 0 && record->points > item->most_points)
        return error_set(error, "earned %.1f points, more than %g", record->points,
                         item->most_points);
    const char *found = attack_verdict(record);
    /* Source that lags behind the workbook does not compile either, and then tests nothing. */
    if (strcmp(found, "rejected") == 0 && !*item->words)
        return error_set(error, "does not compile, and expect.ini names no words of the reason: is "
                                "it stale?");
    if (!words_appear(record, item->words)) {
        return error_set(error, "the words '%s' are missing; the first case says: %.500s",
                         item->words, record->item[0].text);
    }
    /* "noeffect": graded as if the attempt did not exist. */
    const char *wanted = strcasecmp(item->verdict, "noeffect") ? item->verdict : "honest";
    for (const char *list = wanted; *list; list += strspn(list, ", ")) {
        size_t word = strcspn(list, ", ");
        if (word == strlen(found) && !strncasecmp(list, found, word)) return 0;
        list += word;
    }
    return error_set(error, "%s, not %s: %.500s %.200s", found, item->verdict, record->item[0].text,
                     record->message);
}

static int item_test(const Corpus *corpus, const Item *item, const char *results, Record *record,
                     double *seconds, Error *error)
{
    if (grade_item(corpus, item, results, record, seconds, error)) return -1;
    switch (item->kind) {
    case KIND_SOLUTION:
        return expect_solution(record, error);
    case KIND_SKELETON:
        return expect_skeleton(record, error);
    case KIND_MUTANT:
        return expect_mutant(item, record, error);
    case KIND_ATTACK:
        break;
    }
    return expect_attack(item, record, error);
}

/* ---- all submissions ------------------------------------------------------------------------- */

/* Prints an item's line; 0 or -1. */
static int item_report(const Corpus *corpus, const Item *item, Record *record)
{
    char results[700];
    Error error = {""};
    double seconds = 0;
    text_set(results, sizeof results, "%s/test-results/%s", corpus->build, item->name);
    int status = item_test(corpus, item, results, record, &seconds, &error);
    for (char *at = error.text; *at; at++)
        if (*at == '\n') *at = ' ';
    printf("%s %s%s%s # %.1f s of CPU\n", status ? "not ok" : "ok", item->name, status ? ": " : "",
           error.text, seconds);
    fflush(stdout);
    record_clear(record);
    return status;
}

int main(int argc, char **argv)
{
    Corpus corpus = {.build = argc > 1 ? argv[1] : "build", .filter = argc > 2 ? argv[2] : NULL};
    Error error = {""};
    int failed = 0;
    Record *record = calloc(1, sizeof *record);
    if (!record || corpus_open(&corpus, &error)) {
        printf("not ok corpus: %s\n", record ? error.text : "out of memory");
        return 1;
    }
    for (int i = 0; i < corpus.items; i++)
        failed |= item_report(&corpus, &corpus.item[i], record) != 0;
    if (!corpus.items) printf("not ok corpus: there is nothing to test\n");
    failed |= !corpus.items;
    free(corpus.item);
    free(record);
    return failed;
}
