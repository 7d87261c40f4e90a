#include "autograder/lab/catalog.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "autograder/text/files.h"
#include "autograder/text/text.h"

static int by_order(const void *left, const void *right)
{
    const Lab *a = left, *b = right;
    if (a->ini.order != b->ini.order) return a->ini.order < b->ini.order ? -1 : 1;
    return strcmp(a->name, b->name);
}

static int add_lab(const char *root, const char *name, Catalog *catalog, Error *error)
{
    char path[1024], shown[128];
    if (name[0] == '.' || strlen(name) >= sizeof catalog->lab->name) return 0;
    text_set(shown, sizeof shown, "labs/%s/lab.ini", name);
    text_set(path, sizeof path, "%s/%s", root, shown);
    if (access(path, F_OK)) return 0;
    Lab *grown = realloc(catalog->lab, (size_t)(catalog->labs + 1) * sizeof *grown);
    if (!grown) return error_set(error, "out of memory");
    catalog->lab = grown;
    Lab *lab = &grown[catalog->labs];
    text_set(lab->name, sizeof lab->name, "%s", name);
    if (lab_ini_read(path, shown, &lab->ini, error)) return -1;
    catalog->labs++;
    return 0;
}

int catalog_open(const char *root, Catalog *catalog, Error *error)
{
    char path[1024];
    *catalog = (Catalog){0};
    text_set(path, sizeof path, "%s/labs", root);
    DIR *directory = opendir(path);
    if (!directory) return error_set(error, "%s: %m; run this in the workbook's directory", path);
    int status = 0;
    for (struct dirent *entry; !status && (entry = readdir(directory));)
        status = add_lab(root, entry->d_name, catalog, error);
    closedir(directory);
    if (!status && !catalog->labs) status = error_set(error, "%s holds no lab.ini", path);
    if (status) {
        catalog_close(catalog);
    } else {
        qsort(catalog->lab, (size_t)catalog->labs, sizeof *catalog->lab, by_order);
    }
    return status;
}

void catalog_close(Catalog *catalog)
{
    free(catalog->lab);
    *catalog = (Catalog){0};
}

static int lab_matches(const Lab *lab, const char *name)
{
    if (!strcmp(lab->name, name)) return 1;
    const char *dash = strchr(lab->name, '-');
    if (dash && !strcmp(dash + 1, name)) return 1;
    if (!isdigit((unsigned char)*name) || !isdigit((unsigned char)*lab->name)) return 0;
    char *end, *lab_end;
    long number = strtol(name, &end, 10), lab_number = strtol(lab->name, &lab_end, 10);
    return !*end && number == lab_number;
}

const Lab *catalog_find(const Catalog *catalog, const char *name, Error *error)
{
    for (int i = 0; i < catalog->labs; i++)
        if (lab_matches(&catalog->lab[i], name)) return &catalog->lab[i];
    char known[700] = "";
    size_t used = 0;
    if (strpbrk(name, ", ")) {
        error_set(
            error,
            "LAB=%.80s names more than one lab; this command takes one, such as LAB=04: run it "
            "once for each",
            name);
        return NULL;
    }
    for (int i = 0; i < catalog->labs && used < sizeof known; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "",
                                 catalog->lab[i].name);
    error_set(error, "there is no lab '%.80s'; there are: %s", name, known);
    return NULL;
}

void lab_source_path(const char *root, const Lab *lab, char *path, size_t bytes)
{
    text_set(path, bytes, "%s/labs/%s/%s", root, lab->name, lab->ini.source);
}

void lab_skeleton_path(const char *root, const Lab *lab, char *path, size_t bytes)
{
    text_set(path, bytes, "%s/autograder/tests/skeletons/%s/%s", root, lab->name, lab->ini.source);
}

void lab_solution_path(const char *root, const Lab *lab, char *path, size_t bytes)
{
    text_set(path, bytes, "%s/solutions/%s/%s", root, lab->name, lab->ini.source);
}

int lab_baseline_path(const char *root, const Lab *lab, char *path, size_t bytes, Error *error)
{
    const char *baseline = lab->ini.baseline;
    text_set(path, bytes, "%s/labs/%s/%s", root, lab->name, baseline);
    if (file_exists(path)) return 0;
    /* The solution of an earlier lab. */
    char ini_path[1024], shown[128];
    text_set(shown, sizeof shown, "labs/%s/lab.ini", baseline);
    text_set(ini_path, sizeof ini_path, "%s/%s", root, shown);
    LabIni *below = malloc(sizeof *below);
    int status =
        !below ? error_set(error, "out of memory") : lab_ini_read(ini_path, shown, below, error);
    if (!status) text_set(path, bytes, "%s/solutions/%s/%s", root, baseline, below->source);
    free(below);
    return status;
}
