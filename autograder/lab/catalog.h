/* catalog.h - list of labs: every directory under labs/ with a lab.ini, in syllabus order. */
#ifndef CONVLAB_AUTOGRADER_LAB_CATALOG_H
#define CONVLAB_AUTOGRADER_LAB_CATALOG_H

#include "autograder/lab/lab_ini.h"

typedef struct Lab {
    char name[64]; /* "04-tiled" */
    LabIni ini;
} Lab;

typedef struct Catalog {
    Lab *lab; /* sorted by order, then by name */
    int labs;
} Catalog;

/* -1 with error: no labs directory, or an invalid lab.ini. */
int catalog_open(const char *root, Catalog *catalog, Error *error);
void catalog_close(Catalog *catalog);

/* Accepts "04-tiled", "04", "4" or "tiled"; NULL with an error that lists the labs. */
const Lab *catalog_find(const Catalog *catalog, const char *name, Error *error);

/* The path of a lab's source below `root`: the student's file, the skeleton as it was handed out,
 * and the solution.  The file may be missing. */
void lab_source_path(const char *root, const Lab *lab, char *path, size_t bytes);
void lab_skeleton_path(const char *root, const Lab *lab, char *path, size_t bytes);
void lab_solution_path(const char *root, const Lab *lab, char *path, size_t bytes);

/* The baseline's source: a file next to the lab's own, or the solution of the lab that `baseline`
 * names.  -1 with error: neither exists. */
int lab_baseline_path(const char *root, const Lab *lab, char *path, size_t bytes, Error *error);

#endif
