/* ptx_link.c - splits each text into its statements at module level, decides which of them stay,
 * and copies those, with unique names and file numbers. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/simulator/ptx/ptx_link.h"

typedef enum Kind {
    ITEM_VERSION,
    ITEM_TARGET,
    ITEM_FILE,
    ITEM_FUNCTION,
    ITEM_VARIABLE,
    ITEM_OTHER,
    ITEM_DROPPED
} Kind;
typedef enum Linkage { LINK_EXTERN, LINK_WEAK, LINK_VISIBLE, LINK_NONE } Linkage;

/* A statement at module level. */
typedef struct Item {
    const char *start, *name; /* name NULL: none */
    size_t bytes, name_bytes;
    size_t text, order;
    Kind kind;
    Linkage linkage;
    int has_body; /* Boolean: a function with its code */
    int renamed;  /* Boolean: gets a suffix with the text's number */
} Item;

typedef struct Linker {
    Item *item;
    size_t items, space;
    Item **renames; /* items that get a suffix, by name */
    size_t renamed;
    unsigned *first_file; /* added to each text's file numbers */
    FILE *out;
    Error *error;
} Linker;

/* ---- statements ---- */

static int is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '.' || c == '%';
}

static size_t word_bytes(const char *at)
{
    size_t bytes = 1;
    while (is_word(at[bytes]) && at[bytes] != '.')
        bytes++;
    return bytes;
}

static int word_is(const char *at, size_t bytes, const char *word)
{
    return strlen(word) == bytes && !memcmp(at, word, bytes);
}

/* The end of a comment or string that starts at `at`; `at` itself if none does. */
static const char *skip_text(const char *at)
{
    if (at[0] == '/' && at[1] == '/') return at + strcspn(at, "\n");
    if (at[0] == '/' && at[1] == '*') {
        const char *end = strstr(at + 2, "*/");
        return end ? end + 2 : at + strlen(at);
    }
    if (*at != '"') return at;
    at += 1 + strcspn(at + 1, "\"");
    return *at ? at + 1 : at;
}

static const char *skip_blank(const char *at)
{
    for (;;) {
        const char *next = at + strspn(at, " \t\r\n");
        if (*next == '/') next = skip_text(next);
        if (next == at || *next == 0) return next;
        at = next;
    }
}

/* Ends at the line's end. */
static int is_line(Kind kind)
{
    return kind == ITEM_VERSION || kind == ITEM_TARGET || kind == ITEM_FILE;
}

static Kind first_kind(const char *at)
{
    static const struct {
        const char *word;
        Kind kind;
    } lines[] = {{".version", ITEM_VERSION},
                 {".target", ITEM_TARGET},
                 {".address_size", ITEM_TARGET},
                 {".file", ITEM_FILE},
                 {".section", ITEM_DROPPED}};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (word_is(at, word_bytes(at), lines[i].word)) return lines[i].kind;
    return ITEM_OTHER;
}

/* Reads one word outside of parentheses: linkage, kind or name of its statement. */
static void word_take(Item *item, const char *at, size_t bytes)
{
    static const char *const spaces[] = {".global", ".const",   ".shared",    ".local",
                                         ".texref", ".surfref", ".samplerref"};
    if (*at != '.') {
        if (!item->name && !isdigit((unsigned char)*at)) item->name = at, item->name_bytes = bytes;
        return;
    }
    if (item->name) return;
    if (word_is(at, bytes, ".extern")) item->linkage = LINK_EXTERN;
    if (word_is(at, bytes, ".visible")) item->linkage = LINK_VISIBLE;
    if (word_is(at, bytes, ".weak") || word_is(at, bytes, ".common")) item->linkage = LINK_WEAK;
    if (word_is(at, bytes, ".func") || word_is(at, bytes, ".entry")) item->kind = ITEM_FUNCTION;
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        if (item->kind == ITEM_OTHER && word_is(at, bytes, spaces[i])) item->kind = ITEM_VARIABLE;
}

/* Reads the statement at `at`; returns its end. */
static const char *item_read(const char *at, Item *item)
{
    int round = 0, curly = 0;
    *item = (Item){.start = at, .kind = first_kind(at), .linkage = LINK_NONE};
    if (is_line(item->kind)) return at + strcspn(at, "\n");
    while (*at) {
        const char *after = skip_text(at);
        if (after != at) {
            at = after;
        } else if (is_word(*at)) {
            size_t bytes = word_bytes(at);
            if (!round && !curly) word_take(item, at, bytes);
            at += bytes;
        } else {
            round += (*at == '(') - (*at == ')');
            curly += (*at == '{') - (*at == '}');
            int ends = (*at == ';' && !curly && !round) ||
                       (*at == '}' && !curly && item->kind != ITEM_VARIABLE);
            if (*at == '}' && ends) item->has_body = item->kind == ITEM_FUNCTION;
            at++;
            if (ends) return at;
        }
    }
    return at;
}

static int items_read(Linker *linker, const char *text, size_t number)
{
    for (const char *at = skip_blank(text); *at; at = skip_blank(at)) {
        if (linker->items == linker->space) {
            size_t space = 2 * linker->space + 64;
            Item *grown = realloc(linker->item, space * sizeof *grown);
            if (!grown) return error_set(linker->error, "out of memory");
            linker->item = grown;
            linker->space = space;
        }
        Item *item = &linker->item[linker->items];
        const char *end = item_read(at, item);
        item->bytes = (size_t)(end - at);
        item->text = number;
        item->order = linker->items++;
        at = end;
    }
    return 0;
}

/* ---- names ---- */

static int name_compare(const Item *a, const Item *b)
{
    size_t bytes = a->name_bytes < b->name_bytes ? a->name_bytes : b->name_bytes;
    int order = memcmp(a->name, b->name, bytes);
    return order ? order : (a->name_bytes > b->name_bytes) - (a->name_bytes < b->name_bytes);
}

static int is_definition(const Item *item)
{
    return item->kind == ITEM_VARIABLE ? item->linkage != LINK_EXTERN : item->has_body;
}

/* By name; of one name visible definitions first, then weak ones, others and declarations. */
static int by_name(const void *left, const void *right)
{
    static const int rank[] = {
        [LINK_VISIBLE] = 0, [LINK_WEAK] = 1, [LINK_NONE] = 2, [LINK_EXTERN] = 3};
    const Item *a = *(const Item *const *)left, *b = *(const Item *const *)right;
    int order = name_compare(a, b);
    if (!order) order = is_definition(b) - is_definition(a);
    if (!order) order = rank[a->linkage] - rank[b->linkage];
    return order ? order : (a->order > b->order) - (a->order < b->order);
}

/* Whether a name without linkage occurs in another text, too.  A declaration without linkage may
 * belong to a definition with linkage in the same text. */
static int is_ambiguous(Item *const *group, size_t count, const Item *item)
{
    int others = 0;
    for (size_t i = 0; i < count; i++) {
        if (group[i]->text == item->text && group[i]->linkage != LINK_NONE) return 0;
        others |= group[i]->text != item->text;
    }
    return others;
}

/* Items of one name.  Names without linkage belong to their text. */
static void group_decide(Item **group, size_t count)
{
    const Item *kept = NULL;
    for (size_t i = 0; i < count; i++) {
        Item *item = group[i];
        if (item->linkage == LINK_NONE) {
            item->renamed = is_ambiguous(group, count, item);
        } else if (is_definition(item)) {
            if (kept && item->linkage == LINK_WEAK) item->kind = ITEM_DROPPED;
            if (!kept) kept = item;
        } else if (item->kind == ITEM_VARIABLE) {
            if (kept) item->kind = ITEM_DROPPED;
            if (!kept) kept = item;
        }
    }
}

static int names_decide(Linker *linker)
{
    size_t names = 0;
    Item **named = calloc(linker->items + 1, sizeof *named);
    if (!named) return error_set(linker->error, "out of memory");
    for (size_t i = 0; i < linker->items; i++)
        if (linker->item[i].kind == ITEM_FUNCTION || linker->item[i].kind == ITEM_VARIABLE)
            if (linker->item[i].name) named[names++] = &linker->item[i];
    qsort(named, names, sizeof *named, by_name);
    for (size_t first = 0, next; first < names; first = next) {
        for (next = first + 1; next < names && !name_compare(named[first], named[next]);)
            next++;
        group_decide(named + first, next - first);
    }
    linker->renames = named;
    for (size_t i = 0; i < names; i++)
        if (named[i]->renamed) named[linker->renamed++] = named[i];
    return 0;
}

/* Whether a name of this text gets a suffix. */
static int is_renamed(const Linker *linker, const char *name, size_t bytes, size_t text)
{
    const Item key = {.name = name, .name_bytes = bytes};
    size_t first = 0, last = linker->renamed;
    while (first < last) {
        size_t middle = first + (last - first) / 2;
        if (name_compare(linker->renames[middle], &key) < 0)
            first = middle + 1;
        else
            last = middle;
    }
    for (; first < linker->renamed && !name_compare(linker->renames[first], &key); first++)
        if (linker->renames[first]->text == text) return 1;
    return 0;
}

/* ---- output ---- */

/* Copies a statement.  The number after .file, .loc and inlined_at is a file's. */
static void item_write(const Linker *linker, const Item *item)
{
    int file_next = 0;
    for (const char *at = item->start, *end = at + item->bytes; at < end;) {
        const char *after = skip_text(at);
        size_t bytes = after != at ? (size_t)(after - at) : is_word(*at) ? word_bytes(at) : 1;
        int is_number = is_word(*at) && isdigit((unsigned char)*at);
        if (after == at && is_word(*at) && !is_number) {
            file_next = word_is(at, bytes, ".loc") || word_is(at, bytes, ".file") ||
                        word_is(at, bytes, "inlined_at");
            fwrite(at, 1, bytes, linker->out);
            if (*at != '.' && *at != '%' && is_renamed(linker, at, bytes, item->text))
                fprintf(linker->out, "$text%zu", item->text);
        } else if (is_number && file_next) {
            unsigned long number = strtoul(at, NULL, 10);
            fprintf(linker->out, "%lu", number ? number + linker->first_file[item->text] : 0);
            file_next = 0;
        } else {
            fwrite(at, 1, bytes, linker->out);
        }
        at += bytes;
    }
    fputc('\n', linker->out);
}

static void items_write(const Linker *linker, Kind kind, int has_body)
{
    for (size_t i = 0; i < linker->items; i++)
        if (linker->item[i].kind == kind && linker->item[i].has_body == has_body)
            item_write(linker, &linker->item[i]);
}

/* Numbers of the files that earlier texts have. */
static int files_count(Linker *linker, size_t texts)
{
    linker->first_file = calloc(texts + 1, sizeof *linker->first_file);
    if (!linker->first_file) return error_set(linker->error, "out of memory");
    for (size_t i = 0; i < linker->items; i++) {
        const Item *item = &linker->item[i];
        if (item->kind != ITEM_FILE) continue;
        unsigned number = (unsigned)strtoul(item->start + strlen(".file"), NULL, 10);
        unsigned *most = &linker->first_file[item->text + 1];
        if (number < 100000 && number > *most) *most = number;
    }
    for (size_t i = 0; i < texts; i++)
        linker->first_file[i + 1] += linker->first_file[i];
    return 0;
}

/* The newest version, and the newest target, of all texts. */
static void header_write(const Linker *linker)
{
    unsigned version = 0, target = 0, a, b;
    char suffix = 0;
    for (size_t i = 0; i < linker->items; i++) {
        const char *start = linker->item[i].start;
        char letter = 0;
        if (sscanf(start, ".version %u.%u", &a, &b) == 2 && 100 * a + b > version)
            version = 100 * a + b;
        if (sscanf(start, ".target sm_%u%c", &a, &letter) >= 1 && a >= target) {
            target = a;
            suffix = letter == 'a' ? 'a' : 0;
        }
    }
    fprintf(linker->out, ".version %u.%u\n.target sm_%u%.1s\n.address_size 64\n", version / 100,
            version % 100, target, suffix ? "a" : "");
}

char *ptx_link(const char *const *text, size_t texts, size_t *bytes, Error *error)
{
    Linker linker = {.error = error};
    char *linked = NULL;
    int failed = 0;
    for (size_t i = 0; i < texts && !failed; i++)
        failed = items_read(&linker, text[i], i);
    failed = failed || names_decide(&linker) || files_count(&linker, texts);
    if (!failed && (linker.out = open_memstream(&linked, bytes))) {
        header_write(&linker);
        items_write(&linker, ITEM_FILE, 0);
        items_write(&linker, ITEM_FUNCTION, 0);
        items_write(&linker, ITEM_VARIABLE, 0);
        items_write(&linker, ITEM_OTHER, 0);
        items_write(&linker, ITEM_FUNCTION, 1);
        if (fclose(linker.out)) error_set(error, "out of memory");
    }
    free(linker.item);
    free(linker.renames);
    free(linker.first_file);
    return linked;
}
