/* rewrite.c - one mutant: its text, and the lines that it changes. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autograder/mutate/mutants_parts.h"

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
