#include "common/simulator/conformance/vectors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- writing --------------------------------------------------------------------------------- */
/* Digest of the types of the results and of all operands. */
static uint32_t form_digest(const Form *form)
{
    size_t count = (size_t)form->operands * form->lanes;
    uint64_t *value = malloc((count + form->results) * sizeof *value);
    if (!value) return 0;
    form_operands(form, value);
    for (uint32_t k = 0; k < form->results; k++)
        value[count++] = form->result[k];
    uint32_t digest = operands_digest(value, count);
    free(value);
    return digest;
}

/* A word of the file: a lane's value, or the predicates of 32 lanes. */
static uint64_t word_of(const Form *form, uint32_t k, const uint64_t *value, uint32_t word)
{
    const uint64_t *of = value + (size_t)k * form->lanes;
    if (form->result[k] != VALUE_PRED) return of[word];
    uint64_t mask = 0;
    for (uint32_t i = 0; i < 32; i++)
        mask |= (of[word * 32 + i] & 1) << i;
    return mask;
}

static uint32_t words_of(const Form *form, uint32_t k)
{
    return form->result[k] == VALUE_PRED ? form->lanes / 32 : form->lanes;
}

static void result_write(FILE *file, const Form *form, uint32_t k, const uint64_t *value)
{
    uint32_t words = words_of(form, k);
    for (uint32_t i = 0; i < words;) {
        uint64_t word = word_of(form, k, value, i);
        uint32_t same = 1;
        while (i + same < words && word_of(form, k, value, i + same) == word)
            same++;
        fprintf(file, "%s%llx", i ? " " : "", (unsigned long long)word);
        if (same > 1) fprintf(file, "*%u", same);
        i += same;
    }
    fputc('\n', file);
}

int vectors_write(const char *path, const FormTable *table, const char *group, const FormRun *run,
                  const char *header, Error *error)
{
    FILE *file = fopen(path, "w");
    if (!file) return error_set(error, "cannot write %s", path);
    fprintf(file, "# %s\n", header);
    for (uint32_t i = 0; i < table->count; i++) {
        const Form *form = &table->form[i];
        if (!run[i].value || strcmp(form->group, group) != 0) continue;
        fprintf(file, "form %08x %s\n", form_digest(form), form->text);
        for (uint32_t k = 0; k < form->results; k++)
            result_write(file, form, k, run[i].value);
    }
    return fclose(file) == 0 ? 0 : error_set(error, "cannot write %s", path);
}

/* ---- reading --------------------------------------------------------------------------------- */
static int result_read(const Form *form, uint32_t k, uint64_t *value, const char *line)
{
    uint64_t *of = value + (size_t)k * form->lanes;
    uint32_t words = words_of(form, k), at = 0;
    while (*line && *line != '\n') {
        char *end;
        uint64_t word = strtoull(line, &end, 16), times = 1;
        if (end == line) return -1;
        if (*end == '*') times = strtoull(end + 1, &end, 10);
        line = end + strspn(end, " ");
        if (times > words - at) return -1;
        for (; times; times--, at++)
            for (uint32_t i = 0; i < (form->result[k] == VALUE_PRED ? 32 : 1); i++) {
                if (form->result[k] == VALUE_PRED)
                    of[at * 32 + i] = word >> i & 1;
                else
                    of[at] = word;
            }
    }
    return at == words ? 0 : -1;
}

typedef struct Reader {
    const FormTable *table;
    Vectors *vectors;
    FILE *file;
    const char *path;
    char *line;
    size_t room;
    uint32_t number, next; /* line; where the next form is looked for */
} Reader;

static int reader_error(const Reader *reader, const char *what, Error *error)
{
    return error_set(error,
                     "%s line %u: %s; record the vectors again (docs/simulator/conformance.md)",
                     reader->path, reader->number, what);
}

static int line_next(Reader *reader)
{
    ssize_t length = getline(&reader->line, &reader->room, reader->file);
    reader->number++;
    if (length > 0 && reader->line[length - 1] == '\n') reader->line[length - 1] = 0;
    return length > 0;
}

static int form_read(Reader *reader, Error *error)
{
    const FormTable *table = reader->table;
    uint32_t digest, found = table->count;
    int used = 0;
    if (sscanf(reader->line, "form %x %n", &digest, &used) != 1 || !used)
        return reader_error(reader, "want 'form <digest> <PTX>'", error);
    for (uint32_t n = 0; n < table->count && found == table->count; n++) {
        uint32_t i = (reader->next + n) % table->count;
        if (strcmp(table->form[i].text, reader->line + used) == 0 &&
            form_digest(&table->form[i]) == digest)
            found = i;
    }
    if (found == table->count)
        return reader_error(reader, "no table has this form on these operands", error);
    const Form *form = &table->form[found];
    reader->next = found + 1;
    if (reader->vectors->value[found]) return reader_error(reader, "a form twice", error);
    uint64_t *value = calloc((size_t)form->results * form->lanes, sizeof *value);
    if (!value) return error_set(error, "out of memory");
    reader->vectors->value[found] = value;
    for (uint32_t k = 0; k < form->results; k++)
        if (!line_next(reader) || result_read(form, k, value, reader->line) != 0)
            return reader_error(reader, "too few or too many words", error);
    return 0;
}

static int file_read(Reader *reader, Error *error)
{
    while (line_next(reader)) {
        if (reader->line[0] == '#') {
            if (!reader->vectors->header[0])
                snprintf(reader->vectors->header, sizeof reader->vectors->header, "%.500s",
                         reader->line + 2);
        } else if (form_read(reader, error) != 0) {
            return -1;
        }
    }
    return 0;
}

int vectors_read(const char *directory, const FormTable *table, Vectors *vectors, Error *error)
{
    *vectors = (Vectors){.count = table->count};
    vectors->value = calloc(table->count + 1, sizeof *vectors->value);
    if (!vectors->value) return error_set(error, "out of memory");
    int result = 0;
    Reader reader = {.table = table, .vectors = vectors};
    for (uint32_t g = 0; g < table->groups && result == 0; g++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s.txt", directory, table->group[g]);
        reader.file = fopen(path, "r");
        if (!reader.file) continue; /* its forms have no vectors: the checker says so */
        reader.path = path, reader.number = 0;
        result = file_read(&reader, error);
        fclose(reader.file);
    }
    free(reader.line);
    return result;
}

void vectors_free(Vectors *vectors)
{
    for (uint32_t i = 0; vectors->value && i < vectors->count; i++)
        free(vectors->value[i]);
    free(vectors->value);
    *vectors = (Vectors){.count = 0};
}
