/* weights_input.h - the weights of a run from a file instead of from the generator. */
#ifndef CONVLAB_DATASETS_WEIGHTS_INPUT_H
#define CONVLAB_DATASETS_WEIGHTS_INPUT_H

#include "common/operation/operation.h"

/* Fills the input `w` of the problem's tensors from `path`: an IDX or NPY file of any shape
 * (array.h), or text, which is decimal numbers with blanks and line ends between.  It has as many
 * numbers as w has floats, in w's order.  -1 with error: the operation has no w, or the file does
 * not fit. */
int weights_read(const char *path, const Operation *operation, const Problem *problem,
                 float *const *tensor, Error *error);

#endif
