/* vectors.h - golden vectors: a GPU's results for each form, as text.
 *
 *   # place and time of the recording
 *   form <digest of the operands> <the form's PTX>
 *   <one line of hexadecimal words for each result>
 *
 * "v*n" stands for n times v; the 32 predicates of a warp are one word. */
#ifndef CONVLAB_CONFORMANCE_VECTORS_H
#define CONVLAB_CONFORMANCE_VECTORS_H

#include "common/simulator/conformance/form.h"
#include "common/simulator/conformance/form_run.h"

typedef struct Vectors {
    uint64_t **value; /* per form of the table, as FormRun.value; NULL: there is none */
    uint32_t count;
    char header[512]; /* the first comment line of the first file */
} Vectors;

/* Reads <directory>/<group>.txt of every group that has one.  Vectors of a form or of operands that
 * the table no longer has are an error: record again.  Release with vectors_free. */
int vectors_read(const char *directory, const FormTable *table, Vectors *vectors, Error *error);
void vectors_free(Vectors *vectors);
/* Writes the vectors of one group. run: per form of the table; those without values are left
 * out. */
int vectors_write(const char *path, const FormTable *table, const char *group, const FormRun *run,
                  const char *header, Error *error);

#endif
