/* phase.h - the phases of a source: what its comments `// phase: NAME` call the lines below them,
 * up to the function's end, and where it has none its TODO regions.  Two programs of a lab have
 * the same ones, so what they do can be compared phase by phase. */
#ifndef CONVLAB_AUTOGRADER_TEXT_PHASE_H
#define CONVLAB_AUTOGRADER_TEXT_PHASE_H

typedef struct PhaseReader {
    int marked;    /* there are such comments */
    char name[48]; /* of the line that was read last; "" outside of all */
} PhaseReader;

/* `source` is the whole text. */
void phase_begin(PhaseReader *reader, const char *source);
/* The source's lines, one after the other, each with its newline or without. */
void phase_read(PhaseReader *reader, const char *line);

#endif
