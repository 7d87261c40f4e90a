#include "autograder/class/similarity.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "autograder/class/tool.h"
#include "autograder/class/tree.h"
#include "autograder/lab/todo.h"
#include "autograder/text/files.h"
#include "autograder/text/text.h"

typedef struct Pair {
    int percent;
    size_t of, with; /* indices in the list: the share of `of` that is also in `with` */
} Pair;

typedef struct Pairs {
    Pair *item;
    size_t count;
} Pairs;

/* ---- compared text -------------------------------------------------------------------------- */

static int is_same(const char *text, const TodoRegion *region, const char *other,
                   const TodoRegion *other_region)
{
    size_t bytes = region->body_end - region->body;
    return bytes == other_region->body_end - other_region->body &&
           !memcmp(text + region->body, other + other_region->body, bytes);
}

/* Reduces a source, in place, to what the student wrote; keeps all of it if its TODO marks are
 * missing. */
static void keep_own(char *text, const char *pristine)
{
    TodoList list, pristine_list;
    size_t kept = 0;
    if (todo_scan("", text, &list, NULL) || !pristine ||
        todo_scan("", pristine, &pristine_list, NULL) || list.regions < pristine_list.regions)
        return;
    for (int i = 0; i < list.regions; i++) {
        const TodoRegion *region = &list.region[i];
        if (i < pristine_list.regions && is_same(text, region, pristine, &pristine_list.region[i]))
            continue;
        memmove(text + kept, text + region->body, region->body_end - region->body);
        kept += region->body_end - region->body;
    }
    text[kept] = '\0';
}

/* Writes each source of the lab to folder/<index in the list>, and their names to folder/files:
 * their number, or -1 with error. */
static int write_sources(const char *root, const char *work, const Lab *lab, size_t count,
                         const char *folder, Error *error)
{
    char path[4300];
    Error unread;
    lab_skeleton_path(root, lab, path, sizeof path);
    char *pristine = file_text(path, &unread);
    text_set(path, sizeof path, "%s/files", folder);
    FILE *files = fopen(path, "we");
    int status = files ? 0 : error_set(error, "%.300s: %s", path, strerror(errno)), sources = 0;
    for (size_t i = 0; i < count && !status; i++) {
        text_set(path, sizeof path, "%s/handed-%zu/%s/%s", work, i, lab->name, lab->ini.source);
        char *text = file_text(path, &unread);
        if (text) keep_own(text, pristine);
        if (text && *text) {
            text_set(path, sizeof path, "%s/%zu", folder, i);
            status = file_write(path, text, error);
            fprintf(files, "%zu\n", i);
            sources++;
        }
        free(text);
    }
    if (files && fclose(files) && !status)
        status = error_set(error, "%.300s: %s", folder, strerror(errno));
    free(pristine);
    return status ? -1 : sources;
}

/* ---- output of sim_c++ ---------------------------------------------------------------------- */

/* "3 consists for 97 % of 12 material". */
static int read_pairs(const char *folder, const HandedList *list, Pairs *pairs, Error *error)
{
    char path[4300], line[300];
    text_set(path, sizeof path, "%s/said", folder);
    FILE *said = fopen(path, "re");
    if (!said) return error_set(error, "%.300s: %s", path, strerror(errno));
    while (fgets(line, sizeof line, said)) {
        Pair pair;
        if (sscanf(line, "%zu consists for %d %% of %zu", &pair.of, &pair.percent, &pair.with) != 3)
            continue;
        if (pair.of >= list->count || pair.with >= list->count ||
            !strcmp(list->item[pair.of].student, list->item[pair.with].student))
            continue;
        Pair *grown = realloc(pairs->item, (pairs->count + 1) * sizeof *grown);
        if (!grown) break;
        pairs->item = grown;
        pairs->item[pairs->count++] = pair;
    }
    fclose(said);
    return 0;
}

static int most_alike_first(const void *left, const void *right)
{
    const Pair *a = left, *b = right;
    if (a->percent != b->percent) return a->percent < b->percent ? 1 : -1;
    if (a->of != b->of) return a->of < b->of ? -1 : 1;
    return (a->with > b->with) - (a->with < b->with);
}

static int compare(const char *folder, Error *error)
{
    static const char *const WORD[] = {"sim_c++", "-a", "-e", "-p", "-s", "-t", "50", "-i", NULL};
    int status = tool_run(folder, WORD, "files", "said", error);
    if (status == TOOL_MISSING)
        return error_set(error, "no similarity.txt: there is no sim_c++; sudo apt-get install "
                                "similarity-tester");
    if (status > 0) error_set(error, "no similarity.txt: sim_c++ fails in %.300s", folder);
    return status ? -1 : 0;
}

/* ---- groups --------------------------------------------------------------------------------- */

/* The representative of a submission's group. */
static size_t group_of(size_t *parent, size_t item)
{
    while (parent[item] != item)
        item = parent[item] = parent[parent[item]];
    return item;
}

static void report_group(const Lab *lab, const HandedList *list, const Pairs *pairs, size_t *parent,
                         size_t group, FILE *report)
{
    enum { SHOWN = 10 };
    char name[2][300];
    size_t members = 0, shown = 0, count = 0;
    int highest = 0;
    for (size_t i = 0; i < list->count; i++)
        members += group_of(parent, i) == group;
    for (size_t i = 0; i < pairs->count; i++) {
        if (group_of(parent, pairs->item[i].of) != group) continue;
        count++;
        if (pairs->item[i].percent > highest) highest = pairs->item[i].percent;
    }
    fprintf(report, "%s\t%zu submissions\tup to %d %%\t", lab->name, members, highest);
    for (size_t i = 0, written = 0; i < list->count; i++) {
        if (group_of(parent, i) != group) continue;
        name_show(list->item[i].submission, name[0], sizeof name[0]);
        fprintf(report, "%s%s", written++ ? ", " : "", name[0]);
    }
    fputc('\n', report);
    for (size_t i = 0; i < pairs->count && shown < SHOWN; i++) {
        const Pair *pair = &pairs->item[i];
        if (group_of(parent, pair->of) != group) continue;
        name_show(list->item[pair->of].submission, name[0], sizeof name[0]);
        name_show(list->item[pair->with].submission, name[1], sizeof name[1]);
        fprintf(report, "\t%d %% of\t%s\tis in\t%s\n", pair->percent, name[0], name[1]);
        shown++;
    }
    if (count > shown) fprintf(report, "\t%zu more pairs\n", count - shown);
}

/* Two submissions are in one group if a chain of similar pairs leads from one to the other.  Their
 * number, or -1 with error. */
static long report_lab(const Lab *lab, const HandedList *list, Pairs *pairs, FILE *report,
                       Error *error)
{
    long groups = 0;
    size_t *parent = malloc((list->count + 1) * sizeof *parent);
    if (!parent) return error_set(error, "out of memory");
    for (size_t i = 0; i < list->count; i++)
        parent[i] = i;
    if (pairs->count) qsort(pairs->item, pairs->count, sizeof *pairs->item, most_alike_first);
    for (size_t i = 0; i < pairs->count; i++)
        parent[group_of(parent, pairs->item[i].of)] = group_of(parent, pairs->item[i].with);
    for (size_t i = 0; i < pairs->count; i++) {
        size_t group = group_of(parent, pairs->item[i].of);
        int is_first = 1;
        for (size_t j = 0; j < i && is_first; j++)
            is_first = group_of(parent, pairs->item[j].of) != group;
        if (!is_first) continue;
        report_group(lab, list, pairs, parent, group, report);
        groups++;
    }
    free(parent);
    return groups;
}

int similarity_report(const char *root, const char *work, const Catalog *catalog,
                      const HandedList *list, FILE *report, size_t *groups, Error *error)
{
    char folder[4200];
    *groups = 0;
    text_set(folder, sizeof folder, "%s/alike", work);
    for (int i = 0; i < catalog->labs; i++) {
        const Lab *lab = &catalog->lab[i];
        Pairs found = {0};
        if (tree_remove(folder) || directory_make(folder))
            return error_set(error, "%.300s: %s", folder, strerror(errno));
        int sources = write_sources(root, work, lab, list->count, folder, error);
        if (sources < 0) return -1;
        if (sources < 2) continue; /* nothing to compare with */
        int status = compare(folder, error) || read_pairs(folder, list, &found, error) ? -1 : 0;
        long count = status ? -1 : report_lab(lab, list, &found, report, error);
        free(found.item);
        if (count < 0) return -1;
        *groups += (size_t)count;
    }
    return 0;
}
