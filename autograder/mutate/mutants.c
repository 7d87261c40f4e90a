#include "autograder/mutate/mutants.h"

#include <stdlib.h>
#include <string.h>

#include "autograder/mutate/mutants_parts.h"
#include "autograder/text/files.h"

static void mutant_free(Mutant *mutant)
{
    free(mutant->text);
    free(mutant->before);
    free(mutant->after);
}

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
