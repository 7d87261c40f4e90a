#include "autograder/class/handed_files.h"

#include <errno.h>
#include <sha2.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "autograder/class/sieve.h"
#include "autograder/text/files.h"
#include "autograder/text/text.h"

enum { TAKE_SECONDS = 30 };
static const rlim_t TAKE_BYTES = (rlim_t)1 << 30;

/* ---- in the reading process ----------------------------------------------------------------- */

static int write_slot(const char *into, const Lab *lab, int file, const SieveSlot *slot,
                      Error *error)
{
    char path[4096];
    text_set(path, sizeof path, "%s/%s/%s", into, lab->name,
             file ? "predict.ini" : lab->ini.source);
    return file_write(path, slot->data, error);
}

/* The digest covers the lab's files, or the reason why they were not accepted. */
static int finish_lab(const char *into, const Lab *lab, SieveSlot slot[SIEVE_FILES],
                      HandedLab *taken, Error *error)
{
    SHA2_CTX sha;
    SHA256Init(&sha);
    for (int file = 0; file < SIEVE_FILES; file++) {
        SieveSlot *one = &slot[file];
        if (one->data && !one->problem[0] && memchr(one->data, 0, one->bytes))
            slot_refuse(one, "%.200s contains a NUL byte, so it is not text: save it as UTF-8",
                        one->path);
        if (one->problem[0]) {
            if (!taken->problem[0])
                text_set(taken->problem, sizeof taken->problem, "%s", one->problem);
        } else if (one->data) {
            one->data[one->bytes] = '\0';
            SHA256Update(&sha, (const uint8_t *)(file ? "P" : "S"), 1);
            SHA256Update(&sha, (const uint8_t *)one->data, one->bytes);
            taken->has_source |= file == 0;
            if (write_slot(into, lab, file, one, error)) return -1;
        }
    }
    SHA256Update(&sha, (const uint8_t *)taken->problem, strlen(taken->problem) + 1);
    SHA256End(&sha, taken->digest);
    return 0;
}

/* Reads the submission's files into the sieve. */
static void sieve_fill(Sieve *sieve, const char *folder, const Handed *handed)
{
    char path[8192];
    text_set(path, sizeof path, "%s/%s", folder, handed->submission);
    if (handed->kind == HANDED_LINK)
        sieve_refuse(sieve, "it is a symbolic link: hand in the folder or the archive itself");
    else if (handed->kind == HANDED_UNUSABLE)
        sieve_refuse(sieve, "%s", handed->reason);
    else if (handed->kind == HANDED_LOOSE && !sieve->only)
        sieve_refuse(sieve, "loose files do not say of which lab they are: name it, LAB=04");
    else if (handed->kind == HANDED_LOOSE)
        sieve_files(sieve, folder, handed->file, handed->files);
    else if (handed->kind == HANDED_FOLDER)
        sieve_folder(sieve, path);
    else
        sieve_archive(sieve, path);
}

static int read_all(const char *folder, const Handed *handed, const Catalog *catalog,
                    const Lab *only, const char *into, HandedFiles *files, Error *error)
{
    Sieve *sieve = calloc(1, sizeof *sieve);
    if (!sieve) return error_set(error, "out of memory");
    sieve->catalog = catalog;
    sieve->only = only;
    sieve_fill(sieve, folder, handed);
    files->newest = sieve->newest;
    text_set(files->problem, sizeof files->problem, "%s", sieve->problem);
    text_set(files->other, sizeof files->other, "%s", sieve->other);
    int status = 0;
    for (int i = 0; i < catalog->labs && !status; i++) {
        HandedLab *lab = &files->lab[i];
        for (int file = 0; sieve->problem[0] && file < SIEVE_FILES; file++)
            sieve->slot[i][file] = (SieveSlot){0};
        text_set(lab->problem, sizeof lab->problem, "%s", sieve->problem);
        status = finish_lab(into, &catalog->lab[i], sieve->slot[i], lab, error);
    }
    return status; /* the process ends, which frees its memory */
}

static void limit(int resource, rlim_t most)
{
    struct rlimit both = {most, most};
    setrlimit(resource, &both);
}

/* ---- in the waiting process ----------------------------------------------------------------- */

typedef struct Answer {
    HandedFiles files;
    Error error;
    int status;
} Answer;

static int read_apart(const char *folder, const Handed *handed, const Catalog *catalog,
                      const Lab *only, const char *into, Answer *answer, Error *error)
{
    int how;
    pid_t parent = getpid(), child = fork();
    if (child < 0) return error_set(error, "no process to read submissions: %s", strerror(errno));
    if (!child) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) _exit(1);
        limit(RLIMIT_AS, TAKE_BYTES);
        limit(RLIMIT_CPU, TAKE_SECONDS);
        limit(RLIMIT_CORE, 0);
        answer->status =
            read_all(folder, handed, catalog, only, into, &answer->files, &answer->error);
        _exit(0);
    }
    while (waitpid(child, &how, 0) < 0 && errno == EINTR) {
    }
    if (!WIFEXITED(how)) {
        memset(&answer->files, 0, sizeof answer->files);
        text_set(answer->files.problem, sizeof answer->files.problem,
                 "reading it took more time or memory than any submission needs");
        for (int i = 0; i < catalog->labs; i++) {
            HandedLab *lab = &answer->files.lab[i];
            text_set(lab->problem, sizeof lab->problem, "%s", answer->files.problem);
            SHA256Data((const uint8_t *)lab->problem, strlen(lab->problem), lab->digest);
        }
    } else if (answer->status) {
        return error_set(error, "%s", answer->error.text);
    }
    return 0;
}

int handed_files_take(const char *folder, const Handed *handed, const Catalog *catalog,
                      const Lab *only, const char *into, HandedFiles *files, Error *error)
{
    if (catalog->labs > HANDED_LABS)
        return error_set(error, "more than %d labs: see HANDED_LABS", HANDED_LABS);
    if (directory_make(into)) return error_set(error, "%.300s: %s", into, strerror(errno));
    Answer *answer =
        mmap(NULL, sizeof *answer, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (answer == MAP_FAILED) return error_set(error, "out of memory");
    int status = read_apart(folder, handed, catalog, only, into, answer, error);
    *files = answer->files;
    munmap(answer, sizeof *answer);
    return status;
}
