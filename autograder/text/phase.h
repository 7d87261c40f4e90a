/* phase.h - phases of a source: a comment `// phase: NAME` names the lines below it, up to the
 * function's end; a source without such comments has its TODO regions as phases.  All programs of a
 * lab have the same phases, so that they can be compared phase by phase. */
#ifndef CONVLAB_AUTOGRADER_TEXT_PHASE_H
#define CONVLAB_AUTOGRADER_TEXT_PHASE_H

typedef struct PhaseReader {
    int marked;    /* Boolean: the source has such comments */
    char name[48]; /* phase of the line read last; "" outside of all */
} PhaseReader;

/* `source` is the whole text. */
void phase_begin(PhaseReader *reader, const char *source);
/* Takes the source's lines in order, each with or without its newline. */
void phase_read(PhaseReader *reader, const char *line);

#endif
