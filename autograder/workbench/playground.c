#include "autograder/workbench/playground.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "autograder/text/files.h"
#include "autograder/text/text.h"
#include "autograder/workbench/source.h"

int playground_is_name(const char *name)
{
    static const char ALLOWED[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    size_t length = strspn(name, ALLOWED);
    return length && length <= PLAYGROUND_NAME && *name != '-' && !strcmp(name + length, ".cu");
}

void playground_folder(const Workbench *bench, char *path, size_t bytes)
{
    text_set(path, bytes, "%s/playground", bench->root);
}

void playground_path(const Workbench *bench, const char *name, char *path, size_t bytes)
{
    text_set(path, bytes, "%s/playground/%s", bench->root, name);
}

static int is_program(const struct dirent *entry)
{
    return playground_is_name(entry->d_name) &&
           (entry->d_type == DT_REG || entry->d_type == DT_UNKNOWN);
}

json_t *playground_json(const Workbench *bench)
{
    char folder[1300];
    struct dirent **entry;
    json_t *list = json_array();
    playground_folder(bench, folder, sizeof folder);
    int entries = scandir(folder, &entry, is_program, alphasort);
    for (int i = 0; i < entries; i++) {
        if (i < PLAYGROUND_PROGRAMS) json_array_append_new(list, json_string(entry[i]->d_name));
        free(entry[i]);
    }
    if (entries >= 0) free(entry);
    return list;
}

int playground_create(const Workbench *bench, const char *name, Error *error)
{
    char path[1300], folder[1300], digest[DIGEST_CHARACTERS + 1];
    if (!playground_is_name(name))
        return error_set(error, "'%.40s' is no name: use letters, digits, - and _, and then .cu",
                         name);
    text_set(path, sizeof path, "%s/autograder/workbench/new_program.cu", bench->root);
    char *text = file_text(path, error);
    if (!text) return -1;
    playground_folder(bench, folder, sizeof folder);
    playground_path(bench, name, path, sizeof path);
    int status = directory_make(folder);
    if (status) error_set(error, "%s: %m", folder);
    if (!status && file_exists(path))
        status = error_set(error, "there is a program %s already", name);
    if (!status && source_save(folder, name, "", text, digest, error) != SOURCE_SAVED) status = -1;
    free(text);
    return status;
}
