#include "autograder/mutate/mutants.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autograder/mutate/mutants_parts.h"
#include "autograder/text/files.h"

/* ---- one mutant -------------------------------------------------------------------------------*/

char *mutant_plant(const char *source, const Mutant *mutant)
{
    size_t bytes = strlen(source) + strlen(mutant->text) + 1;
    char *text = malloc(bytes);
    if (text)
        snprintf(text, bytes, "%.*s%s%s", (int)mutant->begin, source, mutant->text,
                 source + mutant->end);
    return text;
}

/* `bytes` of text with each run of blanks replaced by one, none at the ends; malloc'd. */
static char *collapsed(const char *text, size_t bytes)
{
    char *to = malloc(bytes + 1);
    size_t n = 0;
    for (size_t i = 0; to && i < bytes; i++) {
        int blank = isspace((unsigned char)text[i]);
        if (!blank) to[n++] = text[i];
        if (blank && n && to[n - 1] != ' ') to[n++] = ' ';
    }
    while (to && n && to[n - 1] == ' ')
        n--;
    if (to) to[n] = 0;
    return to;
}

/* Fills before and after: the complete lines that the mutant changes. */
static int lines_show(const char *source, Mutant *mutant)
{
    size_t begin = mutant->begin, end = mutant->end;
    while (begin > 0 && source[begin - 1] != '\n')
        begin--;
    end += strcspn(source + end, "\n");
    char *planted = mutant_plant(source, mutant);
    size_t grown = end + strlen(mutant->text) - (mutant->end - mutant->begin);
    mutant->before = collapsed(source + begin, end - begin);
    mutant->after = planted ? collapsed(planted + begin, grown - begin) : NULL;
    free(planted);
    return mutant->before && mutant->after ? 0 : -1;
}

static void mutant_free(Mutant *mutant)
{
    free(mutant->text);
    free(mutant->before);
    free(mutant->after);
}

void rewrite(Rewriter *rewriter, const char *kind, size_t a, size_t b, const char *pattern)
{
    const Tokens *tokens = rewriter->tokens;
    MutantList *list = rewriter->list;
    size_t begin = tokens->token[a].begin, end = tokens->token[b - 1].end;
    size_t bytes = strlen(pattern) + (end - begin) + 1;
    Mutant *grown = realloc(list->mutant, (list->mutants + 1) * sizeof *grown);
    char *text = malloc(bytes);
    if (grown) list->mutant = grown;
    if (!grown || !text) {
        free(text);
        rewriter->failed = 1;
        return;
    }
    const char *mark = strstr(pattern, "%s");
    snprintf(text, bytes, "%.*s%.*s%s", (int)(mark ? mark - pattern : 0), pattern,
             (int)(mark ? end - begin : 0), tokens->text + begin, mark ? mark + 2 : pattern);
    Mutant *mutant = &list->mutant[list->mutants++];
    *mutant = (Mutant){
        .begin = begin, .end = end, .text = text, .kind = kind, .region = rewriter->region};
    rewriter->failed |= lines_show(tokens->text, mutant);
}

/* ---- all mutants
 * ------------------------------------------------------------------------------ */

static int by_place(const void *a, const void *b)
{
    const Mutant *left = a, *right = b;
    if (left->begin != right->begin) return left->begin < right->begin ? -1 : 1;
    if (left->end != right->end) return left->end < right->end ? -1 : 1;
    return strcmp(left->text, right->text);
}

static int line_of(const char *source, size_t offset)
{
    int line = 1;
    for (size_t i = 0; i < offset; i++)
        line += source[i] == '\n';
    return line;
}

/* Index among the equal lines of its region: counts those before it. */
static int which_of(const MutantList *list, const Mutant *mutant)
{
    int which = 1, line = -1;
    for (const Mutant *at = list->mutant; at < mutant; at++)
        if (at->region == mutant->region && at->line != mutant->line && at->line != line &&
            !strcmp(at->before, mutant->before))
            which++, line = at->line;
    return which;
}

static uint64_t digest_of(const Mutant *mutant)
{
    uint64_t digest = digest_bytes(DIGEST_START, mutant->before, strlen(mutant->before) + 1);
    digest = digest_bytes(digest, mutant->after, strlen(mutant->after) + 1);
    digest = digest_bytes(digest, &mutant->which, sizeof mutant->which);
    return digest_bytes(digest, &mutant->region, sizeof mutant->region);
}

/* Computes lines and digests; of mutants with equal text on the same lines, one remains. */
static void list_finish(const char *source, MutantList *list)
{
    size_t kept = 0;
    if (list->mutants) qsort(list->mutant, list->mutants, sizeof *list->mutant, by_place);
    for (size_t i = 0; i < list->mutants; i++)
        list->mutant[i].line = line_of(source, list->mutant[i].begin);
    for (size_t i = 0; i < list->mutants; i++) {
        Mutant mutant = list->mutant[i];
        int again = 0;
        list->mutant[kept] = mutant;
        list->mutant[kept].which = which_of(list, &list->mutant[kept]);
        list->mutant[kept].digest = digest_of(&list->mutant[kept]);
        for (size_t k = 0; k < kept; k++)
            again |= list->mutant[k].digest == list->mutant[kept].digest;
        if (again || !strcmp(mutant.before, mutant.after))
            mutant_free(&mutant);
        else
            kept++;
    }
    list->mutants = kept;
}

int mutants_find(const char *source, const TodoList *todo, MutantList *list, Error *error)
{
    Tokens tokens;
    *list = (MutantList){0};
    if (tokens_read(source, &tokens)) return error_set(error, "out of memory");
    Rewriter rewriter = {.tokens = &tokens, .list = list};
    for (int i = 0; i < todo->regions; i++) {
        const TodoRegion *region = &todo->region[i];
        rewriter.region = region->number;
        rewriter.first = 0;
        while (rewriter.first < tokens.tokens && tokens.token[rewriter.first].begin < region->body)
            rewriter.first++;
        rewriter.end = rewriter.first;
        while (rewriter.end < tokens.tokens && tokens.token[rewriter.end].begin < region->body_end)
            rewriter.end++;
        expressions_mutate(&rewriter);
        statements_mutate(&rewriter);
    }
    tokens_free(&tokens);
    if (!rewriter.failed) {
        list_finish(source, list);
        return 0;
    }
    mutants_free(list);
    return error_set(error, "out of memory");
}

void mutants_free(MutantList *list)
{
    for (size_t i = 0; i < list->mutants; i++)
        mutant_free(&list->mutant[i]);
    free(list->mutant);
    *list = (MutantList){0};
}

/* ---- a sample
 * --------------------------------------------------------------------------------- */

static int by_digest(const void *a, const void *b)
{
    const Mutant *left = a, *right = b;
    return left->digest < right->digest ? -1 : left->digest > right->digest;
}

void mutants_sample(MutantList *list, size_t count, uint64_t seed)
{
    if (count >= list->mutants) return;
    /* Sorts by a hash of digest and seed, then restores the digests, which are the names. */
    for (size_t i = 0; i < list->mutants; i++)
        list->mutant[i].digest = digest_bytes(seed ^ DIGEST_START, &list->mutant[i].digest,
                                              sizeof list->mutant[i].digest);
    qsort(list->mutant, list->mutants, sizeof *list->mutant, by_digest);
    for (size_t i = count; i < list->mutants; i++)
        mutant_free(&list->mutant[i]);
    list->mutants = count;
    qsort(list->mutant, list->mutants, sizeof *list->mutant, by_place);
    for (size_t i = 0; i < list->mutants; i++)
        list->mutant[i].digest = digest_of(&list->mutant[i]);
}
