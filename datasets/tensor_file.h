/* tensor_file.h - inputs of a run from files, and its output in a file. */
#ifndef CONVLAB_DATASETS_TENSOR_FILE_H
#define CONVLAB_DATASETS_TENSOR_FILE_H

#include "common/operations/operation/operation.h"

/* Fills the input `name` ("x", "w") of the problem's tensors from `path`: an IDX or NPY file of any
 * shape (array.h), or text, which is decimal numbers separated by blanks and line ends.  It must
 * have the same number of values as the tensor, in the tensor's order.  -1 with error: the
 * operation has no such input, or the file does not fit. */
int tensor_read(const char *path, const char *name, const Operation *operation,
                const Problem *problem, float *const *tensor, Error *error);

/* Writes the problem's output as an NPY file with its shape.  -1 with error. */
int tensor_write(const char *path, const Operation *operation, const Problem *problem,
                 const float *output, Error *error);

#endif
