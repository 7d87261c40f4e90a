/* array_npy.c - header of an NPY file: a Python dictionary with three entries.
 *
 *     {'descr': '<f4', 'fortran_order': False, 'shape': (60000, 28, 28), }
 *
 * The parser accepts NumPy's format with entries in any order, and no other Python. */
#include <ctype.h>
#include <string.h>

#include "datasets/array_parts.h"

enum { MAGIC = 8, ALIGNED = 64 };

static const char *const DESCR[ARRAY_TYPES] = {
    [ARRAY_U8] = "u1",  [ARRAY_I8] = "i1",  [ARRAY_I16] = "i2", [ARRAY_I32] = "i4",
    [ARRAY_I64] = "i8", [ARRAY_F32] = "f4", [ARRAY_F64] = "f8",
};

/* The dictionary's text and the position in it. */
typedef struct Reader {
    const char *at, *end;
} Reader;

static void skip_blanks(Reader *reader)
{
    while (reader->at < reader->end && isspace((unsigned char)*reader->at))
        reader->at++;
}

/* Consumes `word` if it comes next, after blanks. */
static int take(Reader *reader, const char *word)
{
    size_t length = strlen(word);
    skip_blanks(reader);
    if ((size_t)(reader->end - reader->at) < length || memcmp(reader->at, word, length)) return 0;
    reader->at += length;
    return 1;
}

/* '<f4', "|u1", '>i2' */
static int take_descr(Reader *reader, ArrayHead *head)
{
    int quote = take(reader, "'") ? '\'' : take(reader, "\"") ? '"' : 0;
    if (!quote || reader->end - reader->at < 4 || reader->at[3] != quote) return 0;
    const char order = reader->at[0], *rest = reader->at + 1;
    if (!strchr("<>|=", order) || !order) return 0;
    for (int type = 0; type < ARRAY_TYPES; type++) {
        if (memcmp(rest, DESCR[type], 2)) continue;
        head->array.type = (ArrayType)type;
        head->big_endian = order == '>';
        reader->at += 4;
        return array_type_bytes(head->array.type) == 1 || order == '<' || order == '>';
    }
    return 0;
}

/* (60000, 28, 28), (5,), () */
static int take_shape(Reader *reader, Array *array)
{
    if (!take(reader, "(")) return 0;
    while (!take(reader, ")")) {
        uint64_t size = 0;
        int digits = 0;
        for (; reader->at < reader->end && isdigit((unsigned char)*reader->at); digits++)
            size = size * 10 + (uint64_t)(*reader->at++ - '0');
        if (!digits || digits > 18 || array->dimensions == ARRAY_DIMENSIONS) return 0;
        array->size[array->dimensions++] = size;
        if (!take(reader, ",")) return array->dimensions > 1 && take(reader, ")");
    }
    return 1;
}

static int take_entry(Reader *reader, ArrayHead *head, unsigned *seen)
{
    static const char *const KEY[3][2] = {{"'descr'", "\"descr\""},
                                          {"'fortran_order'", "\"fortran_order\""},
                                          {"'shape'", "\"shape\""}};
    int key = 0;
    while (key < 3 && !take(reader, KEY[key][0]) && !take(reader, KEY[key][1]))
        key++;
    if (key == 3 || *seen >> key & 1 || !take(reader, ":")) return 0;
    *seen |= 1u << key;
    if (key == 0) return take_descr(reader, head);
    return key == 1 ? take(reader, "False") : take_shape(reader, &head->array);
}

static int take_dictionary(Reader *reader, ArrayHead *head)
{
    unsigned seen = 0;
    if (!take(reader, "{")) return 0;
    while (!take(reader, "}")) {
        if (!take_entry(reader, head, &seen)) return 0;
        if (take(reader, ",")) continue;
        if (!take(reader, "}")) return 0;
        break;
    }
    skip_blanks(reader);
    return seen == 7 && reader->at == reader->end;
}

int npy_parse(const char *name, const unsigned char *data, size_t bytes, ArrayHead *head,
              Error *error)
{
    if (bytes < MAGIC + 4 || data[6] < 1 || data[6] > 3)
        return error_set(error, "%s: %s", name,
                         bytes < MAGIC + 4 ? "an NPY file that ends in its first line"
                                           : "an NPY file of a version above 3");
    size_t at = data[6] == 1 ? MAGIC + 2 : MAGIC + 4, length = data[8] | (size_t)data[9] << 8;
    if (data[6] > 1) length |= (size_t)data[10] << 16 | (size_t)data[11] << 24;
    if (length > bytes - at)
        return error_set(error, "%s: an NPY file that ends in its first line", name);
    Reader reader = {(const char *)data + at, (const char *)data + at + length};
    head->at = at + length;
    if (!take_dictionary(&reader, head))
        return error_set(error,
                         "%s: only plain numbers, rows first, are read: 'descr' one of u1 i1 i2 i4 "
                         "i8 f4 f8, 'fortran_order' False, 'shape' of at most 8 sizes",
                         name);
    return array_count(name, &head->array, error);
}

int array_write_npy(const char *path, const Array *array, Error *error)
{
    char head[512] = "\x93NUMPY\x01";
    char *text = head + MAGIC + 2;
    int one = array_type_bytes(array->type) == 1;
    int length = snprintf(text, sizeof head - MAGIC - 2,
                          "{'descr': '%c%s', 'fortran_order': False, 'shape': (", one ? '|' : '<',
                          DESCR[array->type]);
    for (int i = 0; i < array->dimensions; i++)
        length += snprintf(text + length, 32, "%llu%s", (unsigned long long)array->size[i],
                           i + 1 < array->dimensions ? ", "
                           : array->dimensions == 1  ? ","
                                                     : "");
    length += snprintf(text + length, 8, "), }");
    while ((MAGIC + 2 + length + 1) % ALIGNED)
        text[length++] = ' ';
    text[length++] = '\n';
    head[8] = (char)(length & 255), head[9] = (char)(length >> 8);
    return array_write(path, array, head, MAGIC + 2 + (size_t)length, 0, error);
}
