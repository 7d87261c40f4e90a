#include "autograder/lab/sealed.h"

#include <elf.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autograder/text/files.h"
#include "autograder/text/text.h"

enum {
    KEY = crypto_secretbox_KEYBYTES,
    NONCE = crypto_secretbox_NONCEBYTES,
    EXTRA = NONCE + crypto_secretbox_MACBYTES,
    VARIANT = sodium_base64_VARIANT_ORIGINAL
};

static void key_make(unsigned char key[KEY])
{
    static const char WORDS[] = "convlab: sealed against reading in passing";
    crypto_generichash(key, KEY, (const unsigned char *)WORDS, sizeof WORDS - 1, NULL, 0);
}

static void sealed_path(const char *folder, char *path, size_t bytes)
{
    text_set(path, bytes, "%s/" SEALED_FILE, folder);
}

int sealed_exists(const char *folder)
{
    char path[1100];
    sealed_path(folder, path, sizeof path);
    return file_exists(path);
}

char *sealed_line(const char *name, const void *data, size_t bytes)
{
    unsigned char key[KEY], *box = malloc(bytes + EXTRA);
    size_t room = sodium_base64_ENCODED_LEN(bytes + EXTRA, VARIANT), before = strlen(name) + 1;
    char *line = malloc(before + room + 1);
    key_make(key);
    if (box && line) {
        /* The nonce is a hash of the content: no other content is sealed under it, and an unchanged
         * part gives an unchanged line, so that a release changes only lines whose content has
         * changed. */
        crypto_generichash(box, NONCE, data, bytes, key, KEY);
        crypto_secretbox_easy(box + NONCE, data, bytes, box, key);
        sprintf(line, "%s ", name);
        sodium_bin2base64(line + before, room, box, bytes + EXTRA, VARIANT);
        strcat(line + before, "\n");
    } else {
        free(line);
        line = NULL;
    }
    free(box);
    return line;
}

/* Start and end of a part's base64 text; NULL: the part does not exist. */
static const char *line_find(const char *text, const char *name, size_t *length)
{
    size_t prefix = strlen(name);
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        if (strncmp(line, name, prefix) || line[prefix] != ' ') continue;
        *length = strcspn(line + prefix + 1, "\n");
        return line + prefix + 1;
    }
    return NULL;
}

static char *line_open(const char *line, size_t length, size_t *bytes)
{
    unsigned char key[KEY], *box = malloc(length);
    size_t have;
    char *data = NULL;
    key_make(key);
    if (box && !sodium_base642bin(box, length, line, length, NULL, &have, NULL, VARIANT) &&
        have >= EXTRA)
        data = malloc(have - EXTRA + 1);
    if (data &&
        crypto_secretbox_open_easy((unsigned char *)data, box + NONCE, have - NONCE, box, key)) {
        free(data);
        data = NULL;
    }
    if (data) {
        *bytes = have - EXTRA;
        data[*bytes] = 0;
    }
    free(box);
    return data;
}

char *sealed_part(const char *folder, const char *name, size_t *bytes, Error *error)
{
    char path[1100];
    size_t length;
    sealed_path(folder, path, sizeof path);
    char *text = file_text(path, error);
    if (!text) return NULL;
    const char *line = line_find(text, name, &length);
    char *data = line ? line_open(line, length, bytes) : NULL;
    if (!data)
        error_set(error,
                  "%s is damaged, or of another release (its part '%s'): take it from the "
                  "copy that you were given",
                  path, name);
    free(text);
    return data;
}

static const char *machine_name(unsigned machine)
{
    return machine == EM_X86_64 ? "x86-64" : machine == EM_AARCH64 ? "ARM" : "another processor";
}

int sealed_check_machine(const void *object, size_t bytes, Error *error)
{
#if defined __aarch64__
    const unsigned own = EM_AARCH64;
#else
    const unsigned own = EM_X86_64;
#endif
    Elf64_Ehdr header;
    if (bytes < sizeof header) return error_set(error, "a sealed program is damaged");
    memcpy(&header, object, sizeof header);
    if (header.e_machine == own) return 0;
    return error_set(error,
                     "the baseline and the reference of this copy are programs for %s, and this "
                     "machine is %s: ask your instructor for a copy that make handout made on %s",
                     machine_name(header.e_machine), machine_name(own), machine_name(own));
}
