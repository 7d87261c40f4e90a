/* sieve.h - selection of the labs' files among the paths of a submission.
 *
 * The file with the least depth wins, and one below labs/ wins over others.  The exact name wins
 * over "conv (1).cu" and "conv-1.cu", the names that browsers and LMSs give to a second file. */
#ifndef CONVLAB_AUTOGRADER_CLASS_SIEVE_H
#define CONVLAB_AUTOGRADER_CLASS_SIEVE_H

#include "autograder/class/handed_files.h"

enum { SIEVE_FILES = 2, SIEVE_FILE_BYTES = 4 << 20 }; /* files of a lab: its source, predict.ini */

/* One file of one lab. */
typedef struct SieveSlot {
    int rank; /* 0: none yet; lower values win */
    char *path, *data;
    size_t bytes;
    char problem[400];
} SieveSlot;

typedef struct Sieve {
    const Catalog *catalog;
    const Lab *only;
    SieveSlot slot[HANDED_LABS][SIEVE_FILES];
    char problem[400]; /* reason why nothing is accepted */
    char other[200];   /* as HandedFiles' */
    int64_t newest;
} Sieve;

/* The slot for the file at `path`, emptied for it; NULL: not a lab's file, or there is one of lower
 * rank.  If two have the same rank, neither is accepted. */
SieveSlot *sieve_want(Sieve *sieve, const char *path);
/* Whether a file at `path` would be one of a lab's.  `only`: as Sieve's. */
int sieve_is_lab_file(const Catalog *catalog, const Lab *only, const char *path);
/* printf into the slot's problem, cleaned. */
void slot_refuse(SieveSlot *slot, const char *format, ...) __attribute__((format(printf, 2, 3)));
void sieve_refuse(Sieve *sieve, const char *format, ...) __attribute__((format(printf, 2, 3)));

void sieve_folder(Sieve *sieve, const char *path);
void sieve_archive(Sieve *sieve, const char *path);
/* Loose files of one lab below `folder`, under the names that the student gave them. */
void sieve_files(Sieve *sieve, const char *folder, const HandedFile *file, size_t files);

#endif
