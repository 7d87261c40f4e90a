/* sieve_folder.c - a submitted folder: a traversal that follows no link; and loose files. */
#include <errno.h>
#include <fts.h>
#include <string.h>
#include <sys/stat.h>

#include "autograder/class/sieve.h"
#include "common/base/intake.h"

enum { FOLDER_ENTRIES = 20000, FOLDER_DEPTH = 12 };

static void take(Sieve *sieve, const char *folder, const char *path, const struct stat *status)
{
    Error error;
    SieveSlot *slot = sieve_want(sieve, path);
    if (!slot) return;
    slot->data = intake_read(folder, path, SIEVE_FILE_BYTES, &slot->bytes, &error);
    if (!slot->data)
        slot_refuse(slot, "%s", error.text);
    else if (status->st_mtime > sieve->newest)
        sieve->newest = status->st_mtime;
}

/* A link in the place of a lab's folder hides that lab: reports the link instead of a missing
 * lab. */
static void sibling_find(Sieve *sieve, const char *path)
{
    char file[4200];
    for (int i = 0; i < sieve->catalog->labs; i++) {
        snprintf(file, sizeof file, "%.4000s/%s", path, sieve->catalog->lab[i].ini.source);
        SieveSlot *slot = sieve_want(sieve, file);
        if (slot) {
            slot_refuse(slot, "%.200s is a symbolic link: submit the folder itself", path);
            return;
        }
    }
}

void sieve_folder(Sieve *sieve, const char *path)
{
    char *roots[] = {(char *)path, NULL};
    size_t above = strlen(path) + 1, entries = 0;
    FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    for (FTSENT *entry; walk && (entry = fts_read(walk));) {
        if (entry->fts_level == 0 || entry->fts_info == FTS_DP) continue;
        if (++entries > FOLDER_ENTRIES) {
            sieve_refuse(sieve, "the folder holds more than %d files", FOLDER_ENTRIES);
            break;
        }
        int is_folder = entry->fts_info == FTS_D;
        if (is_folder && (entry->fts_name[0] == '.' || entry->fts_level > FOLDER_DEPTH)) {
            fts_set(walk, entry, FTS_SKIP);
        } else if (!is_folder) {
            take(sieve, path, entry->fts_path + above, entry->fts_statp);
            if (entry->fts_info == FTS_SL || entry->fts_info == FTS_SLNONE)
                sibling_find(sieve, entry->fts_path + above);
        }
    }
    if (!walk) sieve_refuse(sieve, "the folder cannot be read: %s", strerror(errno));
    if (walk) fts_close(walk);
}

void sieve_files(Sieve *sieve, const char *folder, const HandedFile *file, size_t files)
{
    Error error;
    for (size_t i = 0; i < files; i++) {
        SieveSlot *slot = sieve_want(sieve, file[i].name);
        if (!slot) continue;
        slot->data = intake_read(folder, file[i].path, SIEVE_FILE_BYTES, &slot->bytes, &error);
        if (!slot->data) slot_refuse(slot, "%s", error.text);
    }
}
